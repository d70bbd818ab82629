// Tsuro: what a bot in JavaScript sees and answers on its turn.
//
//   view.stage    "placing": answer { type: "place", tile, degrees, port: "A" to "H", at: [x, y] }
//                 "playing": answer { type: "lay", tile, degrees }
//   view.dealt    the tiles to choose from, by number
//   view.seat     yours
//   view.size     squares a side; a square is [x, y], from the top left
//   view.tiles    on the board: { tile, degrees, at: [x, y] }
//   view.players  by seat: { colour, avatar: [x, y, port] or null, ... }

// Change this function: it keeps its avatar as near to the middle of the board as it can.
function choose(view) {
  const fromMiddle = (action) => {
    const spot = spotAfter(view, action);
    if (spot === OFF || spot === LOOP) return Infinity;
    const [x, y] = ahead(spot);
    return Math.abs(2 * x - view.size + 1) + Math.abs(2 * y - view.size + 1);
  };
  return actions(view).reduce((best, action) => (fromMiddle(action) < fromMiddle(best) ? action : best));
}

// All legal actions.
function actions(view) {
  return view.stage === "placing" ? places(view) : lays(view);
}

// The first tile is placed at the edge, away from others; its avatar faces a square of the board.
function places(view) {
  const found = [];
  const board = boardOf(view);
  const last = view.size - 1;
  for (const tile of view.dealt) {
    for (let x = 0; x <= last; x++) {
      for (let y = 0; y <= last; y++) {
        const near = [[x, y], [x, y - 1], [x + 1, y], [x, y + 1], [x - 1, y]];
        const isEdge = x === 0 || y === 0 || x === last || y === last;
        if (!isEdge || near.some((square) => board.has(String(square)))) continue;
        for (const degrees of DEGREES) {
          for (const port of PORTS) {
            if (isOnBoard(view, ahead([x, y, port]))) found.push({ type: "place", tile, degrees, port, at: [x, y] });
          }
        }
      }
    }
  }
  return found;
}

// A tile may neither send an avatar into an endless loop nor drive its player off the board, unless every choice does.
function lays(view) {
  const options = view.dealt.flatMap((tile) => DEGREES.map((degrees) => ({ type: "lay", tile, degrees })));
  const fine = options.filter((option) => {
    const spots = spotsAfter(view, option);
    return spots[view.seat] !== OFF && !spots.includes(LOOP);
  });
  return fine.length ? fine : options;
}

const DEGREES = [0, 90, 180, 270];
const PORTS = "ABCDEFGH"; // clockwise, from the left one of the north side
const OFF = "off"; // instead of a spot: off the board
const LOOP = "loop"; // instead of a spot: in an endless loop
const TILES = [ // how each connects its ports, in four pairs
  "AEBFCHDG", "AEBFCGDH", "AFBECHDG", "AEBDCGFH", "AHBCDEFG", "AEBCDHFG", "AEBCDGFH",
  "ADBGCFEH", "ADBFCGEH", "ADBECHFG", "ADBECGFH", "ADBCEHFG", "ACBHDFEG", "ACBHDEFG",
  "ACBGDFEH", "ACBGDEFH", "ACBFDHEG", "ACBFDGEH", "ACBEDHFG", "ACBEDGFH", "ACBDEHFG",
  "ACBDEGFH", "ABCHDGEF", "ABCHDFEG", "ABCHDEFG", "ABCGDHEF", "ABCGDFEH", "ABCGDEFH",
  "ABCFDHEG", "ABCFDGEH", "ABCEDHFG", "ABCEDGFH", "ABCDEHFG", "ABCDEGFH", "ABCDEFGH",
];
const AHEAD = { // what lies before a port: so much further in x and y, and the port that touches it there
  A: [0, -1, "F"], B: [0, -1, "E"], C: [1, 0, "H"], D: [1, 0, "G"],
  E: [0, 1, "B"], F: [0, 1, "A"], G: [-1, 0, "D"], H: [-1, 0, "C"],
};

// The tiles by their squares.
function boardOf(view) {
  return new Map(view.tiles.map((tile) => [String(tile.at), tile]));
}

function isOnBoard(view, [x, y]) {
  return x >= 0 && y >= 0 && x < view.size && y < view.size;
}

// The spot that a spot touches, on the square that it faces.
function ahead([x, y, port]) {
  const [right, down, touching] = AHEAD[port];
  return [x + right, y + down, touching];
}

// The port to which a tile leads from a port.
function exit({ tile, degrees }, port) {
  const turned = degrees / 45; // turned by 90 degrees, A becomes C
  const unturned = PORTS[(PORTS.indexOf(port) - turned + 8) % 8];
  const other = TILES[tile][TILES[tile].indexOf(unturned) ^ 1];
  return PORTS[(PORTS.indexOf(other) + turned) % 8];
}

// Where an avatar comes to rest at the end of its path: a spot, or OFF or LOOP.
function follow(view, board, start) {
  for (let spot = start; ; ) {
    const [x, y, port] = ahead(spot);
    if (!isOnBoard(view, [x, y])) return OFF;
    const tile = board.get(String([x, y]));
    if (!tile) return spot;
    spot = [x, y, exit(tile, port)];
    if (String(spot) === String(start)) return LOOP;
  }
}

// Where all avatars are after a tile was laid, by seat: spots, or OFF or LOOP; null if there was none.
function spotsAfter(view, { tile, degrees }) {
  const [x, y] = ahead(view.players[view.seat].avatar);
  const board = boardOf(view).set(String([x, y]), { tile, degrees });
  return view.players.map(({ avatar }) => avatar && follow(view, board, avatar));
}

// Where your own avatar is after an action.
function spotAfter(view, action) {
  return action.type === "place" ? [...action.at, action.port] : spotsAfter(view, action)[view.seat];
}

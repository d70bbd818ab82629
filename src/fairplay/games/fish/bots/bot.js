// Fish: what a bot in JavaScript sees and answers on its turn.
//
//   view.stage    "placing": answer { type: "place", at: [row, column] }
//                 "playing": answer { type: "move", from: [row, column], to: [row, column] }
//   view.seat     yours
//   view.board    rows of tiles: 1 to 5 fish, 0 for a hole
//   view.players  by seat: { colour, score, penguins: [[row, column], ...] }

// Change this function: it chooses the action that ends on the most fish.
function choose(view) {
  const fish = ({ at, to }) => view.board[(at ?? to)[0]][(at ?? to)[1]];
  return actions(view).reduce((best, action) => (fish(action) > fish(best) ? action : best));
}

// All legal actions.
function actions(view) {
  const taken = new Set(view.players.flatMap((player) => player.penguins).map(String));
  const isFree = (at) => view.board[at[0]]?.[at[1]] > 0 && !taken.has(String(at));
  if (view.stage === "placing") {
    const places = view.board.flatMap((tiles, row) => tiles.map((_, column) => [row, column]));
    return places.filter(isFree).map((at) => ({ type: "place", at }));
  }
  const moves = [];
  for (const from of view.players[view.seat].penguins) {
    for (const direction of [0, 1, 2, 3, 4, 5]) {
      for (let to = step(from, direction); isFree(to); to = step(to, direction)) {
        moves.push({ type: "move", from, to }); // in a straight line, as far as tiles are free
      }
    }
  }
  return moves;
}

const STEPS = [ // to the six tiles around one: from even rows, and from odd rows
  [[-2, 0], [-1, 0], [1, 0], [2, 0], [1, -1], [-1, -1]],
  [[-2, 0], [-1, 1], [1, 1], [2, 0], [1, 0], [-1, 0]],
];

// The next position in a direction.
function step([row, column], direction) {
  const [down, right] = STEPS[row % 2][direction];
  return [row + down, column + right];
}

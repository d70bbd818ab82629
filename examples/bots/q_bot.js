// Play Q in JavaScript, without any package.
//
//     fairplay check-bot q exec:"node q_bot.js"
//     fairplay play q me=exec:"node q_bot.js" dag
//
// Change `choose`, right below: it is asked for an action on each of your turns. The rest can stay as it is. Print what
// you like with console.error, and `--bot-logs DIR` keeps it; console.log is for replies alone. `fairplay rules q`
// prints the rules.

// Q: what a bot in JavaScript sees and answers on its turn.
//
//   answer { type: "place", tiles: [{ tile: "red star", at: [row, column] }, ...] }, all in one row or in one column,
//          or { type: "exchange" } if view.left >= view.hand.length, or { type: "pass" }
//   view.hand    your tiles, as "red star"
//   view.map     the tiles on it: { tile, at: [row, column] }; rows and columns may be negative
//   view.left    how many tiles are in the pile
//   view.order   the seats still in, starting with the next to move; view.scores is in that order; view.seat is yours

// Change this function: it places the tile that touches the most others, or exchanges the hand if none fits.
function choose(view) {
  const lying = tilesOn(view.map);
  const touched = ({ tiles }) => (tiles ?? []).flatMap(({ at }) => neighbours(lying, at).flat()).length;
  return actions(view).reduce((best, action) => (touched(action) > touched(best) ? action : best));
}

// Legal actions: each tile of the hand on each place where it fits; to exchange the hand, if possible; to pass.
// More placements are legal: many tiles can be placed at once.
function actions(view) {
  const lying = tilesOn(view.map);
  const places = new Map(view.map.flatMap(({ at }) => around(at).flat()).map((at) => [String(at), at])); // each once
  const found = [];
  for (const [name, at] of places) {
    if (lying.has(name)) continue;
    const [inRow, inColumn] = neighbours(lying, at);
    for (const tile of view.hand) {
      if (fits(tile, inRow) && fits(tile, inColumn)) found.push({ type: "place", tiles: [{ tile, at }] });
    }
  }
  if (view.left >= view.hand.length) found.push({ type: "exchange" });
  return [...found, { type: "pass" }];
}

// The tiles by their places.
function tilesOn(map) {
  return new Map(map.map(({ tile, at }) => [String(at), tile]));
}

// The places beside one: those in its row, and those in its column.
function around([row, column]) {
  return [[[row, column - 1], [row, column + 1]], [[row - 1, column], [row + 1, column]]];
}

// The tiles beside a place: those in its row, and those in its column.
function neighbours(lying, at) {
  return around(at).map((line) => line.map((place) => lying.get(String(place))).filter(Boolean));
}

// May a tile lie beside these? It has the same colour as all of them, or the same shape as all of them.
function fits(tile, others) {
  return [0, 1].some((part) => others.every((other) => other.split(" ")[part] === tile.split(" ")[part]));
}

// What is said between the referee and a bot: a line of JSON comes in, and a line of JSON goes out with its nonce.

function reply(line) {
  const message = JSON.parse(line);
  if (message.nonce === undefined || message.type === "closing") return; // no reply is expected
  const answer = message.type === "take_turn" ? choose(message.view) : null;
  console.log(JSON.stringify({ nonce: message.nonce, answer }));
}

let begun = ""; // of a line that has not come to its end
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (begun + text).split("\n");
  begun = lines.pop();
  lines.forEach(reply);
});

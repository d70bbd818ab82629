// Play Q in JavaScript, without any package: put down the tile that touches the most others.
//
//     fairplay play q exec:"node q.js" dag
//
// What is said to it is described in docs/protocol.md, the game in its RULES.md.

const AROUND = [[[0, -1], [0, 1]], [[-1, 0], [1, 0]]]; // the neighbours in a row, and those in a column

// May this tile, such as "red star", lie between these? It has the same colour as all of them, or the same shape.
function fits(tile, neighbours) {
  return [0, 1].some((part) => neighbours.every((other) => other.split(" ")[part] === tile.split(" ")[part]));
}

function choose(view) {
  const map = new Map(view.map.map(({ tile, at }) => [String(at), tile]));
  let best = { type: view.left >= view.hand.length ? "exchange" : "pass" }; // if no tile fits anywhere
  let most = 0;
  for (const { at: [row, column] } of view.map) {
    for (const [down, right] of AROUND.flat()) {
      const at = [row + down, column + right];
      if (map.has(String(at))) continue;
      const lines = AROUND.map((pair) => pair.map(([y, x]) => map.get(String([at[0] + y, at[1] + x]))).filter(Boolean));
      for (const tile of view.hand) {
        if (lines.flat().length > most && lines.every((neighbours) => fits(tile, neighbours))) {
          best = { type: "place", tiles: [{ tile, at }] };
          most = lines.flat().length;
        }
      }
    }
  }
  return best;
}

// Each message is answered with its own nonce: an action to take_turn, null to all others; nothing after a goodbye.
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "goodbye") return;
  const answer = message.type === "take_turn" ? choose(message.view) : null;
  console.log(JSON.stringify({ nonce: message.nonce, answer }));
});

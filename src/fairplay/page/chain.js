// Check the lines of a journal against their hashes (docs/journal.md says which bytes are hashed).

import { sha256 } from "./sha256.js";

const SEALED = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s;
const TEXT = new TextEncoder();

/** What the lines hold; the receipt for the last; and if the chain is broken, at which line (from 1) and why. */
export function checked(lines) {
  const found = [];
  const broken = (why) => ({ lines: found, receipt: null, broken: { line: found.length + 1, why } });
  let before = "0".repeat(64);
  for (const line of lines) {
    const sealed = SEALED.exec(line);
    if (!sealed) return broken("it is not a whole line of a journal");
    let value;
    try {
      value = JSON.parse(`${sealed[1]}}`);
    } catch {
      return broken("it is not a line of a journal");
    }
    if (value.seq !== found.length) return broken(`it says that it is number ${value.seq}`);
    if ((value.type === "opening") !== (found.length === 0)) return broken("only the first line is an opening");
    const match = found.length ? found[0].match : value.match;
    if (sha256(TEXT.encode(before + match + sealed[1])) !== sealed[2]) {
      return broken("its hash does not fit: it or the line before was changed");
    }
    before = sealed[2];
    found.push(value);
  }
  if (found.at(-1)?.type !== "result") return broken("the result is missing");
  return { lines: found, receipt: `${found.length - 1}:${before}`, broken: null };
}

/** Is the deal the one to which the host was bound? null: nothing was dealt. */
export function dealFits(opening) {
  if (!opening.seed) return null;
  const seed = Uint8Array.from(opening.seed.match(/../g), (byte) => parseInt(byte, 16));
  return sha256(new Uint8Array([...seed, ...TEXT.encode(opening.match)])) === opening.commitment;
}

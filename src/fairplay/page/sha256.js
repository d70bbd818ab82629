// Compute SHA-256 (FIPS 180-4): `crypto.subtle` is missing on pages over plain HTTP.

const CONSTANTS = new Uint32Array(64);
const START = new Uint32Array(8);

// The first 32 bits behind the point of cube roots, and of square roots, of the first primes.
for (let prime = 2, found = 0; found < 64; prime += 1) {
  if (Array.from({ length: prime - 2 }, (_, below) => below + 2).every((divisor) => prime % divisor)) {
    if (found < 8) START[found] = (Math.sqrt(prime) % 1) * 2 ** 32;
    CONSTANTS[found] = (Math.cbrt(prime) % 1) * 2 ** 32;
    found += 1;
  }
}

const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** The hash of bytes, in hex. */
export function sha256(bytes) {
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const hash = Uint32Array.from(START);
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let at = 0; at < 16; at += 1) words[at] = view.getUint32(block + at * 4);
    for (let at = 16; at < 64; at += 1) {
      const [early, late] = [words[at - 15], words[at - 2]];
      words[at] =
        words[at - 16] + words[at - 7] +
        (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)) +
        (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let at = 0; at < 64; at += 1) {
      const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + CONSTANTS[at] + words[at];
      const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => { hash[at] += word; });
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

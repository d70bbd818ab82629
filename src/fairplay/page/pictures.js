// Unpack pictures: each is a list of lines, most of which it shares with others.

/** All pictures, from the text that `packed` in packing.py made of them. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { lines, pictures, views } = JSON.parse(await new Response(stream).text());
  const at = (theme, view, position) => joined(lines, pictures[views[theme][view][position]]);
  return { views: views.light.length, positions: views.light[0].length, at };
}

function joined(lines, runs) {
  const found = [];
  for (let at = 0; at < runs.length; at += 2) found.push(...lines.slice(runs[at], runs[at] + runs[at + 1]));
  return found.join("\n");
}

/** The lines of a picture, from those of the one before and what `rewritten` in packing.py says of the difference. */
export function rewritten(before, parts) {
  return parts.flatMap((it) => (typeof it === "string" ? [it] : before.slice(it[0], it[0] + it[1])));
}

/** A picture as an element. */
export function drawn(picture) {
  return document.importNode(new DOMParser().parseFromString(picture, "image/svg+xml").documentElement, true);
}

/** How wide and how high a picture is. */
export function sizeOf(picture) {
  return /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(picture).slice(1).map(Number);
}

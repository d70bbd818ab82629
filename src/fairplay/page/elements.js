// Make HTML and SVG elements; all names and texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and content: other elements, or text. */
export function element(tag, attributes = {}, ...content) {
  return filled(document.createElement(tag), attributes, content);
}

/** An element of a picture. */
export function shape(tag, attributes = {}, ...content) {
  return filled(document.createElementNS(SVG, tag), attributes, content);
}

function filled(made, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** A name, whose letters may run from right to left and change nothing around them. */
export function called(name) {
  return element("bdi", { class: "called", title: name }, name);
}

/** How long something took, in a unit that fits. */
export function duration(seconds) {
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 1e-3 ? `${(seconds * 1e3).toFixed(1)} ms` : `${(seconds * 1e6).toFixed(0)} µs`;
}

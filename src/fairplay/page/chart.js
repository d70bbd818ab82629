// Draw the chart of the scores over time; a click on it jumps to that position.

import { element, shape } from "./elements.js";

const [WIDTH, HEIGHT] = [360, 130];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 8, 10, 22];

/** Give the lines of each seat the colour of its pieces, if they have one. */
export function painted(looks) {
  looks.forEach(({ paint }, seat) => document.documentElement.style.setProperty(`--seat${seat % 6}`, paint));
}

/** The sign of a seat on the board: its letter on its colour. */
export function token(seat, { letter, ink }) {
  const made = element("span", { class: `token token${seat % 6}` }, letter);
  made.style.color = ink;
  return made;
}

/** A sample of the line of a seat; in CSS each has a colour and a pattern. */
export function sample(seat) {
  const lines = lined("line", seat, { x1: 1, x2: 27, y1: 5, y2: 5 });
  return shape("svg", { class: "sample", viewBox: "0 0 28 10", width: 28, height: 10, "aria-hidden": "true" }, ...lines);
}

/** A line of a seat's colour, on a broader one that is seen on any ground. */
function lined(tag, seat, attributes) {
  return ["edge", "seat"].map((kind) => shape(tag, { class: `${kind} seat${seat % 6}`, ...attributes }));
}

/** Do the scores over time tell anything: has a player scored that was behind? */
export function telling(scores) {
  return scores.slice(1).some((row, at) => {
    const most = Math.max(...scores[at]);
    return row.some((score, seat) => score > scores[at][seat] && scores[at][seat] < most);
  });
}

/** A chart of the scores by position and seat, and what moves its cursor to a position. */
export function chart(scores, names, jump) {
  const last = scores.length - 1;
  const all = scores.flat();
  const [least, most] = [Math.min(0, ...all), Math.max(1, ...all)];
  const across = (at) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / Math.max(1, last);
  const down = (score) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (score - least)) / (most - least);
  const said = names.map((name, seat) => `${name} from ${scores[0][seat]} to ${scores[last][seat]}`).join(", ");
  const cursor = shape("line", { class: "cursor", y1: TOP - 4, y2: HEIGHT - BOTTOM + 4 });
  const dots = names.map((_, seat) => shape("circle", { class: `dot seat${seat % 6}`, r: 3.5 }));
  const label = (x, y, anchor, text) => shape("text", { x, y, "text-anchor": anchor }, String(text));
  const whole = shape(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Scores over time: ${said}` },
    ...[least, most].map((score) => shape("line", {
      class: "rule", x1: LEFT, x2: WIDTH - RIGHT, y1: down(score), y2: down(score),
    })),
    label(LEFT - 6, down(least) + 4, "end", least),
    label(LEFT - 6, down(most) + 4, "end", most),
    label(LEFT, HEIGHT - 6, "middle", 0),
    label(WIDTH - RIGHT, HEIGHT - 6, "end", last),
    ...names.flatMap((_, seat) => lined("path", seat, { d: steps(scores, seat, across, down) })),
    cursor,
    ...dots,
  );
  const follow = (event) => {
    const box = whole.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    jump(Math.round(((x - LEFT) / (WIDTH - LEFT - RIGHT)) * last));
  };
  whole.addEventListener("pointerdown", follow);
  whole.addEventListener("pointermove", (event) => event.buttons & 1 && follow(event));
  const move = (at) => {
    cursor.setAttribute("x1", across(at));
    cursor.setAttribute("x2", across(at));
    dots.forEach((dot, seat) => {
      dot.setAttribute("cx", across(at));
      dot.setAttribute("cy", down(scores[at][seat]));
    });
  };
  return { whole: element("div", {}, whole), move };
}

function steps(scores, seat, across, down) {
  const corners = scores.map((row, at) => `${at ? `H${across(at).toFixed(1)}V` : `M${across(0)} `}${down(row[seat]).toFixed(1)}`);
  return corners.join("");
}

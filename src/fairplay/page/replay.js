// Show a recorded match: its positions, its events, and whether the record is intact.

import { chart, painted, telling } from "./chart.js";
import { checked } from "./chain.js";
import { called, element } from "./elements.js";
import { drawn, sizeOf, unpacked } from "./pictures.js";
import { attest, clocks, moves, players, result } from "./sections.js";

const PACE = 1000; // milliseconds for a step
const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 475px)"); // where large pictures could not be read

function failed(why) {
  byId("badge").className = "badge bad";
  byId("badge").textContent = `✗ ${why}`;
  byId("empty").textContent = "The board is not shown, as it may be that of another match.";
}

async function begin() {
  const { journal, words, scores, looks } = JSON.parse(byId("match").textContent);
  const chain = checked(journal);
  attest(chain, byId("record"));
  if (chain.broken) return failed(`Record changed: line ${chain.broken.line}`);
  const pictures = await unpacked(byId("pictures").textContent);
  if (!belong(chain.lines, words, scores, pictures)) return failed("File changed: the board is of another match");
  byId("badge").className = "badge good";
  byId("badge").textContent = `✓ Record whole: ${journal.length} lines`;
  show(chain.lines, words, scores, looks, pictures);
}

/** Do words, scores and pictures, which the chain says nothing of, have the length and the end of this record? */
function belong(lines, words, scores, pictures) {
  const facts = lines.filter((line) => line.type === "fact").length;
  const final = lines.at(-1).result.scores ?? null;
  const scored = scores === null || (scores.length === facts + 1 && String(scores.at(-1)) === String(final));
  return words.length === facts && pictures.positions === facts + 1 && scored;
}

function show(lines, words, scores, looks, pictures) {
  const entries = lines.filter((line) => line.type === "fact");
  const names = lines.filter((line) => line.type === "seated").at(-1).names;
  const last = entries.length;
  const [slider, play, view, speed, said] = ["slider", "play", "view", "speed", "said"].map(byId);
  let [at, timer, box] = [-1, null, ""];

  const title = lines[0].game[0].toUpperCase() + lines[0].game.slice(1);
  byId("title").replaceChildren(title, element("span", {}, ...names.flatMap((name) => [called(name), " "])));
  painted(looks);
  const graph = scores && telling(scores) ? chart(scores, names, go) : null;
  const seats = players(names, looks, Boolean(graph), byId("players"));
  if (graph) byId("chart").append(graph.whole);
  byId("scores").hidden = !graph;
  const list = moves(lines, names, words, byId("moves"));
  const used = clocks(entries, names.length);
  result(lines.at(-1).result, names, byId("result"));
  for (let seat = 0; seat < pictures.views - 1; seat += 1) {
    view.append(element("option", { value: seat + 1 }, `${names[seat]} (seat ${seat})`));
  }
  byId("viewed").hidden = pictures.views === 1;
  slider.max = last;
  byId("empty").remove();
  document.body.classList.add("ready");

  const theme = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
  const story = () => (at === 0 ? "The beginning." : `${names[entries[at - 1].fact.seat]} ${words[at - 1]}`);

  function draw() {
    const [seen, shade] = [Number(view.value), `${theme()}${narrow.matches ? " small" : ""}`];
    const picture = pictures.at(shade, seen, at);
    byId("picture").replaceChildren(drawn(picture));
    if (box !== `${seen} ${shade}`) {
      box = `${seen} ${shade}`; // so large that nothing moves when pictures grow
      const sizes = Array.from({ length: last + 1 }, (_, position) => sizeOf(pictures.at(shade, seen, position)));
      const [width, height] = [0, 1].map((side) => Math.max(...sizes.map((size) => size[side])));
      byId("picture").style.aspectRatio = `${width} / ${height}`;
    }
    byId("theme").setAttribute("aria-pressed", String(theme() === "dark"));
  }

  function go(to) {
    const target = Math.min(last, Math.max(0, to));
    const isCurrent = location.hash ? location.hash === `#${target}` : at === -1;
    if (!isCurrent) history.replaceState(null, "", `#${target}`);
    if (target === at) return;
    at = target;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `${at} of ${last}: ${story()}`);
    byId("position").textContent = `${at} / ${last}`;
    said.replaceChildren(...(at ? [called(names[entries[at - 1].fact.seat]), ` ${words[at - 1]}`] : [story()]));
    said.className = at && entries[at - 1].fact.type === "ejected" ? "said out" : "said";
    for (const id of ["first", "back"]) byId(id).disabled = at === 0;
    for (const id of ["forward", "last"]) byId(id).disabled = at === last;
    seats.now(scores?.[at], used[at], entries.slice(0, at).map((entry) => entry.fact));
    graph?.move(at);
    list.now(at);
    draw();
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    play.setAttribute("aria-label", "Play");
    document.body.classList.remove("playing");
    said.setAttribute("aria-live", "polite");
  }

  function step() {
    go(at + 1);
    if (at === last) stop();
    else timer = setTimeout(step, PACE / Number(speed.value));
  }

  function toggle() {
    if (timer !== null) return stop();
    said.setAttribute("aria-live", "off"); // too fast for a screen reader
    play.setAttribute("aria-label", "Pause");
    document.body.classList.add("playing");
    if (at === last) go(0);
    timer = setTimeout(step, PACE / Number(speed.value) / 2);
  }

  const halted = (to) => () => {
    stop();
    go(to());
  };
  const steps = { first: () => 0, back: () => at - 1, forward: () => at + 1, last: () => last };
  for (const [id, to] of Object.entries(steps)) byId(id).addEventListener("click", halted(to));
  play.addEventListener("click", toggle);
  slider.addEventListener("input", halted(() => Number(slider.value)));
  view.addEventListener("change", draw);
  for (const query of [dark, narrow]) query.addEventListener("change", draw);
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
    draw();
  });

  const keys = {
    ArrowLeft: halted(steps.back),
    ArrowRight: halted(steps.forward),
    Home: halted(steps.first),
    End: halted(steps.last),
    " ": toggle,
    v: () => {
      view.value = (Number(view.value) + 1) % pictures.views;
      draw();
    },
    d: () => byId("theme").click(),
  };
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    const own = target.closest("dialog, select") || (key === " " && target.closest("button, a, summary"));
    if (own || event.ctrlKey || event.altKey || event.metaKey || !(key in keys)) return;
    if (target === slider && key !== " " && key.length > 1) return; // a slider knows these keys itself
    event.preventDefault();
    keys[key]();
  });

  const linked = () => Number(/^#(\d{1,9})$/.exec(location.hash)?.[1] ?? 0);
  addEventListener("hashchange", () => {
    stop();
    go(linked());
  });
  go(linked());
}

for (const button of document.querySelectorAll(".helps")) {
  button.addEventListener("click", () => byId("help").showModal());
}
addEventListener("keydown", (event) => {
  if (event.key === "?" && !byId("help").open) byId("help").showModal();
});
begin().catch(() => failed("File damaged: it cannot be read"));

// Show a running match: the current board, and its events.

import { called, element } from "./elements.js";
import { drawn, rewritten } from "./pictures.js";

const byId = (id) => document.getElementById(id);
const room = location.pathname.split("/")[2];
const dark = matchMedia("(prefers-color-scheme: dark)");
const small = matchMedia("(max-width: 40rem)");
let [version, newest, lines, stream] = [null, -1, [], null];

function badge(text, kind) {
  byId("badge").textContent = text;
  byId("badge").className = `badge ${kind}`;
}

function show(now) {
  lines = now.picture === undefined ? rewritten(lines, now.lines) : now.picture.split("\n");
  byId("picture").replaceChildren(drawn(lines.join("\n")));
  byId("players").replaceChildren(...now.names.map((name, seat) => {
    const mark = now.winners.includes(seat) ? "★ " : seat === now.turn ? "→ " : "";
    const out = now.ejected[seat] ? `✗ ejected: ${now.ejected[seat].replace("_", " ")}` : "";
    const head = element("th", { scope: "row" }, mark, called(name), element("span", { class: "gone" }, out));
    return element("tr", {}, head, element("td", { class: "number" }, String(now.scores?.[seat] ?? "–")));
  }));
  const news = now.facts.filter(([number]) => number > newest);
  byId("moves").prepend(...news.map(([number, seat, words, isOut]) =>
    element("li", { value: number, class: isOut ? "out" : "" }, called(now.names[seat]), ` ${words}`),
  ).reverse());
  if (news.length) {
    const [, seat, words] = news.at(-1);
    newest = news.at(-1)[0];
    byId("said").replaceChildren(called(now.names[seat]), ` ${words}`);
  }
  document.body.classList.add("ready");
  if (!now.over) return badge("Live", "good");
  stream.close();
  badge("Over", "");
  const best = now.winners.flatMap((seat, at) => [at ? ", " : "", called(now.names[seat])]);
  byId("winners").replaceChildren(...(best.length ? ["★ ", ...best] : ["No player is left to be ranked."]));
  byId("replay").href = `/rooms/${room}`;
  byId("result").hidden = false;
}

function follow() {
  stream?.close();
  stream = new EventSource(`/rooms/${room}/live?theme=${dark.matches ? "dark" : "light"}${small.matches ? "-small" : ""}`);
  stream.addEventListener("hello", ({ data }) => {
    const { version: said, name } = JSON.parse(data);
    if (version !== null && version !== said) location.reload(); // the server was renewed meanwhile
    version = said;
    document.title = `${name}: fairplay`;
    byId("title").replaceChildren(called(name));
  });
  stream.addEventListener("position", ({ data }) => show(JSON.parse(data)));
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) badge("The room is closed", "bad");
    else badge("Connection lost, reconnecting", "bad");
  });
}

dark.addEventListener("change", follow);
small.addEventListener("change", follow);
follow();

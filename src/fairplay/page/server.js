// Show the state of a server: running matches, waiting players, and finished matches.

import { called, element } from "./elements.js";

const EVERY = 2000; // milliseconds
const byId = (id) => document.getElementById(id);
const PLAYING = { placing: "placing", playing: "playing", done: "over" };

/** Names by seat with scores; an arrow is at whose turn it is, and who is out is struck through. */
function people({ names, scores, turn, ejected, ranking }) {
  return names.flatMap((name, seat) => {
    const shown = element("span", { class: ejected.includes(seat) ? "struck" : "" }, called(name), scores ? ` ${scores[seat]}` : "");
    const mark = seat === turn ? "→ " : ranking?.[0]?.includes(seat) ? "★ " : "";
    return [seat ? ", " : "", mark, shown];
  });
}

/** Rows by key, which stay the same elements from time to time, so that the reader does not lose the place. */
function fill(table, items, key, cells) {
  const rows = new Map([...table.rows].map((row) => [row.dataset.key, row]));
  const wanted = items.map((item) => {
    const row = rows.get(key(item)) ?? element("tr", { "data-key": key(item) });
    const text = JSON.stringify(item);
    if (row.dataset.text !== text) row.replaceChildren(...cells(item));
    row.dataset.text = text;
    return row;
  });
  const same = wanted.length === table.rows.length && wanted.every((row, at) => row === table.rows[at]);
  if (!same) table.replaceChildren(...wanted);
}

const cell = (...content) => element("td", {}, ...content);
const number = (value) => element("td", { class: "number" }, String(value));
const link = (path, id, text) => element("a", { href: `/${path}/${encodeURIComponent(id)}` }, text);
const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

function show({ name, version, rooms, waiting, players, offers, finished }) {
  document.title = `${name}: fairplay`;
  byId("title").replaceChildren(called(name), element("span", {}, `fairplay ${version}`));
  byId("badge").textContent = `${counted(rooms.length, "room")}, ${counted(players.length, "player")}`;
  byId("badge").className = "badge good";
  byId("no-rooms").hidden = rooms.length > 0;
  fill(byId("rooms"), rooms, (room) => room.id, (room) => [
    cell(link("rooms", room.id, room.name), ` ${PLAYING[room.stage] ?? ""}`),
    cell(room.game),
    cell(...people(room)),
    number(room.seq),
    number(room.spectators),
  ]);
  fill(byId("finished"), finished, (it) => it.match, (it) => [
    cell(it.recorded ? link("matches", it.match, it.match) : it.match),
    cell(it.game),
    cell(...people(it)),
  ]);
  byId("waiting").replaceChildren(
    ...(waiting.length ? waiting.flatMap((it, at) => [at ? ", " : "", called(it.name), it.game && ` (${it.game})`]) : ["none"]),
  );
  byId("offers").textContent = offers.map((it) => `${it.game} for ${it.min_players === it.max_players ? it.min_players : `${it.min_players} to ${it.max_players}`}`).join(", ");
  document.body.classList.add("ready");
}

async function ask() {
  try {
    const answer = await fetch("/status");
    if (!answer.ok) throw new Error(answer.statusText);
    show(await answer.json());
  } catch {
    byId("badge").textContent = "The server does not answer";
    byId("badge").className = "badge bad";
  }
}

setInterval(() => document.hidden || ask(), EVERY);
ask();

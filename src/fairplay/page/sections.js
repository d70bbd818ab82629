// Fill the parts of a page beside the board: players and clocks, events, the result, the record.

import { sample, token } from "./chart.js";
import { dealFits } from "./chain.js";
import { called, duration, element } from "./elements.js";

/** A row for each player, and what puts scores, clocks and ejections into them; with lines as they are on a chart. */
export function players(names, looks, charted, table) {
  const rows = names.map((name, seat) => {
    const [score, time] = [element("td", { class: "number" }), element("td", { class: "number" })];
    const out = element("span", { class: "gone" });
    const signs = [...(looks[seat] ? [token(seat, looks[seat])] : []), ...(charted ? [sample(seat)] : [])];
    const head = element("th", { scope: "row" }, ...signs, called(name), out);
    table.append(element("tr", {}, head, score, time));
    return { score, time, out };
  });
  return {
    now(scores, used, facts) {
      const out = new Map(facts.filter((fact) => fact.type === "ejected").map((fact) => [fact.seat, fact]));
      rows.forEach((row, seat) => {
        row.score.textContent = scores?.[seat] ?? "–";
        row.time.textContent = duration(used[seat]);
        row.out.textContent = out.has(seat) ? `✗ ejected: ${out.get(seat).fault.replace("_", " ")}` : "";
      });
    },
  };
}

/** The seconds that each seat has used, by position. */
export function clocks(entries, seats) {
  const used = [Array(seats).fill(0)];
  for (const { fact, took } of entries) {
    used.push(used.at(-1).map((seconds, seat) => (seat === fact.seat ? seconds + took : seconds)));
  }
  return used;
}

/** A line for each fact, and what marks the current one. Of all these links one can be reached by Tab. */
export function moves(lines, names, words, list) {
  const resumed = "interrupted, and resumed";
  const links = [element("a", { href: "#0" }, "the beginning")];
  let gap = "";
  for (const line of lines) {
    if (line.type === "resumed") gap = resumed;
    if (line.type !== "fact") continue;
    const number = links.length;
    const text = element("span", {}, called(names[line.fact.seat]), ` ${words[number - 1]}`);
    if (gap) text.prepend(element("em", {}, `${gap}: `));
    gap = "";
    const parts = [text, element("span", { class: "time" }, duration(line.took))];
    links.push(element("a", { href: `#${number}`, class: line.fact.type }, ...parts));
  }
  list.append(...links.map((link, number) => element("li", { value: number }, link)));
  let current = links[0];
  list.addEventListener("keydown", (event) => {
    const to = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const link = to && links[links.indexOf(event.target) + to];
    if (!link) return;
    event.preventDefault();
    link.tabIndex = 0;
    link.focus();
  });
  return {
    now(at) {
      current.removeAttribute("aria-current");
      for (const link of links) link.tabIndex = -1;
      current = links[at];
      current.tabIndex = 0;
      current.setAttribute("aria-current", "step");
      list.scrollTop = current.offsetTop - (list.clientHeight - current.offsetHeight) / 2;
    },
  };
}

/** The ranking, and who was ejected and why. */
export function result({ ranking, ejected, scores }, names, place) {
  const label = (seat) => [called(names[seat]), scores ? ` (${scores[seat]})` : ""];
  let rank = 1;
  const ranks = ranking.map((group) => {
    const seats = group.toSorted((one, other) => one - other);
    const people = seats.flatMap((seat, place) => [place ? ", " : "", ...label(seat)]);
    const item = element("li", { value: rank }, ...(seats.length ? people : ["(none)"]));
    rank += group.length || 1;
    return item;
  });
  place.append(ranks.length ? element("ol", {}, ...ranks) : element("p", {}, "No player is left to be ranked."));
  for (const { seat, fault, moment, why } of ejected) {
    const said = [` was ejected: ${fault.replace("_", " ")} (${moment}), `, element("bdi", {}, why)];
    place.append(element("p", { class: "out" }, "✗ ", ...label(seat), ...said));
  }
}

/** Say whether the record is whole, and what it is to be compared with. */
export function attest({ lines, receipt, broken }, place) {
  if (broken) {
    place.append(element("p", { class: "out" }, `Line ${broken.line} of the record is wrong: ${broken.why}.`));
    return;
  }
  const [opening, fits] = [lines[0], dealFits(lines[0])];
  place.append(element("p", {}, "Compare the receipt with the one that players and observers were given:"));
  const begun = new Date(opening.at * 1000);
  const facts = [["Receipt", receipt], ["Match", opening.match]];
  if (!Number.isNaN(begun.valueOf())) facts.push(["Begun", begun.toUTCString()]);
  if (fits !== null) {
    facts.push(["Seed of the deal", opening.seed]);
    facts.push([fits ? "Commitment to it (✓ it fits)" : "Commitment to it (✗ it does not fit)", opening.commitment]);
  }
  place.append(element("dl", {}, ...facts.flatMap(([term, text]) => [
    element("dt", {}, term), element("dd", {}, element("code", {}, text)),
  ])));
}

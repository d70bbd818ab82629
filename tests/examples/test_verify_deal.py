"""Test examples/verify_deal.py, which proves that a deal was fair, against the deals of the games."""

import json
import runpy
import subprocess
import sys
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.chance import SeededRandom
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from tests.cli.command import CommandResult
from tests.examples.programs import AnyGame
from tests.nonempty import nonempty

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_deal.py"
VERIFY = runpy.run_path(str(SCRIPT))
SEEDS = [sha256(b"deal %d" % number).digest() for number in range(12)]
SEED, OTHER_SEED = SEEDS[:2]
ID = "0123"
NAMES = ["ann", "bob", "cyd", "dan", "eve"]

FISH = [
    Fish(),
    Fish(fish=3),
    Fish(holes=7),
    Fish(holes="random"),
    Fish(colours="random"),
    Fish(fish=1, holes="random", colours="random"),
    Fish(fish="random", holes=5, colours="random"),
    Fish(fish="random", holes="random", colours="random"),
    Fish(rows=1, columns=9, holes="random", colours="random"),
    Fish(rows=4, columns=2, holes="random", colours="random", cramped=True),  # not one tile to spare for two
    Fish(rows=2, columns=3, holes=4, colours="random", cramped=True),
    Fish(rows=2, columns=2, holes=99, cramped=True),  # no tile at all
    Fish(rows=3, columns=100, holes=40, colours="random"),  # more than a byte can number
    Fish(rows=30, columns=30, holes="random", colours="random"),
]
CRAMPED = [Fish(**{**game.parameters(), "cramped": True}) for game in FISH]  # for any number of seats
TSURO = [Tsuro(), Tsuro(size=4), Tsuro(size=30), Tsuro(size=5, tiles="cycle"), Tsuro(tiles="cycle")]
Q_GAMES = [Q(), Q(q_bonus=0, finish_bonus=100)]
GAMES: list[AnyGame] = [Fish(rows=4, holes="random", colours="random"), Tsuro(), Q()]

each_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


def commitment_to(seed: bytes) -> str:
    """What is published before the match, as docs/journal.md says it."""
    return sha256(seed + ID.encode("ascii")).hexdigest()


def run(*arguments: Path | str) -> CommandResult:
    """Run the script with no package in reach but the standard library."""
    command = [sys.executable, "-I", "-S", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return CommandResult(done.returncode, done.stdout, done.stderr)


def line_of(done: CommandResult, code: int) -> str:
    """The one line with which a proof fails, and nothing else."""
    assert (done.code, done.out) == (code, ""), done
    line, end, rest = done.err.partition("\n")
    assert (end, rest) == ("\n", "")
    assert line.isprintable()
    return line


Lines = list[dict[str, Any]]


def journal(game: AnyGame, seed: bytes = SEED, seats: int = 3) -> Lines:
    """The lines of a journal, as far as they say something about the deal."""
    opening = {
        "type": "opening",
        "seq": 0,
        "format": 5,
        "match": ID,
        "game": game.name,
        "parameters": game.parameters(),
        "names": NAMES[:seats],
        "seed": seed.hex(),
        "commitment": commitment_to(seed),
    }
    fact = {"type": "fact", "seq": 1, "fact": {"type": "acted", "seat": 0, "action": None}}
    result = {"ranking": [[0, 1, 2]], "ejected": [], "seed": seed.hex()}
    return [opening, fact, {"type": "result", "seq": 2, "result": result}]


def events(game: AnyGame, seed: bytes = SEED, seats: int = 3) -> Lines:
    """The lines of a public stream, with what spectators really see."""
    started = {
        "type": "started",
        "match": ID,
        "game": game.name,
        "parameters": game.public_parameters(),
        "names": NAMES[:seats],
        "commitment": commitment_to(seed),
        "view": game.pack(game.view(game.deal(seats, seed), None)),
    }
    acted = {"type": "acted", "name": "ann", "seat": 0, "action": None}
    return [started, acted, {"type": "ended", "ranking": [NAMES[:seats]], "ejected": [], "seed": seed.hex()}]


def as_text(lines: Lines) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def written(directory: Path, lines: Lines) -> Path:
    path = directory / "match.jsonl"
    path.write_text(as_text(lines), encoding="utf-8")
    return path


def dealt_anew(game: AnyGame, seats: int, seed: bytes) -> Any:
    opening, _, last = journal(game, seed, seats)
    return VERIFY["prove"](opening, last, None)[0]


def as_dealt(game: AnyGame, seats: int, seed: bytes) -> Any:
    """What the game itself deals, in the form that the script prints."""
    state: Any = game.pack_state(game.deal(seats, seed))
    match game.name:
        case "fish":
            return {"board": state["board"], "players": state["players"]}
        case "tsuro":
            return {"drawn": state["source"]}
    return {"map": state["map"], "hands": [player["hand"] for player in state["players"]], "pile": state["pile"]}


# The deals, against those of the games.


@pytest.mark.parametrize("game", [*CRAMPED, *TSURO, *Q_GAMES], ids=repr)
def test_a_deal_is_that_of_the_game(game: AnyGame) -> None:
    for seats in nonempty(game.seats):
        for seed in nonempty(SEEDS):
            anew, expected = dealt_anew(game, seats, seed), as_dealt(game, seats, seed)
            if isinstance(game, Tsuro):  # bag after bag, the last of which is not used up
                drawn = list(chain.from_iterable(anew["drawn"]))
                anew = {"drawn": drawn[: len(expected["drawn"])]}
                assert len(drawn) - len(expected["drawn"]) < 35
            assert anew == expected


@pytest.mark.parametrize("limit", [1, 2, 35, 255, 256, 257, 1080, 65535, 65536, 65537, 10**9])
def test_lots_are_drawn_as_the_referee_draws_them(limit: int) -> None:
    lots, dealer = SeededRandom(SEED), VERIFY["Dealer"](SEED)

    assert [dealer.below(limit) for _ in range(500)] == [lots.below(limit) for _ in range(500)]


@each_game
def test_another_seed_deals_something_else(game: AnyGame) -> None:
    deals = [json.dumps(dealt_anew(game, 3, seed)) for seed in SEEDS]

    assert len(set(deals)) == len(SEEDS)


# The proof, as a player sees it.


@each_game
@pytest.mark.parametrize("lines", [journal, events])
def test_a_journal_and_a_stream_of_events_prove_their_deal_and_what_was_shown_of_it(
    lines: Any, game: AnyGame, tmp_path: Path
) -> None:
    shown = {"fish": "board, players", "q": "map"}.get(game.name) if lines is events else None

    done = run(written(tmp_path, lines(game)))

    *deal, proof = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert json.loads("\n".join(deal)) == dealt_anew(game, 3, SEED)
    assert proof == f"the deal was fair: the seed has the commitment {commitment_to(SEED)}" + (
        f", and deals what was shown: {shown}" if shown else ""
    )


@pytest.mark.parametrize("told", [commitment_to(SEED), commitment_to(SEED).upper()])
def test_what_the_player_was_told_is_held_against_the_file(told: str, tmp_path: Path) -> None:
    done = run(written(tmp_path, journal(Q())), "--commitment", told)

    assert done.code == 0
    assert done.out.endswith(f"{told.lower()}, as you were told\n")


def test_a_board_is_printed_row_by_row(tmp_path: Path) -> None:
    done = run(written(tmp_path, journal(Fish(rows=3, columns=4, fish=2), seats=2)))

    assert done.out.splitlines()[:3] == ['{"board": [[2, 2, 2, 2],', " [2, 2, 2, 2],", " [2, 2, 2, 2]],"]


@pytest.mark.parametrize(("seed", "guessable"), [(SEED, True), (b"seven", False)])
def test_a_seed_that_can_be_guessed_is_named(seed: bytes, guessable: bool, tmp_path: Path) -> None:
    opening, *rest = journal(Q(), seed)

    done = run(written(tmp_path, [{**opening, "guessable": guessable}, *rest]))

    assert done.code == 0
    assert done.out.endswith("; but it comes from a short text, and can be guessed\n")


def test_a_line_separator_in_a_name_ends_no_line(tmp_path: Path) -> None:
    opening, *rest = journal(Q())

    assert run(written(tmp_path, [{**opening, "names": ["ann\u2028", "bob\x85", "cyd"]}, *rest])).code == 0


# What is not fair, or not proved.


def without(line: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {field: value for field, value in line.items() if field not in fields}


def unfair_files() -> dict[str, tuple[Lines, str]]:
    """Files that prove nothing, and what is said of each."""
    (opening, fact, last), (started, acted, ended) = journal(Q()), events(Q())
    in_opening = f"the seed is {{}} in the opening, but '{SEED.hex()}' was revealed"
    no_commitment = f"the revealed seed '{SEED.hex()}' does not have the commitment {{!r}}"
    unrevealed, no_deal = "the seed is not revealed yet", "there was no deal to prove: the state was given"
    host_tiles = "there was no deal to prove: the host gave the tiles, in an order of its own"
    not_shown = "the seed does not deal what was shown, unless the match was resumed: "
    given_tiles = Tsuro.with_tiles(range(35), seats=3)
    files = {
        "journal with another seed at the end": (
            [opening, journal(Q(), OTHER_SEED)[-1]],
            f"the seed is '{SEED.hex()}' in the opening, but '{OTHER_SEED.hex()}' was revealed",
        ),
        "events with another seed at the end": (
            [started, events(Q(), OTHER_SEED)[-1]],
            f"the revealed seed '{OTHER_SEED.hex()}' does not have the commitment '{commitment_to(SEED)}'",
        ),
        "another seed in the opening": (
            [{**opening, "seed": OTHER_SEED.hex()}, fact, last],
            in_opening.format(repr(OTHER_SEED.hex())),
        ),
        "null in place of the seed in the opening": ([{**opening, "seed": None}, last], in_opening.format(None)),
        "no seed in the opening": ([without(opening, "seed"), last], in_opening.format(None)),
        "a seed only in the opening": ([without(opening, "commitment")], unrevealed),
        "an end without a seed": ([opening, {**last, "result": without(last["result"], "seed")}], unrevealed),
        "journal of a given state, null": (
            [{**opening, "seed": None, "commitment": None}, {**last, "result": {**last["result"], "seed": None}}],
            no_deal,
        ),
        "journal of a given state": (
            [without(opening, "seed", "commitment"), {**last, "result": without(last["result"], "seed")}],
            no_deal,
        ),
        "events of a given state, null": ([{**started, "commitment": None}, {**ended, "seed": None}], no_deal),
        "events of a given state": ([without(started, "commitment"), without(ended, "seed")], no_deal),
        "journal of given tiles": (journal(given_tiles), host_tiles),
        "events of given tiles": (events(given_tiles), host_tiles),
    }
    for kind, (first, *rest) in {"journal": journal(Q()), "events": events(Q())}.items():
        for commitment in (commitment_to(OTHER_SEED), "", None):
            lines = [{**first, "commitment": commitment}, *rest]
            files[f"{kind} with the commitment {commitment!r}"] = lines, no_commitment.format(commitment)
        lines = [{**first, "match": "4567"}, *rest]
        files[f"{kind} with the id of another match"] = lines, no_commitment.format(commitment_to(SEED))
        files[f"{kind} that only began"] = [first], unrevealed
        files[f"unfinished {kind}"] = [first, rest[0]], unrevealed
    first, *rest = events(Fish())
    first["view"]["board"][3][4] = first["view"]["board"][3][4] % 5 + 1
    files["another board"] = [first, *rest], not_shown + "board, players"
    first, *rest = events(Fish(colours="random"))
    first["view"]["players"].reverse()
    files["other colours"] = [first, *rest], not_shown + "board, players"
    first, *rest = events(Fish(rows=4, columns=6))
    first["parameters"] |= {"rows": 6, "columns": 4}
    files["other parameters"] = [first, *rest], not_shown + "board, players"
    (tile,) = started["view"]["map"]
    tile["tile"] = "red star" if tile["tile"] != "red star" else "blue star"
    files["another first tile"] = [started, acted, ended], not_shown + "map"
    return files


UNFAIR_FILES = unfair_files()


@pytest.mark.parametrize("name", UNFAIR_FILES)
def test_a_file_that_proves_nothing_is_found_out(name: str, tmp_path: Path) -> None:
    lines, why = UNFAIR_FILES[name]

    assert line_of(run(written(tmp_path, lines)), 1) == why


@pytest.mark.parametrize("told", [commitment_to(OTHER_SEED), commitment_to(SEED)[:-1], ""])
def test_a_file_whose_writer_changed_both_is_found_out_by_what_the_player_was_told(told: str, tmp_path: Path) -> None:
    line = line_of(run(written(tmp_path, journal(Q())), "--commitment", told), 1)

    assert line == f"the revealed seed '{SEED.hex()}' does not have the commitment {told!r}"


# What is no record of a match.


BEGUN = as_text(journal(Q())[:1])


def spoilt(**change: Any) -> str:
    """A journal with an opening that makes no sense."""
    opening, fact, last = journal(Q())
    last["result"]["seed"] = change.get("seed", SEED.hex())
    return as_text([{**opening, **change}, fact, last])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "no JSON\n",
        "{}\n",
        "[]\n",
        "7\n",
        "null\n",
        '{"type": "opening"}\n',
        '{"type": "opening", "game": "chess"}\n',
        '{"type": "opening", "game": ["q"]}\n',
        '{"type": "ended", "seed": "00"}\n',
        "[" * 100_000,
        BEGUN + "torn",
        BEGUN + "[]\n",
        BEGUN + '{"type": "result", "result": 7}\n',
        spoilt(game="\x1b[2J"),
        *(spoilt(parameters=parameters) for parameters in ({}, {**Q().parameters(), "\x1b[2J\n": 7}, None)),
        spoilt(names=3),
        spoilt(seed="no hex"),
        bytes(reversed(range(256))).decode("latin-1") * 100,
    ],
    ids=lambda text: repr(text[-60:]),
)
def test_what_is_no_match_is_refused_in_one_short_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    path.write_bytes(text.encode("latin-1"))

    line = line_of(run(path), 2)
    assert line.startswith(f"{path} is no record of a match: ")
    assert len(line) < len(str(path)) + 150


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        assert line_of(run(path), 2).startswith(f"{path} is no record of a match: ")


# The script itself.


def test_the_script_has_fewer_than_a_hundred_lines() -> None:
    assert len(SCRIPT.read_text().splitlines()) < 100

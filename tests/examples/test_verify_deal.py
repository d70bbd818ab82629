"""Test examples/verify_deal.py, which proves that a deal was fair, against the deals of the games."""

import ast
import importlib.util
import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from fairplay.core.chance import SeededRandom
from fairplay.core.game import Game
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_deal.py"
SEEDS = [sha256(b"deal %d" % number).digest() for number in range(12)]
SEED = SEEDS[0]
Lines = Callable[..., list[dict[str, Any]]]
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
TSURO = [Tsuro(), Tsuro(size=4), Tsuro(size=30), Tsuro(size=5, tiles="cycle"), Tsuro(tiles="cycle")]
Q_GAMES = [Q(), Q(q_bonus=0, finish_bonus=100)]
GAMES: list[Game[Any, Any, Any]] = [Fish(rows=4, holes="random", colours="random"), Tsuro(), Q()]

each_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


def commitment_to(seed: bytes, match: str = ID) -> str:
    """What is published before the match, as docs/journal.md says it."""
    return sha256(seed + match.encode("ascii")).hexdigest()


class Done(NamedTuple):
    """What a user sees of the script when it has ended."""

    code: int
    out: str
    err: str


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_deal", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERIFY = script()


def run(*arguments: Path | str) -> Done:
    """Run the script in this process."""
    out, err, code = StringIO(), StringIO(), 0
    with patch.object(sys, "argv", [str(SCRIPT), *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            runpy.run_path(str(SCRIPT), run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):  # what Python does with the last words of a script
                print(end.code, file=sys.stderr)
    return Done(code, out.getvalue(), err.getvalue())


def run_alone(*arguments: Path | str) -> Done:
    """Run the script in a process of its own, with no package in reach but the standard library."""
    command = [sys.executable, "-I", "-S", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def line_of(done: Done, code: int) -> str:
    """The one line with which a proof fails, and nothing else."""
    assert (done.code, done.out) == (code, ""), done
    line, end, rest = done.err.partition("\n")
    assert (end, rest) == ("\n", "")
    assert line.isprintable()
    return line


def journal(game: Game[Any, Any, Any], seed: bytes = SEED, seats: int = 3) -> list[dict[str, Any]]:
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


def events(game: Game[Any, Any, Any], seed: bytes = SEED, seats: int = 3) -> list[dict[str, Any]]:
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


each_kind = pytest.mark.parametrize("lines", [journal, events])


def written(directory: Path, lines: list[dict[str, Any]]) -> Path:
    path = directory / "match.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def dealt_anew(game: Game[Any, Any, Any], seats: int, seed: bytes) -> Any:
    deal, _ = VERIFY.prove(*[journal(game, seed, seats)[index] for index in (0, -1)], None)
    return deal


def as_dealt(game: Game[Any, Any, Any], seats: int, seed: bytes) -> Any:
    """What the game itself deals, in the form that the script prints."""
    state: Any = game.pack_state(game.deal(seats, seed))
    match game.name:
        case "fish":
            return {"board": state["board"], "players": state["players"]}
        case "tsuro":
            return {"drawn": state["source"]}
    return {"map": state["map"], "hands": [player["hand"] for player in state["players"]], "pile": state["pile"]}


# The deals, against those of the games.


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("game", FISH, ids=repr)
def test_fish_is_dealt_as_the_game_deals_it(game: Fish, seats: int) -> None:
    game = Fish(**{**game.parameters(), "cramped": True})  # for any number of seats

    for seed in SEEDS:
        assert dealt_anew(game, seats, seed) == as_dealt(game, seats, seed)


@pytest.mark.parametrize("seats", [3, 4, 5])
@pytest.mark.parametrize("game", TSURO, ids=repr)
def test_the_tiles_of_tsuro_are_drawn_in_the_order_of_the_game(game: Tsuro, seats: int) -> None:
    for seed in SEEDS:
        drawn = list(chain.from_iterable(dealt_anew(game, seats, seed)["drawn"]))
        source = as_dealt(game, seats, seed)["drawn"]

        assert drawn[: len(source)] == source
        assert len(drawn) - len(source) < 35


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("game", Q_GAMES, ids=repr)
def test_q_is_dealt_as_the_game_deals_it(game: Q, seats: int) -> None:
    for seed in SEEDS:
        assert dealt_anew(game, seats, seed) == as_dealt(game, seats, seed)


@pytest.mark.parametrize("limit", [1, 2, 35, 255, 256, 257, 1080, 65535, 65536, 65537, 10**9])
def test_lots_are_drawn_as_the_referee_draws_them(limit: int) -> None:
    lots, dealer = SeededRandom(SEED), VERIFY.Dealer(SEED)

    assert [dealer.below(limit) for _ in range(500)] == [lots.below(limit) for _ in range(500)]


@each_game
def test_another_seed_deals_something_else(game: Game[Any, Any, Any]) -> None:
    deals = [json.dumps(dealt_anew(game, 3, seed)) for seed in SEEDS]

    assert len(set(deals)) == len(SEEDS)


# The proof, as a player sees it.


@each_game
def test_a_journal_proves_its_deal(game: Game[Any, Any, Any], tmp_path: Path) -> None:
    done = run_alone(written(tmp_path, journal(game)))

    *deal, proof = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert json.loads("\n".join(deal)) == dealt_anew(game, 3, SEED)
    assert proof == f"the deal was fair: the seed has the commitment {commitment_to(SEED)}"


@each_game
def test_a_stream_of_events_proves_its_deal_and_what_was_shown_of_it(game: Game[Any, Any, Any], tmp_path: Path) -> None:
    shown = {"fish": "board, players", "q": "map"}.get(game.name)

    done = run_alone(written(tmp_path, events(game)))

    *deal, proof = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert json.loads("\n".join(deal)) == dealt_anew(game, 3, SEED)
    assert proof.endswith(f", and deals what was shown: {shown}" if shown else commitment_to(SEED))


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
    opening["names"] = ["ann\u2028", "bob\x85", "cyd"]
    path = tmp_path / "match.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [opening, *rest]), encoding="utf-8")

    assert run(path).code == 0


# What is not fair, or not proved.


@each_kind
def test_another_seed_at_the_end_is_found_out(lines: Lines, tmp_path: Path) -> None:
    first, last = lines(Q(), SEED)[0], lines(Q(), SEEDS[1])[-1]

    line = line_of(run(written(tmp_path, [first, last])), 1)

    if lines is journal:
        assert line == f"the seed is '{SEED.hex()}' in the opening, but '{SEEDS[1].hex()}' was revealed"
    else:
        commitment = commitment_to(SEED)
        assert line == f"the revealed seed '{SEEDS[1].hex()}' does not have the commitment '{commitment}'"


@pytest.mark.parametrize("seed", [SEEDS[1].hex(), None])
def test_a_seed_that_was_changed_in_the_opening_is_found_out(seed: str | None, tmp_path: Path) -> None:
    opening, *rest = journal(Q())

    line = line_of(run(written(tmp_path, [{**opening, "seed": seed}, *rest])), 1)

    assert line == f"the seed is {seed!r} in the opening, but '{SEED.hex()}' was revealed"


@pytest.mark.parametrize("commitment", [commitment_to(SEEDS[1]), "", None])
@each_kind
def test_a_commitment_to_another_seed_or_to_none_is_found_out(
    lines: Lines, commitment: str | None, tmp_path: Path
) -> None:
    first, *rest = lines(Q())

    line = line_of(run(written(tmp_path, [{**first, "commitment": commitment}, *rest])), 1)

    assert line == f"the revealed seed '{SEED.hex()}' does not have the commitment {commitment!r}"


@pytest.mark.parametrize("told", [commitment_to(SEEDS[1]), commitment_to(SEED)[:-1], ""])
def test_a_file_whose_writer_changed_both_is_found_out_by_what_the_player_was_told(told: str, tmp_path: Path) -> None:
    line = line_of(run(written(tmp_path, journal(Q())), "--commitment", told), 1)

    assert line == f"the revealed seed '{SEED.hex()}' does not have the commitment {told!r}"


@each_kind
def test_the_same_seed_under_the_id_of_another_match_is_found_out(lines: Lines, tmp_path: Path) -> None:
    first, *rest = lines(Q())

    line = line_of(run(written(tmp_path, [{**first, "match": "4567"}, *rest])), 1)

    assert line == f"the revealed seed '{SEED.hex()}' does not have the commitment '{commitment_to(SEED)}'"


@each_kind
@pytest.mark.parametrize("kept", [1, 2])
def test_an_unfinished_match_has_not_revealed_its_seed(lines: Lines, kept: int, tmp_path: Path) -> None:
    assert line_of(run(written(tmp_path, lines(Q())[:kept])), 1) == "the seed is not revealed yet"


def test_an_opening_without_the_seed_that_was_revealed_is_found_out(tmp_path: Path) -> None:
    opening, *rest = journal(Q())
    del opening["seed"]

    line = line_of(run(written(tmp_path, [opening, *rest])), 1)

    assert line == f"the seed is None in the opening, but '{SEED.hex()}' was revealed"


def test_a_seed_that_only_the_opening_tells_is_not_revealed(tmp_path: Path) -> None:
    opening, *_ = journal(Q())
    del opening["commitment"]

    assert line_of(run(written(tmp_path, [opening])), 1) == "the seed is not revealed yet"


def test_an_end_without_a_seed_reveals_nothing(tmp_path: Path) -> None:
    *lines, last = journal(Q())
    del last["result"]["seed"]

    assert line_of(run(written(tmp_path, [*lines, last])), 1) == "the seed is not revealed yet"


@pytest.mark.parametrize("null", [True, False])
@each_kind
def test_where_the_state_was_given_there_is_no_deal_to_prove(lines: Lines, null: bool, tmp_path: Path) -> None:
    plain = lines(Q())
    for part in (plain[0], plain[-1], plain[-1].get("result", {})):
        for field in {"seed", "commitment"} & set(part):
            part[field] = None
            if not null:
                del part[field]

    line = line_of(run(written(tmp_path, plain)), 1)

    assert line == "there was no deal to prove: the state was given"


@each_kind
def test_where_the_tiles_were_given_there_is_no_deal_to_prove(lines: Lines, tmp_path: Path) -> None:
    game = Tsuro.with_tiles(range(35), seats=3)

    line = line_of(run(written(tmp_path, lines(game))), 1)

    assert line == "there was no deal to prove: the host gave the tiles, in an order of its own"


def test_a_board_that_the_seed_does_not_deal_is_found_out(tmp_path: Path) -> None:
    first, *rest = events(Fish())
    first["view"]["board"][3][4] = first["view"]["board"][3][4] % 5 + 1

    line = line_of(run(written(tmp_path, [first, *rest])), 1)

    assert line == "the seed does not deal what was shown, unless the match was resumed: board, players"


def test_colours_that_the_seed_does_not_deal_are_found_out(tmp_path: Path) -> None:
    first, *rest = events(Fish(colours="random"))
    first["view"]["players"].reverse()

    assert line_of(run(written(tmp_path, [first, *rest])), 1).startswith("the seed does not deal what was shown")


def test_a_first_tile_that_the_seed_does_not_deal_is_found_out(tmp_path: Path) -> None:
    first, *rest = events(Q())
    (tile,) = first["view"]["map"]
    tile["tile"] = "red star" if tile["tile"] != "red star" else "blue star"

    line = line_of(run(written(tmp_path, [first, *rest])), 1)

    assert line == "the seed does not deal what was shown, unless the match was resumed: map"


def test_parameters_that_were_changed_deal_another_board(tmp_path: Path) -> None:
    first, *rest = events(Fish(rows=4, columns=6))
    first["parameters"] |= {"rows": 6, "columns": 4}

    assert line_of(run(written(tmp_path, [first, *rest])), 1).startswith("the seed does not deal what was shown")


# What is no record of a match.


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
        json.dumps(journal(Q())[0]) + "\ntorn",
        json.dumps(journal(Q())[0]) + "\n[]\n",
        json.dumps(journal(Q())[0]) + "\n" + '{"type": "result", "result": 7}\n',
    ],
    ids=lambda text: repr(text[:30]),
)
def test_what_is_no_match_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    path.write_text(text)

    assert line_of(run(path), 2).startswith(f"{path} is no record of a match: ")


@pytest.mark.parametrize(
    "change",
    [
        {"game": "\x1b[2J"},
        {"parameters": {}},
        {"parameters": {**Q().parameters(), "\x1b[2J\n": 7}},
        {"parameters": None},
        {"names": 3},
        {"seed": "no hex"},
    ],
    ids=repr,
)
def test_an_opening_that_makes_no_sense_is_refused_in_one_line(change: dict[str, Any], tmp_path: Path) -> None:
    opening, fact, last = journal(Q())
    last["result"]["seed"] = change.get("seed", SEED.hex())
    path = written(tmp_path, [{**opening, **change}, fact, last])

    assert line_of(run(path), 2).startswith(f"{path} is no record of a match: ")


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(reversed(range(256))) * 100)

    for path in (tmp_path / "missing", tmp_path, binary):
        line = line_of(run(path), 2)

        assert line.startswith(f"{path} is no record of a match: ")
        assert len(line) < len(str(path)) + 120


# The script itself.


def test_the_script_says_the_same_in_a_process_of_its_own(tmp_path: Path) -> None:
    path, missing = written(tmp_path, journal(Q())), tmp_path / "missing"

    for arguments, code in (([path], 0), ([path, "--commitment", "00"], 1), ([missing], 2)):
        alone = run_alone(*arguments)

        assert alone == run(*arguments)
        assert alone.code == code


def test_the_script_has_fewer_than_a_hundred_lines() -> None:
    assert len(SCRIPT.read_text().splitlines()) < 100


def test_the_script_needs_nothing_but_the_standard_library() -> None:
    modules = set[str]()
    for node in ast.walk(ast.parse(SCRIPT.read_text())):
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or ".")

    assert "hashlib" in modules
    assert {module.partition(".")[0] for module in modules} <= sys.stdlib_module_names

"""Test the reports of every kind of ejection, in every game."""

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay import Acted, Ejected, Fault, IllegalAction, Moment
from fairplay.core.chance import derive_seed
from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, game_info
from fairplay.games.fish import Fish
from fairplay.games.fish.examples import EXAMPLES as FISH_EXAMPLES
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro.examples import EXAMPLES as TSURO_EXAMPLES
from fairplay.journal.ejection_report import (
    MAX_COUNTED_ACTIONS,
    EjectionReport,
    LegalActions,
    clauses,
    ejection_report,
    ejection_reports,
    legal_actions,
)
from fairplay.journal.record import Journal
from fairplay.journal.verification import read_legal
from fairplay.referee.drivers import play
from fairplay.referee.referee import Referee
from fairplay.testing.hostile import HOSTILE_PLAYERS
from tests.journal.journals import (
    TABLES,
    FailsAtMoment,
    RecordFactory,
    crash_on_turn,
    cut_journal,
    first_action,
    record_match,
    resume_match,
)
from tests.testing.test_hostile import SEATINGS, honest, match_of

CLAUSE = re.compile(r"\d+\.\d+")

each_game = pytest.mark.parametrize("game", GAMES)


def kicked(directory: Path, name: str, game: str) -> Path:
    """The journal of a match with this hostile player on seat 0, which is called Bad."""
    match = match_of(name, game)
    match = msgspec.structs.replace(match, names=("Bad", *match.names[1:]))
    strategy = game_info(game).built_in["random"].make("", derive_seed(bytes(32), "seat 0"))
    bad = HOSTILE_PLAYERS[name].make_channel(strategy, match.game)
    table = [bad, *(honest(game, seat) for seat in range(1, len(match.names)))]
    with Journal(directory).begin(match, players=["./bad.py", *("random" for _ in table[1:])]) as begun:
        play(match, table, begun)
        return begun.path


def only(path: Path, seat: int = 0) -> EjectionReport:
    """What is said of the one ejection of this seat."""
    [report] = [one for one in ejection_reports(read_legal(path)) if one.seat == seat]
    return report


@pytest.mark.parametrize(("name", "game"), SEATINGS)
def test_every_hostile_player_finds_out_what_it_did_wrong(name: str, game: str, tmp_path: Path) -> None:
    bad, path = HOSTILE_PLAYERS[name], kicked(tmp_path, name, game)
    recorded, report = read_legal(path), only(path)
    rules, facts = recorded.game, recorded.facts

    assert (report.game, report.name, report.seat, report.address) == (game, "Bad", 0, "./bad.py")
    assert (report.fault, report.moment, report.resumed) == (bad.fault, bad.moment, False)
    assert report.why
    assert report.at > 0

    assert bool(report.clause) == (report.fault is Fault.ILLEGAL)  # a rule is quoted if and only if one was broken
    assert report.rule == (clauses(game)[report.clause] if report.clause else "")
    assert (report.answer is not None) == bool(report.clause)
    if report.clause:  # the action is judged the same again from what was shown
        with pytest.raises(IllegalAction) as illegal:
            rules.check(rules.unpack(report.shown), report.answer)
        assert (illegal.value.clause, str(illegal.value)) == (report.clause, report.why)

    assert (report.legal is not None) == (report.moment is Moment.TURN)
    if report.legal is not None:
        assert 0 < report.legal.count <= MAX_COUNTED_ACTIONS
        rules.check(rules.unpack(report.shown), report.legal.example)

    before = facts[: report.facts]
    assert isinstance(facts[report.facts], Ejected)
    assert report.last == (before[-1] if before else None)
    acted = len([fact for fact in before if isinstance(fact, Acted) and fact.seat == 0])
    assert report.turn == acted + (report.moment is Moment.TURN)

    plain = msgspec.json.decode(msgspec.json.encode(report))
    assert plain["fault"] == report.fault.value
    assert set(plain) == set(EjectionReport.__struct_fields__)


def test_a_player_that_failed_at_the_news_is_shown_them(tmp_path: Path) -> None:
    report = only(kicked(tmp_path, "raises at the news", "q"))

    assert isinstance(report.shown, list)
    assert all(isinstance(tile, str) for tile in report.shown)
    assert report.evidence.detail.startswith("RuntimeError: a bad day")


def test_an_ejected_player_is_shown_only_its_own_hand(tmp_path: Path) -> None:
    path = kicked(tmp_path, "answers junk", "q")

    report, recorded = only(path), read_legal(path)

    match = recorded.match_after(report.facts)
    assert report.shown == msgspec.json.decode(msgspec.json.encode(recorded.game.pack(match.view(0))))
    assert "players" not in report.shown


def test_an_ejection_report_holds_no_future_tiles(tmp_path: Path) -> None:
    begin, table = RecordFactory(Journal(tmp_path)), list[Any]([crash_on_turn] * 3)
    Referee().run(Tsuro(tiles=tuple(range(35)) * 10), table, seed=bytes(32), record=begin)

    assert {report.parameters["tiles"] for report in ejection_reports(read_legal(begin.path))} == {"given"}


def test_ejection_reports_are_in_the_order_of_the_ejections(tmp_path: Path) -> None:
    path, match = record_match(tmp_path, TABLES["one at each moment"]())

    found = ejection_reports(read_legal(path))

    expected = [(0, Moment.GREETING, 0), (1, Moment.TURN, 4), (2, Moment.END)]
    assert [(one.seat, one.moment, one.turn) for one in found[:2]] == expected[:2]
    assert (found[2].seat, found[2].moment, found[2].shown) == (*expected[2], None)
    assert [one.why for one in found] == [ejected.why for ejected in match.result.ejected]


def test_a_match_without_ejections_has_no_reports(tmp_path: Path) -> None:
    recorded = read_legal(record_match(tmp_path, [first_action, first_action])[0])

    assert ejection_reports(recorded) == ()
    with pytest.raises(BadRequest, match=r"^line 3 is not an ejection$"):
        ejection_report(recorded, recorded.entries[0])


def test_a_report_says_that_the_match_was_resumed_before_the_ejection(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    cut_journal(path, 7)
    resume_match(path, [first_action, FailsAtMoment(Moment.GREETING)])

    report = only(path, 1)

    assert (report.moment, report.resumed, report.facts, report.turn) == (Moment.GREETING, True, 5, 2)
    assert report.address == ""  # as the record has none


def test_legal_actions_are_counted_no_further_than_it_is_quick() -> None:
    game = Fish(rows=100, columns=100)
    view = game.view(game.deal(2, bytes(32)), 0)

    assert legal_actions(game, view) == LegalActions(MAX_COUNTED_ACTIONS, next(game.actions(view)))


@pytest.mark.parametrize(
    ("game", "state"), [("fish", FISH_EXAMPLES["cramped"]), ("tsuro", TSURO_EXAMPLES["no legal option"])]
)
def test_where_there_is_no_legal_option_none_is_legal(game: str, state: Any) -> None:
    rules = game_info(game).rules()

    assert legal_actions(rules, rules.view(state, rules.turn(state))) == LegalActions(0)


# The rule books.


def raised_clauses(source: str) -> Iterator[set[str]]:
    """For each place in a source that raises IllegalAction, the clauses that it may name."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("IllegalAction"):
            argument = node.args[0]
            values: list[ast.expr] = [argument]
            if isinstance(argument, ast.Name):  # a variable: look at what is assigned to it
                values = [
                    node.value
                    for node in ast.walk(tree)
                    if isinstance(node, ast.Assign)
                    and any(isinstance(part, ast.Name) and part.id == argument.id for part in ast.walk(node.targets[0]))
                ]
            texts = [str(part.value) for value in values for part in ast.walk(value) if isinstance(part, ast.Constant)]
            yield {text for text in texts if CLAUSE.fullmatch(text)}


@each_game
def test_every_clause_that_can_be_named_has_a_text(game: str) -> None:
    sources = [file for file in files(f"fairplay.games.{game}").iterdir() if file.name.endswith(".py")]
    found = [named for file in sources for named in raised_clauses(file.read_text(encoding="utf-8"))]

    assert len(found) >= 5
    assert all(found)
    assert set().union(*found) <= set(clauses(game))


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('clause, what = ("9.8", "x") if y else ("9.9", "z")\nraise IllegalAction(clause, what)', {"9.8", "9.9"}),
        ('raise errors.IllegalAction("9.7", "x")', {"9.7"}),
        ("raise IllegalAction(unknown)", set[str]()),
    ],
)
def test_clauses_are_found_in_a_source(source: str, named: set[str]) -> None:
    assert list(raised_clauses(source)) == [named]


@each_game
def test_a_text_is_all_of_its_clause_and_nothing_else(game: str) -> None:
    book = " ".join(files(f"fairplay.games.{game}").joinpath("RULES.md").read_text(encoding="utf-8").split())

    for number, text in clauses(game).items():
        after = book.partition(f"- **{number}** {text}")[2]
        assert after == "" or after.startswith((" - **", " ## "))
        assert text.endswith(".")
    assert book.count("- **") == len(clauses(game))


def test_an_unregistered_game_has_no_clauses() -> None:
    assert clauses("py:somebody:Else") == {}

"""Test the reports of every kind of ejection, in every game."""

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from fairplay import Acted, Ejected, Fault, IllegalAction, Moment
from fairplay.core.chance import SeededRandom, derive_seed, seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.match import Match
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
from fairplay.journal.replay import RecordedMatch
from fairplay.journal.verification import read_legal
from fairplay.referee.drivers import play
from fairplay.referee.referee import Referee
from fairplay.testing.hostile import HOSTILE_PLAYERS, HostilePlayer
from fairplay.testing.mutants import foreign_actions
from fairplay.testing.playouts import Sampling, playout
from tests.journal.journals import (
    FailsAtMoment,
    RecordFactory,
    crash_on_turn,
    first_action,
    good_then,
    play_illegal_action,
    record_match,
)
from tests.testing.test_hostile import SEATINGS, TABLES, honest, match_of

CLAUSE = re.compile(r"\d+\.\d+")

each_game = pytest.mark.parametrize("game", GAMES)


def kicked(directory: Path, name: str, game: str) -> Path:
    """The journal of a match with this bad player of the shelf on seat 0, who is called Bad."""
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


class Kick(NamedTuple):
    """A bad player at a game, the journal of the match, and what is said of the ejection."""

    bad: HostilePlayer
    game: str
    recorded: RecordedMatch
    report: EjectionReport


@pytest.fixture(scope="module", params=SEATINGS, ids=" of ".join)
def kick(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kick:
    name, game = request.param
    path = kicked(tmp_path_factory.mktemp("kick"), name, game)
    return Kick(HOSTILE_PLAYERS[name], game, read_legal(path), only(path))


def test_every_bad_player_finds_out_who_when_and_for_what(kick: Kick) -> None:
    report = kick.report

    assert (report.game, report.name, report.seat, report.address) == (kick.game, "Bad", 0, "./bad.py")
    assert (report.fault, report.moment) == (kick.bad.fault, kick.bad.moment)
    assert report.why
    assert report.at > 0
    assert not report.resumed


def test_a_rule_is_quoted_if_and_only_if_one_was_broken(kick: Kick) -> None:
    report = kick.report

    assert bool(report.clause) == (report.fault is Fault.ILLEGAL)
    assert report.rule == (clauses(kick.game)[report.clause] if report.clause else "")
    assert (report.answer is not None) == bool(report.clause)


def test_an_action_is_judged_the_same_again_from_what_was_shown(kick: Kick) -> None:
    report, rules = kick.report, kick.recorded.game

    if report.fault is Fault.ILLEGAL:
        with pytest.raises(IllegalAction) as illegal:
            rules.check(rules.unpack(report.shown), report.answer)
        assert (illegal.value.clause, str(illegal.value)) == (report.clause, report.why)


def test_another_answer_would_have_been_legal_on_a_turn_and_at_no_other_moment(kick: Kick) -> None:
    report, rules = kick.report, kick.recorded.game

    assert (report.legal is not None) == (report.moment is Moment.TURN)
    if report.legal is not None:
        assert 0 < report.legal.count <= MAX_COUNTED_ACTIONS
        rules.check(rules.unpack(report.shown), report.legal.example)


def test_an_ejection_report_names_fact_and_turn(kick: Kick) -> None:
    report, facts = kick.report, kick.recorded.facts

    before = facts[: report.facts]
    assert isinstance(facts[report.facts], Ejected)
    assert report.last == (before[-1] if before else None)
    acted = len([fact for fact in before if isinstance(fact, Acted) and fact.seat == 0])
    assert report.turn == acted + (report.moment is Moment.TURN)


def test_an_ejection_report_is_plain_data(kick: Kick) -> None:
    plain = msgspec.json.decode(msgspec.json.encode(kick.report))

    assert plain["fault"] == kick.report.fault.value
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
    begin, table = RecordFactory(Journal(tmp_path)), list[Any]([crash_on_turn, crash_on_turn, crash_on_turn])
    Referee().run(Tsuro(tiles=tuple(range(35)) * 10), table, seed=bytes(32), record=begin)

    assert {report.parameters["tiles"] for report in ejection_reports(read_legal(begin.path))} == {"given"}


def test_ejection_reports_are_in_the_order_of_the_ejections(tmp_path: Path) -> None:
    table = [
        FailsAtMoment(Moment.GREETING),
        good_then(1, play_illegal_action),
        FailsAtMoment(Moment.END),
        good_then(2, crash_on_turn),
    ]
    path, match = record_match(tmp_path, table)

    found = ejection_reports(read_legal(path))

    assert [(one.seat, one.moment, one.turn) for one in found[:3]] == [
        (0, Moment.GREETING, 0),
        (1, Moment.TURN, 2),
        (3, Moment.TURN, 3),
    ]
    assert (found[3].seat, found[3].moment, found[3].shown) == (2, Moment.END, None)
    assert [one.why for one in found] == [ejected.why for ejected in match.result.ejected]


def test_a_match_without_ejections_has_no_reports(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])

    assert ejection_reports(read_legal(path)) == ()


def test_a_fact_that_is_no_ejection_is_refused(tmp_path: Path) -> None:
    recorded = read_legal(record_match(tmp_path, [first_action, first_action])[0])

    with pytest.raises(BadRequest, match=r"^line 3 is not an ejection$"):
        ejection_report(recorded, recorded.entries[0])


def test_a_record_without_addresses_says_none(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])

    assert only(path, 1).address == ""


def test_a_report_says_that_the_match_was_resumed_before_the_ejection(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:7]))
    again, recorded = Journal(tmp_path).resume(path)
    with again:
        Referee().resume(recorded.match_after(None), [first_action, FailsAtMoment(Moment.GREETING)], record=again)

    report = only(path, 1)

    assert (report.moment, report.resumed, report.facts, report.turn) == (Moment.GREETING, True, 5, 2)


def test_legal_actions_are_counted_no_further_than_it_is_quick() -> None:
    game = Fish(rows=100, columns=100)

    found = legal_actions(game, game.view(game.deal(2, bytes(32)), 0))

    assert found == LegalActions(MAX_COUNTED_ACTIONS, next(game.actions(game.view(game.deal(2, bytes(32)), 0))))


@pytest.mark.parametrize(
    ("game", "state"), [("fish", FISH_EXAMPLES["cramped"]), ("tsuro", TSURO_EXAMPLES["no legal option"])]
)
def test_where_there_is_no_legal_option_none_is_legal(game: str, state: Any) -> None:
    rules = game_info(game).rules()

    assert legal_actions(rules, rules.view(state, rules.turn(state))) == LegalActions(0)


# The rule books.


def raised(game: str) -> Iterator[set[str]]:
    """For each place in the sources of a game that raises IllegalAction, the clauses that it may name."""
    for file in files(f"fairplay.games.{game}").iterdir():
        if file.name.endswith(".py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("IllegalAction"):
                    yield named_by(node.args[0], tree)


def named_by(argument: ast.expr, tree: ast.AST) -> set[str]:
    """The clauses in an argument; if it is a variable, in what is assigned to it."""
    if not isinstance(argument, ast.Name):
        return clauses_in(argument)
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(part, ast.Name) and part.id == argument.id for part in ast.walk(node.targets[0]))
    ]
    return {clause for value in values for clause in clauses_in(value)}


def clauses_in(tree: ast.AST) -> set[str]:
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return {text for text in texts if CLAUSE.fullmatch(text)}


@each_game
def test_every_clause_that_can_be_named_has_a_text(game: str) -> None:
    found = list(raised(game))

    assert len(found) >= 5
    assert all(found)
    assert set().union(*found) <= set(clauses(game))


def test_the_meter_of_clauses_turns_red() -> None:
    tree = ast.parse('clause, what = ("9.8", "x") if y else ("9.9", "z")\nraise IllegalAction(clause, what)')
    [argument] = [node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call)]

    assert named_by(argument, tree) == {"9.8", "9.9"}
    assert named_by(ast.parse('"9.7"', mode="eval").body, tree) == {"9.7"}
    assert named_by(ast.parse("unknown", mode="eval").body, tree) == set()


@each_game
def test_every_clause_that_strange_actions_break_has_a_text(game: str) -> None:
    rules, seats = TABLES[game]
    sampling = Sampling(SeededRandom(seed_from_text(f"appeal {game}")), 500, 10)
    spots = playout(Match(rules, rules.deal(seats, bytes(32)), ("p",) * seats), sampling, "seed 0")

    broken = set()
    for action in foreign_actions(rules, spots, sampling):
        for spot in spots[::10]:
            try:
                rules.check(spot.match.view(spot.match.turn), action)
            except IllegalAction as illegal:
                broken.add(illegal.clause)

    assert len(broken) >= 4
    assert broken <= set(clauses(game))


@each_game
def test_a_text_is_all_of_its_clause_and_nothing_else(game: str) -> None:
    book = " ".join(files(f"fairplay.games.{game}").joinpath("RULES.md").read_text(encoding="utf-8").split())

    for number, text in clauses(game).items():
        after = book.partition(f"- **{number}** {text}")[2]
        assert after == "" or after.startswith((" - **", " ## "))
        assert text.endswith(".")
    assert book.count("- **") == len(clauses(game))


def test_a_text_goes_over_several_lines() -> None:
    assert clauses("fish")["4.4"] == (
        "The tile that the penguin left is removed from the board, and its fish are added to the player's score. "
        "The tile that the penguin stands on is not scored."
    )


def test_an_unregistered_game_has_no_clauses() -> None:
    assert clauses("py:somebody:Else") == {}

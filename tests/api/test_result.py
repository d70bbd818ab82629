"""Test the results of matches, and that the journals behind them can be verified."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import fairplay as fp
from examples.games.tic_tac_toe import TicTacToe
from tests.api.fish_players import FISH, Cheat, Last, first, write_bot


def test_a_result_tells_all_by_name(tmp_path: Path) -> None:
    result = fp.play(FISH, {"ann": first, "bob": Last(), "cyd": Cheat()}, seed=7, journal=tmp_path)

    assert result.names == ("ann", "bob", "cyd")
    assert set().union(*result.ranking) == {"ann", "bob"}
    assert result.winners == result.ranking[0]
    assert result.scores == dict(zip(result.names, result.match.result.scores or (), strict=True))
    assert list(result.ejected) == ["cyd"]
    assert result.journal is not None and result.journal.parent == tmp_path
    assert result.receipt is not None
    assert {name: turns.count for name, turns in result.turns.items()}["cyd"] == 1
    assert result.took > 0


def test_an_ejection_tells_fault_reason_and_evidence() -> None:
    def crash(view: Any) -> Any:
        raise ValueError("no idea")

    why = fp.play(FISH, {"ann": first, "bob": crash}, seed=7).ejected["bob"]

    assert (why.fault, why.reason, why.moment) == (fp.Fault.CRASHED, "raised ValueError", fp.Moment.TURN)
    assert [line.partition(" (")[0] for line in why.evidence] == ["ValueError: no idea"]


def test_an_illegal_action_names_its_clause() -> None:
    def stubborn(view: Any) -> Any:
        return {"type": "place", "at": [0, 0]}

    why = fp.play(FISH, {"ann": stubborn, "bob": stubborn}, seed=7).ejected["bob"]

    assert why.fault is fp.Fault.ILLEGAL
    assert why.clause and why.clause in why.reason


def test_ties_share_a_set() -> None:
    result = fp.play("fish(rows=3, columns=3, fish=1)", {"ann": Cheat(), "bob": Cheat()}, seed=7)

    assert result.ranking == [] or result.ranking == [set()]
    assert set(result.ejected) == {"ann", "bob"}
    assert result.winners == set()


def test_a_game_without_points_has_no_scores() -> None:
    result = fp.play(TicTacToe(), {"ann": "lookahead", "bob": "random"}, seed=7)

    assert result.scores == {}
    assert repr(result) == "<MatchResult of tic-tac-toe: 1. ann, 2. bob>"


def test_the_repr_is_one_line_with_ranking_scores_and_ejections(tmp_path: Path) -> None:
    result = fp.play(FISH, {"ann": first, "bob": Last(), "cyd": Cheat()}, seed=7, journal=tmp_path)
    ann, bob = (result.scores[name] for name in ("ann", "bob"))
    ranking = f"1. ann {ann}, 2. bob {bob}" if ann > bob else f"1. bob {bob}, 2. ann {ann}"

    assert repr(result) == (
        f"<MatchResult of fish: {ranking}, cyd 0 ejected (malformed), journal {str(result.journal)!r}>"
    )


def test_the_repr_moves_no_terminal() -> None:
    result = fp.play(FISH, {"\x1b[2J\n": first, "b" * 100: first}, seed=7)

    assert repr(result).isprintable()
    assert len(repr(result)) < 200


def test_show_prints_board_and_ranking(capsys: pytest.CaptureFixture[str]) -> None:
    result = fp.play(FISH, {"ann": first, "cyd": Cheat()}, seed=7)

    result.show()

    shown = capsys.readouterr().out
    assert f"1. ann ({result.scores['ann']})" in shown
    assert "cyd (0) is out: malformed (turn), the answer is not an action of this game" in shown
    assert "\x1b" not in shown


def test_a_notebook_shows_the_final_position() -> None:
    assert (fp.play(FISH, ["greedy", "greedy"], seed=7)._repr_svg_() or "").startswith("<svg")


def test_a_result_crosses_processes() -> None:
    result = fp.play(FISH, {"ann": first, "cyd": Cheat()}, seed=7)

    assert pickle.loads(pickle.dumps(result)) == result


def test_verify_comes_to_the_same_results(tmp_path: Path) -> None:
    results = [fp.play(FISH, {"ann": first, "cyd": Cheat()}, seed=seed, journal=tmp_path) for seed in range(3)]

    again = fp.verify(*(one.journal for one in results if one.journal))

    assert [(one.ranking, one.scores, one.journal) for one in again] == [
        (one.ranking, one.scores, one.journal) for one in results
    ]
    assert [list(one.ejected) for one in again] == [["cyd"]] * 3


def test_verify_names_the_file_and_the_line_that_was_changed(tmp_path: Path) -> None:
    path = fp.play(FISH, [first, first], seed=7, journal=tmp_path).journal
    assert path is not None
    path.write_bytes(path.read_bytes().replace(b'"seat":1', b'"seat":0', 1))

    with pytest.raises(fp.BadRequest, match=rf"{path.name}: line \d+ .*: the hash does not fit"):
        fp.verify(path)


def test_verify_checks_a_receipt(tmp_path: Path) -> None:
    result = fp.play(FISH, [first, first], seed=7, journal=tmp_path)
    other = fp.play(FISH, [first, first], seed=7, journal=tmp_path)
    assert result.journal and result.receipt and other.receipt

    assert fp.verify(result.journal, receipt=result.receipt) == fp.verify(result.journal, receipt=str(result.receipt))
    with pytest.raises(fp.BadRequest, match="the receipt does not fit"):
        fp.verify(result.journal, receipt=other.receipt)


def test_a_recorded_match_can_be_seen_after_any_fact(tmp_path: Path) -> None:
    result = fp.play(FISH, [first, first], seed=7, journal=tmp_path)
    assert result.journal

    recorded = fp.read_journal(str(result.journal))

    assert recorded.match_after(None).state == result.match.state
    assert recorded.match_after(0).state == FISH.deal(2, bytes.fromhex(result.seed or ""))


def test_what_programs_write_on_stderr_is_kept(tmp_path: Path) -> None:
    bot = write_bot(tmp_path)
    bot.write_text(f"import sys\nprint('hello', file=sys.stderr)\n{bot.read_text()}")

    fp.play(FISH, {"ann": bot, "bob": first}, seed=7, sandbox="none", bot_logs=tmp_path / "logs")

    assert ["hello\n" in path.read_text() for path in (tmp_path / "logs").rglob("*") if path.is_file()] == [True]

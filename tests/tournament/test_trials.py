"""Try bots out before a tournament: side by side, told as they come, and once, whatever interrupts it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.tournament.events import BotTried, PlayerEjected, RoundBegan, TrialsBegan
from fairplay.tournament.places import FILE
from fairplay.tournament.running.conduct import conduct
from fairplay.tournament.running.runners import Hand, Runner, here
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import Consequence, Cup, Gate
from tests.some import some
from tests.tournament.small_cups import BAD, Noting, cup_of, played

STEADY = f"{BAD}Steady"


class Interrupting(Noting):
    """Presses Ctrl-C when so many bots were tried."""

    def __init__(self, bots: int) -> None:
        super().__init__()
        self._bots = bots

    def observe(self, event: Any) -> None:
        super().observe(event)
        if len(self.heard(BotTried)) == self._bots:
            raise KeyboardInterrupt


def cup_with(*players: str, gate: Gate = Gate.WARN) -> Cup:
    return cup_of(*players, format=RoundRobin(games=2), gate=gate)


def test_trials_that_were_made_before_an_interruption_are_not_made_again(tmp_path: Path) -> None:
    cup, again = cup_with(f"ann={STEADY}", f"bob={BAD}Crasher", f"cyd={STEADY}"), Noting()
    with pytest.raises(KeyboardInterrupt):
        conduct(cup, tmp_path, here, [Interrupting(2)])

    final = conduct(cup, tmp_path, here, [again])

    assert again.heard(TrialsBegan) == [TrialsBegan(("cyd",))]
    assert {name: bool(why) for name, why in final.verdicts.items()} == {"ann": False, "bob": True, "cyd": False}


def test_a_file_may_be_edited_as_long_as_only_trials_were_made(tmp_path: Path) -> None:
    cup = cup_with(f"ann={STEADY}", f"bob={STEADY}")
    with pytest.raises(KeyboardInterrupt):
        conduct(cup, tmp_path, here, [Interrupting(1)])
    edited = replace(cup, parameters={"rows": 3, "columns": 4})

    assert conduct(edited, tmp_path, here).over

    with pytest.raises(BadRequest, match="belongs to another tournament"):
        conduct(cup, tmp_path, here)


def test_a_bot_that_was_refused_is_tried_again_and_leaves_nothing_behind(tmp_path: Path) -> None:
    cup = cup_with(f"ann={STEADY}", f"bob={BAD}Crasher", gate=Gate.REFUSE)
    folder = tmp_path / "cups" / "cup"

    for _ in range(2):
        noting = Noting()
        with pytest.raises(BadRequest, match="not ready to play: bob"):
            conduct(cup, folder, here, [noting])
        assert "bob" in noting.heard(TrialsBegan)[0].bots
    assert list(tmp_path.iterdir()) == []


def test_a_bot_that_failed_before_an_interruption_is_refused_when_the_tournament_is_started_again(
    tmp_path: Path,
) -> None:
    cup = cup_with(f"ann={STEADY}", f"bob={BAD}Crasher", f"cyd={STEADY}", gate=Gate.REFUSE)
    with pytest.raises(KeyboardInterrupt):
        conduct(cup, tmp_path, here, [Interrupting(2)])

    with pytest.raises(BadRequest, match="not ready to play: bob"):
        conduct(cup, tmp_path, here)


def test_each_trial_is_told_before_the_next_is_made() -> None:
    tried: list[str] = []

    for done in some(here().do_all(tried.append, "abc")):
        assert done is None or done[0] == tried[-1]


def test_one_slow_bot_holds_up_no_other() -> None:
    others, done = Event(), list[str]()

    def tried(bot: str) -> str:
        if bot == "slow":
            assert others.wait(60)
        return bot

    with Runner([Hand(lambda: ThreadPoolExecutor(1)) for _ in range(2)]) as runner:
        for one in runner.do_all(tried, ["slow", "b", "c", "d", "e"]):
            if one is not None:
                done.append(one[0])
                if len(done) == 4:
                    others.set()

    assert done[-1] == "slow"


def test_what_was_ejected_before_an_interruption_is_told_with_the_round(tmp_path: Path) -> None:
    cup, noting = cup_of(f"bad={BAD}Cheat", "random", format=RoundRobin(games=4)), Noting()
    counted, _ = played(cup, tmp_path)
    log = tmp_path / FILE
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))  # the last match, and the end

    played(cup, tmp_path, observers=[noting])

    assert len(counted) == 4
    assert [(len(event.counted), event.ejections) for event in noting.heard(RoundBegan)] == [(3, 3)]


def test_ejections_from_void_attempts_before_an_interruption_are_counted_too(tmp_path: Path) -> None:
    players, noting = (f"bad={BAD}Cheat", "random"), Noting()
    cup = cup_of(*players, format=RoundRobin(games=1), default=Consequence.REPLAY)
    played(cup, tmp_path)
    log = tmp_path / FILE
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))  # the attempt that counts, and the end

    played(cup, tmp_path, observers=[noting])

    (began,) = noting.heard(RoundBegan)
    assert (began.counted, began.void_attempts, began.ejections) == ((), 2, 2)


def test_a_program_that_cannot_start_is_told_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("def take_turn(view:\n")
    cup, noting = cup_of(f"bad={tmp_path}/bot.py", "random", format=RoundRobin(games=1), sandbox="none"), Noting()

    conduct(replace(cup, gate=Gate.WARN), tmp_path / "cup", here, [noting])

    (verdict,), (event,) = noting.heard(BotTried), noting.heard(PlayerEjected)
    assert "SyntaxError" in verdict.why
    assert "SyntaxError" in (event.evidence.stderr or "").splitlines()[-1]


@pytest.mark.parametrize("was_drawn", [True, False])
def test_a_tournament_whose_seed_was_chosen_does_not_go_on_with_one_that_is_drawn(
    was_drawn: bool, tmp_path: Path
) -> None:
    cup = cup_of("random", "greedy", format=RoundRobin(games=1))
    drawn, chosen = replace(cup, seed=None), replace(cup, seed=bytes(32))
    conduct(drawn if was_drawn else cup, tmp_path, here)

    with pytest.raises(BadRequest, match="belongs to another tournament"):
        conduct(chosen if was_drawn else drawn, tmp_path, here)
    if was_drawn:
        assert conduct(drawn, tmp_path, here).over


def test_a_tournament_that_is_refused_leaves_no_folder_behind(tmp_path: Path) -> None:
    cup = cup_of("ann=greedy", f"bob=exec:{tmp_path / 'none'}", sandbox="none")

    with pytest.raises(BadRequest, match="none"):
        conduct(cup, tmp_path / "cups" / "autumn", here)

    assert list(tmp_path.iterdir()) == []

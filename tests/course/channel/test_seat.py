"""Test that a player of a course's client is ready before its match, and is replaced for each match."""

import asyncio
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Failed, Message, Start
from fairplay.core.roles import AsyncChannel, CloseReason
from fairplay.course.channel.client import CourseSeat, PlayerFailed
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Call
from fairplay.referee.local_channel import LocalChannel
from tests.course.channel.course_matches import AnyGame, built_in_strategy, run_loop_turns, run_test

USUAL = [[2] * 5] * 5
OTHER = [[2] * 6] * 3


class Player:
    """A player that tells what happens to it."""

    def __init__(self, game: AnyGame, number: int, told: list[str]) -> None:
        self._local = LocalChannel(built_in_strategy("fish"), game)
        self._name, self._told = f"{number}", told
        told.append(f"{number} sits down")

    async def ask(self, message: Message) -> Answer:
        if isinstance(message, Start):
            self._told.append(f"{self._name} plays")
        return self._local.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._told.append(f"{self._name} goes")


class Clinging(Player):
    """A player that goes only when the seat is left."""

    async def close(self, reason: CloseReason) -> None:
        while "leave" not in self._told:
            await asyncio.sleep(0)
        await super().close(reason)


async def play_matches(ahead: int, boards: list[list[list[int]]], player: type[Player] = Player) -> list[str]:
    """What happens when matches on these boards begin, one after the other."""
    told, numbers = list[str](), iter(range(1, 10))

    async def sit_down(game: AnyGame) -> AsyncChannel:
        return player(game, next(numbers), told)

    seat = CourseSeat(DIALECTS["fish"].caller("ann"), sit_down, ahead=ahead)
    await seat.prepare()
    for board in boards:
        told.append("called")
        await seat.answer(Call("playing-as", ("white",)))
        await seat.answer(Call("playing-with", (["red"],)))
        players: list[dict[str, Any]] = [{"color": colour, "score": 0, "places": []} for colour in ("white", "red")]
        await seat.answer(Call("setup", ({"players": players, "board": board},)))
        seat.prepare_next()
        await run_loop_turns()
    told.append("leave")
    await seat.leave()
    return told


def test_players_sit_down_before_their_match_and_go_after_it() -> None:
    told = run_test(play_matches(2, [USUAL, USUAL, USUAL]))

    first, second, third = "1 sits down|2 sits down|called|1 plays|called|2 plays", "3 sits down", "called|3 plays"
    assert [line for line in told if "goes" not in line] == [
        *first.split("|"),
        second,  # while the second match is played
        *third.split("|"),
        "4 sits down",
        "leave",
    ]
    assert sorted(line for line in told if "goes" in line) == [f"{number} goes" for number in (1, 2, 3, 4)]


def test_a_player_prepared_for_another_board_is_closed_and_replaced() -> None:
    told = run_test(play_matches(1, [OTHER]))

    assert [line for line in told if "goes" not in line] == ["1 sits down", "called", "2 sits down", "2 plays", "leave"]
    assert sorted(line for line in told if "goes" in line) == ["1 goes", "2 goes"]


def test_a_player_that_is_slow_to_go_does_not_hold_up_the_next_match() -> None:
    told = run_test(play_matches(0, [USUAL, USUAL], Clinging))

    assert told[: told.index("leave")] == ["called", "1 sits down", "1 plays", "called", "2 sits down", "2 plays"]
    assert sorted(told[told.index("leave") + 1 :]) == ["1 goes", "2 goes"]


def test_a_seat_at_which_no_player_could_sit_down_is_left_without_another_failure() -> None:
    async def sit_down(game: AnyGame) -> AsyncChannel:
        raise PlayerFailed(Failed(Fault.CRASHED, "it ended"))

    async def main() -> None:
        seat = CourseSeat(DIALECTS["fish"].caller("ann"), sit_down, ahead=2)
        with pytest.raises(PlayerFailed):
            await seat.prepare()
        await seat.leave()

    run_test(main())

"""Come to a house on a bad network: whoever comes back plays as if nothing had been, and nobody else notices."""

import asyncio
import operator
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.journal.replay import read
from fairplay.journal.verify import verify
from fairplay.protocol import player_side
from fairplay.protocol.limits import Limits
from fairplay.server.settings import Strangers, offer
from tests.players.test_door import run
from tests.server.guests import Gate, Guest, check_undisturbed
from tests.server.test_house import AMPLE, Open, Visit, fish, opened
from tests.server.way import CUT, LOOPBACK, Carry, Link, as_it_is, way_to

SHORT = Limits(move=3.0, first_move=3.0, start_up=60.0)
SOON = 2.0  # seconds without a message, after which a player gives a line up and comes back
PAIR = ("cyd", "dee")
FIRST_TURN = b'"take_turn"'


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long before it comes again."""
    monkeypatch.setattr(player_side, "MAX_PAUSE_S", 0.5)


def once(do: Carry) -> Carry:
    """Let it happen to the first connection, from the first turn on."""

    async def carry(link: Link, there: bool, line: bytes) -> list[bytes]:
        link.is_bad = link.is_bad or (link.number == 0 and FIRST_TURN in line)
        return await (do if link.is_bad else as_it_is)(link, there, line)

    return carry


async def ends(link: Link, there: bool, line: bytes) -> list[bytes]:
    link.cut()
    return []


async def is_reset(link: Link, there: bool, line: bytes) -> list[bytes]:
    link.cut(reset=True)
    return []


async def ends_in_an_answer(link: Link, there: bool, line: bytes) -> list[bytes]:
    return [line[: len(line) // 2], CUT] if there else [line]


async def ends_behind_an_answer(link: Link, there: bool, line: bytes) -> list[bytes]:
    return [line, CUT] if there else [line]


async def is_silent(link: Link, there: bool, line: bytes) -> list[bytes]:
    link.lose(True, False)
    return []


async def loses_what_the_house_says(link: Link, there: bool, line: bytes) -> list[bytes]:
    link.lose(False)
    return [line]


async def loses_what_the_guest_says(link: Link, there: bool, line: bytes) -> list[bytes]:
    if there:
        link.lose(True)
    return [line]


async def loses_what_comes_after_an_answer(link: Link, there: bool, line: bytes) -> list[bytes]:
    if there:
        link.lose(False)
    return [line]


async def repeats(link: Link, there: bool, line: bytes) -> list[bytes]:
    return [line, line] if there else [line]


async def cuts_in_slices(link: Link, there: bool, line: bytes) -> list[bytes]:
    return [line[at : at + 7] for at in range(0, len(line), 7)]


def is_far(random: Random) -> Carry:
    """300 ms there and back, more or less."""

    async def carry(link: Link, there: bool, line: bytes) -> list[bytes]:
        await asyncio.sleep(random.uniform(0.1, 0.2))
        return [line]

    return carry


BROKEN = (  # whoever comes back on another connection has lost nothing
    ends,
    is_reset,
    ends_in_an_answer,
    ends_behind_an_answer,
    is_silent,
    loses_what_the_house_says,
    loses_what_the_guest_says,
    loses_what_comes_after_an_answer,
)
DEAF_OR_DUMB = (is_silent, loses_what_the_house_says, loses_what_the_guest_says)
EVERYWHERE = range(3, 15)  # messages of a match, and more than there are
SLOW = {"repeats": repeats, "cuts in slices": cuts_in_slices, "is far": is_far(Random(5))}


@asynccontextmanager
async def beside(folder: Path, limits: Limits, **terms: Any) -> AsyncIterator[Open]:
    """A house where two play Q from before until after; at the end, that match is as if they had been alone."""
    offers = fish(limits=limits), offer("q", {}, least=2, most=2, limits=AMPLE)
    async with opened(folder, *offers, strangers=Strangers(matches=1), **terms) as house:
        gate = Gate(0)
        names = ("ann", "bob")
        guests = [Guest(f"{LOOPBACK}:{house.port}", name, lambda: gate, game="q") for name in names]
        try:
            await house.until(lambda: gate.waiting)
            yield house
        finally:
            gate.open()
        for guest in guests:
            assert (await asyncio.to_thread(guest.done)).lost == ""
    [path] = [path for path in house.journals().values() if set(read(path).names) == set(names)]
    check_undisturbed(path)


def journal_of(house: Open, name: str) -> Path:
    """Of the match in which somebody plays."""
    [path] = [path for path in house.journals().values() if name in read(path).names]
    return path


async def two_play_on_it(folder: Path, carry: Carry, limits: Limits = AMPLE, patience: float = SOON) -> list[Link]:
    """Let two play whose network is like that, and check that it made no difference; the connections that it took."""
    async with beside(folder, limits) as house, way_to(house.port, carry) as way:
        guests = [Guest(f"{LOOPBACK}:{way.port}", name, game="fish", idle_timeout_s=patience) for name in PAIR]
        for guest in guests:
            assert (await asyncio.to_thread(guest.done)).lost == ""
            assert len(guest.results) == 1
        check_undisturbed(journal_of(house, PAIR[0]))
        for link in way.links:
            await link.left.wait()
    return way.links


@pytest.mark.parametrize("trouble", BROKEN, ids=operator.attrgetter("__name__"))
def test_who_comes_back_from_a_line_that_broke_plays_as_if_nothing_had_been(trouble: Carry, tmp_path: Path) -> None:
    links = run(two_play_on_it(tmp_path, once(trouble)))

    assert len(links) > 2


def cut_at(number: int, *, there: bool, heard: bool) -> Carry:
    """Cut the first connection at this message to the house, or to the guest; it arrives before that, or does not."""

    async def carry(link: Link, goes_there: bool, line: bytes) -> list[bytes]:
        if link.number == 0 and goes_there is there and link.carried[there] == number:
            return [line, CUT] if heard else [CUT]
        return [line]

    return carry


@pytest.mark.parametrize("number", EVERYWHERE)
def test_a_line_may_break_at_every_message(number: int, tmp_path: Path) -> None:
    for there in (True, False):
        for heard in (True, False):
            run(two_play_on_it(tmp_path / f"{there} {heard}", cut_at(number, there=there, heard=heard)))


@pytest.mark.parametrize("trouble", SLOW)
def test_a_line_that_is_only_bad_puts_nobody_out(trouble: str, tmp_path: Path) -> None:
    run(two_play_on_it(tmp_path, SLOW[trouble], Limits(), patience=30.0))  # which are the usual ones, of 5 s


@pytest.mark.parametrize("trouble", DEAF_OR_DUMB, ids=operator.attrgetter("__name__"))
def test_who_does_not_come_back_from_a_silent_line_has_no_more_time_than_anybody(
    trouble: Carry, tmp_path: Path
) -> None:
    async def host() -> None:
        async with beside(tmp_path, SHORT) as house, way_to(house.port, once(trouble)) as way:
            away = Open(house.house, house.folder, way.port)
            cyd, dee = await away.come("cyd"), await house.come("dee")
            playing = asyncio.create_task(plays_on(cyd))
            await dee.play("suspended")
            await way.links[0].left.wait()  # the house has hung up, although nothing ever ended
            playing.cancel()
            for caller in away.callers:
                caller.leave()
            final = verify(read(journal_of(house, "cyd")))
            assert [(one.seat, one.fault) for one in final.ejected] == [(0, Fault.TIMED_OUT)]
            assert final.result.ranking == (frozenset({1}),)

    run(host())


async def plays_on(who: Visit) -> None:
    """Answer whatever comes, for ever."""
    while (message := await who.hear()) is not None:
        who.caller.say(who.answer(message))


def test_a_spectator_who_vanished_is_let_go_of_at_the_end_and_holds_up_nobody(tmp_path: Path) -> None:
    async def host() -> None:
        async with beside(tmp_path, AMPLE) as house, way_to(house.port) as way:
            away = Open(house.house, house.folder, way.port)
            cyd, dee = await house.come("cyd", game="fish"), await house.come("dee", game="fish")
            other = asyncio.create_task(dee.play("suspended"))
            await cyd.play("take_turn")
            seen = await away.watch("fish-2")
            assert (await seen.hear() or {})["type"] == "snapshot"
            way.links[0].lose(True, False)
            cyd.caller.say(cyd.answer(cyd.heard[-1]))
            await asyncio.gather(cyd.play("suspended"), other)
            await way.links[0].left.wait()
            seen.leave()
            check_undisturbed(journal_of(house, "cyd"))

    run(host())


@pytest.mark.parametrize("heals", [True, False])
def test_when_half_of_the_players_are_cut_off_for_a_while_those_who_come_back_in_time_play_on(
    heals: bool, tmp_path: Path
) -> None:
    rooms = 4

    async def host() -> None:
        async with (
            beside(tmp_path, AMPLE, window=20.0 if heals else 1.0) as house,
            way_to(house.port) as bad,
            way_to(house.port) as good,
        ):
            gate, guests = Gate(1), list[Guest]()
            for number in range(2 * rooms):
                way = bad if number % 2 else good  # so that one of each pair is cut off
                options: Any = {"game": "fish", "idle_timeout_s": 60.0 if heals else 1.0}
                guests.append(Guest(f"{LOOPBACK}:{way.port}", f"player-{number}", lambda: gate, **options))
                await house.until(partial(house.has, f"player-{number}"))
            await house.until(lambda: gate.waiting == rooms)
            bad.block()
            gate.open()
            if heals:
                await asyncio.sleep(1)
                bad.is_blocked = False
            for guest in guests:
                await asyncio.to_thread(guest.done)
            assert [len(guest.results) for guest in guests] == [1, int(heals)] * rooms
            for number in range(0, 2 * rooms, 2):
                path = journal_of(house, f"player-{number}")
                if heals:
                    check_undisturbed(path)
                else:
                    assert [(one.seat, one.fault) for one in verify(read(path)).ejected] == [(1, Fault.GONE)]

    run(host())

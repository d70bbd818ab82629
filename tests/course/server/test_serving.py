"""Test the server of a course over real connections: good clients get results, bad ones harm no other."""

import asyncio
import re
import socket
import tempfile
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.servers import SERVERS
from fairplay.course.harness.clients import Actor, Misbehaviour, play_actor
from fairplay.course.harness.hostile import BAD_NAMES, COURSE_MISBEHAVIOURS, CourseMisbehaviour, misbehave
from fairplay.course.server import serving as module
from fairplay.course.server.lobby import MAX_REPORTED_REFUSALS, CourseLobby
from fairplay.course.server.serving import NO_RESULT, CourseResult, check_journal_directory, serve
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.games import make_game
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.address import built_in_strategy
from fairplay.tournament import tournament_log
from fairplay.transport.pending import MAX_PENDING_CONNECTIONS
from tests.course.channel.course_matches import COURSE_CALLS, LOOPBACK, honest_client, sign_up_clients
from tests.nonempty import nonempty
from tests.players.programs import becomes_true, current_holdings, new_holdings

PLAYERS = {"fish": "lookahead:2", "tsuro": "second", "q": "dag"}
NAMES = ("ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ida", "jon")
Come = Callable[[int], Awaitable[Any]]  # a client, that comes to a port


def good(game: str, name: str, deed: Misbehaviour | None = None) -> Come:
    """A client that plays well, but for a deed."""
    actor = Actor(name, built_in_strategy(game, PLAYERS[game]), deed)
    return lambda port: play_actor(DIALECTS[game], LOOPBACK, port, actor)


def saying(text: bytes) -> Come:
    """A client that says something in place of its name, and nothing more."""

    async def say(port: int) -> None:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        try:
            writer.write(text)
            await reader.read()
        finally:
            writer.close()

    return say


SILENT = saying(b"")


async def open_port(told: list[str]) -> int:
    """The port at which a server waits, as it says first."""
    while not told:
        await asyncio.sleep(0.01)
    [port] = re.findall(r" at \S+:(\d+)\b", told[0])
    return int(port)


async def serving(
    game: str,
    coming: Sequence[Come],
    journal: str | None,
    tell: list[str],
    state: Any = None,
    labels: Sequence[str] = (),
    **rules: Any,
) -> CourseResult:
    """What comes of a server to which these come, one after the other."""
    chosen = replace(
        SERVERS[game].rules, **{"most": len(coming), "wait": 20.0, "waiting_periods": 1, "turn": 0.5, **rules}
    )
    server = asyncio.create_task(
        serve(DIALECTS[game], chosen, LOOPBACK, 0, report=tell.append, journal=journal, state=state, labels=labels)
    )
    port, clients = await open_port(tell), []
    try:
        for come in coming:
            clients.append(asyncio.ensure_future(come(port)))
            await asyncio.sleep(0.01)
        return await server
    finally:
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


def played(
    game: str, coming: Sequence[Come], journal: str | None = None, **rules: Any
) -> tuple[CourseResult, Any, list[str]]:
    """What a server says in the end, and meanwhile."""
    before, told = current_holdings(), list[str]()
    served = asyncio.run(serving(game, coming, journal, told, **rules))
    assert becomes_true(lambda: new_holdings(before).files == 0)
    return served, SERVERS[game].result(served.ranks, served.out), told


def ranked(served: CourseResult) -> list[str]:
    """All who are ranked."""
    return [name for rank in served.ranks for name in rank]


FIVE = [good("fish", name) for name in NAMES[:5]]
INVALID = good("fish", "bad", Misbehaviour("setup", sent=b"[99,99]\n"))
ILL_FORMED = good("fish", "bad", Misbehaviour("setup", sent=b"[1,]\n"))


@pytest.mark.parametrize(
    ("coming", "most", "result"),
    [
        (FIVE, 5, [1, 0]),
        ([good("fish", name) for name in NAMES], 10, [1, 0]),
        ([SILENT, *FIVE], 5, [1, 0]),
        ([*FIVE, INVALID], 6, [1, 1]),
        ([*FIVE, ILL_FORMED], 6, [1, 1]),
    ],
    ids=["five", "ten", "a nameless one", "invalid data", "ill-formed JSON"],
)
def test_a_tournament_of_fish_has_the_counts_of_the_course(
    coming: Sequence[Come], most: int, result: list[int]
) -> None:
    assert played("fish", coming, most=most)[1] == result


def test_the_journals_of_a_tournament_can_be_checked(tmp_path: Path) -> None:
    served, _, told = played("fish", [*FIVE, INVALID], str(tmp_path))

    paths = sorted((tmp_path / "matches").glob("*.jsonl"))
    ejected = [out for path in paths for out in verify(read_journal(path)).result.ejected]
    assert (served.out, [out.fault for out in ejected]) == (["bad"], [Fault.ILLEGAL])
    assert tournament_log.read_log(tmp_path).closed is not None
    assert [line.partition(" from ")[0] for line in told if "eject" in line] == ["bad was ejected"]
    assert told[-2].endswith(": illegal, rule 3.2: there is no tile at [99, 99]")
    assert told[-1] == f"won: {', '.join(served.ranks[0])}; misbehaved: bad"


def test_a_directory_with_a_tournament_is_refused_before_anybody_comes(tmp_path: Path) -> None:
    played("tsuro", [good("tsuro", "")], str(tmp_path))
    told, dialect, rules = list[str](), DIALECTS["tsuro"], SERVERS["tsuro"].rules

    with pytest.raises(BadRequest, match="there is a tournament"):
        asyncio.run(serve(dialect, rules, LOOPBACK, 0, report=told.append, journal=str(tmp_path)))

    assert told == []


def test_a_directory_of_a_name_that_no_directory_can_have_is_refused() -> None:
    with pytest.raises(BadRequest, match="cannot write journals in"):
        check_journal_directory(Path("a\0b"))


def test_who_fails_at_the_first_or_at_the_last_call_is_out() -> None:
    early, late = good("fish", "early", Misbehaviour("start")), good("fish", "late", Misbehaviour("end"))

    served, result, told = played("fish", [early, *FIVE[:4], late])

    assert (served.out, result[1]) == (["early", "late"], 2)
    assert [line for line in told if "failed at" in line] == [
        "early failed at start: gone, the connection was closed",
        "late failed at end: gone, the connection was closed",
    ]
    assert not {"early", "late"} & set(ranked(served))


def test_who_fails_at_the_first_call_is_cut_off_then_and_there() -> None:
    heard: list[bytes] = []

    async def mute(port: int) -> None:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b'"mute" ')
        heard.append(await reader.readline())
        writer.write(b"7")
        with suppress(ConnectionError):
            heard.append(await reader.read())
        heard.append(b"cut off")
        writer.close()

    async def last(port: int) -> None:
        strategy = built_in_strategy("fish", PLAYERS["fish"])

        def take_turn(view: Any) -> Any:
            assert heard[-1:] == [b"cut off"]
            return strategy(view)

        await play_actor(DIALECTS["fish"], LOOPBACK, port, Actor("last", take_turn))

    served, *_ = played("fish", [mute, *FIVE[:3], last])

    assert (served.out, heard[0]) == (["mute"], b'["start",[true]]\n')


def test_a_client_that_is_silent_is_out_after_the_time_of_the_server() -> None:
    *_, told = played("fish", [good("fish", "mute", Misbehaviour("start", sent=None)), *FIVE], turn=1.0)

    assert "mute failed at start: timed out, no answer within 1 s" in told


def test_if_everybody_is_out_nobody_has_won() -> None:
    coming = [good("fish", name, Misbehaviour("setup", sent=b'"void"\n')) for name in NAMES[:6]]

    served, result, told = played("fish", coming)

    assert result == [0, 6]
    assert told[-1] == f"won: none; misbehaved: {', '.join(served.out)}"
    assert sorted(served.out) == sorted(NAMES[:6])


def test_equal_names_are_told_apart_in_fish_and_where_they_came_from_is_said() -> None:
    served, result, told = played("fish", [good("fish", "ann") for _ in range(5)])

    assert sorted(ranked(served)) == ["ann", "ann-2", "ann-3", "ann-4", "ann-5"]
    assert result == [1, 0]
    [playing] = [line for line in told if line.startswith("playing with")]
    assert re.fullmatch(r"playing with ann(, ann-\d \(127\.0\.0\.1:\d+\)){4}", playing)


def test_no_other_waiting_period_begins_once_the_fewest_that_it_takes_are_there() -> None:
    rules, told = replace(SERVERS["q"].rules, wait=0.01), list[str]()

    async def main() -> list[str | None]:
        tasks: list[asyncio.Task[Any]] = []
        async with CourseSignUp(DIALECTS["q"], LOOPBACK, 0, most=rules.most) as listener:
            await sign_up_clients(listener, [honest_client("q", name) for name in NAMES[: rules.least]], tasks)
            clients = await CourseLobby(rules, told.append).wait_for_clients(listener)
        await asyncio.gather(*tasks)
        return [client.name for client in clients]

    assert asyncio.run(main()) == list(NAMES[: rules.least])
    assert told == []


@pytest.mark.parametrize("periods", [1, 2, 3])
def test_there_are_as_many_waiting_periods_as_the_rules_say(periods: int) -> None:
    rules, told, waits = replace(SERVERS["q"].rules, wait=0.01, waiting_periods=periods), list[str](), list[float]()

    class CountingSignUp(CourseSignUp):
        async def wait(self, within: float) -> list[Any]:
            waits.append(within)
            return await super().wait(within)

    async def main() -> list[Any]:
        async with CountingSignUp(DIALECTS["q"], LOOPBACK, 0, most=rules.most) as listener:
            return await CourseLobby(rules, told.append).wait_for_clients(listener)

    assert asyncio.run(main()) == []
    assert waits == [0.01] * periods
    assert sum("waiting once more" in line for line in told) == periods - 1


@pytest.mark.parametrize("players", [1, 2, 3, 7, 11])
def test_a_tournament_of_tsuro(players: int, tmp_path: Path) -> None:
    served, result, _ = played("tsuro", [good("tsuro", "") for _ in range(players)], str(tmp_path))

    assert served.out == []
    assert result["winners"][0]
    if players < 3:
        assert result == {"winners": [[f"player{number}" for number in range(1, players + 1)]]}
    for path in (tmp_path / "matches").glob("*.jsonl"):
        assert verify(read_journal(path)).result is not None


def test_winners_of_tsuro_that_fail_at_the_end_are_cheaters() -> None:
    served, result, _ = played("tsuro", [good("tsuro", "", Misbehaviour("end-of-tournament")) for _ in range(3)])

    assert result == {"cheaters": ["player1", "player2", "player3"]}
    assert len(served.out) == 3


@pytest.mark.parametrize("state", [None, make_game("q", {}).deal(2, bytes(32))], ids=["dealt", "given"])
def test_a_game_of_q_is_recorded(state: Any, tmp_path: Path) -> None:
    served, result, _ = played("q", [good("q", name) for name in NAMES[:2]], str(tmp_path), state=state)

    [path] = tmp_path.glob("*.jsonl")
    recorded = verify(read_journal(path))
    assert recorded.names == NAMES[:2]
    assert [NAMES[seat] for seat in sorted(recorded.result.ranking[0])] == served.ranks[0]
    assert result == [sorted(served.ranks[0]), []]


def test_nothing_is_played_from_a_state_that_is_for_fewer_than_came() -> None:
    state = make_game("q", {}).deal(2, bytes(32))

    served, _, told = played("q", [good("q", name) for name in NAMES[:3]], state=state)

    assert (served, told[-1]) == (NO_RESULT, "3 players signed up, but the state is for 2")


def test_who_is_ejected_from_a_game_of_q_is_told() -> None:
    # who goes second may have no turn: a match is over as soon as somebody has placed a whole hand
    *_, told = played("q", [good("q", "bad", Misbehaviour("take-turn", sent=b"[]\n")), good("q", "ann")])

    assert told[-3:] == [
        "playing with bad, ann",
        "bad was ejected: illegal, rule 3.1: a placement has at least one tile",
        "won: ann; misbehaved: bad",
    ]


def test_q_turns_away_who_has_the_name_of_another() -> None:
    served, _, told = played("q", [good("q", "ann"), good("q", "ann"), good("q", "bob")], most=2)

    assert sorted(ranked(served)) == ["ann", "bob"]
    assert told[2].endswith(" did not sign up: the name ann is taken")


def test_clients_that_say_no_names_are_called_by_labels_and_then_by_their_numbers() -> None:
    served, *_ = played("tsuro", [good("tsuro", "") for _ in range(3)], labels=["ann"])

    assert sorted(ranked(served)) == ["ann", "player2", "player3"]


def test_where_somebody_without_a_name_came_from_is_said() -> None:
    *_, told = played("tsuro", [good("tsuro", "")], most=1)

    came = told[1].partition(" ")[0]
    assert told[1].startswith(f"{came} has signed up: ")
    assert told[2] == f"playing with player1 ({came})"


@pytest.mark.parametrize(
    ("says", "wait", "why"),
    [
        (b'"student one!"', 0.8, '"student one!" is not a valid name (1 to 12 letters)'),
        (b'"\x1b[2J"', 0.8, '"�[2J" is not a valid name (1 to 12 letters)'),
        (b'"' + b"x" * 500 + b'" ', 0.8, f'"{"x" * 38}… is not a valid name (1 to 12 letters)'),
        (b"ann\n", 0.8, "ann is not a valid name (1 to 12 letters)"),
        (b"", 0.8, "it sent no name within 0.3 s"),
        (b"", 0.2, "the sign-up ended before it sent a name"),
    ],
)
def test_who_does_not_sign_up_is_told_to_the_host(says: bytes, wait: float, why: str) -> None:
    *_, told = played("fish", [saying(says)], most=2, least=1, wait=wait, name_timeout=0.3)

    [line] = [line for line in told if "did not sign up" in line]
    assert re.fullmatch(r"127\.0\.0\.1:\d+ did not sign up: " + re.escape(why), line)


@pytest.mark.parametrize("more", [0, 5])
def test_of_a_crowd_that_does_not_sign_up_the_first_are_told_and_the_others_counted(more: int) -> None:
    *_, told = played("fish", [saying(b"7 ")] * (MAX_REPORTED_REFUSALS + more), most=2, least=1, wait=1.0)

    refused = [line for line in told if "did not sign up" in line]
    last = refused[MAX_REPORTED_REFUSALS - 1]
    assert last.endswith("7 is not a valid name (1 to 12 letters); further ones are only counted")
    assert refused[MAX_REPORTED_REFUSALS:] == ["5 more did not sign up"] * bool(more)


@pytest.mark.parametrize(("game", "call"), [(game, call) for game, calls in COURSE_CALLS.items() for call in calls])
def test_a_bad_client_is_named_and_the_honest_end_right(game: str, call: str) -> None:
    """Each deed at one call of each game; the channel's tests have each at every call."""
    calls, before = COURSE_CALLS[game], current_holdings()
    honest = [good(game, name) for name in NAMES[: 3 if game == "q" else 5]]
    deeds = list(COURSE_MISBEHAVIOURS.values())[calls.index(call) :: len(calls)]
    deeds = [deed for deed in deeds if not (deed.at_next and call == calls[-1])]
    state = make_game("q", {}).deal(4, bytes(32)) if game == "q" else None  # in which everybody is told of new tiles

    def misbehaving(deed: CourseMisbehaviour) -> Come:
        strategy = built_in_strategy(game, PLAYERS[game])
        return lambda port: asyncio.to_thread(
            misbehave, LOOPBACK, port, DIALECTS[game], strategy, deed, call, name="bad"
        )

    async def main() -> list[CourseResult]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(3 * len(deeds)))
        return await asyncio.gather(
            *(serving(game, [misbehaving(deed), *honest], None, [], state, turn=2.0) for deed in deeds)
        )

    for deed, served in nonempty(zip(deeds, asyncio.run(main()), strict=True)):
        # in Tsuro they have no names, and connect in any order
        assert ["bad" if game == "tsuro" else name for name in served.out] == ["bad"], deed.name
        assert ranked(served)
        assert not set(served.out) & set(ranked(served))
    assert becomes_true(lambda: new_holdings(before).files == 0)


def test_a_server_that_is_called_off_leaves_nothing() -> None:
    before = current_holdings()
    rules = replace(SERVERS["fish"].rules, most=5, turn=30.0)

    async def main() -> None:
        told: list[str] = []
        serving = asyncio.create_task(serve(DIALECTS["fish"], rules, LOOPBACK, 0, report=told.append))
        port = await open_port(told)
        coming = [good("fish", name, Misbehaviour("take-turn", sent=None)) for name in NAMES[:5]]
        clients = [asyncio.ensure_future(come(port)) for come in coming]
        await asyncio.sleep(0.7)  # all of them wait for somebody who is silent
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        await asyncio.gather(*clients, return_exceptions=True)

    asyncio.run(main())

    assert becomes_true(lambda: new_holdings(before).files == 0)
    assert becomes_true(lambda: all(one in before.threads or one.daemon for one in threading.enumerate()))


def test_a_tournament_that_is_called_off_as_it_begins_leaves_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    began, called_off, conducted = threading.Event(), threading.Event(), module.run_tournament

    def late(*arguments: Any) -> Any:
        began.set()
        called_off.wait(20)
        return conducted(*arguments)

    monkeypatch.setattr(module, "run_tournament", late)

    async def main() -> None:
        rules, told = replace(SERVERS["tsuro"].rules, most=3), list[str]()
        server = asyncio.create_task(serve(DIALECTS["tsuro"], rules, LOOPBACK, 0, report=told.append))
        port = await open_port(told)
        clients = [asyncio.ensure_future(good("tsuro", "")(port)) for _ in range(3)]
        await asyncio.to_thread(began.wait, 20)
        server.cancel()
        await asyncio.sleep(0.05)
        called_off.set()
        with pytest.raises(asyncio.CancelledError):
            await server
        assert list(tmp_path.iterdir()) == []
        await asyncio.gather(*clients)

    asyncio.run(main())

    assert list(tmp_path.iterdir()) == []


# Attacks: floods of connections, bytes and names.

ELSEWHERE = "127.0.0.2"  # an address that no honest client has
CROWD, AT_ONCE = 1000, 250  # connections
BLOCK = b'"more" ' * 10_000


def has_one_address() -> bool:
    """Is there only one loopback address on this machine?"""
    try:
        with socket.socket() as one:
            one.bind((ELSEWHERE, 0))
    except OSError:
        return True
    return False


async def crowd(port: int, says: bytes, *, stays: bool) -> None:
    """A thousand connections from one address, on which this is said."""
    writers = list[asyncio.StreamWriter]()
    try:
        for _ in range(CROWD // AT_ONCE):
            for _ in range(AT_ONCE):
                with suppress(ConnectionError):
                    _, writer = await asyncio.open_connection(LOOPBACK, port, local_addr=(ELSEWHERE, 0))
                    writers.append(writer)
                    writer.write(says)
            if not stays:
                leave(writers)
        await asyncio.get_running_loop().create_future()  # until it is called off
    finally:
        leave(writers)


def leave(writers: list[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.transport.abort()
    writers.clear()


@pytest.mark.skipif(has_one_address(), reason="this machine has only one loopback address")
@pytest.mark.parametrize(
    ("says", "stays"),
    [(b"", True), (b'"x', True), (b"7", True), (b"", False), (b'"half a na', False)],
    ids=["silent", "half a name", "a number", "gone at once", "gone in the middle of a name"],
)
def test_a_thousand_foreign_connections_keep_no_client_out(says: bytes, stays: bool) -> None:
    async def attack(port: int) -> None:
        await crowd(port, says, stays=stays)

    served, result, told = played("fish", [attack, *(later(come, 0.02) for come in FIVE)], most=5, turn=20.0)

    assert (result, sorted(ranked(served))) == ([1, 0], sorted(NAMES[:5]))
    assert len([line for line in told if "did not sign up" in line]) <= MAX_REPORTED_REFUSALS + 1
    assert MAX_PENDING_CONNECTIONS < CROWD


def later(come: Come, seconds: float) -> Come:
    """A client that comes so much later."""

    async def wait(port: int) -> None:
        await asyncio.sleep(seconds)
        await come(port)

    return wait


def flooding(name: str, sent: list[int]) -> Come:
    """A client that signs up and then says more and more, whatever it is asked."""

    async def flood(port: int) -> None:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
        try:
            writer.write(b'"%b"\n' % name.encode())
            with suppress(ConnectionError):
                while True:
                    writer.write(BLOCK)
                    await writer.drain()
                    sent[0] += len(BLOCK)
        finally:
            writer.transport.abort()

    return flood


@pytest.mark.parametrize("game", ["fish", "q"])
def test_who_floods_from_the_start_is_not_even_read_and_is_out_at_its_first_call(game: str) -> None:
    sent = [0]
    honest = FIVE if game == "fish" else [good(game, name) for name in NAMES[:2]]
    last = later(good(game, "last"), 0.3)  # in which a flood could have been read

    served, _, told = played(game, [flooding("flood", sent), *honest, last], turn=20.0)

    assert served.out == ["flood"]
    assert "last" in ranked(served)
    assert sent[0] < 20_000_000  # what the buffers of the kernel and of the sender hold
    assert any("sent something before it was called" in line for line in told)


def test_a_name_of_any_kind_is_told_to_the_host_on_one_line_that_can_be_printed() -> None:
    strange = [
        *BAD_NAMES.values(),
        b'"\x1b]0;title\x07"',
        '"\u202eevil"'.encode(),
        b'"a\\u0000b"',
        b'{"a":1}',
        b'"a" ' * 500,
    ]

    served, result, told = played("fish", [*map(saying, strange), *FIVE], most=6, turn=20.0)

    refused = [line for line in told if "did not sign up" in line]
    assert all(line.isprintable() and len(line) < 200 for line in told)
    assert len(refused) == len(strange) - 1 <= MAX_REPORTED_REFUSALS
    assert set(NAMES[:5]) <= set(ranked(served))
    assert served.out == ["a"]  # whose name was followed by more of it
    assert result[1] == 1
    assert not any(re.search(r"[\x00-\x1f\u202e]", line) for line in told)

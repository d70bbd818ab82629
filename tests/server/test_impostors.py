"""Test that no client can be impersonated by its name, its messages or guesses, but only with its token."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fairplay.games import make_game
from fairplay.journal.replay import read_journal
from fairplay.server.logs import log_to
from fairplay.server.settings import ConnectionLimits, make_offer
from fairplay.server.sign_in.labels import look_alike_key
from fairplay.server.sign_in.tokens import make_token
from fairplay.transport.reconnecting import REPLACED_MESSAGE
from tests.hostile_names import NAMES
from tests.nonempty import nonempty
from tests.players.test_listener import run
from tests.server.guest_threads import check_undisturbed
from tests.server.sign_in.test_sign_in import Caller
from tests.server.test_server import AMPLE, OpenServer, Visit, fish, open_server

LOOPBACK, OTHER_ADDRESS = "127.0.0.1", "127.0.0.2"
RACES, AT_ONCE = 1000, 3
REFUSALS = ("invalid reconnect token", "invalid token for ", "the name ann requires its token")
BAD_NAMES = (
    *NAMES,
    "",
    "x" * 21,
    "../x",
    "ann ",
    "a\u0308nn",
    "an\u200bn",
    "\u0430nn",
    "~ann",
    "\n",
    "x" * 7000,
    7,
    None,
)
ALIKE = ("ann", "Ann", "ANN", "a-nn", "a_n_n", "anm", "anrn", "AnM", "an-m", "bob", "b0b", "B-O-B", "guest", "GUEST")


class Recorder(Caller):
    """A caller whose messages are recorded by an eavesdropper."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer)
        self.said: list[bytes] = []

    def say(self, text: bytes) -> None:
        self.said.append(text)
        super().say(text)


async def arrival(server: OpenServer, answer: Any, source: str = LOOPBACK) -> Recorder:
    """A caller from an address of this machine that has answered hello."""
    reader, writer = await asyncio.open_connection(LOOPBACK, server.port, local_addr=(source, 0))
    caller = Recorder(reader, writer)
    server.callers.append(caller)
    await caller.reply(answer)
    return caller


class Table(NamedTuple):
    """A match of ann, which has a token and is on turn, and bob, a guest."""

    server: OpenServer
    ann: Visit
    token: str
    bob: Visit
    said: list[bytes]  # by ann


@asynccontextmanager
async def a_match(directory: Path) -> AsyncIterator[Table]:
    """A match at a server that waits for ann; at the end they play on, and the match is undisturbed."""
    token = make_token(directory, "ann")
    offers = fish(), make_offer("tsuro", {}, min_players=5, max_players=5, wait=3600.0, limits=AMPLE)
    async with open_server(directory, *offers, connection_limits=ConnectionLimits(matches_per_client=1)) as server:
        caller = await arrival(server, {"name": "ann", "token": token})
        ann, bob = Visit(caller), await server.come("bob")
        playing = asyncio.create_task(bob.play("suspended"))
        await ann.play("take_turn")
        yield Table(server, ann, token, bob, caller.said)
        ann.caller.say(ann.answer(ann.heard[-1]))
        await asyncio.gather(ann.play("suspended"), playing)
        await replay_messages(server, caller.said)
    [path] = [path for path in server.journals().values() if read_journal(path).names == ("ann", "bob")]
    check_undisturbed(path)


async def replay_messages(server: OpenServer, said: list[bytes]) -> None:
    """Send all recorded messages, at once and one by one, and be refused."""
    for pieces in ([b"".join(said)], said):
        refused = server.server.counts.refused["malformed"]
        reader, writer = await asyncio.open_connection(LOOPBACK, server.port)
        thief = Caller(reader, writer)
        for piece in pieces:
            thief.say(piece)
            await asyncio.sleep(0)
        types = [message["type"] async for message in all_messages(thief)]
        assert types == ["hello", "goodbye"][: len(types)]  # too many messages may reset the connection before
        assert server.server.counts.refused["malformed"] == refused + 1
        thief.leave()


async def all_messages(caller: Caller) -> AsyncIterator[dict[str, Any]]:
    """All messages to a caller."""
    while (message := await caller.hear()) is not None:
        yield message


async def hear_question_again(caller: Caller, before: Visit) -> None:
    """Wait for the open question over another connection, and go on with that."""
    async for message in all_messages(caller):
        if message["type"] == "take_turn":
            assert message == before.heard[-1]
            before.caller = caller
            return
    raise AssertionError("it was disconnected")


# Its messages


def test_a_replayed_session_is_refused_while_it_lasts_and_afterwards(tmp_path: Path) -> None:
    async def host() -> None:
        async with a_match(tmp_path) as table:
            await replay_messages(table.server, table.said)
            assert {one.name: one.connection.is_connected for one in table.server.server.clients.values()} == {
                "ann": True,
                "bob": True,
            }

    run(host())


# Its name, its id, or a guess


def test_no_seat_is_taken_over_without_its_token_connected_or_not(tmp_path: Path) -> None:
    logged: list[str] = []

    async def host() -> None:
        async with a_match(tmp_path) as (server, ann, token, bob, _):
            id = next(id for id in server.server.clients if id.startswith("~"))
            reconnect_token = str(bob.heard[0]["reconnect_token"])
            assert reconnect_token.startswith(f"{id}.")
            eve = await server.come("eve", game="tsuro")
            mac = str(eve.heard[0]["reconnect_token"]).partition(".")[2]
            guesses = ("ann", token[:-1], token.upper(), f"{token} ", reconnect_token)
            refused: list[dict[str, str]] = [
                {"name": "ann"},
                *({"name": "ann", "token": guess} for guess in guesses),
                {"name": "Ann", "token": token},
                {"name": "bob", "token": token},
                {"token": token},
                *(
                    {"token": guess}
                    for guess in (id, f"{id}.", f"{id}.{mac}", f"{id}.{'0' * 32}", reconnect_token[:-1])
                ),
            ]
            seats = {one.name: one.connection for one in server.server.clients.values()}
            for lost in (False, True):
                if lost:
                    ann.caller.leave()
                    await server.until(lambda: not seats["ann"].is_connected)
                for wishes in refused:
                    assert (await server.refusal(**wishes)).startswith(REFUSALS), wishes
                double = await server.come("bob", game="tsuro")
                assert double.name.startswith("bob-")
                assert (seats["ann"].is_connected, seats["bob"].is_connected) == (not lost, True)
            await hear_question_again(await arrival(server, {"name": "ann", "token": token}, OTHER_ADDRESS), ann)

    with log_to(logged.append, as_json=True):
        run(host())

    wrong = [line for line in logged if '"reason":"invalid_token"' in line]
    assert len(wrong) == 2 * 12
    assert all('"address":"127.0.0.1:' in line for line in wrong)


def test_a_connection_with_the_token_takes_over_a_seat(tmp_path: Path) -> None:
    logged: list[str] = []

    async def host() -> None:
        async with a_match(tmp_path) as (server, ann, token, _, _):
            for _ in range(20):
                before, newer = ann.caller, await arrival(server, {"name": "ann", "token": token})
                await hear_question_again(newer, ann)
                assert [message["why"] async for message in all_messages(before)] == [REPLACED_MESSAGE]

    with log_to(logged.append, as_json=True):
        run(host())

    assert sum('"event":"reconnected","name":"ann","address":"127.0.0.1:' in line for line in logged) == 20


# A name like another


def test_an_invalid_name_is_refused_and_look_alike_names_are_made_different(tmp_path: Path) -> None:
    async def host() -> None:
        async with a_match(tmp_path) as table:
            server = table.server
            for name in nonempty(BAD_NAMES):
                assert (await server.refusal(name=name)).startswith("the answer to hello is neither null nor")
            assert {one.name for one in server.server.clients.values()} == {"ann", "bob"}

            others = await asyncio.gather(*(server.call({"name": name, "game": "tsuro"}) for name in ALIKE))
            names = [str((await caller.hear() or {}).get("name")) for caller in others]
            assert len({simplify(name) for name in ("ann", "bob", *names)}) == len(ALIKE) + 2

    run(host())


def simplify(name: str) -> str:
    """A name without the differences that a reader may miss."""
    return name.casefold().replace("-", "").replace("_", "").replace("0", "o").replace("rn", "m")


def test_a_client_gets_a_name_even_if_all_its_likely_names_are_taken(tmp_path: Path) -> None:
    async def host() -> None:
        async with a_match(tmp_path) as table:
            guests = [await guest_name(table.server, name) for name in ("eve", "eveeve", "eve-e", "eve-ev")]
            token = make_token(tmp_path, "eve")
            eve = await table.server.come("eve", token=token, game="tsuro")
            assert look_alike_key(eve.name) not in {look_alike_key(name) for name in guests}

            mallory = await table.server.come("mallory", game="tsuro")
            reconnect_token = str(mallory.heard[0]["reconnect_token"])
            mallory.caller.leave()
            await table.server.until(lambda: not table.server.has("mallory"))
            digits = reconnect_token[1:17]
            taken = [await guest_name(table.server, f"x-{digits[:length]}") for length in range(4, 17)]
            taken.append(await guest_name(table.server, "x"))
            back = await table.server.come("x", token=reconnect_token, game="tsuro")
            assert look_alike_key(back.name) not in {look_alike_key(name) for name in taken}

    run(host())


async def guest_name(server: OpenServer, name: str) -> str:
    """The name that a guest gets for this one."""
    return (await server.come(name, game="tsuro")).name


# Its token, many times at once


def test_a_thousand_races_with_one_token_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    random, rules = Random(7), make_game("fish", {})

    async def host() -> None:
        token = make_token(tmp_path, "ann")
        async with open_server(tmp_path, make_offer("fish", {}, min_players=2, max_players=2, limits=AMPLE)) as server:

            async def come(answers: int) -> Visit:
                """Connect as ann, and answer so many questions, unless another connection takes over."""
                visit = Visit(await arrival(server, {"name": "ann", "token": token}))
                visit._rules = rules
                while answers and (message := await visit.hear()) is not None:
                    said = visit.answer(message)
                    visit.caller.say(said)
                    answers -= bool(said)
                return visit

            bob = await server.come("bob")
            playing = asyncio.create_task(bob.play("suspended"))
            for _ in range(RACES):
                await asyncio.gather(*(come(random.randrange(1, 3)) for _ in range(AT_ONCE)))
            matches = bob.count("start")
            while bob.count("closing") < matches:  # the last match is played to its end
                await come(1)
            playing.cancel()
            for match, _ in bob.matches[:matches]:
                check_undisturbed(server.journals()[match])
            assert matches > 10

    run(host())

"""Test that a journal is the same if the messages of a client are split at any byte."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.server.settings import ConnectionLimits
from tests.players.test_listener import run
from tests.server.guest_threads import play_undisturbed
from tests.server.test_server import fish, open_server


async def play_split(directory: Path, split: Callable[[bytes], list[bytes]]) -> int:
    """Play a match in which one client sends its messages in pieces; the length of its longest answer."""
    longest = 0
    async with open_server(directory, fish(), connection_limits=ConnectionLimits(matches_per_client=1)) as server:
        ann, bob = await server.come("ann"), await server.come("bob")

        async def talk() -> None:
            nonlocal longest
            while (message := await ann.hear()) is not None:
                text = ann.answer(message)
                longest = max(longest, len(text))
                for piece in split(text):
                    ann.caller.say(piece)
                    await asyncio.sleep(0)  # so that it arrives by itself

        await asyncio.gather(talk(), bob.play("suspended"))
        [path] = server.journals().values()
    recorded = read_journal(path)
    final = verify(recorded)
    assert not final.ejected
    assert (final.result, list(recorded.facts)) == play_undisturbed(recorded)
    return longest


def split_at(at: int, text: bytes) -> list[bytes]:
    return [text[:at], text[at:]]


def test_messages_split_at_any_byte_give_the_same_journal(tmp_path: Path) -> None:
    longest = run(play_split(tmp_path / "whole", lambda text: [text]))

    assert longest > 60
    for at in range(1, longest):
        run(play_split(tmp_path / f"{at}", partial(split_at, at)))


def test_messages_sent_byte_by_byte_give_the_same_journal(tmp_path: Path) -> None:
    run(play_split(tmp_path, lambda text: [text[at : at + 1] for at in range(len(text))]))

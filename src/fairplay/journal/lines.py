"""Define the lines of a journal, the hashes that chain them, and the MACs that a key adds."""

import re
from binascii import hexlify
from hashlib import blake2b, sha256
from hmac import compare_digest
from typing import Any

import msgspec

from fairplay.core.events import Fact, Result
from fairplay.core.game import Seat
from fairplay.core.messages import Evidence

FORMAT = 5
NO_HASH = b"0" * 64  # the hash before the first line
MAC_PATTERN = re.compile(rb'(\{.*)(,"mac":"[0-9a-f]{32}")', re.DOTALL)


class Parent(msgspec.Struct, frozen=True):
    """Where a branch comes from: the id of its parent match, and the number of facts that both share."""

    match: str
    facts: int


class Opening(msgspec.Struct, frozen=True, tag="opening", omit_defaults=True):
    """The first line: everything that is needed to start the match again."""

    seq: int
    at: float  # wall time, in seconds
    format: int
    fairplay: str
    match: str  # its id
    game: str
    rules: str  # the version of the game's rules
    parameters: dict[str, Any]
    names: tuple[str, ...]  # the requested labels
    players: tuple[str, ...] = ()  # their addresses
    limits: dict[str, float] | None = None  # the time control; None: there was none
    sandbox: str = ""  # the sandbox of programs; empty: there were none
    pondering: bool = False  # may programs think during the turns of others?
    seed: str | None = None  # in hex; None: the state was given
    commitment: str | None = None  # the hash of the seed and the id, as published at the start
    random_seed: bool = False  # was the seed drawn at random, not chosen by the host?
    guessable: bool = False  # was the seed made from a short text?
    sealed: bool = False  # is the seed revealed later than the result?
    state: Any = None
    parent: Parent | None = None


class Seated(msgspec.Struct, frozen=True, tag="seated", omit_defaults=True):
    """A line after the opening or after `resumed`: all players are connected and are greeted next."""

    seq: int
    at: float
    names: tuple[str, ...]  # the final names: a guest without a label brings its own
    enforced: tuple[str, ...] = ()  # by seat: what confines a program; empty: unknown


class Entry(msgspec.Struct, frozen=True, gc=False, tag="fact", omit_defaults=True):
    """A line in the middle: a fact, its time, and how long the player took."""

    seq: int
    at: float
    took: float
    fact: Fact
    shown: Any = None  # the view or the news that an ejected player was shown
    answer: Any = None  # the refused action, so that it can be judged again
    evidence: Evidence | None = None  # more about the failure


class LateAnswer(msgspec.Struct, frozen=True, tag="late_answer"):
    """A line in the middle: the late answer of a player that timed out. It changes nothing."""

    seq: int
    at: float
    seat: Seat
    overrun: float  # seconds after its deadline, without the host's own delays


class Resumed(msgspec.Struct, frozen=True, tag="resumed", omit_defaults=True):
    """A line in the middle: the match was interrupted and resumes here; all players are seated and greeted again."""

    seq: int
    at: float
    fairplay: str
    epoch: int  # counts the processes that wrote the match: 1 started it, each that resumes it adds one
    limits: dict[str, float] | None = None  # the time control from here on; None: as before
    sandbox: str = ""  # the sandbox of programs from here on; empty: as before


class Closing(msgspec.Struct, frozen=True, tag="result"):
    """The last line."""

    seq: int
    at: float
    result: Result


JournalLine = Opening | Seated | Entry | LateAnswer | Resumed | Closing
MiddleLine = Seated | Entry | LateAnswer | Resumed
encode_line = msgspec.json.Encoder().encode
decode_line = msgspec.json.Decoder(JournalLine).decode


class OpeningFormat(msgspec.Struct, frozen=True, tag="opening"):
    """The format alone of a journal: it is read first, as other formats may not decode."""

    format: int


decode_format = msgspec.json.Decoder(OpeningFormat).decode


def line_hash(chained: bytes) -> bytes:
    """The hash of a line: of the hash before it, the match id, and the line's bytes up to its own hash."""
    return hexlify(sha256(chained).digest())


class MacKey:
    """A key that makes and checks the MACs of lines: only its owner wrote this line, and all lines before it.

    A MAC is 16 bytes of BLAKE2b with the key, over the bytes that the line's hash would cover without it.
    """

    def __init__(self, key: bytes) -> None:
        self._keyed_hash = blake2b(digest_size=16, key=key)  # copying it is faster than making a new one

    def mac_field(self, chained: bytes) -> bytes:
        """The field with the MAC of a line, to append to the line's bytes."""
        mac = self._keyed_hash.copy()
        mac.update(chained)
        return b',"mac":"%b"' % hexlify(mac.digest())

    def verify(self, before: bytes, match: bytes, body: bytes) -> bool:
        """Do a line's bytes end with a valid MAC?"""
        found = MAC_PATTERN.fullmatch(body)
        return found is not None and compare_digest(self.mac_field(before + match + found[1]), found[2])

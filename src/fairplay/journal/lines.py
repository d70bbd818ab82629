"""Say what the lines of a journal hold, how they are chained, and how whoever wrote them knows them again."""

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
NO_HASH = b"0" * 64  # what the first line is chained to
MAC_PATTERN = re.compile(rb'(\{.*)(,"mac":"[0-9a-f]{32}")', re.DOTALL)


class Parent(msgspec.Struct, frozen=True):
    """Where a branch comes from: the id of another match, and after how many of its facts it goes its own way."""

    match: str
    facts: int


class Opening(msgspec.Struct, frozen=True, tag="opening", omit_defaults=True):
    """The first line: all that is needed to begin the match again."""

    seq: int
    at: float  # wall time, in seconds
    format: int
    fairplay: str
    match: str  # its id
    game: str
    rules: str  # the version of the game's rules
    parameters: dict[str, Any]
    names: tuple[str, ...]  # the labels that were asked for
    players: tuple[str, ...] = ()  # their addresses
    limits: dict[str, float] | None = None  # the time control; None: nobody was timed
    sandbox: str = ""  # how programs were kept apart; empty: there were none
    pondering: bool = False  # might they think while others were asked?
    seed: str | None = None  # in hex; None: the state was given
    commitment: str | None = None  # the hash of the seed and the id, which was published at the start
    random_seed: bool = False  # was the seed drawn at random, not chosen by the host?
    guessable: bool = False  # was the seed made from a short text?
    sealed: bool = False  # is the seed not revealed with the result, but later?
    state: Any = None
    parent: Parent | None = None


class Seated(msgspec.Struct, frozen=True, tag="seated", omit_defaults=True):
    """A line behind the opening, or behind `resumed`: the table is ready, and everybody is about to be greeted."""

    seq: int
    at: float
    names: tuple[str, ...]  # that people really have
    enforced: tuple[str, ...] = ()  # by seat: what keeps a program in; empty: nothing is said of it


class Entry(msgspec.Struct, frozen=True, gc=False, tag="fact", omit_defaults=True):
    """A line in the middle: what changed the match, when, and how long the player took."""

    seq: int
    at: float
    took: float
    fact: Fact
    shown: Any = None  # to a player that was ejected: the view, or the news
    answer: Any = None  # the action that was refused, so that it can be judged again
    evidence: Evidence | None = None  # what else is known of the failure


class LateAnswer(msgspec.Struct, frozen=True, tag="late_answer"):
    """A line in the middle: an ejected player did answer, too late. It changes nothing."""

    seq: int
    at: float
    seat: Seat
    overrun: float  # seconds behind its deadline, without the host's own delays


class Resumed(msgspec.Struct, frozen=True, tag="resumed", omit_defaults=True):
    """A line in the middle: the match was interrupted, and goes on here; everybody is seated and greeted again."""

    seq: int
    at: float
    fairplay: str
    epoch: int  # who writes from here on: 1 began the match, and each that goes on with it is one more
    limits: dict[str, float] | None = None  # the time control from here on; None: as before
    sandbox: str = ""  # how programs are kept apart from here on; empty: as before


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
    """The format of a journal, which is read before all else: the rest of another format may not fit."""

    format: int


decode_format = msgspec.json.Decoder(OpeningFormat).decode


def line_hash(chained: bytes) -> bytes:
    """The hash of a line, from the hash before, the id of the match, and the line's bytes up to its own hash."""
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

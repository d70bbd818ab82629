"""Read a journal, and live its facts again."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.errors import BadJournal, BadRequest
from fairplay.core.events import Acted, Fact, Fault
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.games import game_with
from fairplay.journal.record import FORMAT, NO_HASH, Closing, Entry, Line, Opening, seal

SEALED = re.compile(rb'(\{.*),"hash":"([0-9a-f]{64})"\}\n', re.DOTALL)
decode_line = msgspec.json.Decoder(Line).decode


class Recorded(msgspec.Struct, frozen=True):
    """What a journal holds; the chain is whole, the actions are those of the game."""

    opening: Opening
    entries: tuple[Entry, ...]
    closing: Closing | None  # None: the match is unfinished
    game: Game[Any, Any, Any]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What happened, in order."""
        return tuple(entry.fact for entry in self.entries)

    def at(self, facts: int | None) -> Match[Any, Any, Any]:
        """The match after so many facts; after all of them if not said."""
        if facts is not None and not 0 <= facts <= len(self.entries):
            raise BadRequest(f"there is nothing after {facts} facts: the match has {len(self.entries)}")
        return replay(self.opening, self.facts[:facts], self.game)


def read(path: Path | str, game: Game[Any, Any, Any] | None = None) -> Recorded:
    """The journal in this file. Raises BadJournal, which names the line, unless every line is in its place.

    The game is made from the opening, or is handed over by whoever has the rules that were played by.
    """
    try:
        lines = Path(path).read_bytes().splitlines(keepends=True)
    except (OSError, ValueError) as error:  # ValueError: no file can be called like that
        raise BadJournal(0, f"cannot be read: {getattr(error, 'strerror', error)}") from None
    if not lines:
        raise BadJournal(0, "the file is empty")
    opening, *rest = chained(lines)
    if not isinstance(opening, Opening):
        raise BadJournal(1, "a journal begins with its opening")
    game = game_of(opening, game)
    closing = rest.pop() if rest and isinstance(rest[-1], Closing) else None
    entries = []
    for line in rest:
        if not isinstance(line, Entry):
            raise BadJournal(line.seq + 1, "only facts can stand between the opening and the result")
        entries.append(with_actions(line, game))
    return Recorded(opening, tuple(entries), closing if isinstance(closing, Closing) else None, game)


def chained(lines: Iterable[bytes]) -> Iterator[Line]:
    """The lines, each held against the hash of the one before."""
    before, match = NO_HASH, b""
    for number, line in enumerate(lines, 1):
        sealed = SEALED.fullmatch(line)
        if sealed is None:
            raise BadJournal(number, "this is no whole line of a journal")
        body, digest = sealed.groups()
        try:
            value = decode_line(body + b"}")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadJournal(number, f"this is no line of a journal: {error}") from None
        if number == 1 and isinstance(value, Opening):
            match = value.match.encode()
        if value.seq != number - 1:
            raise BadJournal(number, f"this line says it is number {value.seq}, but it is number {number - 1}")
        if seal(before, match, body) != digest:
            raise BadJournal(number, "the hash does not fit: this line or the one before was changed")
        before = digest
        yield value


def game_of(opening: Opening, game: Game[Any, Any, Any] | None = None) -> Game[Any, Any, Any]:
    """The game that an opening names, if these are its rules; also if it was handed over."""
    if opening.format != FORMAT:
        raise BadJournal(1, f"this is format {opening.format}, and only format {FORMAT} is known")
    if game is None:
        try:
            game = game_with(opening.game, opening.parameters)
        except BadRequest as error:
            raise BadJournal(1, str(error)) from None
    elif (game.name, game.parameters()) != (opening.game, opening.parameters):
        raise BadJournal(1, f"this is not the game that was played: {opening.game} with {opening.parameters}")
    if opening.rules != game.version:
        raise BadJournal(1, f"played by version {opening.rules} of {game.name}'s rules; these are {game.version}")
    return game


def with_actions(entry: Entry, game: Game[Any, Any, Any]) -> Entry:
    """The entry with actions of the game in it, which in the file are plain JSON."""
    fact, refused = entry.fact, entry.answer
    try:
        if isinstance(fact, Acted):
            fact = Acted(fact.seat, msgspec.convert(fact.action, game.action))
        elif fact.fault is Fault.ILLEGAL:
            refused = msgspec.convert(refused, game.action)
    except msgspec.ValidationError as error:
        raise BadJournal(entry.seq + 1, f"this is no action of {game.name}: {error}") from None
    return msgspec.structs.replace(entry, fact=fact, answer=refused)


def begin(opening: Opening, game: Game[Any, Any, Any] | None = None) -> Match[Any, Any, Any]:
    """The match as it was before anything happened; the game is made from the opening, unless it was read with it."""
    game, seats = game_of(opening) if game is None else game, len(opening.names)
    if seats not in game.seats:
        raise BadJournal(1, f"{game.name} is not for {seats} players")
    try:
        if opening.seed is not None:
            state = game.deal(seats, bytes.fromhex(opening.seed))
        else:
            state = game.unpack_state(opening.state)
    except (BadRequest, ValueError) as error:
        raise BadJournal(1, f"no match can begin like this: {error}") from None
    if any(seat >= seats for seat in game.order(state)):
        raise BadJournal(1, "there are more seats in the state than names")
    return Match(game, state, opening.names)


def replay(opening: Opening, facts: Iterable[Fact], game: Game[Any, Any, Any] | None = None) -> Match[Any, Any, Any]:
    """The match after these facts; trusts that they are lawful."""
    match = begin(opening, game)
    for fact in facts:
        match = match.after(fact)
    return match

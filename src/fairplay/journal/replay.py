"""Read a journal and replay its facts."""

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.chance import SEED_BYTES, seed_commitment
from fairplay.core.errors import BadJournal, BadRequest, HostFault, error_location
from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.games import make_game
from fairplay.journal.files import read_content
from fairplay.journal.lines import (
    FORMAT,
    NO_HASH,
    Closing,
    Entry,
    JournalLine,
    LateAnswer,
    MacKey,
    MiddleLine,
    Opening,
    Resumed,
    Seated,
    decode_format,
    decode_line,
    line_hash,
)
from fairplay.referee.host_faults import describe_rules_error

OPENING_PREFIX = b'{"type":"opening",'
MISPLACED_LINES = {
    Opening: "a second opening",
    Seated: "a second seating, or one with other names than the host gave,",
    Entry: "a fact before the players were seated",
    LateAnswer: "a late answer of a player that did not time out, or a second one,",
    Closing: "a result that is not the last line",
}
CANNOT_CONTINUE = "the match cannot continue here"
GUEST_NAME = re.compile(r"[A-Za-z0-9_-]{1,30}")  # chosen by the guest, perhaps with a number behind it
HASH_PATTERN = re.compile(rb',"hash":"([0-9a-f]{64})"\}')
HASHED_LINE = re.compile(rb'(\{.*),"hash":"([0-9a-f]{64})"\}', re.DOTALL)


class RecordedMatch(msgspec.Struct, frozen=True):
    """What a journal holds; the chain is whole, the actions are those of the game.

    Attributes:
        opening: the first line.
        middle: the lines of facts, seatings and resumptions.
        closing: the last line, with the result; None: the match is unfinished.
        game: the rules, with their parameters.
        heads: the hash of each line.
        whole_bytes: the number of bytes of whole lines.
        torn_bytes: the number of bytes behind them, of a line that was never finished.
    """

    opening: Opening
    middle: tuple[MiddleLine, ...]
    closing: Closing | None
    game: Game[Any, Any, Any]
    heads: tuple[str, ...]
    whole_bytes: int
    torn_bytes: int

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The lines of the facts."""
        return tuple(line for line in self.middle if isinstance(line, Entry))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts, in order."""
        return tuple(entry.fact for entry in self.entries)

    @property
    def resumptions(self) -> tuple[int, ...]:
        """The number of facts before each resumption."""
        return tuple(facts for facts, line in self._numbered_lines if isinstance(line, Resumed))

    @property
    def seatings(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """For each seating: the number of facts before it, and the names."""
        return tuple((facts, line.names) for facts, line in self._numbered_lines if isinstance(line, Seated))

    @property
    def names(self) -> tuple[str, ...]:
        """The last names of the players; before any seating, the requested labels."""
        return self.seatings[-1][1] if self.seatings else self.opening.names

    @property
    def limits(self) -> dict[str, float] | None:
        """The last time control; None: there was none."""
        changed = [line.limits for line in self.middle if isinstance(line, Resumed) and line.limits is not None]
        return changed[-1] if changed else self.opening.limits

    @property
    def sandbox(self) -> str:
        """The last sandbox of programs; empty: there were none."""
        changed = [line.sandbox for line in self.middle if isinstance(line, Resumed) and line.sandbox]
        return changed[-1] if changed else self.opening.sandbox

    @property
    def _numbered_lines(self) -> Iterator[tuple[int, MiddleLine]]:
        """The lines in the middle, each with the number of facts before it."""
        facts = 0
        for line in self.middle:
            yield facts, line
            facts += isinstance(line, Entry)

    def lines_before(self, facts: int | None) -> tuple[MiddleLine, ...]:
        """The lines up to so many facts (default: all)."""
        entries = self.entries
        return self.middle if facts is None or facts >= len(entries) else self.middle[: entries[facts].seq - 1]

    def match_after(self, facts: int | None) -> Match[Any, Any, Any]:
        """The match after so many facts (default: all)."""
        if facts is not None and not 0 <= facts <= len(self.entries):
            raise BadRequest(f"there is no position after {facts} facts: the match has {len(self.entries)}")
        return msgspec.structs.replace(replay_facts(self.opening, self.entries[:facts], self.game), names=self.names)

    def _repr_svg_(self) -> str:
        """The last position as spectators see it, for notebooks."""
        from fairplay.journal.pictures import picture_at  # only loaded if it is displayed

        return picture_at(self, None)


def read_journal(path: Path | str, game: Game[Any, Any, Any] | None = None) -> RecordedMatch:
    """Read the journal in this file. Raises BadJournal, which names the line, unless every line is in its place.

    A torn last line is left out: it was never announced. The game is made from the opening, unless it is given.
    """
    return parse_journal(read_bytes(path), game)


def read_bytes(path: Path | str) -> bytes:
    """Read the bytes of a file that can be a journal."""
    try:
        return read_content(path)
    except (OSError, ValueError) as error:  # ValueError: no file can have this name
        raise BadJournal(0, f"cannot be read: {getattr(error, 'strerror', error)}") from None


def parse_journal(text: bytes, game: Game[Any, Any, Any] | None = None) -> RecordedMatch:
    """Parse the bytes of a journal."""
    lines, heads, torn = parse_lines(text)
    if not lines:
        if not text:
            raise BadJournal(0, "the file is empty")
        begun = text.startswith(OPENING_PREFIX) or OPENING_PREFIX.startswith(text)
        raise BadJournal(1, "the match never started" if begun else "this is not a whole line of a journal", 0)
    opening, *middle = lines
    if not isinstance(opening, Opening):
        raise BadJournal(1, "the first line of a journal must be its opening")
    game = load_game(opening, game)
    closing = middle.pop() if middle and isinstance(middle[-1], Closing) else None
    if closing is not None and torn:
        raise BadJournal(len(lines) + 1, "nothing may follow the result", len(text) - torn)
    return RecordedMatch(
        opening,
        check_middle_lines(middle, opening, game),
        closing if isinstance(closing, Closing) else None,
        game,
        heads,
        len(text) - torn,
        torn,
    )


def parse_lines(text: bytes) -> tuple[list[JournalLine], tuple[str, ...], int]:
    """Parse and check the whole lines; return them, their hashes, and the bytes of a torn last line."""
    check_format(text)
    *whole, tail = text.split(b"\n")
    lines: list[JournalLine] = []
    heads: list[str] = []
    before, match, byte = NO_HASH, b"", 0
    for number, line in enumerate(whole, 1):
        sealed = HASHED_LINE.fullmatch(line)
        if sealed is None:
            raise BadJournal(number, "this is not a whole line of a journal", byte)
        body, digest = sealed.groups()
        try:
            value = decode_line(body + b"}")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadJournal(number, f"this is not a line of a journal: {error}", byte) from None
        if number == 1 and isinstance(value, Opening):
            match = value.match.encode()
        if value.seq != number - 1:
            raise BadJournal(number, f"this line has the number {value.seq}, but should have {number - 1}", byte)
        if line_hash(before + match + body) != digest:
            raise BadJournal(number, "the hash does not fit: this line or the one before was changed", byte)
        before = digest
        lines.append(value)
        heads.append(digest.decode())
        byte += len(line) + 1
    for end in HASH_PATTERN.finditer(tail):  # the line was written completely, so it is not torn
        if end.end() < len(tail) and line_hash(before + match + tail[: end.start()]) == end[1]:
            raise BadJournal(len(whole) + 1, "the end of this line was changed", byte)
    return lines, tuple(heads), len(tail)


def check_format(text: bytes) -> None:
    """Raise BadJournal if these bytes begin a journal of another format."""
    opening = HASHED_LINE.fullmatch(text.partition(b"\n")[0])
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # parse_lines says what is wrong
        if opening is not None and (found := decode_format(opening[1] + b"}").format) != FORMAT:
            raise BadJournal(
                1, f"journal format {found} is not supported; this version of fairplay reads format {FORMAT}"
            )


def has_valid_mac(text: bytes, match: bytes, mac_key: MacKey) -> bool:
    """Does the last whole line of a journal have a valid MAC, which covers all lines before it?

    Nothing else is checked, not even the chain.
    """
    *_, before, last, _ = [b"", b"", *text.split(b"\n")]
    above, sealed = HASHED_LINE.fullmatch(before), HASHED_LINE.fullmatch(last)
    return sealed is not None and mac_key.verify(NO_HASH if above is None else above[2], match, sealed[1])


def check_middle_lines(
    lines: Iterable[JournalLine], opening: Opening, game: Game[Any, Any, Any]
) -> tuple[MiddleLine, ...]:
    """Check the order of the lines between the opening and the result, and decode their actions."""
    known: list[MiddleLine] = []
    prepared = False
    timed_out: set[Seat] = set()
    for line in lines:
        match line:
            case Entry(fact=fact) if prepared:
                known.append(decode_actions(line, game))
                if isinstance(fact, Ejected) and fact.fault is Fault.TIMED_OUT:
                    timed_out.add(fact.seat)
            case LateAnswer(seat=seat) if seat in timed_out:
                timed_out.remove(seat)
                known.append(line)
            case Resumed():
                prepared = False
                known.append(line)
            case Seated() if not prepared and are_valid_names(line, opening):
                prepared = True
                known.append(line)
            case _:
                raise BadJournal(line.seq + 1, f"{MISPLACED_LINES[type(line)]} cannot stand here")
    return tuple(known)


def are_valid_names(line: Seated, opening: Opening) -> bool:
    """Are these names possible? They are distinct, and players with a label have that name."""
    names, labels, addresses = line.names, opening.names, opening.players
    whole = len(set(names)) == len(names) == len(labels) and len(line.enforced) in (0, len(names))
    if not whole or opening.parent is not None:  # lines of the parent of a branch may name other players
        return whole
    for seat, (name, label) in enumerate(zip(names, labels, strict=True)):
        address = addresses[seat] if seat < len(addresses) else label
        labelled = label != address and not label.startswith(f"{address}-")
        if name != label and (labelled or GUEST_NAME.fullmatch(name) is None):
            return False
    return True


def load_game(opening: Opening, game: Game[Any, Any, Any] | None = None) -> Game[Any, Any, Any]:
    """The game of an opening, made or given. Raises BadJournal if its rules differ."""
    if game is None:
        try:
            game = make_game(opening.game, opening.parameters)
        except BadRequest as error:
            raise BadJournal(1, str(error)) from None
    elif (game.name, game.parameters()) != (opening.game, opening.parameters):
        raise BadJournal(1, f"this is not the recorded game: {opening.game} with {opening.parameters}")
    if opening.rules != game.version:
        raise BadJournal(
            1, f"recorded with version {opening.rules} of {game.name}'s rules; this is version {game.version}"
        )
    return game


def decode_actions(entry: Entry, game: Game[Any, Any, Any]) -> Entry:
    """Decode the actions of an entry, which are plain JSON in the file."""
    fact, refused = entry.fact, entry.answer
    try:
        if isinstance(fact, Acted):
            fact = Acted(fact.seat, msgspec.convert(fact.action, game.action))
        elif fact.fault is Fault.ILLEGAL:
            refused = msgspec.convert(refused, game.action)
    except msgspec.ValidationError as error:
        raise BadJournal(entry.seq + 1, f"this is not an action of {game.name}: {error}") from None
    return msgspec.structs.replace(entry, fact=fact, answer=refused)


def begin_match(opening: Opening, game: Game[Any, Any, Any] | None = None) -> Match[Any, Any, Any]:
    """The match before its first fact; the game is made from the opening, unless it is given."""
    game, seats = load_game(opening) if game is None else game, len(opening.names)
    if seats not in game.seats:
        raise BadJournal(1, f"{game.name} is not for {seats} players")
    try:
        if opening.seed is None:
            seed, state = None, game.unpack_state(opening.state)
        else:
            seed = verify_seed(opening)
            state = game.deal(seats, seed)
        order = game.order(state)
    except (BadJournal, HostFault):
        raise
    except (BadRequest, ValueError) as error:
        raise BadJournal(1, f"no match can start like this: {error}") from None
    except Exception as error:
        raise BadJournal(1, f"no match can start like this: {describe_rules_error(error, game)}") from error
    if any(seat >= seats for seat in order):
        raise BadJournal(1, "the state has more seats than there are names")
    return Match(game, state, opening.names, seed=seed, id=opening.match, sealed=opening.sealed)


def verify_seed(opening: Opening) -> bytes:
    """The seed. Raises BadJournal unless it fits the commitment."""
    seed = bytes.fromhex(opening.seed or "")
    if len(seed) != SEED_BYTES:
        raise BadJournal(1, f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
    if seed_commitment(seed, opening.match) != opening.commitment:
        raise BadJournal(1, "the seed does not fit the commitment")
    return seed


def replay_facts(
    opening: Opening, entries: Iterable[Entry], game: Game[Any, Any, Any] | None = None
) -> Match[Any, Any, Any]:
    """The match after the facts of these lines, which are trusted to be legal."""
    match = begin_match(opening, game)
    for entry in entries:
        try:
            match = match.after(entry.fact)
        except HostFault:
            raise
        except Exception as error:  # the rules have changed, or a fact is illegal
            raise BadJournal(entry.seq + 1, f"{CANNOT_CONTINUE}: {describe_rules_error(error, match.game)}") from error
    return match


def journal_errors(file: Path | str) -> AbstractContextManager[None]:
    """Add the name of the file to each BadJournal."""
    return error_location(file, BadJournal)


def find_seat(recorded: RecordedMatch, text: str) -> Seat:
    """The seat with this number or player's name."""
    names = recorded.names
    known = {name: seat for seat, name in enumerate(names)} | {str(seat): seat for seat in range(len(names))}
    if text not in known:
        there = ", ".join(f"{seat} ({name})" for seat, name in enumerate(names))
        raise BadRequest(f"there is no seat {text!r}; there are {there}")
    return known[text]

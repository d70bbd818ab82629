"""Say what the rules of a game must answer."""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, ClassVar, Generic, Self, TypeVar, get_type_hints

import msgspec

from fairplay.core.chance import Dice
from fairplay.core.enums import immutable
from fairplay.core.errors import BadRequest

State = TypeVar("State")
View = TypeVar("View")
Action = TypeVar("Action")

Seat = int  # 0 goes first; whoever seats the players orders them
Ranking = tuple[frozenset[Seat], ...]  # best first; ties share a set


@immutable
class Moment(Enum):
    """When a player was called: an ejection has its effects by the moment it happens in."""

    GREETING = "greeting"
    TURN = "turn"
    NEWS = "news"
    END = "end"


class News(msgspec.Struct, frozen=True):
    """What a seat must be told at once, and must acknowledge.

    Attributes:
        seat: the seat that has to be told.
        content: what it has to know, as the game says it.
    """

    seat: Seat
    content: Any


def check_seat(seat: Seat, seats: int) -> None:
    """Raise BadRequest unless there is such a seat in a match of so many."""
    if seat not in range(seats):
        raise BadRequest(f"there is no seat {seat!r}: the seats of this match are 0 to {seats - 1}")


class GameMeta(msgspec.StructMeta, ABCMeta):
    """Let a game be a frozen value and an abstract class at once."""


class Game(msgspec.Struct, Generic[State, View, Action], metaclass=GameMeta, frozen=True):
    """The rules of one game as a value; its fields are its parameters.

    States, views and actions are immutable. Every question is answered from the arguments alone, so a game
    value can be shared, compared, and written into a journal.
    """

    name: ClassVar[str]
    version: ClassVar[str]  # of the rules; journals carry it
    seats: ClassVar[range]  # how many may sit down
    youngest_first: ClassVar[bool]  # the seating, where ages are known
    action: ClassVar[Any]  # the type of its actions, for decoders

    def parameters(self) -> dict[str, Any]:
        """The parameters in plain JSON, as journals keep them."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @property
    def hidden(self) -> str:
        """What players may not know, and do know if they find out the seed, in a few words; empty: all is public."""
        return ""

    def public_parameters(self) -> dict[str, Any]:
        """The same without what players may not know before the end."""
        return self.parameters()

    @classmethod
    def with_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The game with these parameters; numbers may be given as text. Raises BadRequest if it makes no sense."""
        known = cls.__struct_fields__
        for parameter in parameters:
            if parameter not in known:
                raise BadRequest(f"{cls.name} has no parameter {parameter!r}; it has {', '.join(known)}")
        try:
            return msgspec.convert(dict(parameters), cls, strict=False)
        except (msgspec.ValidationError, UnicodeError) as error:
            for parameter, value in parameters.items():
                cls._check_parameter(parameter, value)
            raise BadRequest(f"{cls.name} cannot be played with these parameters: {error}") from None

    @classmethod
    def _check_parameter(cls, parameter: str, value: Any) -> None:
        try:
            msgspec.convert({parameter: value}, cls, strict=False)
        except (msgspec.ValidationError, UnicodeError):
            about = cls.parameter_descriptions()[parameter]
            raise BadRequest(f"{cls.name} cannot be played with {parameter}={value} ({parameter}: {about})") from None

    @classmethod
    def with_public_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The game as far as players know it, from what `public_parameters` tells them; `deal` is not theirs to ask."""
        return cls.with_parameters(parameters)

    @classmethod
    def parameter_descriptions(cls) -> dict[str, str]:
        """What each parameter means: the descriptions in their types."""
        hints = get_type_hints(cls, include_extras=True)
        metas = {field.name: getattr(hints[field.name], "__metadata__", ()) for field in msgspec.structs.fields(cls)}
        return {name: meta[-1].description or "" if meta else "" for name, meta in metas.items()}

    @abstractmethod
    def deal(self, seats: int, seed: bytes) -> State:
        """Set up a match; the only place where chance is used. Raises BadRequest if it cannot be done."""

    @abstractmethod
    def turn(self, state: State) -> Seat | None:
        """Whose turn is it? None: the game is over."""

    @abstractmethod
    def order(self, state: State) -> tuple[Seat, ...]:
        """The seats still in, from whoever moves next."""

    @abstractmethod
    def view(self, state: State, seat: Seat | None) -> View:
        """What this seat may see; None: what spectators may see."""

    @abstractmethod
    def actions(self, view: View) -> Iterator[Action]:
        """Every legal action of the seat whose view it is, lazily, simple ones first.

        Raises NotOnTurn at once if it is not its turn.
        """

    @abstractmethod
    def imagine(self, view: View, seed: bytes = b"") -> State:
        """A state that this may be the view of, to look ahead from.

        What the view does not tell is drawn, by the seed, from what is possible; where all is public there is only one.
        """

    @abstractmethod
    def check(self, view: View, action: Action) -> None:
        """Raise IllegalAction unless the rules allow it; all that it may know is in the view."""

    @abstractmethod
    def apply(self, state: State, action: Action) -> State:
        """What comes next; trusts that the action was checked."""

    def news(self, before: State, action: Action, after: State) -> tuple[News, ...]:
        """What must be told at once after an action; most games have none."""
        return ()

    @abstractmethod
    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        """The game goes on without this seat. Raises BadRequest if there is none."""

    def fits(self, state: State) -> bool:
        """Is this a state of the game with these parameters? A game whose board has a size looks at that."""
        return True

    @abstractmethod
    def ranking(self, state: State) -> Ranking:
        """The order of those still seated, best first."""

    def scores(self, state: State) -> tuple[int, ...] | None:
        """The points by seat, of the ejected too; None: this game has none.

        Nobody is ranked below somebody with fewer points, and whoever is ejected keeps what it has.
        """
        return None

    def playouts(self, state: State, numbers: range, seed: bytes) -> list[tuple[int, ...]]:
        """The scores at the end of random playouts from here, one for each number.

        Actions are those of `drawn`, and whoever has none is ejected. What comes of a number depends on it and the seed
        alone, whatever else is played.
        """
        return [self._playout(state, Dice(seed, number)) for number in numbers]

    def random_action(self, view: View, dice: Dice) -> Action | None:
        """An action for a playout, each legal one as likely as the others; None: there is none.

        A game in which there are too many to list them draws otherwise.
        """
        options = list(self.actions(view))
        return options[dice.below(len(options))] if options else None

    def _playout(self, state: State, dice: Dice) -> tuple[int, ...]:
        while (seat := self.turn(state)) is not None:
            action = self.random_action(self.view(state, seat), dice)
            state = self.eject(state, seat, Moment.TURN) if action is None else self.apply(state, action)
        scores = self.scores(state)
        if scores is None:
            raise BadRequest(f"{self.name} has no scores, which playouts come to")
        return scores

    @abstractmethod
    def pack(self, view: View) -> Any:
        """A view as plain JSON, positions and all."""

    def pack_text(self, view: View) -> bytes:
        """What `pack` gives, written down; a game may know a faster way there."""
        return msgspec.json.encode(self.pack(view))

    @abstractmethod
    def unpack(self, plain: Any) -> View:
        """The view that `pack` wrote down. Raises BadRequest on anything else."""

    @abstractmethod
    def pack_state(self, state: State) -> Any:
        """A whole state as plain JSON: for journals, never for players."""

    @abstractmethod
    def unpack_state(self, plain: Any) -> State:
        """The state that `pack_state` wrote down. Raises BadRequest on anything else."""

"""Hold one playing of a game, as a value that changes in one place."""

from typing import Any, Generic, Protocol

import msgspec

from fairplay.core.chance import seed_commitment
from fairplay.core.events import Acted, Ejected, Fact, Result
from fairplay.core.game import Action, Game, Moment, News, Seat, State, View


class VisibleMatch(Protocol):
    """What can be told and drawn of a match: a match has it, and what spectators elsewhere know of one."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def game(self) -> Game[Any, Any, Any]:
        """What is played."""

    @property
    def names(self) -> tuple[str, ...]:
        """Who plays, by seat."""

    @property
    def turn(self) -> Seat | None:
        """Whose turn is it? None: the game is over."""

    def view(self, seat: Seat | None) -> Any:
        """What this seat may see; None: what spectators may see."""


class Match(msgspec.Struct, Generic[State, View, Action], frozen=True, gc=False):
    """A match as it stands: live play, resume, replay and tests all move it on by `after`.

    Attributes:
        game: the rules, with their parameters.
        state: the state of the game.
        names: the players' names by seat: labels, never keys.
        ejected: the ejections, in their order.
        owed: news of the last fact that may not be acknowledged yet.
        seed: the seed of the deal; None: the state was given.
        id: the id, which no other match has; empty: a position that nobody plays.
        sealed: whether the seed is kept back with the result, to be revealed later by the host.
    """

    game: Game[State, View, Action]
    state: State
    names: tuple[str, ...]
    ejected: tuple[Ejected, ...] = ()
    pending_news: tuple[News, ...] = ()
    seed: bytes | None = None
    id: str = ""
    sealed: bool = False

    @property
    def turn(self) -> Seat | None:
        """Whose turn is it? None: the game is over."""
        return self.game.turn(self.state)

    @property
    def remaining_seats(self) -> tuple[Seat, ...]:
        """Whoever was not ejected: first those still in the game from the next to move, then the eliminated."""
        order = self.game.order(self.state)
        if not self.ejected and len(order) == len(self.names):
            return order
        out = {ejected.seat for ejected in self.ejected}
        rest = (seat for seat in range(len(self.names)) if seat not in order)
        return tuple(seat for seat in (*order, *rest) if seat not in out)

    @property
    def commitment(self) -> str | None:
        """What is published of the deal before anybody sits down; None if there was none."""
        return None if self.seed is None else seed_commitment(self.seed, self.id)

    @property
    def result(self) -> Result:
        """The ranking as it stands. Who failed at the end is struck out, and nobody moves up."""
        ranking = tuple(self.game.ranking(self.state))
        if self.ejected:
            out = {ejected.seat for ejected in self.ejected}
            ranking = tuple(group - out for group in ranking)
        seed = None if self.seed is None or self.sealed else self.seed.hex()
        return Result(ranking, self.ejected, self.game.scores(self.state), seed)

    def view(self, seat: Seat | None) -> View:
        """What this seat may see; None: what spectators may see."""
        return self.game.view(self.state, seat)

    def _repr_svg_(self) -> str | None:
        """What a notebook shows of it, as spectators see it; None: its game has no pictures."""
        draw = getattr(self.view(None), "_repr_svg_", None)
        return None if draw is None else str(draw(self.names))

    def after(self, fact: Fact) -> "Match[State, View, Action]":
        """The match once this has happened."""
        if isinstance(fact, Acted):
            state = self.game.apply(self.state, fact.action)
            owed = self.game.news(self.state, fact.action, state)
            return Match(self.game, state, self.names, self.ejected, owed, self.seed, self.id, self.sealed)
        state, owed = self.state, ()
        if fact.moment is not Moment.TURN:  # the others still have to be told
            owed = tuple(news for news in self.pending_news if news.seat != fact.seat)
        if fact.moment is not Moment.END:  # the game is over then, and its ranking is fixed
            state = self.game.eject(state, fact.seat, fact.moment)
        return Match(self.game, state, self.names, (*self.ejected, fact), owed, self.seed, self.id, self.sealed)

"""Define a match: an immutable value, and the one function that advances it."""

from typing import Any, Generic, Protocol

import msgspec

from fairplay.core.chance import seed_commitment
from fairplay.core.events import Acted, Ejected, Fact, Result
from fairplay.core.game import Action, Game, Moment, News, Seat, State, View


class VisibleMatch(Protocol):
    """The public part of a match: what remote spectators know of one too."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def game(self) -> Game[Any, Any, Any]:
        """The game."""

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names, by seat."""

    @property
    def turn(self) -> Seat | None:
        """Whose turn is it? None: the game is over."""

    def view(self, seat: Seat | None) -> Any:
        """The view of this seat; None: the view of spectators."""


class Match(msgspec.Struct, Generic[State, View, Action], frozen=True, gc=False):
    """A match at one moment; live play, resuming, replay and tests all advance it by `after`.

    Attributes:
        game: the rules, with their parameters.
        state: the state of the game.
        names: the players' names by seat: labels, never keys.
        ejected: the ejections, in their order.
        pending_news: news of the last action that may not be acknowledged yet.
        seed: the seed of the deal; None: the match began from a given state.
        id: a unique id; empty: a position outside of any match.
        sealed: whether the seed is left out of the result, for the host to reveal it later.
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
        """The seats that were not ejected: first those in the game, from the next to move, then the eliminated."""
        order = self.game.order(self.state)
        if not self.ejected and len(order) == len(self.names):
            return order
        out = {ejected.seat for ejected in self.ejected}
        rest = (seat for seat in range(len(self.names)) if seat not in order)
        return tuple(seat for seat in (*order, *rest) if seat not in out)

    @property
    def commitment(self) -> str | None:
        """The commitment to the deal, which is published before the match; None: there was no deal."""
        return None if self.seed is None else seed_commitment(self.seed, self.id)

    @property
    def result(self) -> Result:
        """The result as it stands. Seats that were ejected at the end are removed, and no seat moves up."""
        ranking = tuple(self.game.ranking(self.state))
        if self.ejected:
            out = {ejected.seat for ejected in self.ejected}
            ranking = tuple(group - out for group in ranking)
        seed = None if self.seed is None or self.sealed else self.seed.hex()
        return Result(ranking, self.ejected, self.game.scores(self.state), seed)

    def view(self, seat: Seat | None) -> View:
        """The view of this seat; None: the view of spectators."""
        return self.game.view(self.state, seat)

    def _repr_svg_(self) -> str | None:
        """The picture that Jupyter shows, as spectators see the match; None: the game has no pictures."""
        draw = getattr(self.view(None), "_repr_svg_", None)
        return None if draw is None else str(draw(self.names))

    def after(self, fact: Fact) -> "Match[State, View, Action]":
        """The match after a fact."""
        if isinstance(fact, Acted):
            state = self.game.apply(self.state, fact.action)
            pending = self.game.news(self.state, fact.action, state)
            return Match(self.game, state, self.names, self.ejected, pending, self.seed, self.id, self.sealed)
        state, pending = self.state, ()
        if fact.moment is not Moment.TURN:  # the other seats are still owed their news
            pending = tuple(news for news in self.pending_news if news.seat != fact.seat)
        if fact.moment is not Moment.END:  # the game is over then, and its ranking is fixed
            state = self.game.eject(state, fact.seat, fact.moment)
        return Match(self.game, state, self.names, (*self.ejected, fact), pending, self.seed, self.id, self.sealed)

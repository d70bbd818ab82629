"""Show a player that hears a recorded match again: what it says, what the referee makes of it, and how it goes on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from fairplay.core.events import Ejected
from fairplay.core.game import Seat
from fairplay.core.messages import Failed, Start, TakeTurn
from fairplay.core.roles import AsyncChannel
from fairplay.diagnosis.comparison import NO_ANSWER, Comparison, beside, told, when
from fairplay.diagnosis.rehearsal import Rehearsal
from fairplay.diagnosis.troubles import Trouble, advice, counted
from fairplay.diagnosis.understudy import Prompter, Rehearsed, Understudy
from fairplay.diagnosis.why import alternatives
from fairplay.games import title
from fairplay.hosting.notes import Notes
from fairplay.hosting.sitting import AnyMatch
from fairplay.hosting.table import Table
from fairplay.hosting.terms import Terms
from fairplay.journal.appeal import lawful_in
from fairplay.journal.replay import Recorded
from fairplay.journal.transcript import Heard
from fairplay.observers.reporter import Reporter, label
from fairplay.players.location import Location
from fairplay.referee.closing import surely
from fairplay.referee.drivers import play_async
from fairplay.referee.host import Referee
from fairplay.render.words import duration, paragraph


class Stage:
    """Where a player in the place of a seat hears what was said to it, up to a turn of its own or to the end."""

    def __init__(
        self,
        recorded: Recorded,
        seat: Seat,
        turn: int | None,  # None: to the end
        heard: Sequence[Heard],
        match: AnyMatch,  # as it stood when the last of this was heard
        tell: Callable[[str], None],
        *,
        colour: bool,
    ) -> None:
        self.notes = Notes()  # of the match that goes on
        self._recorded = recorded
        self._seat = seat
        self._turn = turn
        self._heard = heard
        self._match = match
        self._tell = tell
        self._draw = partial(title(match.game.name).text, colour=colour)

    async def perform(
        self, address: str, find: Callable[[], Location], terms: Terms, table: Table, others: Mapping[Seat, str] | None
    ) -> bool:
        """Let the player hear it all, and play on with the others at the table, if they are named. Was it the same?"""
        rehearsal, out = Rehearsal(self._recorded, self._seat, find, terms, self._say), None
        try:
            *_, last = compared = await self._walk(rehearsal, address)
            out = last.fact if isinstance(last.fact, Ejected) else None
            if self._turn is None:
                return self._all_same(compared)
            if last.heard is not self._heard[-1]:
                self._say(f"turn {self._turn} was not asked: whoever fails is out of the match")
                return False
            if others is not None:
                then = ", ".join(f"{label(self._match.names[seat])}={label(one)}" for seat, one in others.items())
                self._say("", f"the match goes on from turn {self._turn}, and is not recorded")
                self._say(f"the others answer as in the record; when it goes another way, they are: {then or 'nobody'}")
                await self._go_on(rehearsal, last, table)
            return last.same
        finally:
            await surely(rehearsal.close(out))

    async def _walk(self, rehearsal: Rehearsal, address: str) -> list[Comparison]:
        """Say it all to the player until it fails, and tell what comes of it; draw the board on the last turn."""
        compared: list[Comparison] = []
        for one in self._heard:
            is_turn = isinstance(one.message, TakeTurn)
            in_question = is_turn and one.turn == self._turn
            if one.answer is None and self._turn is None:
                self._say(f"turn {one.turn}: not asked; {NO_ANSWER}")
                break
            if compared and isinstance(one.message, Start):
                self._say("the match was interrupted here, and resumed: the player is opened anew")
            if in_question:
                self._say(*self._scene(one))
            comparison = await rehearsal.hear(one)
            compared.append(comparison)
            *words, record = *told(comparison), f"took {duration(comparison.now.took)}", beside(comparison)
            if in_question:
                self._say(*words, record)
            elif is_turn or not comparison.same or isinstance(comparison.fact, Ejected):
                self._say(f"{when(one)}: {', '.join(words)}; {record}")
            if isinstance(comparison.fact, Ejected):
                message = None if comparison.now is rehearsal.hello else one.message
                self._say(*self._help_with(Trouble(comparison.fact, message, comparison.now), address))
            if isinstance(comparison.now, Failed):
                break
        return compared

    def _all_same(self, compared: Sequence[Comparison]) -> bool:
        """Say whether all answers are the same as in the record; are they?"""
        different, last = sum(not one.same for one in compared), compared[-1].heard
        verdict = f"{different} different from the record" if different else "all the same as in the record"
        out = last is not [one for one in self._heard if one.answer is not None][-1]
        rest = "; what came then was not asked, for whoever fails is out of the match" if out else ""
        self._say(f"{counted(last.turn, 'turn')}: {verdict}{rest}")
        return not different

    def _scene(self, last: Heard) -> Iterator[str]:
        """What the seat sees on a turn."""
        match, seat = self._match, self._seat
        yield f"turn {last.turn} of {label(match.names[seat])} (seat {seat}), after {last.facts} facts"
        yield ""
        yield self._draw(match.view(seat), match.names)
        yield ""

    def _help_with(self, trouble: Trouble, address: str) -> Iterator[str]:
        """What may help the author of a player that fails."""
        if isinstance(trouble.message, TakeTurn):
            lawful, name = lawful_in(self._match.game, trouble.message.view), label(self._match.names[self._seat])
            yield from paragraph("lawful", *alternatives(lawful, "answer", name))
        yield from paragraph("advice", *advice(trouble, address))

    async def _go_on(self, rehearsal: Rehearsal, last: Comparison, table: Table) -> None:
        """Play the match on to its end, and show it."""
        match, referee = self._match, Referee()
        referee.subscribe(Reporter(self._tell, self._draw))
        self.notes = prompter = Prompter(self._recorded, last.heard.facts, match)
        with referee.informing() as inform:
            seating = await table.seated(match.game, match_id=match.id, clock=prompter.clock)
            channels: dict[Seat, AsyncChannel] = {self._seat: Rehearsed(rehearsal, last.now, self._say)}
            channels |= {seat: Understudy(seat, prompter, channel) for seat, channel in seating.channels.items()}
            await play_async(match, channels, prompter, prompter.following(inform), resumed=True)

    def _say(self, *lines: str) -> None:
        self._tell("".join(f"{line}\n" for line in lines))

"""Show a player that hears a recorded match again: what it says, what the referee makes of it, and how it goes on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from fairplay.core.events import Ejected
from fairplay.core.game import Seat
from fairplay.core.messages import Failed, Start, TakeTurn
from fairplay.core.roles import AsyncChannel
from fairplay.diagnosis.advice import BotFailure, advise, format_count
from fairplay.diagnosis.comparison import (
    NO_RECORDED_ANSWER,
    Comparison,
    describe_answer,
    describe_record,
    format_moment,
)
from fairplay.diagnosis.debug_player import DebugPlayer
from fairplay.diagnosis.ejection_explanation import describe_legal_actions
from fairplay.diagnosis.recorded_then_live import DebugChannel, RecordedAnswers, RecordedThenLive
from fairplay.games import game_info
from fairplay.hosting.conditions import MatchConditions
from fairplay.hosting.prepared_match import AnyMatch
from fairplay.hosting.table import Table
from fairplay.hosting.timing_record import TimingRecord
from fairplay.journal.ejection_report import legal_actions
from fairplay.journal.replay import RecordedMatch
from fairplay.journal.transcript import TranscriptEntry
from fairplay.observers.reporter import Reporter, printable_name
from fairplay.players.location import Location
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.referee.drivers import play_async
from fairplay.referee.referee import Referee
from fairplay.render.formatting import format_duration, format_paragraph


class DebugSession:
    """Where a player in the place of a seat hears what was said to it, up to a turn of its own or to the end."""

    def __init__(
        self,
        recorded: RecordedMatch,
        seat: Seat,
        turn: int | None,  # None: to the end
        transcript: Sequence[TranscriptEntry],
        match: AnyMatch,  # as it stood when the last of this was heard
        tell: Callable[[str], None],
        *,
        colour: bool,
    ) -> None:
        self.timing = TimingRecord()  # of the match that goes on
        self._recorded = recorded
        self._seat = seat
        self._turn = turn
        self._transcript = transcript
        self._match = match
        self._tell = tell
        self._draw = partial(game_info(match.game.name).text, colour=colour)

    async def run(
        self,
        address: str,
        find: Callable[[], Location],
        conditions: MatchConditions,
        table: Table,
        others: Mapping[Seat, str] | None,
    ) -> bool:
        """Let the player hear it all, and play on with the others at the table, if they are named. Was it the same?"""
        rehearsal, out = DebugPlayer(self._recorded, self._seat, find, conditions, self._say), None
        try:
            *_, last = compared = await self._replay_transcript(rehearsal, address)
            out = last.fact if isinstance(last.fact, Ejected) else None
            if self._turn is None:
                return self._report_sameness(compared)
            if last.entry is not self._transcript[-1]:
                self._say(f"turn {self._turn} was not asked: whoever fails is out of the match")
                return False
            if others is not None:
                then = ", ".join(
                    f"{printable_name(self._match.names[seat])}={printable_name(one)}" for seat, one in others.items()
                )
                self._say("", f"the match goes on from turn {self._turn}, and is not recorded")
                self._say(f"the others answer as in the record; when it goes another way, they are: {then or 'nobody'}")
                await self._play_on(rehearsal, last, table)
            return last.is_same
        finally:
            await finish_despite_cancellation(rehearsal.close(out))

    async def _replay_transcript(self, rehearsal: DebugPlayer, address: str) -> list[Comparison]:
        """Say it all to the player until it fails, and tell what comes of it; draw the board on the last turn."""
        compared: list[Comparison] = []
        for one in self._transcript:
            is_turn = isinstance(one.message, TakeTurn)
            in_question = is_turn and one.turn == self._turn
            if one.answer is None and self._turn is None:
                self._say(f"turn {one.turn}: not asked; {NO_RECORDED_ANSWER}")
                break
            if compared and isinstance(one.message, Start):
                self._say("the match was interrupted here, and resumed: the player is opened anew")
            if in_question:
                self._say(*self._draw_turn(one))
            comparison = await rehearsal.replay_message(one)
            compared.append(comparison)
            *words, record = (
                *describe_answer(comparison),
                f"took {format_duration(comparison.answer.took)}",
                describe_record(comparison),
            )
            if in_question:
                self._say(*words, record)
            elif is_turn or not comparison.is_same or isinstance(comparison.fact, Ejected):
                self._say(f"{format_moment(one)}: {', '.join(words)}; {record}")
            if isinstance(comparison.fact, Ejected):
                message = None if comparison.answer is rehearsal.hello else one.message
                self._say(*self._advise(BotFailure(comparison.fact, message, comparison.answer), address))
            if isinstance(comparison.answer, Failed):
                break
        return compared

    def _report_sameness(self, compared: Sequence[Comparison]) -> bool:
        """Say whether all answers are the same as in the record; are they?"""
        different, last = sum(not one.is_same for one in compared), compared[-1].entry
        verdict = f"{different} different from the record" if different else "all the same as in the record"
        out = last is not [one for one in self._transcript if one.answer is not None][-1]
        rest = "; what came then was not asked, for whoever fails is out of the match" if out else ""
        self._say(f"{format_count(last.turn, 'turn')}: {verdict}{rest}")
        return not different

    def _draw_turn(self, last: TranscriptEntry) -> Iterator[str]:
        """What the seat sees on a turn."""
        match, seat = self._match, self._seat
        yield f"turn {last.turn} of {printable_name(match.names[seat])} (seat {seat}), after {last.facts} facts"
        yield ""
        yield self._draw(match.view(seat), match.names)
        yield ""

    def _advise(self, trouble: BotFailure, address: str) -> Iterator[str]:
        """What may help the author of a player that fails."""
        if isinstance(trouble.message, TakeTurn):
            legal, name = (
                legal_actions(self._match.game, trouble.message.view),
                printable_name(self._match.names[self._seat]),
            )
            yield from format_paragraph("legal", *describe_legal_actions(legal, "answer", name))
        yield from format_paragraph("advice", *advise(trouble, address))

    async def _play_on(self, rehearsal: DebugPlayer, last: Comparison, table: Table) -> None:
        """Play the match on to its end, and show it."""
        match, referee = self._match, Referee()
        referee.subscribe(Reporter(self._tell, self._draw))
        self.timing = prompter = RecordedAnswers(self._recorded, last.entry.facts, match)
        with referee.match_observers() as inform:
            seating = await table.seat_players(match.game, match_id=match.id, clock=prompter.clock)
            channels: dict[Seat, AsyncChannel] = {self._seat: DebugChannel(rehearsal, last.answer, self._say)}
            channels |= {seat: RecordedThenLive(seat, prompter, channel) for seat, channel in seating.channels.items()}
            await play_async(match, channels, prompter, prompter.track_match(inform), resumed=True)

    def _say(self, *lines: str) -> None:
        self._tell("".join(f"{line}\n" for line in lines))

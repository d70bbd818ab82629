"""Run a player on a recorded match: print its answers, their effects, and how the match could continue."""

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
    """Asks a player in the place of a seat what the seat was asked, up to one of its turns or to the end."""

    def __init__(
        self,
        recorded: RecordedMatch,
        seat: Seat,
        turn: int | None,  # None: to the end
        transcript: Sequence[TranscriptEntry],
        match: AnyMatch,  # at the last message of the transcript
        write: Callable[[str], None],
        *,
        colour: bool,
    ) -> None:
        self.timing = TimingRecord()  # of the continued match
        self._recorded = recorded
        self._seat = seat
        self._turn = turn
        self._transcript = transcript
        self._match = match
        self._write = write
        self._draw = partial(game_info(match.game.name).text, colour=colour)

    async def run(
        self,
        address: str,
        find: Callable[[], Location],
        conditions: MatchConditions,
        table: Table,
        others: Mapping[Seat, str] | None,
    ) -> bool:
        """Ask the player everything, and continue the match with other players, if they are named.

        Returns whether its answers are those of the record.
        """
        player, out = DebugPlayer(self._recorded, self._seat, find, conditions, self._say), None
        try:
            *_, last = compared = await self._replay_transcript(player, address)
            out = last.fact if isinstance(last.fact, Ejected) else None
            if self._turn is None:
                return self._report_sameness(compared)
            if last.entry is not self._transcript[-1]:
                self._say(f"turn {self._turn} was not asked: a player that fails is out of the match")
                return False
            if others is not None:
                then = ", ".join(
                    f"{printable_name(self._match.names[seat])}={printable_name(one)}" for seat, one in others.items()
                )
                self._say("", f"the match continues from turn {self._turn}, and is not recorded")
                self._say(
                    "the others answer as in the record, and from where the match differs they are: "
                    f"{then or 'no players'}"
                )
                await self._play_on(player, last, table)
            return last.is_same
        finally:
            await finish_despite_cancellation(player.close(out))

    async def _replay_transcript(self, player: DebugPlayer, address: str) -> list[Comparison]:
        """Ask the player everything until it fails, and print the effects; draw the board on the last turn."""
        compared: list[Comparison] = []
        for one in self._transcript:
            is_turn = isinstance(one.message, TakeTurn)
            in_question = is_turn and one.turn == self._turn
            if one.answer is None and self._turn is None:
                self._say(f"turn {one.turn}: not asked; {NO_RECORDED_ANSWER}")
                break
            if compared and isinstance(one.message, Start):
                self._say("the match was interrupted here, and resumed: the player is started again")
            if in_question:
                self._say(*self._draw_turn(one))
            comparison = await player.replay_message(one)
            compared.append(comparison)
            *parts, record = (
                *describe_answer(comparison),
                f"took {format_duration(comparison.answer.took)}",
                describe_record(comparison),
            )
            if in_question:
                self._say(*parts, record)
            elif is_turn or not comparison.is_same or isinstance(comparison.fact, Ejected):
                self._say(f"{format_moment(one)}: {', '.join(parts)}; {record}")
            if isinstance(comparison.fact, Ejected):
                message = None if comparison.answer is player.hello else one.message
                self._say(*self._advise(BotFailure(comparison.fact, message, comparison.answer), address))
            if isinstance(comparison.answer, Failed):
                break
        return compared

    def _report_sameness(self, compared: Sequence[Comparison]) -> bool:
        """Print and return whether all answers are those of the record."""
        different, last = sum(not one.is_same for one in compared), compared[-1].entry
        verdict = f"{different} different from the record" if different else "all the same as in the record"
        out = last is not [one for one in self._transcript if one.answer is not None][-1]
        rest = "; the rest was not asked, as a player that fails is out of the match" if out else ""
        self._say(f"{format_count(last.turn, 'turn')}: {verdict}{rest}")
        return not different

    def _draw_turn(self, last: TranscriptEntry) -> Iterator[str]:
        """The view of the seat on a turn, as lines."""
        match, seat = self._match, self._seat
        yield f"turn {last.turn} of {printable_name(match.names[seat])} (seat {seat}), after {last.facts} facts"
        yield ""
        yield self._draw(match.view(seat), match.names)
        yield ""

    def _advise(self, failure: BotFailure, address: str) -> Iterator[str]:
        """Advice to the author of a player that fails, as lines."""
        if isinstance(failure.message, TakeTurn):
            legal, name = (
                legal_actions(self._match.game, failure.message.view),
                printable_name(self._match.names[self._seat]),
            )
            yield from format_paragraph("legal", *describe_legal_actions(legal, "answer", name))
        yield from format_paragraph("advice", *advise(failure, address))

    async def _play_on(self, player: DebugPlayer, last: Comparison, table: Table) -> None:
        """Continue the match to its end, and print it."""
        match, referee = self._match, Referee()
        referee.subscribe(Reporter(self._write, self._draw))
        self.timing = recorded = RecordedAnswers(self._recorded, last.entry.facts, match)
        with referee.match_observers() as inform:
            seating = await table.seat_players(match.game, match_id=match.id, clock=recorded.clock)
            channels: dict[Seat, AsyncChannel] = {self._seat: DebugChannel(player, last.answer, self._say)}
            channels |= {seat: RecordedThenLive(seat, recorded, channel) for seat, channel in seating.channels.items()}
            await play_async(match, channels, recorded, recorded.track_match(inform), resumed=True)

    def _say(self, *lines: str) -> None:
        self._write("".join(f"{line}\n" for line in lines))

"""Say on what conditions players are let in: how long they may take, and how programs are shut in."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fairplay.core.errors import BadJournal, HostFault
from fairplay.journal.key import NoKey, user_key_file
from fairplay.players.location import HUMAN, Command, ListenAddress, Person, parse_remote_address
from fairplay.protocol.limits import Limits
from fairplay.render.text import printable
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy

if TYPE_CHECKING:  # where nothing is recorded, nobody needs it
    from fairplay.journal.replay import RecordedMatch

MAX_MEASURE_CHARS = 300


class MatchConditions(msgspec.Struct, frozen=True):
    """The conditions for the players of one match."""

    limits: Limits | None  # None: nobody is timed, as all are in this process or people who may take their time
    sandbox: SandboxPolicy | None  # None: there are no programs

    @property
    def journal_fields(self) -> dict[str, Any]:
        """What a journal keeps of them."""
        sandbox = "" if self.sandbox is None else self.sandbox.level.value
        limits = None if self.limits is None else msgspec.structs.asdict(self.limits)
        return {"limits": limits and {name: it for name, it in limits.items() if it is not None}, "sandbox": sandbox}

    def changed_fields(self, recorded: "RecordedMatch") -> dict[str, Any]:
        """What a journal keeps of them if a match goes on, as far as they are others than before."""
        kept = self.journal_fields
        return {
            "limits": None if kept["limits"] == recorded.limits else kept["limits"],
            "sandbox": "" if kept["sandbox"] == recorded.sandbox else kept["sandbox"],
        }


def match_conditions(
    addresses: Sequence[str],
    limits: Limits | None,
    sandbox: str | None,
    hidden: Sequence[str] = (),
    games: Iterable[str] = (),
    *,
    pondering: bool = False,
) -> MatchConditions:
    """The conditions for the players of these games; programs may not see what is hidden, journals above all."""
    places = [parse_remote_address(address) for address in addresses]
    commands = [place for place in places if isinstance(place, Command)]
    if not commands:
        people = any(isinstance(place, Person) for place in places)
        others = any(isinstance(place, ListenAddress) for place in places)
        return MatchConditions(limits or Limits() if others else limits if people else None, None)
    from fairplay.sandbox.protections import parse_sandbox, wrap_command  # without programs nobody needs it
    from fairplay.sandbox.visible_files import game_files

    for place in hidden:
        try:
            if not Path(place).is_file():  # as the key is
                Path(place).mkdir(parents=True, exist_ok=True)  # what is not there cannot be hidden
        except OSError as error:
            raise HostFault(f"cannot write journals in {place}: {error.strerror}") from error
    unseen, shut_in = (*hidden, *user_key_directories()), parse_sandbox(sandbox or "auto")
    shut_in = msgspec.structs.replace(
        shut_in, visible_paths=game_files(games), hidden_paths=unseen, pondering=pondering
    )
    for command in commands:
        wrap_command(command.words, shut_in)  # is it there at all?
    return MatchConditions(limits or Limits(), shut_in)


def with_people_limit(limits: Limits | None, addresses: Sequence[str]) -> Limits | None:
    """Limits that somebody asked for: for people too, if there are any and nothing else is said of them."""
    if limits is None or limits.people is not None or HUMAN not in addresses:
        return limits
    return msgspec.structs.replace(limits, people=limits.move)


def user_key_directories() -> list[str]:
    """Where the key of whoever runs us is kept, if it was made."""
    with suppress(NoKey):
        directory = user_key_file().parent
        return [str(directory)] if directory.is_dir() else []
    return []


def recorded_conditions(
    recorded: "RecordedMatch",
    addresses: Sequence[str],
    limits: Limits | None,
    sandbox: str | None,
    hidden: Sequence[str],
) -> MatchConditions:
    """The conditions on which a match goes on: those on record, unless others are named.

    If no sandbox is named, it is the stricter one of that on record and of what this machine can do.
    """
    limits = with_people_limit(limits, addresses)
    if limits is None and recorded.limits is not None:
        try:
            limits = msgspec.convert(recorded.limits, Limits)
        except msgspec.ValidationError as error:
            raise BadJournal(1, f"these are no limits: {error}") from None
    if sandbox is None and recorded.sandbox == SandboxLevel.STRICT.value:
        sandbox = recorded.sandbox
    opening = recorded.opening
    return match_conditions(addresses, limits, sandbox, hidden, [opening.game], pondering=opening.pondering)


def missing_protections(conditions: MatchConditions) -> list[str]:
    """What a strict sandbox does without on this machine, in a line each."""
    if conditions.sandbox is None or conditions.sandbox.level is not SandboxLevel.STRICT:
        return []
    from fairplay.sandbox.sandboxed_command import optional_protections  # without programs nobody needs it

    lacking = [measure for measure in optional_protections() if measure.why_not]
    return [f"no program {measure.about}: {printable(measure.why_not, MAX_MEASURE_CHARS)}" for measure in lacking]

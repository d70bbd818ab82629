"""Define the conditions of a match: the time limits of its players and the sandbox of its programs."""

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

if TYPE_CHECKING:  # for a quick start: unrecorded matches do not need it
    from fairplay.journal.replay import RecordedMatch

MAX_MEASURE_CHARS = 300
AT_LEAST = {"strict": "strict", "landlock": "strict,landlock"}  # what a resumed match takes, by the level in its record


class MatchConditions(msgspec.Struct, frozen=True):
    """The time limits and the sandbox of one match."""

    limits: Limits | None  # None: no player is timed (all are in this process, or people without a limit)
    sandbox: SandboxPolicy | None  # None: no player is a program

    @property
    def journal_fields(self) -> dict[str, Any]:
        """The fields for a journal's opening."""
        sandbox = "" if self.sandbox is None else self.sandbox.level.value
        limits = None if self.limits is None else msgspec.structs.asdict(self.limits)
        return {"limits": limits and {name: it for name, it in limits.items() if it is not None}, "sandbox": sandbox}

    def changed_fields(self, recorded: "RecordedMatch") -> dict[str, Any]:
        """The fields for a journal's resumption: only what is different from before."""
        fields = self.journal_fields
        return {
            "limits": None if fields["limits"] == recorded.limits else fields["limits"],
            "sandbox": "" if fields["sandbox"] == recorded.sandbox else fields["sandbox"],
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
    """The conditions for the players at these addresses; programs may not see the hidden paths, such as journals."""
    places = [parse_remote_address(address) for address in addresses]
    commands = [place for place in places if isinstance(place, Command)]
    if not commands:
        people = any(isinstance(place, Person) for place in places)
        others = any(isinstance(place, ListenAddress) for place in places)
        return MatchConditions(limits or Limits() if others else limits if people else None, None)
    from fairplay.sandbox.protections import check_command, parse_sandbox  # for a quick start: only programs need it
    from fairplay.sandbox.visible_files import game_files

    for place in hidden:
        try:
            if not Path(place).is_file():  # as the key is
                Path(place).mkdir(parents=True, exist_ok=True)  # a missing directory cannot be hidden
        except OSError as error:
            raise HostFault(f"cannot write journals in {place}: {error.strerror}") from error
    policy = msgspec.structs.replace(
        parse_sandbox(sandbox or "auto"),
        visible_paths=game_files(games),
        hidden_paths=(*hidden, *user_key_directories()),
        pondering=pondering,
    )
    for command in commands:
        check_command(command.words, policy)
    return MatchConditions(limits or Limits(), policy)


def with_people_limit(limits: Limits | None, addresses: Sequence[str]) -> Limits | None:
    """Apply limits that were asked for to people too, unless they have a limit of their own."""
    if limits is None or limits.people is not None or HUMAN not in addresses:
        return limits
    return msgspec.structs.replace(limits, people=limits.move)


def user_key_directories() -> list[str]:
    """The directory of the user's key, if there is one."""
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
    """The conditions of a resumed match: those in its record, unless others are given.

    Without a given sandbox, it is the stricter one of that in the record and the best of this machine.
    """
    limits = with_people_limit(limits, addresses)
    if limits is None and recorded.limits is not None:
        try:
            limits = msgspec.convert(recorded.limits, Limits)
        except msgspec.ValidationError as error:
            raise BadJournal(1, f"invalid limits: {error}") from None
    if sandbox is None and recorded.sandbox in AT_LEAST:
        sandbox = AT_LEAST[recorded.sandbox]
    opening = recorded.opening
    return match_conditions(addresses, limits, sandbox, hidden, [opening.game], pondering=opening.pondering)


def missing_protections(conditions: MatchConditions) -> list[str]:
    """The protections that a sandbox lacks on this machine, one line each."""
    if conditions.sandbox is None or conditions.sandbox.level is SandboxLevel.NONE:
        return []
    from fairplay.sandbox.sandboxed_command import optional_protections  # for a quick start: only programs need it

    lacking = [measure for measure in optional_protections() if measure.why_not]
    return [f"no program {measure.about}: {printable(measure.why_not, MAX_MEASURE_CHARS)}" for measure in lacking]

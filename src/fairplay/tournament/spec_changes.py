"""List the changes between two versions of a tournament, so that it is not resumed as another one."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import asdict

from fairplay.core.events import Fault
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.protocol.limits import LIMIT_NAMES
from fairplay.tournament.settings import Ladder, Swiss
from fairplay.tournament.spec import TournamentSpec

MISSING = "missing"


def spec_changes(old: TournamentSpec, new: TournamentSpec) -> list[str]:
    """The changes that make the new version another tournament; empty: it is the same one.

    In Swiss and ladder, players may be added and removed between rounds, as long as no name gets another address.
    """
    return [*player_changes(old, new), *setting_changes(old, new)]


def player_changes(old: TournamentSpec, new: TournamentSpec) -> Iterator[str]:
    """Changes of players."""
    before, now = ({entrant.name: entrant.address for entrant in tournament.players} for tournament in (old, new))
    if not isinstance(new.format, Swiss | Ladder):
        yield from (f"{name} was added" for name in now if name not in before)
        yield from (f"{name} was removed" for name in before if name not in now)
    stayed = [name for name in before if name in now]
    for name in stayed:
        yield from describe_change(name, before[name], now[name])
    if stayed != [name for name in now if name in before]:
        yield "the order of the players has changed"


def setting_changes(old: TournamentSpec, new: TournamentSpec) -> Iterator[str]:
    """Changes of settings; a setting that is left out equals its default."""
    if old.seed != new.seed:
        yield "the seed has changed"
    before, now = flatten_spec(old), flatten_spec(new)
    for name in {**before, **now}:
        yield from describe_change(name, before.get(name, MISSING), now.get(name, MISSING))


def flatten_spec(spec: TournamentSpec) -> Mapping[str, Any]:
    """The settings of a tournament by their keys in the file, except the seed and the players."""
    return {
        "game": spec.game,
        **{f"parameters.{name}": value for name, value in spec.parameters.items()},
        "format.kind": type(spec.format).__struct_config__.tag,
        **{f"format.{name}": value for name, value in asdict(spec.format).items()},
        **{f"limits.{name}": getattr(spec.limits or DEFAULT_LIMITS, field) for name, field in LIMIT_NAMES.items()},
        "sandbox": spec.sandbox or "auto",
        "pondering": spec.pondering,
        "bot_check": spec.bot_check.value,
        **{f"penalties.{fault.value}": spec.penalty_for(fault).value for fault in Fault},
        "observers": spec.observers,
    }


def describe_change(what: str, before: Any, now: Any) -> Iterator[str]:
    """Describe a change, if there is one."""
    if before != now:
        yield f"{what} was {before} and is {now}"

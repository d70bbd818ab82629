"""Say what was edited in the file of a tournament, so that nobody goes on with another one under its name."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import asdict

from fairplay.core.events import Fault
from fairplay.players.remote import DEFAULT
from fairplay.protocol.limits import NAMES
from fairplay.tournament.settings import Ladder, Swiss
from fairplay.tournament.spec import Cup

MISSING = "missing"


def edits(old: Cup, new: Cup) -> list[str]:
    """What makes the new one another tournament than the old one, in words; nothing: it is the same.

    In Swiss and ladder players may come and go between rounds, as long as nobody else takes over a name.
    """
    return [*edited_players(old, new), *edited_terms(old, new)]


def edited_players(old: Cup, new: Cup) -> Iterator[str]:
    """Who plays."""
    before, now = ({entrant.name: entrant.address for entrant in cup.players} for cup in (old, new))
    if not isinstance(new.format, Swiss | Ladder):
        yield from (f"{name} was added" for name in now if name not in before)
        yield from (f"{name} was removed" for name in before if name not in now)
    stayed = [name for name in before if name in now]
    for name in stayed:
        yield from changed(name, before[name], now[name])
    if stayed != [name for name in now if name in before]:
        yield "the players are in another order"


def edited_terms(old: Cup, new: Cup) -> Iterator[str]:
    """What is played, and on what terms; what is not said is what it would be anyway."""
    if old.seed != new.seed:
        yield "the seed is another one"
    before, now = plain(old), plain(new)
    for name in {**before, **now}:
        yield from changed(name, before.get(name, MISSING), now.get(name, MISSING))


def plain(cup: Cup) -> Mapping[str, Any]:
    """What a file says of a tournament, by where it says it, but for the seed and the players."""
    return {
        "game": cup.game,
        **{f"parameters.{name}": value for name, value in cup.parameters.items()},
        "format.kind": type(cup.format).__struct_config__.tag,
        **{f"format.{name}": value for name, value in asdict(cup.format).items()},
        **{f"limits.{name}": getattr(cup.limits or DEFAULT, field) for name, field in NAMES.items()},
        "sandbox": cup.sandbox or "auto",
        "pondering": cup.pondering,
        "gate": cup.gate.value,
        **{f"faults.{fault.value}": cup.consequence(fault).value for fault in Fault},
        "observers": cup.observers,
    }


def changed(what: str, before: Any, now: Any) -> Iterator[str]:
    """That something is not what it was, if it is not."""
    if before != now:
        yield f"{what} was {before} and is {now}"

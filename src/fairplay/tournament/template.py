"""Write the file of a tournament to begin with: it can be run as it stands, and says what else there is to say."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import asdict

from fairplay.core.events import Fault
from fairplay.games import title
from fairplay.players.remote import DEFAULT
from fairplay.protocol.limits import PLAIN
from fairplay.referee.host import distinct
from fairplay.tournament.file import FORMATS, SANDBOXES
from fairplay.tournament.spec import Consequence, Gate

GAMES_PLAYED = 60
OTHER_LIMITS = {"first": 20, "bank": 60, "increment": 1}  # examples of what there is not if nothing is said

TEXT = """\
# A tournament of {game}. To run it, and to go on with it after an interruption:  fairplay tournament FILE{option}
# What is commented out need not be said.

game = "{game}"
{parameters}
# seed = "any text"  # the same seed deals the same games; if there is none, it is drawn and written down

# Who plays whom:
format = {format}
{formats}

# The players: of the house ({house}), your own (./bots/bob.py), or any program (exec:"./bot --flag").
# Paths are relative to this file. Who has no name is called like its file.
players = [
{players}
    # {{ name = "bob", player = "./bots/bob.py" }},
]
# folders = ["./bots/*.py"]  # and everybody who is there
# signup = {{ min = 2, max = 8, wait = 60, guests = true }}  # and whoever comes to: fairplay serve --tournament FILE

# Programs have so many seconds for each answer (first: the first turn; bank: all turns together), and a sandbox.
# limits = {limits}
# sandbox = "auto"  # {sandboxes}
# pondering = false  # may programs think while others are asked?

# gate = "{gate}"  # {gates}: what comes of a program that fails the trials of `fairplay check-bot`

# What comes of a fault: out of this game; out of the tournament; forfeit: without its score, too; replay: it is void.
# The faults are {faults}.
# faults = {{ default = "{consequence}", {fault} = "{worse}" }}

# Who watches the matches where they are played:
# observers = ["py:my_module:Watcher"]
"""


def template(game: str) -> str:
    """The text of a file for a tournament of the players that come with a game. Raises BadRequest if there is none."""
    shelf = title(game)
    table, house = shelf.rules.seats[0], [name for name, player in shelf.house.items() if not player.thinks]
    seated = [house[number % len(house)] for number in range(max(len(house), table))]
    default = shelf.rules().parameters()
    about = shelf.rules.about_parameters()
    kind, *_ = FORMATS
    return TEXT.format(
        game=game,
        option="".join(f" {word}" for word in title(game).option),
        parameters="\n".join(
            [
                *(f"# {name}: {about[name]}" for name in default if about[name]),
                f"{'' if shelf.quick else '# '}parameters = {inline(shelf.quick or default)}",
            ]
        ),
        format=inline({"kind": kind, "games": GAMES_PLAYED, "table": table}),
        formats="\n".join(described_formats(table)),
        house=", ".join(shelf.house),
        players="\n".join(
            f"    {inline({'name': name, 'player': player})},"
            for name, player in zip(distinct(seated), seated, strict=True)
        ),
        limits=inline({name: getattr(DEFAULT, PLAIN[name]) or OTHER_LIMITS[name] for name in PLAIN}),
        sandboxes=either(SANDBOXES),
        gates=either(gate.value for gate in Gate),
        gate=Gate.WARN.value,
        faults=", ".join(fault.value for fault in Fault),
        consequence=Consequence.GAME.value,
        fault=Fault.TIMED_OUT.value,
        worse=Consequence.TOURNAMENT.value,
    )


def described_formats(table: int) -> Iterable[str]:
    """A line for each other format: what it takes, and what it is."""
    for kind, settings in list(FORMATS.items())[1:]:
        known = asdict(settings())
        taken = {name: table if name == "table" else value for name, value in known.items()}
        yield f"# format = {inline({'kind': kind, **taken})}  # {(settings.__doc__ or '').partition('.')[0]}"


def inline(values: Mapping[str, Any]) -> str:
    """A table of TOML on one line; what is plain is written in TOML as in JSON.

    >>> inline({"kind": "swiss", "rounds": 5})
    '{ kind = "swiss", rounds = 5 }'
    """
    return f"{{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in values.items())} }}"


def either(words: Iterable[str]) -> str:
    """Words from which to choose.

    >>> either(["auto", "strict", "none"])
    'auto, strict or none'
    """
    *most, last = words
    return f"{', '.join(most)} or {last}"

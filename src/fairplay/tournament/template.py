"""Write the file of a tournament to begin with: it can be run as it stands, and says what else there is to say."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import asdict

from fairplay.core.events import Fault
from fairplay.games import game_info
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.protocol.limits import PROGRAM_LIMIT_NAMES
from fairplay.referee.referee import distinct_names
from fairplay.tournament.spec import BotCheckPolicy, Penalty
from fairplay.tournament.spec_file import FORMATS, SANDBOXES

TEMPLATE_GAMES = 60
EXAMPLE_LIMITS = {"first": 20, "bank": 60, "increment": 1}  # examples of what there is not if nothing is said

TEMPLATE = """\
# A tournament of {game}. To run it, and to go on with it after an interruption:  fairplay tournament FILE{option}
# What is commented out need not be said.

game = "{game}"
{parameters}
# seed = "any text"  # the same seed deals the same games; if there is none, it is drawn and written down

# Who plays whom:
format = {format}
{formats}

# The players: of the server ({server}), your own (./bots/bob.py), or any program (exec:"./bot --flag").
# Paths are relative to this file. Who has no name is called like its file.
players = [
{players}
    # {{ name = "bob", player = "./bots/bob.py" }},
]
# player_files = ["./bots/*.py"]  # and everybody who is there
# signup = {{ min = 2, max = 8, wait = 60, guests = true }}  # and whoever comes to: fairplay serve --tournament FILE

# Programs have so many seconds for each answer (first: the first turn; bank: all turns together), and a sandbox.
# limits = {limits}
# sandbox = "auto"  # {sandboxes}
# pondering = false  # may programs think while others are asked?

# bot_check = "{bot_check}"  # {bot_checks}: what comes of a program that fails the trials of `fairplay check-bot`

# What comes of a fault: out of this game; out of the tournament; forfeit: without its score, too; replay: it is void.
# The faults are {faults}.
# penalties = {{ default = "{penalty}", {fault} = "{worse}" }}

# Who watches the matches where they are played:
# observers = ["py:my_module:Watcher"]
"""


def tournament_template(game: str) -> str:
    """The text of a file for a tournament of the players that come with a game. Raises BadRequest if there is none."""
    shelf = game_info(game)
    table, server = shelf.rules.seats[0], [name for name, player in shelf.built_in.items() if not player.is_slow]
    seated = [server[number % len(server)] for number in range(max(len(server), table))]
    default = shelf.rules().parameters()
    about = shelf.rules.parameter_descriptions()
    kind, *_ = FORMATS
    return TEMPLATE.format(
        game=game,
        option="".join(f" {word}" for word in game_info(game).option),
        parameters="\n".join(
            [
                *(f"# {name}: {about[name]}" for name in default if about[name]),
                f"{'' if shelf.quick else '# '}parameters = {format_inline_table(shelf.quick or default)}",
            ]
        ),
        format=format_inline_table({"kind": kind, "games": TEMPLATE_GAMES, "table": table}),
        formats="\n".join(describe_formats(table)),
        server=", ".join(shelf.built_in),
        players="\n".join(
            f"    {format_inline_table({'name': name, 'player': player})},"
            for name, player in zip(distinct_names(seated), seated, strict=True)
        ),
        limits=format_inline_table(
            {
                name: getattr(DEFAULT_LIMITS, PROGRAM_LIMIT_NAMES[name]) or EXAMPLE_LIMITS[name]
                for name in PROGRAM_LIMIT_NAMES
            }
        ),
        sandboxes=format_choices(SANDBOXES),
        bot_checks=format_choices(policy.value for policy in BotCheckPolicy),
        bot_check=BotCheckPolicy.WARN.value,
        faults=", ".join(fault.value for fault in Fault),
        penalty=Penalty.EJECT.value,
        fault=Fault.TIMED_OUT.value,
        worse=Penalty.EXPEL.value,
    )


def describe_formats(table: int) -> Iterable[str]:
    """A line for each other format: what it takes, and what it is."""
    for kind, settings in list(FORMATS.items())[1:]:
        known = asdict(settings())
        taken = {name: table if name == "table" else value for name, value in known.items()}
        about = (settings.__doc__ or "").partition(".")[0]
        yield f"# format = {format_inline_table({'kind': kind, **taken})}  # {about}"


def format_inline_table(values: Mapping[str, Any]) -> str:
    """A table of TOML on one line; what is plain is written in TOML as in JSON.

    >>> format_inline_table({"kind": "swiss", "rounds": 5})
    '{ kind = "swiss", rounds = 5 }'
    """
    return f"{{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in values.items())} }}"


def format_choices(words: Iterable[str]) -> str:
    """Words from which to choose.

    >>> format_choices(["auto", "strict", "none"])
    'auto, strict or none'
    """
    *most, last = words
    return f"{', '.join(most)} or {last}"

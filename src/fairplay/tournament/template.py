"""Write a template of a tournament file, which can be run as it is, and shows all settings in comments."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import asdict

from fairplay.core.events import Fault
from fairplay.games import game_info
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.protocol.limits import PROGRAM_LIMIT_NAMES
from fairplay.referee.referee import distinct_names
from fairplay.sandbox.policy import SANDBOXES
from fairplay.tournament.spec import BotCheckPolicy, Penalty
from fairplay.tournament.spec_file import FORMATS

TEMPLATE_GAMES = 60
EXAMPLE_LIMITS = {"first": 20, "bank": 60, "increment": 1}  # for limits that have no default

TEMPLATE = """\
# A tournament of {game}. To run it, and to resume it after an interruption:  fairplay tournament FILE{option}
# Settings in comments are optional.

game = "{game}"
{parameters}
# seed = "any text"  # the same seed deals the same games; without one, it is drawn at random and stored in the log

# Which matches are played:
format = {format}
{formats}

# The players: built in ({built_in}), files (./bots/bob.py) or programs (exec:"./bot --flag").
# Paths are relative to this file. A player without a name is called like its file.
players = [
{players}
    # {{ name = "bob", player = "./bots/bob.py" }},
]
# player_files = ["./bots/*.py"]  # all files that match are players, too
# signup = {{ min = 2, max = 8, wait = 60, guests = true }}  # and players of: fairplay serve --tournament FILE

# Limits of time in seconds (move: a turn; first: the first turn; bank: all turns together), and the sandbox:
# limits = {limits}
# sandbox = "auto"  # {sandboxes}
# pondering = false  # may programs think while others are asked?

# bot_check = "{bot_check}"  # {bot_checks}: what happens to a program that fails `fairplay check-bot`

# Penalties: eject from the match; expel from the tournament; forfeit: eject without its score; replay the match.
# The faults are {faults}.
# penalties = {{ default = "{penalty}", {fault} = "{worse}" }}

# Observers of the matches, in the process that plays them:
# observers = ["py:my_module:Watcher"]
"""


def tournament_template(game: str) -> str:
    """The text of a file for a tournament of built-in players. Raises BadRequest if there is no such game."""
    info = game_info(game)
    table, quick_players = info.rules.seats[0], [name for name, player in info.built_in.items() if not player.is_slow]
    players = [quick_players[number % len(quick_players)] for number in range(max(len(quick_players), table))]
    default = info.rules().parameters()
    about = info.rules.parameter_descriptions()
    kind, *_ = FORMATS
    return TEMPLATE.format(
        game=game,
        option="".join(f" {word}" for word in game_info(game).option),
        parameters="\n".join(
            [
                *(f"# {name}: {about[name]}" for name in default if about[name]),
                f"{'' if info.quick else '# '}parameters = {format_inline_table(info.quick or default)}",
            ]
        ),
        format=format_inline_table({"kind": kind, "games": TEMPLATE_GAMES, "table": table}),
        formats="\n".join(describe_formats(table)),
        built_in=", ".join(info.built_in),
        players="\n".join(
            f"    {format_inline_table({'name': name, 'player': player})},"
            for name, player in zip(distinct_names(players), players, strict=True)
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
    """A line for each other format, with its settings."""
    for kind, settings in list(FORMATS.items())[1:]:
        known = asdict(settings())
        values = {name: table if name == "table" else value for name, value in known.items()}
        about = (settings.__doc__ or "").partition(".")[0]
        yield f"# format = {format_inline_table({'kind': kind, **values})}  # {about}"


def format_inline_table(values: Mapping[str, Any]) -> str:
    """A TOML table on one line; plain values are the same in TOML and JSON.

    >>> format_inline_table({"kind": "swiss", "rounds": 5})
    '{ kind = "swiss", rounds = 5 }'
    """
    return f"{{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in values.items())} }}"


def format_choices(words: Iterable[str]) -> str:
    """Words as a choice.

    >>> format_choices(["auto", "strict", "none"])
    'auto, strict or none'
    """
    *most, last = words
    return f"{', '.join(most)} or {last}"

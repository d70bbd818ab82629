"""Convert the arguments of `fairplay.run_tournament` to a tournament's spec."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairplay.app.arguments import (
    GameArgument,
    LimitsArgument,
    PlayersArgument,
    SeedArgument,
    check_programs_know_game,
    describe,
    object_address,
    object_name,
    parse_choice,
    parse_game,
    parse_limits_argument,
    parse_players,
    parse_sandbox_argument,
    parse_seed,
)
from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.games import game_info
from fairplay.games import is_known as is_in_registry
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.players.address import IN_PROCESS_PREFIX
from fairplay.referee.referee import distinct_names
from fairplay.tournament.entrants import check_name, check_player_exists, derive_name, resolve_address
from fairplay.tournament.spec import BotCheckPolicy, FormatSettings, Penalty, TournamentSpec
from fairplay.tournament.spec_file import check_observer, check_tables_can_be_filled, parse_format

MAIN_PREFIX = f"{IN_PROCESS_PREFIX}__main__:"  # of players in the script itself, which only this process has


def make_tournament(
    game: GameArgument,
    players: PlayersArgument,
    *,
    format: FormatSettings | str = "round-robin",
    seed: SeedArgument = None,
    limits: LimitsArgument = None,
    sandbox: str | None = None,
    pondering: bool = False,
    bot_check: str | BotCheckPolicy = BotCheckPolicy.WARN,
    penalties: Mapping[str, str] | None = None,
    match_observers: Sequence[str] = (),
) -> TournamentSpec:
    """A tournament of a game between these players; what is not named here is as for `play`.

    Args:
        players: as for `play`, but functions and classes have to be found at the top of a module or of this script.
        format: who plays whom: `RoundRobin(games=200)` or another of these values, or the name of one.
        bot_check: what happens to bots that fail their trial: warn, refuse or skip.
        penalties: what a fault costs, by fault or `default`: eject, expel, forfeit or replay.
        match_observers: addresses py:module:Name of observers that are made where a match is played.
    """
    rules, entrants = parse_game(game), parse_entrants(players)
    for entrant in entrants:
        check_player_exists(entrant.address, game_info(rules.name))
    check_programs_know_game(rules, [entrant.address for entrant in entrants])
    spec = MatchSpec.from_game(rules, entrants)  # which knows whether the game can be sent to other processes
    settings = parse_format_argument(format)
    check_tables_can_be_filled(rules, settings, len(entrants))
    for address in match_observers:
        check_observer(address)
    costs = {
        fault if fault == "default" else parse_choice(fault, Fault, "a fault"): parse_choice(cost, Penalty, "a penalty")
        for fault, cost in (penalties or {}).items()
    }
    default = costs.pop("default", Penalty.EJECT)
    return TournamentSpec(
        game=rules.name,
        players=tuple(entrants),
        format=settings,
        parameters=spec.parameters,
        limits=parse_limits_argument(limits),
        sandbox=parse_sandbox_argument(sandbox),
        pondering=pondering,
        bot_check=parse_choice(bot_check, BotCheckPolicy, "bot_check"),
        penalties={fault: cost for fault, cost in costs.items() if isinstance(fault, Fault)},
        default_penalty=default,
        observers=tuple(match_observers),
        **parse_seed(seed),
    )


def parse_entrants(players: PlayersArgument) -> list[Entrant]:
    """The players of a tournament, each with a name of its own and an address that other processes understand."""
    importable = players
    if isinstance(players, Mapping):
        importable = {name: _with_address(player, name) for name, player in players.items()}
    elif isinstance(players, Sequence) and not isinstance(players, str | bytes):
        importable = [_with_address(player) for player in players]
    entrants, _ = parse_players(importable)
    found = [Entrant(resolve_address(one.address, Path.cwd()), one.name, one.address) for one in entrants]
    given = [one.name for one in found if one.name]
    if repeated := next((name for name in given if given.count(name) > 1), None):
        raise BadRequest(f"the name {repeated!r} is given twice")
    derived = iter(distinct_names([derive_name(one.address) for one in found if not one.name], given))
    return [Entrant(one.address, check_name(one.name or next(derived)), one.given) for one in found]


def _with_address(player: Any, name: str = "") -> Any:
    """A player, as an entrant with an address if it is an object that can be found by its name."""
    if isinstance(player, str | os.PathLike | Entrant):
        return player
    address = object_address(player)
    module, _, path = address.removeprefix(IN_PROCESS_PREFIX).partition(":")
    if getattr(sys.modules.get(module), path, None) is not player:
        raise TypeError(
            f"player {name or describe(player)} cannot be found by other processes: "
            "define the function or the class at the top of a module, or give the path of its file"
        )
    return Entrant(address, name or object_name(player))


def parse_format_argument(value: Any) -> Any:
    """The settings of a format, or of one that is named."""
    if isinstance(value, FormatSettings):
        return value
    if not isinstance(value, str):
        raise TypeError(f"format must be RoundRobin(...) or another format, or its name, not {describe(value)}")
    return parse_format({"kind": value})


def is_for_this_process(tournament: TournamentSpec) -> bool:
    """Is the game, or any player, defined in the script itself, which worker processes do not run?"""
    is_known = is_in_registry(tournament.game)
    return (is_known and not game_info(tournament.game).source) or any(
        player.address.startswith(MAIN_PREFIX) for player in tournament.players
    )

"""Play one match between players of every kind, in a script or in a notebook."""

import os
import warnings
from collections.abc import Sequence
from typing import Any

from fairplay.app.arguments import (
    GameArgument,
    LimitsArgument,
    ObserverArgument,
    PlayersArgument,
    SeedArgument,
    check_programs_know_game,
    parse_ages,
    parse_choice,
    parse_game,
    parse_limits_argument,
    parse_observers,
    parse_path,
    parse_players,
    parse_sandbox_argument,
    parse_seed,
)
from fairplay.core.errors import BadRequest, HostFault
from fairplay.hosting.match_result import MatchResult, result_of_outcome
from fairplay.hosting.run import HostedMatch, new_match
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.options import Durability
from fairplay.players.location import parse_remote_address
from fairplay.referee.referee import Referee, seats_by_age

Path = str | os.PathLike[str]


def play(
    game: GameArgument,
    players: PlayersArgument,
    *,
    seed: SeedArgument = None,
    ages: Sequence[int] | None = None,
    limits: LimitsArgument = None,
    sandbox: str | None = None,
    pondering: bool = False,
    journal: Path | None = None,
    key: Path | None = None,
    sync: str | Durability = Durability.BATCH,
    resume: bool = False,
    bot_logs: Path | None = None,
    observers: Sequence[ObserverArgument] = (),
) -> MatchResult:
    """Play one match to its end.

    A player that misbehaves is ejected, and the result says why. Raises TypeError or BadRequest if the arguments make
    no sense, and HostFault if this machine fails. In a notebook players in other processes are awaited in a thread.

    Args:
        game: a name, a text with parameters such as `fish(rows=5, columns=5)`, or a value such as `Fish(rows=5)`.
        players: by seat, a list or a dict by name of built-in players, addresses of programs and ports, functions from
            a view to an action, and objects with a method `take_turn(view)`. Functions and objects are trusted: they
            run in this process, without a time limit.
        seed: an integer, a text or 32 bytes; the same seed deals the same match. None: it is drawn.
        ages: of the players, by which the game seats them.
        limits: of players outside of this process: `Limits`, seconds for every answer, or a text such as `2,bank=60`.
        sandbox: of programs: auto, strict or none.
        pondering: whether programs may think while others are asked.
        journal: the directory in which the match is recorded.
        key: the file with the key of the journal's macs; None: the user's own.
        sync: when the journal is made durable: always, batch or off.
        resume: whether the oldest match of the same arguments that was interrupted in the journal is resumed.
        bot_logs: the directory for what programs write on stderr.
        observers: objects with a method `observe(event, match)`, functions (event, match), or addresses.
    """
    hosted = _host_match(
        game,
        players,
        seed=seed,
        ages=ages,
        limits=limits,
        sandbox=sandbox,
        pondering=pondering,
        journal=journal,
        key=key,
        sync=sync,
        resume=resume,
        bot_logs=bot_logs,
        observers=observers,
    )
    if hosted.prepared.has_remote_players:
        from fairplay.transport.event_loop import run_anywhere  # start-up: players in this process do not need it

        run_anywhere(hosted.play_async())
    else:
        hosted.play()
    return result_of_outcome(hosted.outcome(), hosted.match)


async def play_async(
    game: GameArgument,
    players: PlayersArgument,
    *,
    seed: SeedArgument = None,
    ages: Sequence[int] | None = None,
    limits: LimitsArgument = None,
    sandbox: str | None = None,
    pondering: bool = False,
    journal: Path | None = None,
    key: Path | None = None,
    sync: str | Durability = Durability.BATCH,
    resume: bool = False,
    bot_logs: Path | None = None,
    observers: Sequence[ObserverArgument] = (),
) -> MatchResult:
    """Play one match to its end, awaited: any number of matches can be played in one event loop.

    The arguments are those of `play`. Functions and objects among the players hold up the loop while they think.
    """
    import asyncio  # start-up: only this needs it

    hosted = _host_match(
        game,
        players,
        seed=seed,
        ages=ages,
        limits=limits,
        sandbox=sandbox,
        pondering=pondering,
        journal=journal,
        key=key,
        sync=sync,
        resume=resume,
        bot_logs=bot_logs,
        observers=observers,
    )
    try:
        await hosted.play_async()
    except HostFault as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # whatever else failed, the caller cancelled the match
            raise asyncio.CancelledError from fault
        raise
    return result_of_outcome(hosted.outcome(), hosted.match)


def _host_match(
    game: GameArgument,
    players: PlayersArgument,
    *,
    seed: SeedArgument,
    ages: Sequence[int] | None,
    limits: LimitsArgument,
    sandbox: str | None,
    resume: bool,
    observers: Sequence[ObserverArgument],
    sync: str | Durability,
    **options: Any,
) -> HostedMatch:
    """The match of these arguments, before it is begun."""
    rules, (given, objects_given) = parse_game(game), parse_players(players)
    seating = seats_by_age(rules, len(given), parse_ages(ages))
    entrants = [given[index] for index in seating]
    objects = {seat: objects_given[index] for seat, index in enumerate(seating) if index in objects_given}
    settings = {
        "limits": parse_limits_argument(limits),
        "sandbox": parse_sandbox_argument(sandbox),
        "pondering": options["pondering"],
        "sync": parse_choice(sync, Durability, "sync"),
        **{name: parse_path(options[name], name) for name in ("journal", "key", "bot_logs")},
        **parse_seed(seed),
    }
    referee = Referee()
    for observer in parse_observers(observers):
        referee.subscribe(observer)
    addresses = [entrant.address for seat, entrant in enumerate(entrants) if seat not in objects]
    check_programs_know_game(rules, addresses)
    if resume or any(parse_remote_address(address) is not None for address in addresses):
        spec = MatchSpec.from_game(rules, entrants, **settings)
    else:  # nothing of it leaves this process
        spec = MatchSpec(game=rules.name, entrants=tuple(entrants), **settings)
    prepared = None
    if resume:
        if spec.journal is None:
            raise BadRequest("resume=True needs journal=DIRECTORY, in which the match was interrupted")
        from fairplay.hosting.records import resume_interrupted  # start-up: only what is recorded needs it

        prepared = resume_interrupted(spec)
    prepared = (new_match(spec, rules) if prepared is None else prepared)._replace(player_objects=objects)
    if prepared.warning:
        warnings.warn(prepared.warning, stacklevel=3)
    return HostedMatch(prepared, referee)

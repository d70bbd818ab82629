"""Run the course's xserver and xclients of each game."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.course.channel.client import ignore
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.servers import SERVERS, CourseServerSettings
from fairplay.course.formats import q as course
from fairplay.course.formats.plain import read
from fairplay.course.formats.q import CourseState
from fairplay.course.harness.clients import Actor, Misbehaviour, play_actors
from fairplay.course.harness.q import Actors
from fairplay.course.harness.tsuro import PlayerSpec, parse_strategy
from fairplay.course.server.serving import serve
from fairplay.games.q.cheats import COURSE_CHEATS
from fairplay.games.q.strategies import RECIPES
from fairplay.players.address import built_in_strategy
from fairplay.referee.referee import print_warning
from fairplay.render.formatting import MAX_PRINTED_CHARS
from fairplay.render.text import printable
from fairplay.testing.cheats import cheating_strategy
from fairplay.transport import event_loop

LOOPBACK = "127.0.0.1"
Q_METHODS = ("setup", "take-turn", "new-tiles", "win")
BAD_ACTORS = {  # the course's clients with these names misbehave like this
    "nonSetup": Misbehaviour("setup", sent=b"void\n"),
    "illTT": Misbehaviour("take-turn", sent=b'["ill-formed"\x00\n'),
    "invTTBadString": Misbehaviour("take-turn", sent=b'"neither pass nor replace"\n'),
    "nonNewTiles": Misbehaviour("new-tiles", sent=b"void\n"),
    "nonWin": Misbehaviour("win", sent=b"void\n"),
}
Seconds = Annotated[float, Meta(ge=0)]


class RefereeConfig(
    msgspec.Struct, frozen=True, rename={"state": "state0", "per_turn": "per-turn", "bonus": "config-s"}
):
    """The settings of a game of Q."""

    state: Any = None
    per_turn: Annotated[float, Meta(gt=0)] = 6.0
    bonus: dict[str, int] = {}


class ServerConfig(
    msgspec.Struct,
    frozen=True,
    rename={
        "waiting_periods": "server-tries",
        "wait": "server-wait",
        "signup": "wait-for-signup",
        "referee": "ref-spec",
    },
):
    """The configuration of Q's xserver."""

    waiting_periods: Annotated[int, Meta(ge=1)] = 2
    wait: Seconds = 20.0
    signup: Seconds = 2.0
    referee: RefereeConfig = RefereeConfig()


class ClientConfig(msgspec.Struct, frozen=True):
    """The configuration of Q's xclients."""

    players: Actors
    host: str = LOOPBACK
    wait: Seconds = 2.0


def fish_server(port: int) -> Any:
    """Run a tournament of Fish with the clients that sign up."""
    return run_server("fish", SERVERS["fish"].rules, port)


def fish_clients(count: int, port: int, host: str = LOOPBACK, *, verbose: bool = False) -> None:
    """Run so many well-behaved clients."""
    actors = [Actor(letter_name(number), built_in_strategy("fish", "lookahead:2")) for number in range(count)]
    event_loop.run(play_actors(DIALECTS["fish"], host, port, actors, tell=print_message, verbose=verbose))


def letter_name(number: int) -> str:
    """A name of letters only.

    >>> letter_name(0), letter_name(27)
    ('playerA', 'playerAB')
    """
    return letter_name(number // 26 - 1) + chr(65 + number % 26) if number > 25 else f"player{chr(65 + number)}"


def tsuro_server(port: int, *plain: Any) -> Any:
    """Run a tournament of Tsuro; the players' names are read, if given, in the order of their connections."""
    players: tuple[PlayerSpec, ...] = read(plain[0], tuple[PlayerSpec, ...], "a list of players") if plain else ()
    rules = SERVERS["tsuro"].rules
    return run_server("tsuro", replace(rules, most=len(players) or rules.most), port, [one.name for one in players])


def tsuro_clients(host: str, port: int, plain: Any, *, verbose: bool = False) -> None:
    """Run clients for the players that are read, in their order."""
    players: tuple[PlayerSpec, ...] = read(plain, tuple[PlayerSpec, ...], "a list of players")
    actors = [Actor(one.name, built_in_strategy("tsuro", parse_strategy(one.strategy))) for one in players]
    event_loop.run(play_actors(DIALECTS["tsuro"], host, port, actors, tell=print_message, verbose=verbose))


def q_server(port: int, plain: Any) -> Any:
    """Run a game of Q with this configuration."""
    return event_loop.run(
        run_q_server(read(plain, ServerConfig, "a configuration of a server of Q"), port, print_message)
    )


async def run_q_server(config: ServerConfig, port: int, tell: Callable[[str], None]) -> Any:
    """Run a game of Q with this configuration."""
    bonus = {"q_bonus": config.referee.bonus.get("qbo", 8), "finish_bonus": config.referee.bonus.get("fbo", 4)}
    rules = replace(
        SERVERS["q"].rules,
        waiting_periods=config.waiting_periods,
        wait=config.wait,
        name_timeout=config.signup,
        turn=config.referee.per_turn,
        parameters=bonus,
    )
    state = None
    if config.referee.state is not None:
        state = course.parse_state(read(config.referee.state, CourseState, "a state of Q"))
    result = await serve(DIALECTS["q"], rules, LOOPBACK, port, report=tell, state=state)
    return SERVERS["q"].result(result.ranks, result.out)


def q_clients(port: int, plain: Any, *, verbose: bool = False) -> None:
    """Run the actors of this configuration."""
    config = read(plain, ClientConfig, "a configuration of clients of Q")
    actors = [q_actor(actor) for actor in config.players]
    event_loop.run(
        play_actors(
            DIALECTS["q"], config.host, port, actors, interval_s=config.wait, tell=print_message, verbose=verbose
        )
    )


def xserver_xclients(plain_server: Any, plain_clients: Any, *, scale: float = 0.05) -> Any:
    """Run server and clients of a game of Q, with all times scaled; players without an actor are silent."""
    server = read(plain_server, ServerConfig, "a configuration of a server of Q")
    clients = read(plain_clients, ClientConfig, "a configuration of clients of Q")
    named = read(server.referee.state, CourseState, "a state of Q").players
    silent = {one.name for one in named if isinstance(one.name, str)} - {str(actor[0]) for actor in clients.players}
    actors = [q_actor(actor) for actor in clients.players]
    actors += [Actor(name, RECIPES["dag"], Misbehaviour("setup", sent=None)) for name in sorted(silent)]
    referee = replace(server.referee, per_turn=server.referee.per_turn * scale)
    scaled = replace(server, wait=server.wait * scale, signup=server.signup * scale, referee=referee)

    async def both() -> Any:
        port = free_port()
        serving = asyncio.create_task(run_q_server(scaled, port, ignore))
        await asyncio.sleep(0)  # opens its listener
        acting = asyncio.create_task(play_actors(DIALECTS["q"], LOOPBACK, port, actors))
        try:
            return await serving
        finally:
            acting.cancel()
            await asyncio.gather(acting, return_exceptions=True)

    return event_loop.run(both())


def q_actor(plain: list[str | int]) -> Actor:
    """The client for an actor of Q."""
    match plain:
        case [str(name), str(recipe)] if recipe in RECIPES:
            return Actor(name, RECIPES[recipe], BAD_ACTORS.get(name))
        case [str(name), str(recipe), "a cheat", str(cheat)] if recipe in RECIPES and cheat in COURSE_CHEATS:
            return Actor(name, cheating_strategy(COURSE_CHEATS[cheat], RECIPES[recipe]))
        case [str(name), str(recipe), str(method)] if recipe in RECIPES and method in Q_METHODS:
            return Actor(name, RECIPES[recipe], Misbehaviour(method))
        case [str(name), str(recipe), str(method), int(count)] if (
            recipe in RECIPES and method in Q_METHODS and count > 0
        ):
            return Actor(name, RECIPES[recipe], Misbehaviour(method, count, None))
    raise BadRequest(f"not an actor of Q: {plain}")


def run_server(game: str, rules: CourseServerSettings, port: int, labels: Sequence[str] = ()) -> Any:
    """Run the server of a course; return its result."""
    result = event_loop.run(serve(DIALECTS[game], rules, LOOPBACK, port, report=print_message, labels=labels))
    return SERVERS[game].result(result.ranks, result.out)


def print_message(text: str) -> None:
    """Print a message for the user, which may quote others."""
    print_warning(printable(text, MAX_PRINTED_CHARS))


def free_port() -> int:
    """A free port."""
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return int(one.getsockname()[1])


class CourseProgram(msgspec.Struct, frozen=True):
    """The server or the clients of a course, as a program."""

    run: Callable[..., Any]  # called with the arguments, then with the values that it reads
    arguments: tuple[str, ...]  # their names; those in brackets are optional
    reads_input: bool  # JSON values from standard input


PROGRAMS: Mapping[str, Mapping[str, CourseProgram]] = {
    "fish": {
        "xserver": CourseProgram(fish_server, ("PORT",), reads_input=False),
        "xclients": CourseProgram(fish_clients, ("N", "PORT", "[HOST]"), reads_input=False),
    },
    "tsuro": {
        "xserver": CourseProgram(tsuro_server, ("PORT",), reads_input=True),
        "xclients": CourseProgram(tsuro_clients, ("HOST", "PORT"), reads_input=True),
    },
    "q": {
        "xserver": CourseProgram(q_server, ("PORT",), reads_input=True),
        "xclients": CourseProgram(q_clients, ("PORT",), reads_input=True),
    },
}


def find_program(game: str, name: str, words: Sequence[str]) -> tuple[CourseProgram, list[Any]]:
    """Find a program by its name, and parse its arguments. Raises BadRequest if they do not fit."""
    program = PROGRAMS[game][name]
    least = sum(not one.startswith("[") for one in program.arguments)
    usage = f"usage: fairplay course {game} {name} {' '.join(program.arguments)}"
    if not least <= len(words) <= len(program.arguments):
        raise BadRequest(usage)
    arguments: list[Any] = []
    for called, word in zip(program.arguments, words, strict=False):
        most = 65535 if called == "PORT" else 1000
        if "HOST" in called:
            arguments.append(word)
        elif word.isascii() and word.isdigit() and len(word) < 6 and int(word) <= most:
            arguments.append(int(word))
        else:
            raise BadRequest(f"{called} is a number from 0 to {most}, not {word!r}; {usage}")
    return program, arguments

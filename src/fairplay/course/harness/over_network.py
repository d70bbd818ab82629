"""Be the course's xserver and xclients of every game."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.course.channel.client import unsaid
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.servers import SERVERS, ServerRules
from fairplay.course.formats import q as course
from fairplay.course.formats.plain import read
from fairplay.course.formats.q import CourseState
from fairplay.course.harness.clients import Actor, Deed, act_all
from fairplay.course.harness.q import Actors
from fairplay.course.harness.tsuro import PlayerSpec, strategy
from fairplay.course.server.serving import serve
from fairplay.games.q.cheats import OF_THE_COURSE
from fairplay.games.q.strategies import RECIPES
from fairplay.players.address import house_strategy
from fairplay.referee.host import complain
from fairplay.render.text import printable
from fairplay.render.words import LONGEST
from fairplay.testing.cheats import cheater
from fairplay.transport import event_loop

LOOPBACK = "127.0.0.1"
METHODS = ("setup", "take-turn", "new-tiles", "win")
BAD_NAMES = {  # what the course's own clients do because they are called so
    "nonSetup": Deed("setup", said=b"void\n"),
    "illTT": Deed("take-turn", said=b'["ill-formed"\x00\n'),
    "invTTBadString": Deed("take-turn", said=b'"neither pass nor replace"\n'),
    "nonNewTiles": Deed("new-tiles", said=b"void\n"),
    "nonWin": Deed("win", said=b"void\n"),
}
Seconds = Annotated[float, Meta(ge=0)]


class RefereeConfig(
    msgspec.Struct, frozen=True, rename={"state": "state0", "per_turn": "per-turn", "bonus": "config-s"}
):
    """How a game of Q is to be refereed."""

    state: Any = None
    per_turn: Annotated[float, Meta(gt=0)] = 6.0
    bonus: dict[str, int] = {}


class ServerConfig(
    msgspec.Struct,
    frozen=True,
    rename={"tries": "server-tries", "wait": "server-wait", "signup": "wait-for-signup", "referee": "ref-spec"},
):
    """What Q's xserver reads and heeds."""

    tries: Annotated[int, Meta(ge=1)] = 2
    wait: Seconds = 20.0
    signup: Seconds = 2.0
    referee: RefereeConfig = RefereeConfig()


class ClientConfig(msgspec.Struct, frozen=True):
    """What Q's xclients reads and heeds."""

    players: Actors
    host: str = LOOPBACK
    wait: Seconds = 2.0


def fish_server(port: int) -> Any:
    """A tournament of Fish with whoever signs up."""
    return served("fish", SERVERS["fish"].rules, port)


def fish_clients(count: int, port: int, host: str = LOOPBACK, *, verbose: bool = False) -> None:
    """So many good players."""
    actors = [Actor(letters(number), house_strategy("fish", "lookahead:2")) for number in range(count)]
    event_loop.run(act_all(DIALECTS["fish"], host, port, actors, tell=say, verbose=verbose))


def letters(number: int) -> str:
    """A name that is made of letters only.

    >>> letters(0), letters(27)
    ('playerA', 'playerAB')
    """
    return letters(number // 26 - 1) + chr(65 + number % 26) if number > 25 else f"player{chr(65 + number)}"


def tsuro_server(port: int, *plain: Any) -> Any:
    """A tournament of Tsuro; names are read for those who come, if there are any, in the order in which they come."""
    players: tuple[PlayerSpec, ...] = read(plain[0], tuple[PlayerSpec, ...], "a list of players") if plain else ()
    rules = SERVERS["tsuro"].rules
    return served("tsuro", replace(rules, most=len(players) or rules.most), port, [one.name for one in players])


def tsuro_clients(host: str, port: int, plain: Any, *, verbose: bool = False) -> None:
    """The players that are read, in their order."""
    players: tuple[PlayerSpec, ...] = read(plain, tuple[PlayerSpec, ...], "a list of players")
    actors = [Actor(one.name, house_strategy("tsuro", strategy(one.strategy))) for one in players]
    event_loop.run(act_all(DIALECTS["tsuro"], host, port, actors, tell=say, verbose=verbose))


def q_server(port: int, plain: Any) -> Any:
    """A game of Q as a configuration has it."""
    return event_loop.run(q_served(read(plain, ServerConfig, "a configuration of a server of Q"), port, say))


async def q_served(config: ServerConfig, port: int, tell: Callable[[str], None]) -> Any:
    """The same, awaited."""
    bonus = {"q_bonus": config.referee.bonus.get("qbo", 8), "finish_bonus": config.referee.bonus.get("fbo", 4)}
    rules = replace(
        SERVERS["q"].rules,
        tries=config.tries,
        wait=config.wait,
        name_limit=config.signup,
        turn=config.referee.per_turn,
        parameters=bonus,
    )
    state = None
    if config.referee.state is not None:
        state = course.state_from(read(config.referee.state, CourseState, "a state of Q"))
    result = await serve(DIALECTS["q"], rules, LOOPBACK, port, tell=tell, state=state)
    return SERVERS["q"].result(result.ranks, result.out)


def q_clients(port: int, plain: Any, *, verbose: bool = False) -> None:
    """The actors of a configuration."""
    config = read(plain, ClientConfig, "a configuration of clients of Q")
    actors = [q_actor(actor) for actor in config.players]
    event_loop.run(act_all(DIALECTS["q"], config.host, port, actors, apart=config.wait, tell=say, verbose=verbose))


def xserver_xclients(plain_server: Any, plain_clients: Any, *, scale: float = 0.05) -> Any:
    """Both ends of a game of Q on this machine, with all times scaled; who is only in the state is silent."""
    server = read(plain_server, ServerConfig, "a configuration of a server of Q")
    clients = read(plain_clients, ClientConfig, "a configuration of clients of Q")
    named = read(server.referee.state, CourseState, "a state of Q").players
    silent = {one.name for one in named if isinstance(one.name, str)} - {str(actor[0]) for actor in clients.players}
    actors = [q_actor(actor) for actor in clients.players]
    actors += [Actor(name, RECIPES["dag"], Deed("setup", said=None)) for name in sorted(silent)]
    referee = replace(server.referee, per_turn=server.referee.per_turn * scale)
    scaled = replace(server, wait=server.wait * scale, signup=server.signup * scale, referee=referee)

    async def both() -> Any:
        port = free_port()
        serving = asyncio.create_task(q_served(scaled, port, unsaid))
        await asyncio.sleep(0)  # in which it opens its door
        acting = asyncio.create_task(act_all(DIALECTS["q"], LOOPBACK, port, actors))
        try:
            return await serving
        finally:
            acting.cancel()
            await asyncio.gather(acting, return_exceptions=True)

    return event_loop.run(both())


def q_actor(plain: list[str | int]) -> Actor:
    """The client that an actor of Q is."""
    match plain:
        case [str(name), str(recipe)] if recipe in RECIPES:
            return Actor(name, RECIPES[recipe], BAD_NAMES.get(name))
        case [str(name), str(recipe), "a cheat", str(cheat)] if recipe in RECIPES and cheat in OF_THE_COURSE:
            return Actor(name, cheater(OF_THE_COURSE[cheat], RECIPES[recipe]))
        case [str(name), str(recipe), str(method)] if recipe in RECIPES and method in METHODS:
            return Actor(name, RECIPES[recipe], Deed(method))
        case [str(name), str(recipe), str(method), int(count)] if recipe in RECIPES and method in METHODS and count > 0:
            return Actor(name, RECIPES[recipe], Deed(method, count, None))
    raise BadRequest(f"not an actor of Q: {plain}")


def served(game: str, rules: ServerRules, port: int, labels: Sequence[str] = ()) -> Any:
    """What the server of a course tells in the end."""
    result = event_loop.run(serve(DIALECTS[game], rules, LOOPBACK, port, tell=say, labels=labels))
    return SERVERS[game].result(result.ranks, result.out)


def say(text: str) -> None:
    """Say something to whoever runs one end; others may have chosen the words."""
    complain(printable(text, LONGEST))


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return int(one.getsockname()[1])


class Program(msgspec.Struct, frozen=True):
    """One end of a line."""

    run: Callable[..., Any]  # with the arguments, and then with what it reads
    arguments: tuple[str, ...]  # as they are called; those in brackets may be left out
    reads: bool  # JSON values from standard input


PROGRAMS: Mapping[str, Mapping[str, Program]] = {
    "fish": {
        "xserver": Program(fish_server, ("PORT",), reads=False),
        "xclients": Program(fish_clients, ("N", "PORT", "[HOST]"), reads=False),
    },
    "tsuro": {
        "xserver": Program(tsuro_server, ("PORT",), reads=True),
        "xclients": Program(tsuro_clients, ("HOST", "PORT"), reads=True),
    },
    "q": {
        "xserver": Program(q_server, ("PORT",), reads=True),
        "xclients": Program(q_clients, ("PORT",), reads=True),
    },
}


def program_of(game: str, name: str, words: Sequence[str]) -> tuple[Program, list[Any]]:
    """An end of a line by its name, and its arguments. Raises BadRequest unless they are what it takes."""
    program = PROGRAMS[game][name]
    least = sum(not one.startswith("[") for one in program.arguments)
    usage = f"write: fairplay course {game} {name} {' '.join(program.arguments)}"
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

"""Declare every setting of a server, once: its type and bounds, its default, and what people are told of it.

The options of `serve`, the table in docs/serving.md and examples/deploy/server.toml are made from that.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import field
from msgspec.structs import FieldInfo, replace

from fairplay.core.errors import BadRequest, error_location
from fairplay.core.game import Game
from fairplay.games import game_info, is_known, make_game, unknown_game_message
from fairplay.players.address import built_in_strategy
from fairplay.players.location import is_built_in
from fairplay.protocol.limits import PROGRAM_LIMIT_NAMES, Limits, Seconds
from fairplay.referee.referee import format_seats
from fairplay.render.formatting import suggestion
from fairplay.server.matchmaking import POLICIES
from fairplay.tournament.spec_file import check_keys, convert_value, parse_limits, read_tables

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Players = Annotated[int, msgspec.Meta(ge=1, le=10_000)]


class Setting(msgspec.Struct, frozen=True):
    """What people are told of a setting."""

    help: str
    metavar: str | None = None  # what its option takes
    option: str = ""  # if it is not called like the key
    example: str = ""  # in TOML, where the default says too little; behind a # it is not in force


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A game that is played at a server, and when a room for it is opened; with 0 players, the game decides."""

    game: Annotated[str, Setting("Play this game; see: fairplay games.", "GAME", "GAME")]
    parameters: Annotated[dict[str, Any], Setting("Set a parameter of it, as rows=5.", "NAME=VALUE", "--set")] = {}
    min_players: Annotated[
        Players, Setting("Seat at least N players; if not set, the game decides.", "N", example="2")
    ] = field(default=0, name="min")
    max_players: Annotated[
        Players, Setting("Seat at most N players; if not set, the game decides.", "N", example="4")
    ] = field(default=0, name="max")
    wait: Annotated[Seconds, Setting("Seconds for which a table waits for more players.", "S")] = 10.0
    policy: Annotated[str, Setting(f"Choose who plays with whom: {', '.join(POLICIES)}.", "POLICY")] = "order"
    fill: Annotated[str, Setting("Built-in player for seats that are free then.", "PLAYER", example='"greedy"')] = ""
    limits: Annotated[
        Limits,
        Setting(
            f"Seconds for answers: {', '.join(PROGRAM_LIMIT_NAMES)}.", "SECONDS", "--limit", example="{ move = 5 }"
        ),
    ] = Limits()

    def rules(self) -> Game[Any, Any, Any]:
        """The game, with its parameters."""
        return make_game(self.game, self.parameters)


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is borne of those whom nobody knows."""

    connections: Annotated[Count, Setting("Allow N connections in all; each takes a file descriptor.")] = 4096
    connections_per_address: Annotated[
        Count, Setting("Allow N connections from one address, which a whole class may share.")
    ] = 1024
    hello_timeout: Annotated[Seconds, Setting("Give a client N seconds to answer hello.")] = 10.0
    idle_timeout: Annotated[Seconds, Setting("Disconnect a client that has waited N seconds for a room.")] = 3600.0
    matches_per_client: Annotated[Count, Setting("Disconnect a client after N matches.")] = 1_000_000
    spectators: Annotated[Count, Setting("Allow N spectators in all, at the port of the players.")] = 2048
    spectators_per_address: Annotated[Count, Setting("Allow N spectators from one address.")] = 512
    viewers_per_address: Annotated[
        Count, Setting("Allow N live boards in browsers from one address; behind a proxy, allow all 512.")
    ] = 128


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the certificate and its key are."""

    certificate: str
    key: str


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A server."""

    name: Annotated[str, Setting("Call the server by this name.", "NAME")] = "server"
    directory: Annotated[
        str, Setting("Keep journals, the key and hashes of tokens in this directory.", "DIR", "--dir")
    ] = "server-data"
    host: Annotated[str, Setting("Listen at this address; 0.0.0.0: at all of them.", "HOST")] = "127.0.0.1"
    port: Annotated[Port, Setting("Listen at this port; 0: any that is free.", "PORT")] = 4000
    websocket: Annotated[Port | None, Setting("Let players in over WebSocket, too.", "PORT", example="#4001")] = None
    tls: Annotated[
        Tls | None,
        Setting("Encrypt all connections.", "CERT KEY", example='#{ certificate = "cert.pem", key = "key.pem" }'),
    ] = None
    web: Annotated[Port | None, Setting("Serve a page, /metrics and /healthz.", "PORT", example="8080")] = None
    web_host: Annotated[str, Setting("Listen for browsers at this address.", "HOST")] = "127.0.0.1"
    web_names: Annotated[tuple[str, ...], Setting("Answer browsers that use this name.", "HOST", "--web-name")] = ()
    guests: Annotated[bool, Setting("Let players in who have no token.")] = True
    reconnect_window: Annotated[Seconds, Setting("Seconds to come back to a seat when a connection is lost.", "S")] = (
        30.0
    )
    restart_window: Annotated[Seconds, Setting("Seconds to come back when the server was restarted.", "S")] = 60.0
    log: Annotated[Literal["lines", "json"], Setting("Log lines for people, or JSON objects.")] = "lines"
    connection_limits: Annotated[
        ConnectionLimits, Setting("Set a limit for strangers; see docs/serving.md.", "NAME=N", "--connection-limit")
    ] = ConnectionLimits()
    offers: tuple[Offer, ...] = field(default=(), name="games")


def declared_settings(table: type[msgspec.Struct]) -> Iterator[tuple[FieldInfo, Setting]]:
    """The settings that are declared in a table, with what people are told of each."""
    for one in msgspec.structs.fields(table):
        yield from ((one, said) for said in get_args(one.type) if isinstance(said, Setting))


def read_settings(path: Path) -> ServerSettings:
    """The server that a file describes. Raises BadRequest with the place."""
    with error_location(path):
        tables = read_tables(path)
        check_keys(tables, ServerSettings.__struct_encode_fields__, "")
        games = convert_value(tables.pop("games", []), list[Any], "games")
        found = convert_value(tables, ServerSettings, "")
        check_keys(tables.get("connection_limits", {}), ConnectionLimits.__struct_encode_fields__, "connection_limits")
        if not games:
            raise BadRequest("nothing is played here: name a game under [[games]]")
        offers = tuple(read_offer(number, table) for number, table in enumerate(games, 1))
        tls = found.tls and Tls(str(path.parent / found.tls.certificate), str(path.parent / found.tls.key))
        directory = str(path.parent / found.directory) if "directory" in tables else found.directory
        return replace(found, directory=directory, tls=tls, offers=offers)


def with_connection_limits(settings: ServerSettings, limits: Mapping[str, str]) -> ServerSettings:
    """These settings with some limits for strangers, as text, in place of theirs. Raises BadRequest for bad ones."""
    check_keys(limits, ConnectionLimits.__struct_encode_fields__, "")
    usual = msgspec.structs.asdict(settings.connection_limits)
    return replace(settings, connection_limits=convert_value({**usual, **limits}, ConnectionLimits, "", strict=False))


def read_offer(number: int, table: Any) -> Offer:
    """The offer in the n-th [[games]] of a file."""
    with error_location(f"games {number}"):
        told = convert_value(table, dict[str, Any], "")
        check_keys(told, Offer.__struct_encode_fields__, "")
        limits = parse_limits(convert_value(told.pop("limits", {}), dict[str, Any], "limits"))
        return check_offer(replace(convert_value(told, Offer, ""), limits=limits or Limits()))


def make_offer(game: str, parameters: Mapping[str, Any], **options: Any) -> Offer:
    """An offer that can be met. Raises BadRequest if it makes no sense."""
    return check_offer(Offer(game=game, parameters=dict(parameters), **options))


def check_offer(offer: Offer) -> Offer:
    """The offer with all that its game decides. Raises BadRequest if it cannot be met."""
    game, fill = offer.game, offer.fill
    if not is_known(game):
        raise BadRequest(unknown_game_message(game))
    if offer.policy not in POLICIES:
        raise BadRequest(f"there is no policy {offer.policy!r}{suggestion(offer.policy, POLICIES)}")
    rules = make_game(game, offer.parameters)
    fewest, largest = offer.min_players or rules.seats[0], offer.max_players or rules.seats[-1]
    if not (fewest in rules.seats and largest in rules.seats and fewest <= largest):
        raise BadRequest(f"{game} is for {format_seats(rules.seats)} players, not for {fewest} to {largest}")
    if fill and not is_built_in(fill, game):
        raise BadRequest(f"{fill!r} is no built-in player of {game}{suggestion(fill, game_info(game).built_in)}")
    if fill:
        built_in_strategy(game, fill)  # which knows whether its parameter makes sense
    for seats in range(fewest, largest + 1):
        rules.deal(seats, bytes(32))
    return replace(offer, parameters=rules.parameters(), min_players=fewest, max_players=largest)

"""Declare every setting of a server once: its type and bounds, default, help and option.

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
    """How a setting is documented."""

    help: str
    metavar: str | None = None  # of its option
    option: str = ""  # if its name differs from the key
    example: str = ""  # in TOML, if the default says too little; after a # it is commented out


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A game offered by a server, and when a room for it opens."""

    game: Annotated[str, Setting("Play this game; see: fairplay games.", "GAME", "GAME")]
    parameters: Annotated[
        dict[str, Any], Setting("Set a parameter of the game, such as rows=5.", "NAME=VALUE", "--set")
    ] = {}
    min_players: Annotated[
        Players, Setting("Seat at least N players; if not set, the game decides.", "N", example="2")
    ] = field(default=0, name="min")
    max_players: Annotated[
        Players, Setting("Seat at most N players; if not set, the game decides.", "N", example="4")
    ] = field(default=0, name="max")
    wait: Annotated[Seconds, Setting("Wait S seconds for more players.", "S")] = 10.0
    policy: Annotated[str, Setting(f"Choose who plays with whom: {', '.join(POLICIES)}.", "POLICY")] = "first-come"
    fill: Annotated[str, Setting("Fill free seats with this built-in player.", "PLAYER", example='"greedy"')] = ""
    limits: Annotated[
        Limits,
        Setting(
            f"Set time limits in seconds: {', '.join(PROGRAM_LIMIT_NAMES)}.",
            "SECONDS",
            "--limit",
            example="{ move = 5 }",
        ),
    ] = Limits()

    def rules(self) -> Game[Any, Any, Any]:
        """The rules of the game with its parameters."""
        return make_game(self.game, self.parameters)


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for connections and their clients."""

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
    """The files of a certificate and its key."""

    certificate: str
    key: str


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a server."""

    name: Annotated[str, Setting("Show this name of the server.", "NAME")] = "server"
    directory: Annotated[
        str, Setting("Write journals, the key and token hashes to this directory.", "DIR", "--dir")
    ] = "server-data"
    host: Annotated[str, Setting("Listen at this address; 0.0.0.0: on all interfaces.", "HOST")] = "127.0.0.1"
    port: Annotated[Port, Setting("Listen at this port; 0: any free port.", "PORT")] = 4000
    websocket: Annotated[
        Port | None, Setting("Accept WebSocket connections at this port.", "PORT", example="#4001")
    ] = None
    tls: Annotated[
        Tls | None,
        Setting("Encrypt all connections.", "CERT KEY", example='#{ certificate = "cert.pem", key = "key.pem" }'),
    ] = None
    web: Annotated[
        Port | None, Setting("Serve web pages, /metrics and /healthz at this port.", "PORT", example="8080")
    ] = None
    web_host: Annotated[str, Setting("Listen for browsers at this address.", "HOST")] = "127.0.0.1"
    web_names: Annotated[
        tuple[str, ...], Setting("Answer browsers that use this host name.", "HOST", "--web-name")
    ] = ()
    guests: Annotated[bool, Setting("Accept players without a token.")] = True
    reconnect_window: Annotated[Seconds, Setting("Reserve a seat for S seconds after its connection is lost.", "S")] = (
        30.0
    )
    restart_window: Annotated[Seconds, Setting("Wait S seconds for players after a restart.", "S")] = 60.0
    log: Annotated[Literal["text", "json"], Setting("Log lines of text, or JSON objects.")] = "text"
    connection_limits: Annotated[
        ConnectionLimits, Setting("Set a connection limit; see docs/serving.md.", "NAME=N", "--connection-limit")
    ] = ConnectionLimits()
    offers: tuple[Offer, ...] = field(default=(), name="games")


def declared_settings(table: type[msgspec.Struct]) -> Iterator[tuple[FieldInfo, Setting]]:
    """The fields of a table that are settings."""
    for declared in msgspec.structs.fields(table):
        yield from ((declared, setting) for setting in get_args(declared.type) if isinstance(setting, Setting))


def read_settings(path: Path) -> ServerSettings:
    """Read the settings of a server from a file. Raises BadRequest that names the key."""
    with error_location(path):
        tables = read_tables(path)
        check_keys(tables, ServerSettings.__struct_encode_fields__, "")
        games = convert_value(tables.pop("games", []), list[Any], "games")
        found = convert_value(tables, ServerSettings, "")
        check_keys(tables.get("connection_limits", {}), ConnectionLimits.__struct_encode_fields__, "connection_limits")
        if not games:
            raise BadRequest("no game: add one under [[games]]")
        offers = tuple(read_offer(number, table) for number, table in enumerate(games, 1))
        tls = found.tls and Tls(str(path.parent / found.tls.certificate), str(path.parent / found.tls.key))
        directory = str(path.parent / found.directory) if "directory" in tables else found.directory
        return replace(found, directory=directory, tls=tls, offers=offers)


def with_connection_limits(settings: ServerSettings, limits: Mapping[str, str]) -> ServerSettings:
    """Change some connection limits, given as text. Raises BadRequest for bad ones."""
    check_keys(limits, ConnectionLimits.__struct_encode_fields__, "")
    current = msgspec.structs.asdict(settings.connection_limits)
    return replace(settings, connection_limits=convert_value({**current, **limits}, ConnectionLimits, "", strict=False))


def read_offer(number: int, table: Any) -> Offer:
    """Read the n-th [[games]] of a file."""
    with error_location(f"games {number}"):
        fields = convert_value(table, dict[str, Any], "")
        check_keys(fields, Offer.__struct_encode_fields__, "")
        limits = parse_limits(convert_value(fields.pop("limits", {}), dict[str, Any], "limits"))
        return check_offer(replace(convert_value(fields, Offer, ""), limits=limits or Limits()))


def make_offer(game: str, parameters: Mapping[str, Any], **options: Any) -> Offer:
    """Make a checked offer. Raises BadRequest if it makes no sense."""
    return check_offer(Offer(game=game, parameters=dict(parameters), **options))


def check_offer(offer: Offer) -> Offer:
    """Check an offer, and fill in the defaults of its game. Raises BadRequest if it cannot be met."""
    game, fill = offer.game, offer.fill
    if not is_known(game):
        raise BadRequest(unknown_game_message(game))
    if offer.policy not in POLICIES:
        raise BadRequest(f"no policy {offer.policy!r}{suggestion(offer.policy, POLICIES)}")
    rules = make_game(game, offer.parameters)
    fewest, largest = offer.min_players or rules.seats[0], offer.max_players or rules.seats[-1]
    if not (fewest in rules.seats and largest in rules.seats and fewest <= largest):
        raise BadRequest(f"{game} is for {format_seats(rules.seats)} players, not for {fewest} to {largest}")
    if fill and not is_built_in(fill, game):
        raise BadRequest(f"{fill!r} is no built-in player of {game}{suggestion(fill, game_info(game).built_in)}")
    if fill:
        built_in_strategy(game, fill)  # raises if its parameter makes no sense
    for seats in range(fewest, largest + 1):
        rules.deal(seats, bytes(32))
    return replace(offer, parameters=rules.parameters(), min_players=fewest, max_players=largest)

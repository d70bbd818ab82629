"""Say all that a house is, as a value: what is played there, who may come in, and where things are kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.games import game_with, is_known, no_game, title
from fairplay.players.address import house_strategy
from fairplay.players.location import of_the_house
from fairplay.protocol.limits import Limits, Seconds
from fairplay.referee.host import seats_in_words
from fairplay.render.words import meant
from fairplay.server.matchmaking import POLICIES
from fairplay.tournament.entrants import at
from fairplay.tournament.file import converted, limits_from, refuse_unknown, tables_in

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A game that is played at a house, and when a room for it is opened."""

    game: str
    parameters: dict[str, Any] = {}
    least: int  # players at a table
    most: int
    wait: Seconds = 10.0  # for how long others are waited for, once somebody is there
    policy: str = "order"  # who plays with whom
    fill: str = ""  # the house player who takes the seats that are free when the time is up; empty: nobody does
    limits: Limits = Limits()

    def rules(self) -> Game[Any, Any, Any]:
        """The game, with its parameters."""
        return game_with(self.game, self.parameters)


class Strangers(msgspec.Struct, frozen=True, kw_only=True):
    """How much is borne of those whom nobody knows."""

    connections: Count = 4096  # in all
    each: Count = 1024  # from one address
    hello: Seconds = 10.0  # until somebody has said who it is
    idle: Seconds = 3600.0  # for which somebody may wait for a room
    matches: Count = 1_000_000  # that a player may play in one visit
    spectators: Count = 2048  # in all
    spectators_per_address: Count = 512
    viewers_per_address: Count = 128  # live boards in browsers


class HouseSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A house."""

    offers: tuple[Offer, ...]
    name: str = "house"
    folder: str = "house"  # where it keeps its journals, its key and the hashes of tokens
    host: str = "127.0.0.1"
    port: Port = 4000
    websocket: Port | None = None  # None: nobody comes in over WebSocket
    web: Port | None = None  # for browsers and monitors; None: there is nothing for them
    web_host: str = "127.0.0.1"
    web_names: tuple[str, ...] = ()  # by which browsers may call it, besides its address
    certificate: str = ""  # files for TLS; empty: lines are not encrypted
    key: str = ""
    guests: bool = True  # may those play who have no token of their own?
    window: Seconds = 30.0  # for which a seat is kept for somebody whose line is lost
    back: Seconds = 60.0  # for which players are waited for after a restart
    strangers: Strangers = Strangers()


class WrittenOffer(msgspec.Struct, frozen=True):
    """An offer as it stands in a file."""

    game: str
    parameters: dict[str, Any] = {}
    min: int | None = None
    max: int | None = None
    wait: Seconds = 10.0
    policy: str = "order"
    fill: str = ""
    limits: dict[str, Any] = {}


class Tls(msgspec.Struct, frozen=True):
    """Where the certificate and its key are."""

    certificate: str
    key: str


SAME = ("name", "folder", "host", "port", "websocket", "web", "web_host", "web_names", "guests", "window", "back")


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in a file; whatever is left out is as usual."""

    games: list[Any] = []
    name: str | None = None
    folder: str | None = None
    host: str | None = None
    port: Port | None = None
    websocket: Port | None = None
    web: Port | None = None
    web_host: str | None = None
    web_names: list[str] | None = None
    tls: Tls | None = None
    guests: bool | None = None
    window: Seconds | None = None
    back: Seconds | None = None
    strangers: dict[str, Any] = {}


def read_settings(path: Path, flags: Mapping[str, Any]) -> HouseSettings:
    """The house that a file describes; what is said by flags counts more. Raises BadRequest with the place."""
    with at(path):
        tables = tables_in(path)
        refuse_unknown(tables, Written.__struct_fields__, "")
        written = converted(tables, Written, "")
        found: dict[str, Any] = {name: getattr(written, name) for name in SAME if getattr(written, name) is not None}
        if "folder" in found:
            found["folder"] = str(path.parent / found["folder"])
        if written.tls is not None:
            found["certificate"] = str(path.parent / written.tls.certificate)
            found["key"] = str(path.parent / written.tls.key)
        offers = tuple(offer_at(number, table) for number, table in enumerate(written.games, 1))
        with at("strangers"):
            strangers = strangers_from(written.strangers)
    return settings({"offers": offers, "strangers": strangers, **found, **flags})


def settings(found: Mapping[str, Any]) -> HouseSettings:
    """A house of these settings. Raises BadRequest if they make no sense."""
    if not found.get("offers"):
        raise BadRequest("nothing is played here: name a game, or a file with [[games]]")
    try:
        return msgspec.convert(msgspec.to_builtins(found), HouseSettings)
    except msgspec.ValidationError as error:
        raise BadRequest(f"these are no settings of a house: {error}") from None


def strangers_from(table: Mapping[str, Any]) -> Strangers:
    """The limits for strangers, of which numbers may be given as text. Raises BadRequest if they make no sense."""
    refuse_unknown(table, Strangers.__struct_fields__, "")
    return converted(table, Strangers, "", strict=False)


def offer_at(number: int, table: Any) -> Offer:
    """The offer in the n-th [[games]] of a file."""
    with at(f"games {number}"):
        if isinstance(table, dict):
            refuse_unknown(table, WrittenOffer.__struct_fields__, "")
        written = converted(table, WrittenOffer, "")
        return offer(
            written.game,
            written.parameters,
            least=written.min,
            most=written.max,
            wait=written.wait,
            policy=written.policy,
            fill=written.fill,
            limits=limits_from(written.limits) or Limits(),
        )


def offer(
    game: str,
    parameters: Mapping[str, Any],
    *,
    least: int | None = None,
    most: int | None = None,
    fill: str = "",
    policy: str = "order",
    **rest: Any,
) -> Offer:
    """An offer that can be met. Raises BadRequest if it makes no sense."""
    if not is_known(game):
        raise BadRequest(no_game(game))
    if policy not in POLICIES:
        raise BadRequest(f"there is no policy {policy!r}{meant(policy, POLICIES)}")
    rules = game_with(game, parameters)
    fewest = rules.seats[0] if least is None else least
    largest = rules.seats[-1] if most is None else most
    if not (fewest in rules.seats and largest in rules.seats and fewest <= largest):
        raise BadRequest(f"{game} is for {seats_in_words(rules.seats)} players, not for {fewest} to {largest}")
    if fill and not of_the_house(fill, game):
        known = title(game).house
        raise BadRequest(f"{fill!r} is no house player of {game}{meant(fill, known)}")
    if fill:
        house_strategy(game, fill)  # which knows whether its parameter makes sense
    for seats in range(fewest, largest + 1):
        rules.deal(seats, bytes(32))
    return Offer(game=game, parameters=rules.parameters(), least=fewest, most=largest, fill=fill, policy=policy, **rest)

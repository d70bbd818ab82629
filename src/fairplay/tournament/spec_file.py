"""Read a tournament from a TOML file; errors name the place and the problem in one line."""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import msgspec

from fairplay.core.errors import BadRequest, error_location
from fairplay.core.events import Fault
from fairplay.core.game import Game
from fairplay.games import game_info, is_known, unknown_game_message
from fairplay.hosting.spec import Entrant, seed_options
from fairplay.protocol.limits import PROGRAM_LIMIT_NAMES, Limits, Seconds
from fairplay.referee.loading import load_from_module
from fairplay.referee.referee import seats_by_age
from fairplay.render.formatting import suggestion
from fairplay.render.text import printable
from fairplay.sandbox.policy import SANDBOXES, unknown_level
from fairplay.tournament.entrants import PlayerEntry, make_entrants
from fairplay.tournament.settings import RoundRobin, Settings
from fairplay.tournament.spec import BotCheckPolicy, FormatSettings, Penalty, TournamentSpec

MAX_TOML_BYTES = 1024 * 1024
FORMATS: dict[str, type[Settings]] = {one.__struct_config__.tag: one for one in get_args(FormatSettings)}

Kind = TypeVar("Kind")
Choice = TypeVar("Choice", bound=Enum)


class WrittenTournament(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file."""

    game: str
    seed: str | None = None
    parameters: dict[str, Any] = {}
    format: dict[str, Any] | None = None
    limits: dict[str, Any] = {}
    sandbox: str | None = None
    pondering: bool = False
    bot_check: str = BotCheckPolicy.WARN.value
    penalties: dict[str, Any] = {}
    players: list[Any] = []
    player_files: list[str] = []
    observers: list[str] = []
    signup: dict[str, Any] | None = None


class SignUpSettings(msgspec.Struct, frozen=True):
    """How many players can sign up at a server, and how long the server waits for them."""

    min: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 2
    max: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1000
    wait: Seconds = 60.0  # in seconds, from when `min` players are there
    guests: bool = True  # whether players without a token may sign up


TOP_LEVEL_KEYS = WrittenTournament.__struct_fields__


def read_tournament(path: Path | str, joined: Sequence[Entrant] = ()) -> TournamentSpec:
    """The tournament in a file. Raises BadRequest with the place of the problem.

    `joined`: the players that signed up, in addition to those in the file.
    """
    with error_location(path):
        return spec_from_tables(read_tables(Path(path)), Path(path).parent.resolve(), joined)


def read_sign_up_settings(path: Path) -> SignUpSettings:
    """How players sign up for the tournament in a file. Raises BadRequest if they cannot."""
    with error_location(path):
        tables = read_tables(path)
        if "signup" not in tables:
            raise BadRequest(
                "players cannot sign up for this tournament: write signup = { min = 2, max = 8, wait = 60 }"
            )
        check_keys(tables, TOP_LEVEL_KEYS, "")
        written = convert_value(tables, WrittenTournament, "")
        check_keys(written.signup or {}, SignUpSettings.__struct_fields__, "signup")
        found = convert_value(written.signup, SignUpSettings, "signup")
        if found.min > found.max:
            raise BadRequest(f"signup: min {found.min} is more than max {found.max}")
        return found


def spec_from_tables(tables: Mapping[str, Any], base: Path, joined: Sequence[Entrant] = ()) -> TournamentSpec:
    """The tournament that the tables of a file in the directory `base` describe, with the players that joined."""
    check_keys(tables, TOP_LEVEL_KEYS, "")
    written = convert_value(tables, WrittenTournament, "")
    if written.signup is not None and not joined:
        raise BadRequest("signup: players sign up at a server; run it with: fairplay serve --tournament FILE")
    if not is_known(written.game):
        raise BadRequest(f"game: {unknown_game_message(written.game)}")
    info = game_info(written.game)
    check_keys(written.parameters, info.rules.__struct_fields__, "parameters")
    check_keys(written.penalties, ["default", *(fault.value for fault in Fault)], "penalties")
    if written.sandbox is not None and (unknown := unknown_level(written.sandbox)) is not None:
        raise BadRequest(f"sandbox: unknown value {unknown!r}{suggestion(unknown, SANDBOXES)}")
    penalties = {name: parse_choice(text, Penalty, f"penalties.{name}") for name, text in written.penalties.items()}
    default = penalties.pop("default", Penalty.EJECT)
    with error_location("parameters"):
        rules = info.rules.with_parameters(written.parameters)
    settings = RoundRobin() if written.format is None else parse_format(written.format)
    for address in written.observers:
        with error_location("observers"):
            check_observer(address)
    players = (*make_entrants(parse_player_entries(written.players), written.player_files, base, info), *joined)
    check_tables_can_be_filled(rules, settings, len(players))
    return TournamentSpec(
        game=written.game,
        players=players,
        format=settings,
        **seed_options(written.seed),
        parameters=rules.parameters(),
        limits=parse_limits(written.limits),
        sandbox=written.sandbox,
        pondering=written.pondering,
        bot_check=parse_choice(written.bot_check, BotCheckPolicy, "bot_check"),
        penalties={Fault(name): penalty for name, penalty in penalties.items()},
        default_penalty=default,
        observers=tuple(written.observers),
    )


def read_tables(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    try:
        if path.exists() and not path.is_file():
            raise BadRequest("not a file")  # reading a pipe might never end
        with path.open("rb") as file:
            data = file.read(MAX_TOML_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadRequest(f"cannot be read: {getattr(error, 'strerror', error)}") from None
    if len(data) > MAX_TOML_BYTES:
        raise BadRequest(f"has more than {MAX_TOML_BYTES} bytes")
    try:
        tables = tomllib.loads(data.decode("utf-8-sig"))
        check_values(tables, "")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadRequest(f"line {line}: the byte {data[error.start]:#04x} is not UTF-8") from None
    except RecursionError:
        raise BadRequest("its values are nested too deep") from None
    except ValueError as error:  # also for numbers with too many digits
        raise BadRequest(f"not TOML: {error}") from None
    return tables


def parse_format(table: Mapping[str, Any]) -> Any:
    """The settings of a format, by its kind."""
    kind = table.get("kind")
    if kind is None:
        raise BadRequest(f"format.kind: is missing{suggestion('', FORMATS)}")
    if not isinstance(kind, str) or kind not in FORMATS:
        raise BadRequest(f"format.kind: there is no format {kind!r}{suggestion(str(kind), FORMATS)}")
    check_keys(table, ["kind", *FORMATS[kind].__struct_fields__], "format")
    return convert_value(table, FORMATS[kind], "format")


def parse_limits(table: Mapping[str, Any]) -> Limits | None:
    """The limits, by the names of --limit; None: the table is empty."""
    check_keys(table, PROGRAM_LIMIT_NAMES, "limits")
    for name, value in table.items():
        try:
            msgspec.convert({PROGRAM_LIMIT_NAMES[name]: value}, Limits)
        except msgspec.ValidationError as error:
            raise BadRequest(f"limits.{name}: {describe_validation_error(error)[1]}") from None
    return (
        msgspec.convert({PROGRAM_LIMIT_NAMES[name]: value for name, value in table.items()}, Limits) if table else None
    )


def parse_player_entries(entries: Iterable[Any]) -> Iterator[PlayerEntry]:
    """The players that are listed."""
    for number, entry in enumerate(entries, 1):
        with error_location(f"player {number}"):
            if isinstance(entry, dict):
                check_keys(entry, PlayerEntry.__struct_fields__, "")
            one = convert_value(entry, PlayerEntry, "")
        yield one


# Checks.


def check_keys(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Raise BadRequest for unknown keys, which may be misspelled."""
    names = list(known)
    for key in table:
        if key in names:
            continue
        place = f"{where}: " if where else ""
        if key in TOP_LEVEL_KEYS:  # it stands below a [section]
            raise BadRequest(f"{place}unknown key {key!r}: it belongs to the top of the file, above any [section]")
        raise BadRequest(f"{place}unknown key {printable(key, 80)!r}{suggestion(key, names)}")


def check_values(value: Any, where: str) -> None:
    """Raise BadRequest for numbers that are not finite, and texts with a NUL."""
    match value:
        case dict():
            for key, one in value.items():
                check_values(one, f"{where}.{key}" if where else key)
        case list():
            for number, one in enumerate(value, 1):
                check_values(one, f"{where}[{number}]")
        case float() if not math.isfinite(value):
            raise BadRequest(f"{where}: {value} is not a finite number")
        case str() if "\0" in value:
            raise BadRequest(f"{where}: this text holds a NUL")


def check_observer(address: str) -> None:
    """Raise BadRequest unless an observer can be loaded; it is made where the matches are played."""
    if not address.startswith("py:"):
        raise BadRequest(f"{address!r} is not an observer; write py:module:Name")
    load_from_module(address, "observer")


def check_tables_can_be_filled(rules: Game[Any, Any, Any], settings: Settings, players: int) -> None:
    """Raise BadRequest if tables cannot be filled, or the game cannot be dealt for them."""
    table = getattr(settings, "table", None)  # the courses have tables of several sizes instead
    fewest = rules.seats[0] if table is None else table
    if not players:
        raise BadRequest("there are no players: name some in players or player_files")
    with error_location("format.table"):
        seats_by_age(rules, fewest)
    for seats in rules.seats[: players + 1 - fewest] if table is None else [table]:
        rules.deal(seats, bytes(32))
    if players < fewest:
        raise BadRequest(f"there are fewer players ({players}) than seats at a table ({fewest})")


# Values.


def parse_choice(value: Any, kind: type[Choice], where: str) -> Choice:
    """The choice with this value."""
    known = {one.value: one for one in kind}
    if not isinstance(value, str) or value not in known:
        raise BadRequest(f"{where}: unknown value {value!r}{suggestion(str(value), known)}")
    return known[value]


def convert_value(value: Any, kind: type[Kind], where: str, *, strict: bool = True) -> Kind:
    """A value of this type; otherwise raises BadRequest with the place and the problem."""
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        place, why = describe_validation_error(error)
        raise BadRequest(": ".join(part for part in (f"{where}{place}".lstrip("."), why) if part)) from None


def describe_validation_error(error: msgspec.ValidationError) -> tuple[str, str]:
    """The place of an error, relative to the checked value, and the problem.

    >>> describe_validation_error(msgspec.ValidationError("Expected `int`, got `str` - at `$.games`"))
    ('.games', 'expected int, got str')
    """
    text, _, place = str(error).partition(" - at `$")
    for ours, theirs in (
        ("missing key ", "Object missing required field "),
        ("", "`"),
        ("", " | null"),
        ("table", "object"),
        ("list", "array"),
    ):
        text = text.replace(theirs, ours)
    return place.removesuffix("`"), text[:1].lower() + text[1:]

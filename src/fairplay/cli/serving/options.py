"""Turn the settings of a server into options of the command, and options into settings."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
import msgspec
from msgspec.structs import FieldInfo

from fairplay.cli.options.match_options import parse_limit_option
from fairplay.cli.options.match_options import parse_pairs as pairs_in
from fairplay.core.errors import BadRequest, error_location
from fairplay.protocol.limits import Limits
from fairplay.server.settings import (
    ConnectionLimits,
    Offer,
    ServerSettings,
    Setting,
    Tls,
    declared_settings,
    make_offer,
    with_connection_limits,
)
from fairplay.tournament.spec_file import convert_value

Command = TypeVar("Command", bound=Callable[..., Any])
SERVER_OPTIONS, OFFER_OPTIONS = (  # the game is an argument
    {field.name for field, _ in declared_settings(table) if not field.required} for table in (ServerSettings, Offer)
)


def value_parser(kind: Any) -> Callable[[str], Any]:
    """A function that parses text as a value of this type."""

    def parse_value(text: str) -> Any:
        try:
            return convert_value(text, kind, "", strict=False)
        except BadRequest as error:
            raise click.BadParameter(str(error)) from None

    return parse_value


def server_options(command: Command) -> Command:
    """Add an option for each setting of a server and of an offered game."""
    for field, setting in reversed([*declared_settings(ServerSettings), *declared_settings(Offer)]):
        if not field.required:
            command = make_option(field, setting)(command)
    return command


def make_option(field: FieldInfo, setting: Setting) -> Callable[[Command], Command]:
    """Make the option of a setting; its value is None or empty if it was not given."""
    kind, name, default = get_args(field.type)[0], option_name(field, setting), default_text(field)
    how: dict[str, Any] = {"type": value_parser(field.type)}
    if kind is bool:
        name, how = f"{name}/--no-{name[2:]}", {"default": None}
    elif get_origin(kind) is Literal:
        how = {"type": click.Choice(get_args(kind))}
    elif kind is Limits:
        how = {}
    elif kind == Tls | None:
        how = {"nargs": 2}
    elif kind is ConnectionLimits or get_origin(kind) in (tuple, dict):
        how = {"multiple": True}
    help_text = f"{setting.help}  [default: {default}]" if default else setting.help
    return click.option(name, field.name, metavar=setting.metavar, help=help_text, **how)


def option_name(field: FieldInfo, setting: Setting) -> str:
    """The name of a setting's option."""
    return setting.option or f"--{field.encode_name.replace('_', '-')}"


def default_text(field: FieldInfo) -> str:
    """The default of a setting as text; empty: none, or its game decides."""
    match field.default:
        case bool():
            return "yes" if field.default else "no"
        case float():
            return f"{field.default:g}"
        case str() | int() if field.default:
            return str(field.default)
    return ""


def apply_options(settings: ServerSettings, given: Mapping[str, Any]) -> ServerSettings:
    """Replace settings by the given options. Raises BadRequest if they are invalid."""
    changes = {name: given[name] for name in SERVER_OPTIONS & given.keys()}
    if "tls" in changes:
        changes["tls"] = Tls(*changes["tls"])
    limits = pairs_in(changes.pop("connection_limits", ()), "--connection-limit")
    with error_location("--connection-limit"):
        return with_connection_limits(msgspec.structs.replace(settings, **changes), limits)


def offer_from_options(game: str, given: Mapping[str, Any]) -> Offer:
    """The offer of a game that options describe. Raises BadRequest if it is invalid."""
    changes = {name: given[name] for name in OFFER_OPTIONS & given.keys()}
    if "limits" in changes:
        changes["limits"] = parse_limit_option(changes["limits"])
    return make_offer(game, pairs_in(changes.pop("parameters", ())), **changes)

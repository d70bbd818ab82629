"""Make options of the command from the settings that a server declares, and settings from what was said by them."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
import msgspec
from msgspec.structs import FieldInfo

from fairplay.cli.options.match_options import limits_named
from fairplay.cli.options.match_options import settings as pairs_in
from fairplay.core.errors import BadRequest, at
from fairplay.protocol.limits import Limits
from fairplay.server.settings import HouseSettings, Offer, Setting, Strangers, Tls, offer, settings_in, with_limits
from fairplay.tournament.file import converted

Command = TypeVar("Command", bound=Callable[..., Any])
SERVER, OFFER = (  # the game is an argument
    {field.name for field, _ in settings_in(table) if not field.required} for table in (HouseSettings, Offer)
)


def checked(kind: Any) -> Callable[[str], Any]:
    """What makes a value of this type of a text, or says why there is none."""

    def value_of(text: str) -> Any:
        try:
            return converted(text, kind, "", strict=False)
        except BadRequest as error:
            raise click.BadParameter(str(error)) from None

    return value_of


def server_options(command: Command) -> Command:
    """Add an option for each setting of a server, and of a game that it offers."""
    for field, setting in reversed([*settings_in(HouseSettings), *settings_in(Offer)]):
        if not field.required:
            command = option_for(field, setting)(command)
    return command


def option_for(field: FieldInfo, setting: Setting) -> Callable[[Command], Command]:
    """The option of a setting; it is None or empty where nothing was said."""
    kind, name, default = get_args(field.type)[0], option_name(field, setting), default_text(field)
    how: dict[str, Any] = {"type": checked(field.type)}
    if kind is bool:
        name, how = f"{name}/--no-{name[2:]}", {"default": None}
    elif get_origin(kind) is Literal:
        how = {"type": click.Choice(get_args(kind))}
    elif kind is Limits:
        how = {}
    elif kind == Tls | None:
        how = {"nargs": 2}
    elif kind is Strangers or get_origin(kind) in (tuple, dict):
        how = {"multiple": True}
    said = f"{setting.help}  [default: {default}]" if default else setting.help
    return click.option(name, field.name, metavar=setting.metavar, help=said, **how)


def option_name(field: FieldInfo, setting: Setting) -> str:
    """What the option of a setting is called."""
    return setting.option or f"--{field.encode_name.replace('_', '-')}"


def default_text(field: FieldInfo) -> str:
    """What a setting is where nothing is said; empty: nothing, or its game decides."""
    match field.default:
        case bool():
            return "yes" if field.default else "no"
        case float():
            return f"{field.default:g}"
        case str() | int() if field.default:
            return str(field.default)
    return ""


def changed(settings: HouseSettings, given: Mapping[str, Any]) -> HouseSettings:
    """These settings with what was said by options in their place. Raises BadRequest if it makes no sense."""
    said = {name: given[name] for name in SERVER & given.keys()}
    if "tls" in said:
        said["tls"] = Tls(*said["tls"])
    limits = pairs_in(said.pop("strangers", ()), "--strangers")
    with at("--strangers"):
        return with_limits(msgspec.structs.replace(settings, **said), limits)


def offered(game: str, given: Mapping[str, Any]) -> Offer:
    """What is offered of a game by options. Raises BadRequest if it makes no sense."""
    said = {name: given[name] for name in OFFER & given.keys()}
    if "limits" in said:
        said["limits"] = limits_named(said["limits"])
    return offer(game, pairs_in(said.pop("parameters", ())), **said)

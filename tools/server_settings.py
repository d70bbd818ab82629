"""Write all settings of a server, with their defaults, into docs/serving.md and examples/deploy/server.toml."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from fairplay.cli.serving.options import default_text, option_name
from fairplay.server.settings import ConnectionLimits, Offer, ServerSettings, declared_settings
from tools.page_sections import replace_section

ROOT = Path(__file__).parent.parent
PAGE, EXAMPLE = ROOT / "docs" / "serving.md", ROOT / "examples" / "deploy" / "server.toml"
HEAD = """\
# A server with all its settings.
#
# `make tables` writes this file; copy it, and change the copy: fairplay serve --config server.toml. Options of the
# command line override it. Paths are relative to this file, times in seconds. A setting after a # is off.

"""
SECOND_GAME = """
[[games]]               # one such table for each game
game = "q"
"""


def main() -> None:
    """Write the page and the example."""
    PAGE.write_text(replace_section(PAGE, "settings", settings_table()), encoding="utf-8")
    EXAMPLE.write_text(example_file(), encoding="utf-8")


def settings_table() -> str:
    """The settings in Markdown."""
    rows = "".join(
        f"| `{key}` | {option} | {default} | {help_text} |\n" for key, option, default, help_text in settings_rows()
    )
    return f"| in a file | option of `serve` | default | |\n|---|---|---|---|\n{rows}"


def settings_rows() -> Iterator[tuple[str, str, str, str]]:
    """The key, the option, the default and the help of each setting."""
    for prefix, kind in (("", ServerSettings), ("connection_limits.", ConnectionLimits), ("games.", Offer)):
        for field, setting in declared_settings(kind):
            option = f"--connection-limit {field.name}=N" if kind is ConnectionLimits else option_name(field, setting)
            if field.name != "connection_limits":
                yield prefix + field.encode_name, f"`{option}`", default_text(field), setting.help


def example_file() -> str:
    """The settings in TOML."""
    tables = ((HEAD, ServerSettings), ("[connection_limits]\n", ConnectionLimits), ("[[games]]\n", Offer))
    return "\n".join(head + "".join(setting_lines(kind)) for head, kind in tables) + SECOND_GAME


def setting_lines(kind: type[Struct]) -> Iterator[str]:
    """Each setting of a table, with its help."""
    for field, setting in declared_settings(kind):
        if field.name != "connection_limits":  # a table of its own
            value = setting.example or format_toml(field)
            off, value = ("#", value[1:]) if value.startswith("#") else ("", value)
            yield f"{off}{field.encode_name} = {value}".ljust(22) + f"  # {setting.help}\n"


def format_toml(field: FieldInfo) -> str:
    """A default in TOML; the game has none, so it is an example."""
    if field.required:
        return '"fish"'
    value: Any = field.default_factory() if field.default is NODEFAULT else field.default
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)


if __name__ == "__main__":
    main()

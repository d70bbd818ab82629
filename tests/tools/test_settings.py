"""Test that each setting of a server is in its file, the help, the docs, and the example."""

import re
import tomllib
from pathlib import Path

import click
import msgspec
import pytest

from fairplay.cli.main import fairplay  # whose help options click keeps with a command
from fairplay.cli.serve import serve
from fairplay.cli.serving.options import make_option
from fairplay.core.errors import BadRequest
from fairplay.server.settings import ConnectionLimits, Offer, ServerSettings, declared_settings, read_settings
from tools import server_settings
from tools.page_sections import replace_section

TABLES = {"": ServerSettings, "connection_limits.": ConnectionLimits, "games.": Offer}
KEYS = [prefix + key for prefix, table in TABLES.items() for key in table.__struct_encode_fields__]
SETTINGS = [key for key in KEYS if key not in ("games", "connection_limits")]  # these are tables
ALL_IN_FORCE = re.sub(r"^#(?=\w)", "", server_settings.EXAMPLE.read_text(), flags=re.MULTILINE)
HELP = serve.get_help(click.Context(serve, info_name="serve", terminal_width=200, **fairplay.context_settings))


def test_the_docs_and_the_example_are_up_to_date() -> None:
    page = replace_section(server_settings.PAGE, "settings", server_settings.settings_table())
    assert server_settings.PAGE.read_text() == page, "run `make tables`"
    assert server_settings.EXAMPLE.read_text() == server_settings.example_file(), "run `make tables`"


@pytest.mark.parametrize("key", SETTINGS)
def test_a_setting_is_in_its_file_the_help_the_docs_and_the_example(key: str, tmp_path: Path) -> None:
    table, _, name = key.rpartition(".")
    path, tables = tmp_path / "server.toml", tomllib.loads(ALL_IN_FORCE)
    head = {"": "", "connection_limits": "[connection_limits]\n", "games": "[[games]]\n"}[table]
    path.write_text(f"{head}{name} = 1979-05-27\n" + "[[games]]\ngame = 'fish'\n" * ("game" not in key))
    with pytest.raises(BadRequest) as refused:
        read_settings(path)
    assert str(refused.value).startswith(f"{path}: {key.replace('games.', 'games 1: ')}: expected ")

    [(option, usual, said)] = [row[1:] for row in server_settings.settings_rows() if row[0] == key]
    assert re.search(rf"\b{option.strip('`').split()[0].lstrip('-')}\b", HELP)
    if not key.startswith("connection_limits.") and key != "games.game":
        assert f"{said}  [default: {usual}]" * bool(usual) in HELP
        assert said in HELP

    assert server_settings.PAGE.read_text().count(f"\n| `{key}` | ") == 1
    assert name in {"": tables, "connection_limits": tables["connection_limits"], "games": tables["games"][0]}[table]
    assert re.search(rf"^{name} = .*  # \w", ALL_IN_FORCE, re.MULTILINE)


def test_the_example_with_all_settings_in_force_is_read(tmp_path: Path) -> None:
    (tmp_path / "server.toml").write_text(ALL_IN_FORCE)

    assert read_settings(tmp_path / "server.toml").websocket == 4001


def test_a_new_setting_takes_only_a_field() -> None:
    new = msgspec.defstruct("New", [("port_of_mine", ServerSettings.__annotations__["port"], 7)])
    [(field, setting)] = declared_settings(new)

    [option, _] = click.command()(make_option(field, setting)(lambda **said: None)).get_params(
        click.Context(serve, **fairplay.context_settings)
    )

    assert list(server_settings.setting_lines(new)) == [
        "port_of_mine = 7        # Listen at this port; 0: any free port.\n"
    ]
    assert option.opts == ["--port-of-mine"]
    assert isinstance(option, click.Option)
    assert option.help == "Listen at this port; 0: any free port.  [default: 7]"

"""Test the settings of a server: valid ones are read, and others refused in one line that says where they are."""

from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.protocol.limits import Limits
from fairplay.server.settings import ConnectionLimits, ServerSettings, Tls, read_settings

WHOLE = """
name = "the lab"
directory = "kept"
host = "0.0.0.0"
port = 5000
websocket = 5001
web = 8080
web_host = "0.0.0.0"
tls = { certificate = "cert.pem", key = "/etc/key.pem" }
guests = false
reconnect_window = 20
restart_window = 40

[connection_limits]
connections = 100
connections_per_address = 10

[[games]]
game = "fish"
parameters = { rows = 4, columns = 4 }
min = 2
max = 3
wait = 5
policy = "shuffled"
fill = "greedy"
limits = { move = 2, bank = 60 }

[[games]]
game = "q"
"""


def read(tmp_path: Path, text: str) -> ServerSettings:
    (tmp_path / "server.toml").write_text(text)
    return read_settings(tmp_path / "server.toml")


def test_a_file_can_set_everything(tmp_path: Path) -> None:
    found = read(tmp_path, WHOLE)

    fish, q = found.offers
    assert found == ServerSettings(
        name="the lab",
        directory=str(tmp_path / "kept"),
        host="0.0.0.0",
        port=5000,
        websocket=5001,
        web=8080,
        web_host="0.0.0.0",
        tls=Tls(str(tmp_path / "cert.pem"), "/etc/key.pem"),
        guests=False,
        reconnect_window=20,
        restart_window=40,
        connection_limits=ConnectionLimits(connections=100, connections_per_address=10),
        offers=found.offers,
    )
    assert (fish.min_players, fish.max_players, fish.wait, fish.policy, fish.fill) == (2, 3, 5, "shuffled", "greedy")
    assert (fish.game, fish.parameters["rows"], fish.limits) == ("fish", 4, Limits(move=2, bank=60))
    assert (q.game, q.min_players, q.max_players, q.limits) == ("q", 2, 4, Limits())


def test_a_file_need_only_name_a_game_and_a_server_then_listens_on_its_own_machine_alone(tmp_path: Path) -> None:
    found = read(tmp_path, '[[games]]\ngame = "fish"')

    assert found.directory == "server-data"  # which is not relative to the file
    assert (found.host, found.web, found.web_host, found.web_names) == ("127.0.0.1", None, "127.0.0.1", ())


def test_paths_of_a_certificate_are_relative_to_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, 'tls = { certificate = "cert.pem", key = "key.pem" }\n[[games]]\ngame = "fish"')

    assert found.tls == Tls(str(tmp_path / "cert.pem"), str(tmp_path / "key.pem"))


SMALL_BOARD = "max = 2\nparameters = { rows = 2, columns = 3 }"
BAD = [
    ("", "no game: add one under [[games]]"),
    ("prot = 1", "unknown key 'prot': did you mean 'port'?"),
    ("port = 65536", "port: expected int <= 65535"),
    ("reconnect_window = -1", "reconnect_window: expected float > 0.0"),
    ("[connection_limits]\nper = 1", "connection_limits: unknown key 'per'"),
    ("[connection_limits]\nconnections = 0", "connection_limits.connections: expected int >= 1"),
    ("tls = { certificate = 'a', keys = 'b' }", "tls: "),
    ("log = 'xml'", "log: invalid enum value 'xml'"),
    ("games = [3]", "games 1: expected table, got int"),
    ("games = 3", "games: expected list, got int"),
    ("port = ", "not TOML"),
    ("[[games]]\n", "games 1: missing key game"),
    ("[[games]]\ngame = 'fisch'", "games 1: there is no game 'fisch': did you mean 'fish'?"),
]
BAD_GAMES = [
    ("min = 1", "fish is for 2 to 4 players, not for 1 to 4"),
    ("min = 4\nmax = 3", "fish is for 2 to 4 players, not for 4 to 3"),
    ("policy = 'age'", "no policy 'age'"),
    ("fill = 'lookahead:x'", "lookahead looks 1 to 9 turns ahead"),
    ("fill = './bot'", "'./bot' is no built-in player of fish"),
    ("limits = { mvoe = 1 }", "limits: unknown key 'mvoe'"),
    ("limits = 3", "limits: expected table, got int"),
    ("parameters = { rows = 0 }", ""),
    (SMALL_BOARD, "a board of 2 x 3 with 0 holes is too small for 2 players"),
]


@pytest.mark.parametrize(
    ("text", "why"), [*BAD, *((f"[[games]]\ngame = 'fish'\n{text}", f"games 1: {why}") for text, why in BAD_GAMES)]
)
def test_bad_settings_are_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(tmp_path, text)

    said = str(refused.value)
    assert said.startswith(f"{tmp_path}/server.toml: {why}")
    assert "\n" not in said

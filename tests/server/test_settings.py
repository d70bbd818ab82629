"""Test the settings of a server: valid ones are read, and others refused in one line that says where they are."""

from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.protocol.limits import Limits
from fairplay.server.settings import ConnectionLimits, ServerSettings, Tls, make_offer, read_settings

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

    assert (found.name, found.host, found.port, found.websocket) == ("the lab", "0.0.0.0", 5000, 5001)
    assert (found.web, found.web_host, found.guests, found.reconnect_window, found.restart_window) == (
        8080,
        "0.0.0.0",
        False,
        20,
        40,
    )
    assert (found.directory, found.tls) == (str(tmp_path / "kept"), Tls(str(tmp_path / "cert.pem"), "/etc/key.pem"))
    assert found.connection_limits == ConnectionLimits(connections=100, connections_per_address=10)
    fish, q = found.offers
    assert (fish.game, fish.min_players, fish.max_players, fish.wait, fish.policy, fish.fill) == (
        "fish",
        2,
        3,
        5,
        "shuffled",
        "greedy",
    )
    assert (fish.parameters["rows"], fish.limits) == (4, Limits(move=2, bank=60))
    assert (q.game, q.min_players, q.max_players, q.limits) == ("q", 2, 4, Limits())


def test_paths_of_a_certificate_are_relative_to_the_file(tmp_path: Path) -> None:
    text = 'tls = { certificate = "cert.pem", key = "key.pem" }\n[[games]]\ngame = "fish"'

    found = read(tmp_path, text)

    assert found.tls == Tls(str(tmp_path / "cert.pem"), str(tmp_path / "key.pem"))


def test_the_default_directory_is_not_relative_to_the_file(tmp_path: Path) -> None:
    assert read(tmp_path, '[[games]]\ngame = "fish"').directory == "server-data"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "server.toml: no game: add one under [[games]]"),
        ("prot = 1", "server.toml: unknown key 'prot': did you mean 'port'?"),
        ("port = 65536", "server.toml: port: expected int <= 65535"),
        ("reconnect_window = -1", "server.toml: reconnect_window: expected float > 0.0"),
        ("[connection_limits]\nper = 1", "server.toml: connection_limits: unknown key 'per'"),
        (
            "[connection_limits]\nconnections_per_address = 0",
            "server.toml: connection_limits.connections_per_address: expected int >= 1",
        ),
        ("tls = { certificate = 'a', keys = 'b' }", "server.toml: tls: "),
        ("log = 'xml'", "server.toml: log: invalid enum value 'xml'"),
        ("[[games]]\ngame = 'fisch'", "server.toml: games 1: there is no game 'fisch': did you mean 'fish'?"),
        ("[[games]]\ngame = 'fish'\nmin = 1", "server.toml: games 1: fish is for 2 to 4 players, not for 1 to 4"),
        (
            "[[games]]\ngame = 'fish'\nmin = 4\nmax = 3",
            "server.toml: games 1: fish is for 2 to 4 players, not for 4 to 3",
        ),
        ("[[games]]\ngame = 'fish'\npolicy = 'age'", "server.toml: games 1: no policy 'age'"),
        ("[[games]]\ngame = 'fish'\nfill = 'lookahead:x'", "server.toml: games 1: lookahead looks 1 to 9 turns ahead"),
        ("[[games]]\ngame = 'fish'\nfill = './bot'", "server.toml: games 1: './bot' is no built-in player of fish"),
        ("[[games]]\ngame = 'fish'\nlimits = { mvoe = 1 }", "server.toml: games 1: limits: unknown key 'mvoe'"),
        ("[[games]]\ngame = 'fish'\nparameters = { rows = 0 }", "server.toml: games 1: "),
        (
            "[[games]]\ngame = 'fish'\nmax = 2\nparameters = { rows = 2, columns = 3 }",
            "server.toml: games 1: a board of 2 x 3 with 0 holes is too small for 2 players",
        ),
        ("[[games]]\n", "server.toml: games 1: missing key game"),
        ("games = [3]", "server.toml: games 1: expected table, got int"),
        ("[[games]]\ngame = 'fish'\nlimits = 3", "server.toml: games 1: limits: expected table, got int"),
        ("games = 3", "server.toml: games: expected list, got int"),
        ("port = ", "server.toml: not TOML"),
    ],
)
def test_bad_settings_are_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(tmp_path, text)

    said = str(refused.value).replace(f"{tmp_path}/", "")
    assert said.startswith(why)
    assert "\n" not in said


def test_a_server_listens_on_its_own_machine_alone_by_default() -> None:
    plain = ServerSettings(offers=(make_offer("fish", {}),))

    assert (plain.host, plain.web, plain.web_host, plain.web_names) == ("127.0.0.1", None, "127.0.0.1", ())

"""Test that `fairplay serve` refuses invalid options."""

from pathlib import Path

import pytest

from tests.cli.command import refusal_line, run_fairplay


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--port", "0"), "missing GAME, --config or --tournament; see: fairplay serve --help"),
        (("fish", "--tournament", "q"), "GAME and --tournament cannot be used together; see: fairplay serve --help"),
        (("--config", "no.toml", "--wait", "1"), "--wait cannot be used with --config; see: fairplay serve --help"),
        (("--tournament", "no.toml", "--name", "x"), "--name cannot be used with --tournament; see: "),
        (("--tournament", "no.toml", "--guests"), "--guests cannot be used with --tournament; see: "),
        (("--tournament", "no.toml", "--no-guests"), "--guests cannot be used with --tournament; see: "),
        (("fish", "--set", "rows=\udcff"), "'rows=\\udcff' is not valid UTF-8"),
        (("fisch",), "there is no game 'fisch': did you mean 'fish'?"),
        (("fish", "--fill", "./bot"), "'./bot' is no built-in player of fish"),
        (("fish", "--tls", "no", "where"), "cannot use no and where for TLS: "),
        (("--tournament", "no.toml"), "no.toml: cannot be read: "),
        (("--config", "no.toml"), "no.toml: cannot be read: "),
        (
            ("fish", "--connection-limit", "idel_timeout=1"),
            "--connection-limit: unknown key 'idel_timeout': did you mean 'idle_timeout'?",
        ),
        (("fish", "--connection-limit", "spectators=0"), "--connection-limit: spectators: expected int >= 1"),
        (
            ("fish", "--connection-limit", "spectators"),
            "--connection-limit spectators: expected NAME=VALUE, each NAME once",
        ),
    ],
)
def test_invalid_options_of_a_server_are_refused_before_it_listens(
    options: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert refusal_line(run_fairplay("serve", *options)).startswith(why)

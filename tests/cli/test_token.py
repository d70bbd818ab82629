"""Test `fairplay token`: create, list and revoke tokens."""

import re
from pathlib import Path

from fairplay.server.settings import ServerSettings
from fairplay.server.sign_in.tokens import Tokens
from tests.cli.command import CommandResult, refusal_line, run_fairplay, run_script


def made(directory: Path, name: str) -> str:
    """A token as it is printed."""
    done = run_fairplay("token", name, "--dir", str(directory))
    assert (done.code, done.err) == (0, "")
    return done.out.removesuffix("\n")


def test_a_token_is_printed_once_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    token = made(tmp_path / "server", "ann")

    assert re.fullmatch(r"[0-9a-f]{32}", token)
    assert Tokens(tmp_path / "server").is_valid("ann", token)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or token not in path.read_text()
    done = run_script("token", "ann", cwd=tmp_path)
    assert Tokens(tmp_path / ServerSettings().directory).is_valid("ann", done.out.strip())


def test_a_token_that_is_revoked_counts_no_more_and_there_can_be_a_new_one(tmp_path: Path) -> None:
    tokens, listing = Tokens(tmp_path), ("token", "--list", "--dir", str(tmp_path))
    assert run_fairplay(*listing) == CommandResult(0, "", "")
    _, old = made(tmp_path, "bob"), made(tmp_path, "ann")
    assert run_fairplay(*listing) == CommandResult(0, "ann\nbob\n", "")

    assert run_fairplay("token", "ann", "--revoke", "--dir", str(tmp_path)) == CommandResult(0, "", "")
    assert not tokens.is_valid("ann", old)
    new = made(tmp_path, "ann")
    assert (tokens.is_valid("ann", old), tokens.is_valid("ann", new)) == (False, True)


def test_a_damaged_token_file_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("ann\n")

    for arguments in (("bob",), ("ann", "--revoke"), ("--list",)):
        assert "tokens: line 1: " in refusal_line(run_fairplay("token", *arguments, "--dir", str(tmp_path)))
    assert (tmp_path / "tokens").read_text() == "ann\n"


def test_a_token_is_written_to_a_new_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file, into = tmp_path / "ann.token", ("--dir", str(tmp_path), "-o", str(tmp_path / "ann.token"))

    assert run_fairplay("token", "ann", *into) == CommandResult(0, "", "")

    assert file.stat().st_mode & 0o777 == 0o600
    before = file.read_text()
    assert Tokens(tmp_path).is_valid("ann", before.strip())
    for name in ("ann", "bob"):
        why = refusal_line(run_fairplay("token", name, *into))
        assert why.startswith(f"{file} exists already and is not overwritten")
    assert file.read_text() == before
    assert not Tokens(tmp_path).has("bob")


def test_a_token_for_a_tournament_is_where_its_server_reads_it(tmp_path: Path) -> None:
    tournament = tmp_path / "net.toml"
    tournament.write_text('game = "fish"\nformat = { kind = "round-robin" }\nsignup = { min = 2, max = 2 }\n')

    done = run_fairplay("token", "ann", "--tournament", str(tournament))

    assert Tokens(tmp_path / "net").is_valid("ann", done.out.strip())
    assert run_fairplay("token", "--list", "--tournament", str(tournament)) == CommandResult(0, "ann\n", "")

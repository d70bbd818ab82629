"""Test `fairplay token`: create, list and revoke tokens."""

import re
from pathlib import Path

import pytest

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


def test_the_directory_of_a_server_is_the_usual_one(tmp_path: Path) -> None:
    done = run_script("token", "ann", cwd=tmp_path)

    assert Tokens(tmp_path / ServerSettings().directory).is_valid("ann", done.out.strip())


def test_those_who_have_a_token_are_listed(tmp_path: Path) -> None:
    assert run_fairplay("token", "--list", "--dir", str(tmp_path)) == CommandResult(0, "", "")
    made(tmp_path, "bob")
    made(tmp_path, "ann")
    assert run_fairplay("token", "--list", "--dir", str(tmp_path)) == CommandResult(0, "ann\nbob\n", "")


def test_a_token_that_is_revoked_counts_no_more_and_there_can_be_a_new_one(tmp_path: Path) -> None:
    tokens, old = Tokens(tmp_path), made(tmp_path, "ann")

    assert run_fairplay("token", "ann", "--revoke", "--dir", str(tmp_path)) == CommandResult(0, "", "")
    assert not tokens.is_valid("ann", old)
    new = made(tmp_path, "ann")
    assert (tokens.is_valid("ann", old), tokens.is_valid("ann", new)) == (False, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "missing NAME of a player, or --list"),
        (("ann", "--list"), "--list takes no NAME and no --revoke"),
        (("--revoke", "--list"), "--list takes no NAME and no --revoke"),
        (("--list", "-o", "file"), "-o is for a new token; it cannot be used with --revoke or --list"),
        (("ann", "--revoke", "-o", "file"), "-o is for a new token; it cannot be used with --revoke or --list"),
        (("--revoke",), "missing NAME of a player, or --list"),
        (("cyd", "--revoke"), "cyd has no token"),
        (("ann",), "ann has a token already: revoke it if it is lost"),
        (("ANN",), "ANN looks like ann, which has a token: choose another name"),
        (("a n n",), "'a n n' is not a valid name: "),
        (("~ann",), "'~ann' is not a valid name: "),
        (("",), "'' is not a valid name: "),
        (("x" * 21,), f"'{'x' * 21}' is not a valid name: "),
        (("../ann",), "'../ann' is not a valid name: "),
        (("ann\n",), "'ann\\n' is not a valid name: "),
        (("ännchen",), "'ännchen' is not a valid name: "),
        (("bob", "-o", "a\0b"), "a\N{REPLACEMENT CHARACTER}b cannot be written: "),
    ],
)
def test_token_refuses_invalid_arguments_in_one_line(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    made(tmp_path, "ann")
    before = (tmp_path / "tokens").read_text()

    assert refusal_line(run_fairplay("token", *arguments, "--dir", str(tmp_path))).startswith(why)
    assert (tmp_path / "tokens").read_text() == before


def test_a_directory_that_is_none_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert "file" in refusal_line(run_fairplay("token", "ann", "--dir", str(tmp_path / "file")))
    assert refusal_line(run_fairplay("token", "ann", "--dir", "/proc/server")).startswith(
        "cannot write tokens to /proc/server"
    )


def test_a_damaged_token_file_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("ann\n")

    for arguments in (("bob",), ("ann", "--revoke"), ("--list",)):
        assert "tokens: line 1: " in refusal_line(run_fairplay("token", *arguments, "--dir", str(tmp_path)))
    assert (tmp_path / "tokens").read_text() == "ann\n"


def test_a_token_is_written_to_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file = tmp_path / "ann.token"

    done = run_fairplay("token", "ann", "--dir", str(tmp_path), "-o", str(file))

    assert done == CommandResult(0, "", "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert Tokens(tmp_path).is_valid("ann", file.read_text().strip())


def test_making_a_token_twice_leaves_the_file_of_the_first_one(tmp_path: Path) -> None:
    file = tmp_path / "ann.token"
    run_fairplay("token", "ann", "--dir", str(tmp_path), "-o", str(file))
    before = file.read_text()

    for name in ("ann", "bob"):
        why = refusal_line(run_fairplay("token", name, "--dir", str(tmp_path), "-o", str(file)))
        assert why.startswith(f"{file} exists already and is not overwritten")

    assert file.read_text() == before
    assert not Tokens(tmp_path).has("bob")


def test_no_file_is_left_behind_where_no_token_is_made(tmp_path: Path) -> None:
    made(tmp_path, "ann")
    file = tmp_path / "new.token"

    refusal_line(run_fairplay("token", "ann", "--dir", str(tmp_path), "-o", str(file)))

    assert not file.exists()


def test_a_token_for_a_tournament_is_where_its_server_reads_it(tmp_path: Path) -> None:
    tournament = tmp_path / "net.toml"
    tournament.write_text('game = "fish"\nformat = { kind = "round-robin" }\nsignup = { min = 2, max = 2 }\n')

    done = run_fairplay("token", "ann", "--tournament", str(tournament))

    assert Tokens(tmp_path / "net").is_valid("ann", done.out.strip())
    assert run_fairplay("token", "--list", "--tournament", str(tournament)) == CommandResult(0, "ann\n", "")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--tournament", "net.toml", "--dir", "net"), "--dir and --tournament cannot be used together"),
        (("--tournament", "none.toml"), "none.toml"),
        (("--revoke", "-o", "x"), "-o is for a new token; it cannot be used with --revoke or --list"),
        (("-o", "nowhere/x"), "nowhere/x cannot be written: "),
    ],
)
def test_a_place_that_makes_no_sense_is_refused_in_a_line(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    assert refusal_line(run_script("token", "ann", *arguments, cwd=tmp_path)).startswith(why)

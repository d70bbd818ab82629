"""Make tokens on the command line, list those who have one, and take one back."""

import re
from pathlib import Path

import pytest

from fairplay.server.sign_in.tokens import Tokens
from tests.cli.command import Done, fairplay, refusal, script


def made(folder: Path, name: str) -> str:
    """A token as it is printed."""
    done = fairplay("token", name, "--folder", str(folder))
    assert (done.code, done.err) == (0, "")
    return done.out.removesuffix("\n")


def test_a_token_is_printed_once_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    token = made(tmp_path / "house", "ann")

    assert re.fullmatch(r"[0-9a-f]{32}", token)
    assert Tokens(tmp_path / "house").fits("ann", token)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or token not in path.read_text()


def test_the_folder_of_a_house_is_the_usual_one(tmp_path: Path) -> None:
    done = script("token", "ann", cwd=tmp_path)

    assert Tokens(tmp_path / "house").fits("ann", done.out.strip())


def test_those_who_have_a_token_are_listed(tmp_path: Path) -> None:
    assert fairplay("token", "--list", "--folder", str(tmp_path)) == Done(0, "", "")
    made(tmp_path, "bob")
    made(tmp_path, "ann")
    assert fairplay("token", "--list", "--folder", str(tmp_path)) == Done(0, "ann\nbob\n", "")


def test_a_token_that_is_revoked_counts_no_more_and_there_can_be_a_new_one(tmp_path: Path) -> None:
    tokens, old = Tokens(tmp_path), made(tmp_path, "ann")

    assert fairplay("token", "ann", "--revoke", "--folder", str(tmp_path)) == Done(0, "", "")
    assert not tokens.fits("ann", old)
    new = made(tmp_path, "ann")
    assert (tokens.fits("ann", old), tokens.fits("ann", new)) == (False, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "for whom? Name a player, or say --list"),
        (("ann", "--list"), "--list stands alone"),
        (("--revoke", "--list"), "--list stands alone"),
        (("--list", "-o", "file"), "-o makes no sense without a new token"),
        (("ann", "--revoke", "-o", "file"), "-o makes no sense without a new token"),
        (("--revoke",), "for whom? Name a player, or say --list"),
        (("cyd", "--revoke"), "cyd has no token"),
        (("ann",), "ann has a token already; revoke it, if it is lost"),
        (("ANN",), "ANN is too much like ann, who has a token"),
        (("a n n",), "'a n n' is no name: "),
        (("~ann",), "'~ann' is no name: "),
        (("",), "'' is no name: "),
        (("x" * 21,), f"'{'x' * 21}' is no name: "),
        (("../ann",), "'../ann' is no name: "),
        (("ann\n",), "'ann\\n' is no name: "),
        (("ännchen",), "'ännchen' is no name: "),
        (("bob", "-o", "a\0b"), "a\N{REPLACEMENT CHARACTER}b cannot be written: "),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    made(tmp_path, "ann")
    before = (tmp_path / "tokens").read_text()

    assert refusal(fairplay("token", *arguments, "--folder", str(tmp_path))).startswith(why)
    assert (tmp_path / "tokens").read_text() == before


def test_a_folder_that_is_none_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert "file" in refusal(fairplay("token", "ann", "--folder", str(tmp_path / "file")))
    assert refusal(fairplay("token", "ann", "--folder", "/proc/house")).startswith(
        "no token can be kept in /proc/house"
    )


def test_a_file_that_somebody_has_spoilt_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("ann\n")

    for arguments in (("bob",), ("ann", "--revoke"), ("--list",)):
        assert "tokens: line 1: " in refusal(fairplay("token", *arguments, "--folder", str(tmp_path)))
    assert (tmp_path / "tokens").read_text() == "ann\n"


def test_a_token_is_written_to_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file = tmp_path / "ann.token"

    done = fairplay("token", "ann", "--folder", str(tmp_path), "-o", str(file))

    assert done == Done(0, "", "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert Tokens(tmp_path).fits("ann", file.read_text().strip())


def test_making_a_token_twice_leaves_the_file_of_the_first_one(tmp_path: Path) -> None:
    file = tmp_path / "ann.token"
    fairplay("token", "ann", "--folder", str(tmp_path), "-o", str(file))
    before = file.read_text()

    for name in ("ann", "bob"):
        why = refusal(fairplay("token", name, "--folder", str(tmp_path), "-o", str(file)))
        assert why.startswith(f"{file} exists already, and is not overwritten")

    assert file.read_text() == before
    assert not Tokens(tmp_path).has("bob")


def test_no_file_is_left_behind_where_no_token_is_made(tmp_path: Path) -> None:
    made(tmp_path, "ann")
    file = tmp_path / "new.token"

    refusal(fairplay("token", "ann", "--folder", str(tmp_path), "-o", str(file)))

    assert not file.exists()


def test_a_token_for_a_tournament_is_where_its_server_reads_it(tmp_path: Path) -> None:
    cup = tmp_path / "net.toml"
    cup.write_text('game = "fish"\nformat = { kind = "round-robin" }\nsignup = { min = 2, max = 2 }\n')

    done = fairplay("token", "ann", "--tournament", str(cup))

    assert Tokens(tmp_path / "net").fits("ann", done.out.strip())
    assert fairplay("token", "--list", "--tournament", str(cup)) == Done(0, "ann\n", "")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--tournament", "net.toml", "--folder", "net"), "--folder and --tournament make no sense together"),
        (("--tournament", "none.toml"), "none.toml"),
        (("--revoke", "-o", "x"), "-o makes no sense without a new token"),
        (("-o", "nowhere/x"), "nowhere/x cannot be written: "),
    ],
)
def test_a_place_that_makes_no_sense_is_refused_in_a_line(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    assert refusal(script("token", "ann", *arguments, cwd=tmp_path)).startswith(why)

"""Test the advice for machines without a strict sandbox, by the files of such machines."""

from pathlib import Path

import pytest

from fairplay.diagnosis import sandbox_advice as advice
from tests.cli.command import run_fairplay

MISSING = "there is no strict sandbox here (bubblewrap: not installed)"
REFUSED = "there is no strict sandbox here (unshare: unshare failed: Operation not permitted)"


def advise(root: Path, why: str = REFUSED, **files: str) -> str:
    for name, text in files.items():
        (path := root / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return "\n".join(advice.sandbox_advice(why, root))


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (advice.APPARMOR_SWITCH, "1\n", "fairplay doctor --apparmor-profile | sudo tee"),
        (advice.USER_NAMESPACES, "0\n", "sysctl user.max_user_namespaces=15000"),
        ("run/.containerenv", "", "podman run --security-opt unmask=ALL"),
        (".dockerenv", "", "docker run --security-opt systempaths=unconfined"),
        ("proc/version", "Linux version 4.4.0-19041-Microsoft", "wsl --set-version NAME 2"),
    ],
)
def test_what_refuses_namespaces_is_named_with_its_remedy(file: str, text: str, expected: str, tmp_path: Path) -> None:
    assert expected in advise(tmp_path, **{file: text})
    assert advise(tmp_path, "") == ""  # there is a strict sandbox


def test_root_without_control_groups_is_told_to_be_another_user(tmp_path: Path) -> None:
    assert "--user 1000" in advise(tmp_path, "there is no strict sandbox here (threads: it does not hold)")


def test_a_machine_that_refuses_nothing_gets_no_advice(tmp_path: Path) -> None:
    files = {advice.APPARMOR_SWITCH: "0\n", advice.USER_NAMESPACES: "9\n", "proc/version": "Linux version 6.8"}

    assert advise(tmp_path, **files) == ""


@pytest.mark.parametrize(
    ("tool", "command"), [("dnf", "dnf install bubblewrap libseccomp"), ("pacman", "pacman -S bubblewrap libseccomp")]
)
@pytest.mark.parametrize("user", [0, 1000])
def test_packages_are_installed_by_the_tool_of_the_system(
    tool: str, command: str, user: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name == tool else None)
    monkeypatch.setattr("os.geteuid", lambda: user)

    assert advise(tmp_path, MISSING) == f"Install what is missing: {'sudo ' if user else ''}{command}"


def test_doctor_prints_a_profile_of_apparmor() -> None:
    done = run_fairplay("doctor", "--apparmor-profile")

    assert done.code == 0
    assert done.out.startswith("# Lets the sandbox of fairplay make user namespaces.\nabi <abi/4.0>,\n")
    for name in ("bwrap", "unshare"):
        assert f"/{name} flags=(unconfined) {{\n  userns,\n}}\n" in done.out

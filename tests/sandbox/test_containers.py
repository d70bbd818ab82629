"""Test which level of the sandbox programs get in containers of podman, made here from packages of the system."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.players.machine import needs_landlock
from tests.wheels import build_wheel

TOOLS = ("podman", "mmdebstrap", "runc")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
PACKAGES = "python3,python3-venv,bubblewrap,libseccomp2"
IMAGE, BASE = "localhost/fairplay-levels", "localhost/fairplay-levels-base"
LIMITS = ("--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=2000:2000", "--pids-limit", "400")
CONTAINERFILE = f"""
FROM {BASE}
COPY wheels /wheels
RUN python3 -m venv /opt/fairplay && /opt/fairplay/bin/pip install -q --no-index --find-links /wheels fairplay
ENV PATH=/opt/fairplay/bin:/usr/bin:/bin HOME=/tmp
WORKDIR /tmp
"""
BOT = "def take_turn(view):\n    from fairplay.games.fish import Fish\n    return next(Fish().actions(view))\n"
UNMASKED = ("--security-opt", "unmask=ALL")
WITHOUT_RIGHTS = ("--cap-drop", "all", "--security-opt", "no-new-privileges")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.time_limit(1200),
    needs_landlock,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes images here"),
    pytest.mark.skipif(bool(MISSING), reason=f"there is no {', '.join(MISSING)}"),
]


def podman(*words: str) -> str:
    """Run podman, to its end."""
    done = subprocess.run(["podman", "--runtime", "runc", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_container(options: Sequence[str], script: str) -> str:
    """What a shell prints in a container that is gone afterwards."""
    return podman("run", "--rm", *LIMITS, *options, IMAGE, "sh", "-c", script)


@pytest.fixture(scope="module", autouse=True)
def image(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An image with this fairplay, on a base that is made once for this machine."""
    place = tmp_path_factory.mktemp("image")
    if subprocess.run(["podman", "image", "exists", BASE], check=False).returncode:
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", "bookworm", place / "base.tar"],
            check=True,
        )
        podman("import", "--quiet", str(place / "base.tar"), BASE)
    wheel = build_wheel(place)
    download = ["pip", "download", "-q", "--only-binary", ":all:", "--python-version", "3.11", "-d", "wheels"]
    subprocess.run([sys.executable, "-m", *download, str(wheel)], check=True, cwd=place)
    (place / "Containerfile").write_text(CONTAINERFILE)
    podman("build", "--quiet", *LIMITS[:6], "-t", IMAGE, str(place))


@pytest.mark.parametrize(
    ("options", "level"),
    [
        ((), "landlock"),
        (UNMASKED, "landlock"),
        ((*UNMASKED, *WITHOUT_RIGHTS), "landlock"),
        (("--security-opt", "seccomp=unconfined"), "landlock"),
        ((*UNMASKED, "--user", "1000"), "strict"),
        ((*UNMASKED, "--user", "1000", *WITHOUT_RIGHTS), "strict"),
        (("--privileged",), "strict"),
    ],
    ids=["default", "unmasked", "without rights", "unconfined", "user", "user without rights", "privileged"],
)
def test_a_container_gets_the_best_level_that_it_allows(options: Sequence[str], level: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    tmp_path.chmod(0o755)
    options = [*options, "-v", f"{tmp_path}:/bots:ro"]

    report: dict[str, Any] = json.loads(in_container(options, "fairplay doctor --json || true"))
    assert report["levels"] == {"strict": level == "strict", "landlock": True, "none": True}

    played = in_container(options, "fairplay play fish /bots/bot.py greedy --journal j --quiet >&2; head -n 1 j/*")
    assert json.loads(played)["sandbox"] == level


@pytest.mark.parametrize(("options", "level"), [((), "landlock"), (UNMASKED, "strict")], ids=["default", "unmasked"])
def test_no_program_escapes_in_a_container(options: Sequence[str], level: str) -> None:
    options = [*options, "--user", "1000"]

    report = json.loads(in_container(options, f"fairplay doctor --attack --sandbox {level} --json || true"))

    assert [(it["name"], it["why"]) for it in report["attempts"] if it["verdict"] == "got out"] == []
    assert sum(it["verdict"] == "held" for it in report["attempts"]) >= 50

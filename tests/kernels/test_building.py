"""Build the kernels: into a wheel where there is a compiler, and not at all where there is none, which is said."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import hatch_build
from tests.wheels import build_wheel, needs_compiler


@needs_compiler
def test_a_wheel_carries_the_kernels(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)

    assert "-cp311-abi3-" in wheel.name
    ZipFile(wheel).extract("fairplay/_kernels.abi3.so", tmp_path)
    code = "import _kernels; print(_kernels.fish_best_move(1, 1, bytes(1), 0, ((0,),), 1))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "fairplay", capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_without_a_compiler_a_wheel_fits_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")

    wheel = build_wheel(tmp_path)

    assert wheel.name.endswith("-py3-none-any.whl")
    assert [name for name in ZipFile(wheel).namelist() if name.endswith(".so")] == []


def test_that_there_is_no_compiler_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    library = tmp_path / "_kernels.so"
    library.write_bytes(b"of yesterday")

    why_not = hatch_build.build(library)

    assert why_not == "no-such-compiler: No such file or directory"
    assert hatch_build.told(why_not).startswith("without the kernels in C, which would be faster (no-such-compiler: ")
    assert list(tmp_path.iterdir()) == []


@needs_compiler
def test_what_cannot_be_compiled_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "broken.c"
    source.write_text("int main(void) { return nothing; }\n")
    monkeypatch.setattr(hatch_build, "SOURCES", [source])

    assert "nothing" in hatch_build.build(tmp_path / "_kernels.so")
    assert [path.name for path in tmp_path.iterdir()] == ["broken.c"]


@needs_compiler
def test_the_compiler_has_nothing_to_say(tmp_path: Path) -> None:
    assert hatch_build.build(tmp_path / "_kernels.so", ["-Werror", "-pedantic"]) == ""

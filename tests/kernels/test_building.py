"""Test the build of the kernels: a wheel contains them if there is a compiler, and a warning says if there is none."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import hatch_build
from tests.wheels import build_wheel, needs_compiler


@needs_compiler
def test_a_wheel_contains_the_compiled_kernels_without_their_sources(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)

    assert "-cp311-abi3-" in wheel.name
    names = ZipFile(wheel).namelist()
    assert "fairplay/games/fish/bots/bot.c" in names
    assert [name for name in names if name.startswith("fairplay/kernels/") and name.endswith((".c", ".h"))] == []
    ZipFile(wheel).extract("fairplay/_kernels.abi3.so", tmp_path)
    code = "import _kernels; print(_kernels.fish_best_move(1, 1, bytes(1), 0, ((0,),), 1))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "fairplay", capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_a_wheel_built_without_a_compiler_is_pure_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")

    wheel = build_wheel(tmp_path)

    assert wheel.name.endswith("-py3-none-any.whl")
    assert [name for name in ZipFile(wheel).namelist() if name.endswith(".so")] == []


def test_a_build_without_a_compiler_fails_and_removes_old_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    library = tmp_path / "_kernels.so"
    library.write_bytes(b"of yesterday")

    error = hatch_build.build(library)

    assert error == "no-such-compiler: No such file or directory"
    assert hatch_build.describe_build(error).startswith("without the faster kernels in C (no-such-compiler: ")
    assert list(tmp_path.iterdir()) == []


@needs_compiler
def test_a_compilation_error_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "broken.c"
    source.write_text("int main(void) { return nothing; }\n")
    monkeypatch.setattr(hatch_build, "SOURCES", [source])

    assert "nothing" in hatch_build.build(tmp_path / "_kernels.so")
    assert [path.name for path in tmp_path.iterdir()] == ["broken.c"]


@needs_compiler
def test_the_kernels_compile_without_warnings(tmp_path: Path) -> None:
    assert hatch_build.build(tmp_path / "_kernels.so", ["-Werror", "-pedantic"]) == ""

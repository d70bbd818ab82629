"""Answer a test harness of a course (fairplay course GAME HARNESS)."""

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from fairplay.core.errors import BadRequest
from fairplay.course.commands import SuggestedText
from fairplay.course.harness import fish, q, tsuro
from fairplay.course.harness.cases import (
    AnswerList,
    Case,
    CaseResult,
    Harness,
    call_harness,
    read_cases,
    read_values,
    run_cases,
)
from fairplay.course.harness.over_network import PROGRAMS, find_program, xserver_xclients

CLIENTS_PROGRAM = "xclients"
HARNESSES_BY_GAME: Mapping[str, Mapping[str, Harness]] = {
    "fish": fish.HARNESSES,
    "tsuro": tsuro.HARNESSES,
    "q": {**q.HARNESSES, "xserver-xclients": xserver_xclients},
}


class UnnamedCommand(click.Command):
    """A command that is called by the name of its group."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Make the context with the name of the group."""
        assert parent is not None
        return super().make_context(parent.info_name, args, parent.parent, **extra)


def harnesses(context: click.Context) -> Iterator[str]:
    """The harnesses and programs of the game on the command line."""
    game = context.params.get("game", "")
    yield from (*HARNESSES_BY_GAME.get(game, ()), *PROGRAMS.get(game, ()))


@click.command(cls=UnnamedCommand)
@click.argument("game", type=SuggestedText())
@click.argument("harness", metavar="HARNESS", type=SuggestedText(harnesses))
@click.argument("arguments", nargs=-1)
@click.option(
    "--cases", "file", metavar="FILE", help="Run the cases in FILE (.jsonl).  [default: read one from standard input]"
)
@click.option("--show", "directory", metavar="DIR", help="Write every state to DIR (xgames-with-observer).")
@click.option("--verbose", is_flag=True, help="Log each call and answer with its time on stderr (xclients).")
@click.pass_context
def harness(
    context: click.Context,
    game: str,
    harness: str,
    arguments: tuple[str, ...],
    file: str | None,
    directory: str | None,
    verbose: bool,
) -> None:
    """Answer a test HARNESS of the course, such as xstate.

    It reads JSON values from standard input and prints the answer; or runs a file of cases, and lists failing ones.
    xserver and xclients take a port and connect to each other; xserver prints its result.
    """
    if verbose and harness != CLIENTS_PROGRAM:
        raise BadRequest(f"--verbose is for {CLIENTS_PROGRAM}; it cannot be used with {harness}")
    if harness in PROGRAMS.get(game, {}):
        if file is not None or directory is not None:
            raise BadRequest(f"--cases and --show cannot be used with {harness}")
        run_program(game, harness, arguments, {"verbose": True} if verbose else {})
        return
    answer = find_harness(game, harness)
    if arguments:
        raise BadRequest(f"{harness} takes no arguments: it reads JSON values from standard input")
    if file is not None and directory is not None:
        raise BadRequest("--show and --cases cannot be used together")
    if file is None:
        got = call_harness(
            answer,
            read_values(read_standard_input()),
            {} if directory is None else {"show": directory_writer(directory)},
        )
        for one in got if isinstance(got, AnswerList) else [got]:
            click.echo(format_json(one))
        return
    cases = read_file(file)
    failed = [outcome for outcome in show_progress(run_cases(answer, cases), len(cases)) if not outcome.passed]
    for outcome in failed:
        click.echo(f"{outcome.id}: expected {format_json(outcome.expected)}, got {format_json(outcome.got)}")
    click.echo(f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    context.exit(1 if failed else 0)


def run_program(game: str, harness: str, words: tuple[str, ...], options: dict[str, Any]) -> None:
    """Run the course's server or its clients."""
    program, arguments = find_program(game, harness, words)
    values = (
        read_values(read_standard_input()) if program.reads_input and not (sys.stdin and sys.stdin.isatty()) else []
    )
    try:
        inspect.signature(program.run).bind(*arguments, *values)
    except TypeError:
        raise BadRequest(f"{harness} reads one JSON value from standard input, not {len(values)}") from None
    result = program.run(*arguments, *values, **options)
    if result is not None:
        click.echo(format_json(result))


def read_standard_input() -> bytes:
    """Read standard input; empty if it is closed."""
    if sys.stdin is None:
        return b""
    with click.open_file("-", "rb") as stdin:
        text: bytes = stdin.read()
        return text


def find_harness(game: str, harness: str) -> Harness:
    """The harness of a game, by their names."""
    if game not in HARNESSES_BY_GAME:
        raise BadRequest(f"the course has no harnesses for {game!r}; it has some for {', '.join(HARNESSES_BY_GAME)}")
    if harness not in HARNESSES_BY_GAME[game]:
        known = ", ".join([*HARNESSES_BY_GAME[game], *PROGRAMS.get(game, {})])
        raise BadRequest(f"{game} has no harness {harness!r}; it has {known}")
    return HARNESSES_BY_GAME[game][harness]


def directory_writer(directory: str) -> Callable[[str, str], None]:
    """Make a function that writes files into a directory."""

    def write(name: str, text: str) -> None:
        (Path(directory) / name).write_text(text, encoding="utf-8")

    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{directory} cannot be written to: {error.strerror}") from None
    return write


def read_file(file: str) -> list[Case]:
    """The cases in a file."""
    try:
        return read_cases(Path(file).read_bytes())
    except OSError as error:
        raise BadRequest(f"{file} cannot be read: {error.strerror}") from None
    except BadRequest as error:
        raise BadRequest(f"{file}, {error}") from None


def show_progress(outcomes: Iterator[CaseResult], total: int) -> Iterable[CaseResult]:
    """The outcomes as they come, with a progress bar on a terminal."""
    if not sys.stderr.isatty():
        return outcomes
    from rich.console import Console  # imported late, as it is slow
    from rich.progress import track

    return track(outcomes, description="cases", total=total, console=Console(stderr=True), transient=True)


def format_json(value: Any) -> str:
    """A value as one line of JSON."""
    return json.dumps(value, separators=(",", ":"))

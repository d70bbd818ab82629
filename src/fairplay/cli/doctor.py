"""Check which sandbox and kernels this machine supports (fairplay doctor)."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import click
import msgspec

from fairplay import kernels
from fairplay.core.errors import BadRequest
from fairplay.render.text import printable
from fairplay.sandbox.process_tree import why_no_namespace
from fairplay.sandbox.protections import Protection, enforceable_protections, why_not_strict
from fairplay.sandbox.sandboxed_command import optional_protections
from fairplay.testing.escapes.escape_suite import ESCAPE_SUITE
from fairplay.testing.escapes.runner import AttemptResult, Verdict, run_escape_attempts

MAX_MEASURE_REASON_CHARS = 300
VERDICT_TEXTS = {Verdict.HELD: "held", Verdict.GOT_OUT: "GOT OUT", Verdict.NOT_TRIED: "not tried"}


@click.command()
@click.option(
    "--attack", "attacking", is_flag=True, help="Run the escape suite: programs that try to break out of the sandbox."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def doctor(context: click.Context, attacking: bool, as_json: bool) -> None:
    """Check what this machine supports (sandbox, kernels).

    A program in a strict sandbox tries what it should not be able to do. Exit code 0: this machine supports a strict
    sandbox. Exit code 1: it does not. The last line says whether built-in players use the kernels in C.

    With --attack, dozens of programs play matches in a strict sandbox and try to break out, which takes about a minute.
    Exit code 0: none did. Exit code 1: at least one did. Attempts that cannot be tried here are listed.
    """
    if attacking:
        context.exit(0 if run_attack(as_json) else 1)
    measures, more, no_namespace = enforceable_protections(), optional_protections(), why_no_namespace()
    strict = not any(measure.why_not for measure in measures)
    if as_json:
        plain, besides = (
            [{**msgspec.to_builtins(measure), "enforced": not measure.why_not} for measure in some]
            for some in (measures, more)
        )
        supported = {"strict": strict, "measures": plain, "besides": besides, "namespaces": not no_namespace}
        supported |= {"kernels": kernels.kernels is not None, "why_no_kernels": kernels.unavailable_reason}
        click.echo(json.dumps(supported))
    else:
        for line in (
            *format_measures(measures),
            "",
            *describe_sandbox(strict, no_namespace),
            "",
            *format_measures(more),
            "",
            describe_kernels(),
        ):
            click.echo(line)
    context.exit(0 if strict else 1)


def format_measures(measures: Sequence[Protection]) -> Iterator[str]:
    """The protections as lines of a table; a reason that repeats is given once."""
    reason = ""
    for measure in measures:
        yield f"{'no ' if measure.why_not else 'yes'}  {measure.name:<12} {measure.about}"
        if measure.why_not not in ("", reason):
            reason = measure.why_not
            yield f"     {'':<12} but: {printable(reason, MAX_MEASURE_REASON_CHARS)}"


def describe_sandbox(strict: bool, no_namespace: str) -> list[str]:
    """What the protections mean for players."""
    if strict:
        return ["Bots can run in a strict sandbox."]
    lines = [
        "No strict sandbox on this machine: unless it is required (--sandbox strict), bots run without one.",
        "A strict sandbox needs bubblewrap and a system that allows namespaces; `make setup` installs bubblewrap.",
    ]
    if no_namespace:
        why = printable(no_namespace, MAX_MEASURE_REASON_CHARS)
        lines.append(f"Without namespaces ({why}) a bot may leave processes behind.")
    return lines


def describe_kernels() -> str:
    """Whether built-in players use the kernels in C."""
    if kernels.kernels is not None:
        return "Built-in players use the kernels in C."
    why = printable(kernels.unavailable_reason, MAX_MEASURE_REASON_CHARS)
    return f"Built-in players use Python, not the kernels in C: {why}"


def run_attack(as_json: bool) -> bool:
    """Run the escape suite, and print each result at once. Did the sandbox hold against all attempts?"""
    if lacking := why_not_strict():
        raise BadRequest(f"{lacking}; escape attempts are not run without a strict sandbox")
    counts: Counter[Verdict] = Counter()

    def report(attempt: AttemptResult) -> None:
        counts[attempt.verdict] += 1
        if not as_json:
            click.echo("\n".join(format_attempt(attempt)))
        elif sys.stderr.isatty():
            click.echo(f"\r{counts.total()} of {len(ESCAPE_SUITE)}", err=True, nl=counts.total() == len(ESCAPE_SUITE))

    attempts = run_escape_attempts(ESCAPE_SUITE, report)
    if as_json:
        plain = msgspec.to_builtins(attempts)
        click.echo(json.dumps({"held": not counts[Verdict.GOT_OUT], "attempts": plain}))
    else:
        click.echo("\n" + ", ".join(f"{counts[verdict]} {shown}" for verdict, shown in VERDICT_TEXTS.items()))
    return not counts[Verdict.GOT_OUT]


def format_attempt(attempt: AttemptResult) -> Iterator[str]:
    """The result of an attempt, as lines of a table."""
    yield f"{VERDICT_TEXTS[attempt.verdict]:<10} {attempt.name:<40} {attempt.tries}"
    if attempt.why:
        yield f"{'':<10} {'':<40} {printable(attempt.why, MAX_MEASURE_REASON_CHARS)}"

"""fairplay doctor: say what is kept from players that are programs, and whether there are kernels, on this machine."""

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
@click.option("--attack", "attacking", is_flag=True, help="Let programs loose that try to get out, and see what holds.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.pass_context
def doctor(context: click.Context, attacking: bool, as_json: bool) -> None:
    """Say what can be kept from players that are programs.

    A program in a strict sandbox tries what it should not be able to do. The exit code is 0 if there is such a sandbox
    on this machine, and 1 if not. The last line says whether built-in players think with the kernels in C.

    With --attack, dozens of programs are seated in matches in a strict sandbox and try to get out, which takes about a
    minute. The exit code is 0 if nobody got out, and 1 if somebody did; who cannot be tried here is named.
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
        told = {"strict": strict, "measures": plain, "besides": besides, "namespaces": not no_namespace}
        told |= {"kernels": kernels.kernels is not None, "why_no_kernels": kernels.unavailable_reason}
        click.echo(json.dumps(told))
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
    """The measures as lines of a table; a reason that holds for several is given once."""
    told = ""
    for measure in measures:
        yield f"{'no ' if measure.why_not else 'yes'}  {measure.name:<12} {measure.about}"
        if measure.why_not not in ("", told):
            told = measure.why_not
            yield f"     {'':<12} but: {printable(told, MAX_MEASURE_REASON_CHARS)}"


def describe_sandbox(strict: bool, no_namespace: str) -> list[str]:
    """What follows for players."""
    if strict:
        return ["Players that are programs can have a strict sandbox."]
    lines = [
        "There is no strict sandbox on this machine. Where it was not asked for, programs run without one.",
        "It takes bubblewrap, which `make setup` installs where it can, and a system that allows namespaces.",
    ]
    if no_namespace:
        why = printable(no_namespace, MAX_MEASURE_REASON_CHARS)
        lines.append(f"Without namespaces ({why}) a program may leave others behind.")
    return lines


def describe_kernels() -> str:
    """Which functions built-in players think with."""
    if kernels.kernels is not None:
        return "Built-in players think with the kernels in C."
    why = printable(kernels.unavailable_reason, MAX_MEASURE_REASON_CHARS)
    return f"Built-in players run in Python, without the kernels in C: {why}"


def run_attack(as_json: bool) -> bool:
    """Let all beasts loose, and say of each what became of it as soon as that is known. Did nobody get out?"""
    if lacking := why_not_strict():
        raise BadRequest(f"{lacking}, and nothing is let loose without one")
    counts: Counter[Verdict] = Counter()

    def tell(attempt: AttemptResult) -> None:
        counts[attempt.verdict] += 1
        if not as_json:
            click.echo("\n".join(format_attempt(attempt)))
        elif sys.stderr.isatty():
            click.echo(f"\r{counts.total()} of {len(ESCAPE_SUITE)}", err=True, nl=counts.total() == len(ESCAPE_SUITE))

    attempts = run_escape_attempts(ESCAPE_SUITE, tell)
    if as_json:
        plain = msgspec.to_builtins(attempts)
        click.echo(json.dumps({"held": not counts[Verdict.GOT_OUT], "attempts": plain}))
    else:
        click.echo("\n" + ", ".join(f"{counts[verdict]} {shown}" for verdict, shown in VERDICT_TEXTS.items()))
    return not counts[Verdict.GOT_OUT]


def format_attempt(attempt: AttemptResult) -> Iterator[str]:
    """What became of an attempt, as lines of a table."""
    yield f"{VERDICT_TEXTS[attempt.verdict]:<10} {attempt.name:<40} {attempt.tries}"
    if attempt.why:
        yield f"{'':<10} {'':<40} {printable(attempt.why, MAX_MEASURE_REASON_CHARS)}"

"""Check which sandbox and kernels this machine supports (fairplay doctor)."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import click
import msgspec

from fairplay import kernels
from fairplay.core.errors import BadRequest
from fairplay.diagnosis.sandbox_advice import apparmor_profile, sandbox_advice
from fairplay.render.text import printable
from fairplay.sandbox.landlock import landlock_abi, why_no_landlock
from fairplay.sandbox.policy import SandboxLevel
from fairplay.sandbox.process_tree import why_no_namespace
from fairplay.sandbox.protections import Protection, enforceable_protections, why_no_level, why_not_strict
from fairplay.sandbox.sandboxed_command import optional_protections
from fairplay.testing.escapes.escape_suite import ESCAPE_SUITE
from fairplay.testing.escapes.runner import AttemptResult, Verdict, run_escape_attempts

MAX_MEASURE_REASON_CHARS = 300
VERDICT_TEXTS = {
    Verdict.HELD: "held",
    Verdict.GOT_OUT: "GOT OUT",
    Verdict.NOT_CLAIMED: "not claimed",
    Verdict.NOT_TRIED: "not tried",
}


@click.command()
@click.option(
    "--attack", "attacking", is_flag=True, help="Run the escape suite: programs that try to break out of the sandbox."
)
@click.option(
    "--sandbox",
    type=click.Choice([SandboxLevel.STRICT.value, SandboxLevel.LANDLOCK.value]),
    help="Attack the sandbox of this level.  [default: strict]",
)
@click.option(
    "--apparmor-profile", "profiling", is_flag=True, help="Print a profile of AppArmor that allows the strict sandbox."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def doctor(context: click.Context, attacking: bool, sandbox: str | None, profiling: bool, as_json: bool) -> None:
    """Check what this machine supports (sandbox, kernels).

    A program in a strict sandbox tries what it should not be able to do. Exit code 0: this machine supports a strict
    sandbox. Exit code 1: it does not. The last line says whether built-in players use the kernels in C.

    With --attack, dozens of programs play matches in a sandbox and try to break out, which takes about a minute.
    Exit code 0: none did. Exit code 1: at least one did. Attempts that cannot be tried here are listed, and those that
    Landlock does not claim to hold (--sandbox landlock).
    """
    if sandbox is not None and not attacking:
        raise BadRequest("--sandbox is for --attack")
    if profiling:
        click.echo(apparmor_profile(), nl=False)
        return
    if attacking:
        context.exit(0 if run_attack(SandboxLevel(sandbox or SandboxLevel.STRICT.value), as_json) else 1)
    measures, more, no_namespace = enforceable_protections(), optional_protections(), why_no_namespace()
    strict = not any(measure.why_not for measure in measures)
    if as_json:
        plain, besides = (
            [{**msgspec.to_builtins(measure), "enforced": not measure.why_not} for measure in some]
            for some in (measures, more)
        )
        supported = {"strict": strict, "measures": plain, "besides": besides, "namespaces": not no_namespace}
        supported |= {"levels": {level.value: not why_no_level(level) for level in SandboxLevel}}
        supported |= {"landlock_abi": landlock_abi(), "why_no_landlock": why_no_landlock()}
        supported |= {"kernels": kernels.kernels is not None, "why_no_kernels": kernels.unavailable_reason}
        click.echo(json.dumps(supported))
    else:
        for line in (
            *format_measures(measures),
            "",
            *describe_sandbox(strict, no_namespace),
            describe_landlock(strict),
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
    lines = ["No strict sandbox on this machine: where it is required (--sandbox strict), no bots run."]
    lines += sandbox_advice(why_not_strict())
    if no_namespace:
        why = printable(no_namespace, MAX_MEASURE_REASON_CHARS)
        lines.append(f"Without namespaces ({why}) a bot may leave processes behind.")
    return lines


def describe_landlock(strict: bool) -> str:
    """What the level below the strict sandbox means for players."""
    if why := why_no_landlock():
        return f"No Landlock: {printable(why, MAX_MEASURE_REASON_CHARS)}"
    who = "If asked (--sandbox landlock), they" if strict else "Bots"
    return f"{who} are confined by Landlock, ABI {landlock_abi()}."


def describe_kernels() -> str:
    """Whether built-in players use the kernels in C."""
    if kernels.kernels is not None:
        return "Built-in players use the kernels in C."
    why = printable(kernels.unavailable_reason, MAX_MEASURE_REASON_CHARS)
    return f"Built-in players use Python, not the kernels in C: {why}"


def run_attack(level: SandboxLevel, as_json: bool) -> bool:
    """Run the escape suite, and print each result at once. Did the sandbox hold against all attempts?"""
    if lacking := why_no_level(level):
        raise BadRequest(f"{lacking}; escape attempts are not run without a sandbox")
    counts: Counter[Verdict] = Counter()

    def report(attempt: AttemptResult) -> None:
        counts[attempt.verdict] += 1
        if not as_json:
            click.echo("\n".join(format_attempt(attempt)))
        elif sys.stderr.isatty():
            click.echo(f"\r{counts.total()} of {len(ESCAPE_SUITE)}", err=True, nl=counts.total() == len(ESCAPE_SUITE))

    attempts = run_escape_attempts(ESCAPE_SUITE, report, sandbox=level.value)
    if as_json:
        plain = msgspec.to_builtins(attempts)
        click.echo(json.dumps({"held": not counts[Verdict.GOT_OUT], "attempts": plain}))
    else:
        click.echo("\n" + ", ".join(f"{counts[verdict]} {shown}" for verdict, shown in VERDICT_TEXTS.items()))
    return not counts[Verdict.GOT_OUT]


def format_attempt(attempt: AttemptResult) -> Iterator[str]:
    """The result of an attempt, as lines of a table."""
    yield f"{VERDICT_TEXTS[attempt.verdict]:<11} {attempt.name:<40} {attempt.tries}"
    if attempt.why:
        yield f"{'':<11} {'':<40} {printable(attempt.why, MAX_MEASURE_REASON_CHARS)}"

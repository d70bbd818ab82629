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
from fairplay.sandbox.cell import what_else_can_be_enforced
from fairplay.sandbox.measures import Measure, what_can_be_enforced, why_not_strict
from fairplay.sandbox.process_tree import why_no_namespace
from fairplay.testing.escapes.attack import Attempt, Verdict, attack
from fairplay.testing.escapes.zoo import ZOO

LONGEST_REASON = 300
SHOWN = {Verdict.HELD: "held", Verdict.GOT_OUT: "GOT OUT", Verdict.NOT_TRIED: "not tried"}


@click.command()
@click.option("--attack", "attacking", is_flag=True, help="Let programs loose that try to get out, and see what holds.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.pass_context
def doctor(context: click.Context, attacking: bool, as_json: bool) -> None:
    """Say what can be kept from players that are programs.

    A program in a strict sandbox tries what it should not be able to do. The exit code is 0 if there is such a sandbox
    on this machine, and 1 if not. The last line says whether house players think with the kernels in C.

    With --attack, dozens of programs are seated in matches in a strict sandbox and try to get out, which takes about a
    minute. The exit code is 0 if nobody got out, and 1 if somebody did; who cannot be tried here is named.
    """
    if attacking:
        context.exit(0 if attacked(as_json) else 1)
    measures, more, no_namespace = what_can_be_enforced(), what_else_can_be_enforced(), why_no_namespace()
    strict = not any(measure.why_not for measure in measures)
    if as_json:
        plain, besides = (
            [{**msgspec.to_builtins(measure), "enforced": not measure.why_not} for measure in some]
            for some in (measures, more)
        )
        told = {"strict": strict, "measures": plain, "besides": besides, "namespaces": not no_namespace}
        told |= {"kernels": kernels.kernels is not None, "why_no_kernels": kernels.why_not}
        click.echo(json.dumps(told))
    else:
        for line in (*rows(measures), "", *summary(strict, no_namespace), "", *rows(more), "", about_kernels()):
            click.echo(line)
    context.exit(0 if strict else 1)


def rows(measures: Sequence[Measure]) -> Iterator[str]:
    """The measures as lines of a table; a reason that holds for several is given once."""
    told = ""
    for measure in measures:
        yield f"{'no ' if measure.why_not else 'yes'}  {measure.name:<12} {measure.about}"
        if measure.why_not not in ("", told):
            told = measure.why_not
            yield f"     {'':<12} but: {printable(told, LONGEST_REASON)}"


def summary(strict: bool, no_namespace: str) -> list[str]:
    """What follows for players."""
    if strict:
        return ["Players that are programs can have a strict sandbox."]
    lines = [
        "There is no strict sandbox on this machine. Where it was not asked for, programs run without one.",
        "It takes bubblewrap, which `make setup` installs where it can, and a system that allows namespaces.",
    ]
    if no_namespace:
        lines.append(
            f"Without namespaces ({printable(no_namespace, LONGEST_REASON)}) a program may leave others behind."
        )
    return lines


def about_kernels() -> str:
    """Which functions house players think with."""
    if kernels.kernels is not None:
        return "House players think with the kernels in C."
    return f"House players think in Python, without the kernels in C: {printable(kernels.why_not, LONGEST_REASON)}"


def attacked(as_json: bool) -> bool:
    """Let all beasts loose, and say of each what became of it as soon as that is known. Did nobody get out?"""
    if lacking := why_not_strict():
        raise BadRequest(f"{lacking}, and nothing is let loose without one")
    counts: Counter[Verdict] = Counter()

    def tell(attempt: Attempt) -> None:
        counts[attempt.verdict] += 1
        if not as_json:
            click.echo("\n".join(row(attempt)))
        elif sys.stderr.isatty():
            click.echo(f"\r{counts.total()} of {len(ZOO)}", err=True, nl=counts.total() == len(ZOO))

    attempts = attack(ZOO, tell)
    if as_json:
        plain = msgspec.to_builtins(attempts)
        click.echo(json.dumps({"held": not counts[Verdict.GOT_OUT], "attempts": plain}))
    else:
        click.echo("\n" + ", ".join(f"{counts[verdict]} {shown}" for verdict, shown in SHOWN.items()))
    return not counts[Verdict.GOT_OUT]


def row(attempt: Attempt) -> Iterator[str]:
    """What became of an attempt, as lines of a table."""
    yield f"{SHOWN[attempt.verdict]:<10} {attempt.name:<40} {attempt.tries}"
    if attempt.why:
        yield f"{'':<10} {'':<40} {printable(attempt.why, LONGEST_REASON)}"

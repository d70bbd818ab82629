"""Describe the evidence of an answer that was refused, or did not come."""

from fairplay.core.messages import Evidence

SIGNALS = range(1, 65)


def describe_evidence(evidence: Evidence) -> list[str]:
    """The evidence, line by line; empty, if there is none.

    >>> print(*describe_evidence(Evidence(limit=5.0, taken=5.0, exit_code=1, stderr="oh")), sep="\\n")
    limit 5.000 s, taken 5.000 s, delays of the host 0.000 s
    the program ended with exit code 1; its stderr ends with:
    oh
    """
    lines = evidence.detail.splitlines()
    if evidence.size:
        lines.append(f"received {evidence.received} ({evidence.size} bytes, SHA-256 {evidence.sha256})")
    if evidence.limit is not None:
        taken, host_delay = evidence.taken, evidence.host_delay
        clocks = f"limit {evidence.limit:.3f} s, taken {taken:.3f} s, delays of the host {host_delay:.3f} s"
        lines.append(clocks)
    if evidence.stderr is not None:
        stderr = "its stderr ends with:" if evidence.stderr else "its stderr is empty"
        lines += [f"the program {describe_exit_code(evidence.exit_code)}; {stderr}", *evidence.stderr.splitlines()]
    if evidence.disconnected is not None:
        lines.append(f"the connection was lost {evidence.disconnected:.3f} s before")
    return lines


def describe_exit_code(code: int | None) -> str:
    """What an exit code means; above 128 it stands for a signal, as in shells."""
    if code is None:
        return "is still running"
    number = exit_signal(code)
    return f"was killed by signal {number}" if number else f"ended with exit code {code}"


def exit_signal(code: int | None) -> int:
    """The signal that an exit code stands for; 0: none."""
    number = 0 if code is None else -code if code < 0 else code - 128
    return number if number in SIGNALS else 0

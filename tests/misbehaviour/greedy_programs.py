"""Start many greedy programs, each in a strict sandbox, and measure what is left for a neighbour and the host.

It is a program, so that root and ordinary users can run it: `greedy_programs.py PROGRAM COUNT FORKS`. Prints JSON.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.sandboxed_command import SandboxedCommand


@contextmanager
def start_program(command: list[str], sandbox: SandboxPolicy | None = None) -> Iterator["subprocess.Popen[str]"]:
    """A program in a sandbox; in a strict one, if nothing else is said."""
    cell = SandboxedCommand(command, sandbox or SandboxPolicy(SandboxLevel.STRICT, pondering=True))
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(cell.words, pass_fds=cell.inherited_fds, stdin=pipe, stdout=pipe, text=True) as program:
            cell.close_inherited()
            yield program
            program.communicate()
    finally:
        cell.close()


def main(program: str, count: str, forks: str) -> None:
    """Hold, and look."""
    with ExitStack() as programs:
        greedy = [programs.enter_context(start_program([program, "hold", forks])) for _ in range(int(count))]
        holding = [one.stdout.readline().strip() for one in greedy if one.stdout]
        neighbour = programs.enter_context(start_program([program, "probe"])).communicate()[0]
        host = subprocess.run([program, "probe"], capture_output=True, text=True, check=True).stdout
    print(json.dumps({"holding": len(holding), "neighbour": json.loads(neighbour), "host": json.loads(host)}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Start a crowd of greedy programs, each in a strict sandbox, and say what is left to a neighbour and to the host.

A program of its own, so that root and ordinary users can host it: `crowd.py PROGRAM COUNT FORKS`. Prints JSON.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from fairplay.sandbox.cell import Cell
from fairplay.sandbox.level import Level, Sandbox


@contextmanager
def started(command: list[str], sandbox: Sandbox | None = None) -> Iterator["subprocess.Popen[str]"]:
    """A program in a sandbox; in a strict one, if nothing else is said."""
    cell = Cell(command, sandbox or Sandbox(Level.STRICT, pondering=True))
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(cell.words, pass_fds=cell.inherited, stdin=pipe, stdout=pipe, text=True) as program:
            cell.leave()
            yield program
            program.communicate()
    finally:
        cell.close()


def main(program: str, count: str, forks: str) -> None:
    """Hold, and look."""
    with ExitStack() as crowd:
        greedy = [crowd.enter_context(started([program, "hold", forks])) for _ in range(int(count))]
        holding = [one.stdout.readline().strip() for one in greedy if one.stdout]
        neighbour = crowd.enter_context(started([program, "probe"])).communicate()[0]
        host = subprocess.run([program, "probe"], capture_output=True, text=True, check=True).stdout
    print(json.dumps({"holding": len(holding), "neighbour": json.loads(neighbour), "host": json.loads(host)}))


if __name__ == "__main__":
    main(*sys.argv[1:])

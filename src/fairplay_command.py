"""Start the command; Ctrl-C ends it with one line even while it is being loaded.

This stands beside the package, as whatever stands inside is there only once most of the package is loaded.
"""

import gc
import os
import signal
import sys
from typing import NoReturn


def main() -> None:
    """Load the command, and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)  # an exception might get lost in the middle of an import
    gc.disable()  # what is loaded stays: no collection need look at it, neither now nor at the end
    from fairplay.cli.main import load_command
    from fairplay.cli.main import main as run

    for verb in sys.argv[1:2]:
        load_command(verb)
    gc.freeze()
    gc.enable()
    try:
        signal.signal(signal.SIGINT, before)
        run()
    except KeyboardInterrupt:
        leave()
    finally:
        gc.freeze()  # the process ends: no more collections


def leave(*_: object) -> NoReturn:
    """End at once: nothing was begun, or all of it was ended."""
    os.write(2, b"fairplay: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()

"""Say things to whoever runs the command: as long as somebody reads, and with the file that is meant."""

import os
from collections.abc import Callable
from typing import TextIO


def teller(output: TextIO) -> Callable[[str], None]:
    """What writes there at once, so that whoever follows is never behind; if they have gone, nothing is written."""

    def tell(text: str) -> None:
        try:
            output.write(text)
            output.flush()
        except BrokenPipeError:
            silence(output)

    return tell


def silence(output: TextIO) -> None:
    """Let whatever is still written there go nowhere, and disturb nobody."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())

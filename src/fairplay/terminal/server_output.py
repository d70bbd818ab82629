"""Print the messages of a server, and on a terminal how long it still waits."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click

from fairplay.render.formatting import MAX_PRINTED_CHARS
from fairplay.render.text import printable
from fairplay.terminal.progress import is_interactive


class LineOutput:
    """Prints messages as lines."""

    def tell(self, text: str) -> None:
        """Print a message."""
        click.echo(f"fairplay: {printable(text, MAX_PRINTED_CHARS)}", err=True)

    def show(self, line: Callable[[], str]) -> AbstractContextManager[object]:
        """Show a line that changes."""
        return nullcontext()


class TerminalOutput(LineOutput):
    """Prints messages above a line that counts down."""

    def __init__(self) -> None:
        from rich.console import Console  # start-up: it takes long to load

        self._console = Console(stderr=True)

    def tell(self, text: str) -> None:
        from rich.text import Text  # start-up: it takes long to load

        self._console.print(Text(f"fairplay: {printable(text, MAX_PRINTED_CHARS)}"), soft_wrap=True)

    def show(self, line: Callable[[], str]) -> AbstractContextManager[object]:
        from rich.live import Live  # start-up: it takes long to load
        from rich.text import Text

        def picture() -> Any:
            return Text(line(), no_wrap=True, overflow="ellipsis")

        return Live(console=self._console, get_renderable=picture, refresh_per_second=4, transient=True)


def make_server_output() -> LineOutput:
    """The output for this terminal."""
    return TerminalOutput() if is_interactive() else LineOutput()

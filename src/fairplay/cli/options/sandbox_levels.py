"""Parse options that name levels of the sandbox."""

from typing import Any

import click

from fairplay.sandbox.policy import SANDBOXES, unknown_level


class SandboxLevels(click.ParamType[str]):
    """The name of a level, or of several with commas between them."""

    name = "level"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """The names, as in help texts."""
        return f"[{'|'.join(SANDBOXES)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the names."""
        names: str = value
        if (unknown := unknown_level(names)) is not None:
            self.fail(f"{unknown!r} is not one of {', '.join(map(repr, SANDBOXES))}.", param, ctx)
        return names

"""Parse options that take seconds."""

import math
from typing import Any

import click

DAY_S = 86400.0


class Seconds(click.FloatRange):
    """A number of seconds up to a day, without NaN, which any range would accept."""

    def __init__(self, *, more_than_none: bool = True) -> None:
        super().__init__(0, DAY_S, min_open=more_than_none)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the number."""
        if math.isnan(number := super().convert(value, param, ctx)):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return number

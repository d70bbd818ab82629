"""Take a time as an option of the command."""

import math
from typing import Any

import click

DAY_S = 86400.0


class Seconds(click.FloatRange):
    """Up to a day; NaN is no time, though it is in every range."""

    def __init__(self, *, more_than_none: bool = True) -> None:
        super().__init__(0, DAY_S, min_open=more_than_none)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, if it is one."""
        if math.isnan(number := super().convert(value, param, ctx)):
            self.fail(f"{value!r} is no time.", param, ctx)
        return number

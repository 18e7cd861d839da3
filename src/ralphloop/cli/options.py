"""Options that several commands share, and values that explain themselves when they are wrong."""

from __future__ import annotations

from typing import Any

import click

from ralphloop.config.values import LARGEST

NUMBER_HINT = "-m is the number of iterations here; the model is --model"


class Iterations(click.ParamType[int]):
    """A positive number; a word gets the hint that the user meant the model."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number, or a usage error."""
        try:
            number = int(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not a number of iterations ({NUMBER_HINT})", param, ctx)
        if number < 1:
            self.fail(f"{number} is not a number of iterations: give 1 or more", param, ctx)
        if number > LARGEST:
            self.fail(f"{number} is more than {LARGEST}, the largest number there is here", param, ctx)
        return number


class Positive(click.ParamType[float]):
    """A number above zero."""

    name = "NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, or a usage error."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 < number <= LARGEST:
            self.fail(f"{value} is not above zero and at most {LARGEST}", param, ctx)
        return number

"""Options that several commands share, and values that explain themselves when they are wrong. Light: a guardian has imported this too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ralphloop.config.bounds import LARGEST

NUMBER_HINT = "-m is the number of iterations here; the model is --model"
MODEL_HINT = "-m is the model here; the number of iterations is --max-iterations"


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


class ModelName(click.ParamType[str]):
    """The name of a model; a number gets the hint that the user meant the iterations."""

    name = "MODEL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, or a usage error."""
        if str(value).isdecimal():
            self.fail(f"{value!r} is no model ({MODEL_HINT})", param, ctx)
        return str(value)


class Positive(click.ParamType[float]):
    """A number above zero."""

    name = "NUMBER"
    what, bounds = "a number", f"above zero and at most {LARGEST}"

    def fits(self, number: float) -> bool:
        """Whether it lies in the bounds."""
        return 0 < number <= LARGEST

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, or a usage error."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not {self.what}", param, ctx)
        if not self.fits(number):
            self.fail(f"{value} is not {self.bounds}", param, ctx)
        return number


class Seconds(Positive):
    """A number of seconds, or none."""

    name = "SECONDS"
    what, bounds = "a number of seconds", f"a number of seconds from 0 to {LARGEST}"

    def fits(self, number: float) -> bool:
        """Whether it lies in the bounds."""
        return 0 <= number <= LARGEST


class AgentOption(click.Option):
    """An option whose help names the agents; they are imported only when somebody asks for it."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The help, with the names there are."""
        from ralphloop.agents.catalogue import CATALOGUE  # noqa: PLC0415 - only for help

        self.help = f"The agent: {', '.join(CATALOGUE)}."
        return super().get_help_record(ctx)


def loop_options(short: Mapping[str, str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What a loop can be told on the command line. `short` gives options the letters that they have in this command."""

    def option(name: str, *spellings: str, **details: Any) -> Callable[..., Any]:
        return click.option(*filter(None, (short.get(name), *spellings)), name, **details)

    options = (
        click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path)),
        option("prompt_text", "--prompt", metavar="TEXT", help="Work on this prompt."),
        option("prompt_file", "--prompt-file", metavar="FILE", help="Work on the prompt in this file, read anew for each iteration."),
        option("task_file", "--task-file", metavar="FILE", help="Work on this Markdown task list (default: PRD.md where there is one)."),
        option("task_dir", "--task-dir", metavar="TASKDIR", help="Work on the task in this directory: TASK.md, until there is a file DONE."),
        option("kind", "--kind", metavar="KIND", help="The kind of work: prompt, checklist or folder."),
        option("completion_text", "--completion-response", "--completion-marker", metavar="TEXT", help="The text of a claim."),
        option("gates", "--gate", metavar="CMD", multiple=True, help="A command that must pass after each attempt; may be given again."),
        option("agent", "--agent", metavar="NAME", cls=AgentOption),
        option("agent_command", "--agent-command", metavar="CMD", help="The agent's command line, where it is not the name of the agent."),
        option("name", "--name", metavar="NAME", help="The loop's name (default: that of the directory)."),
        option("new", "--new", is_flag=True, help="Begin afresh, whatever a loop of that name did before."),
        option(
            "delay_s", "--delay", "--restart-delay", metavar="SECONDS", type=Seconds(), help="Wait between iterations (default: 0; task folder: 1)."
        ),
        option("minutes", "--max-minutes", type=Positive(), help="Stop after so many minutes of work; waits do not count."),
        option("max_cost", "--max-cost", type=Positive(), help="Stop when so many dollars are spent; looked at before each attempt."),
        option("calls", "--max-calls", type=Iterations(), help="Stop after N agent processes (default: 3 for each iteration)."),
        option(
            "wait_timeout_s",
            "--wait-timeout",
            metavar="SECONDS",
            type=Seconds(),
            help="Task folder: wait for child loops after DONE (default: 300; 0: for ever).",
        ),
        option(
            "poll_interval_s", "--poll-interval", metavar="SECONDS", type=Seconds(), help="Task folder: look at child loops so often (default: 1)."
        ),
        click.option("--stream-agent-output/--no-stream-agent-output", "stream", default=None, help="Show what the agent says and does."),
        click.option("-V", "--verbose", is_flag=True, help="Say more, on standard error."),
    )

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorate in reversed(options):
            command = decorate(command)
        return command

    return decorated

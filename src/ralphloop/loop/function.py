"""An agent that is a Python function: for programs that use Ralph as a library."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ralphloop.config.environment import TASK_FOLDER
from ralphloop.core.claims import detect_claim
from ralphloop.core.messages import AttemptSeen, RunAgent
from ralphloop.core.model import EndedBy, LoopSpec, RunReport, StreamReport
from ralphloop.core.ports import Clock
from ralphloop.errors import ConfigError
from ralphloop.loop.attempt import keep_final_words, keep_prompt

FATAL = (FileNotFoundError, PermissionError, ConfigError)
"""What is raised where no further attempt can help: no such program, no right to run it, a wrong setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What one run of the function is given: its prompt, its places, and the environment that a client would get."""

    prompt: str
    workspace: Path
    task_folder: Path | None
    run_folder: Path
    run_id: str
    environment: Mapping[str, str]
    cancelled: Callable[[], bool]


AgentFunction = Callable[[RunContext, int], str | None]
"""Does one attempt; a loop's first is number 0. It returns its final words, if it has any, and raises where it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionAgent:
    """Satisfies ports.Agent with a function, which runs in this process and ends by itself."""

    spec: LoopSpec
    function: AgentFunction
    clock: Clock
    directory: Callable[[int, int], Path]
    environment: Callable[[RunAgent], Mapping[str, str]]
    cancelled: Callable[[], bool]

    def attempt(self, action: RunAgent, prompt: str) -> AttemptSeen:
        """Call the function once; what it raises is how the attempt failed."""
        directory = self.directory(action.iteration, action.attempt)
        kept = keep_prompt(directory, prompt)
        started = time.monotonic()
        stream = self._call(self._context(action, prompt, directory), action.before)
        failed = stream.error is not None or stream.fatal is not None
        return AttemptSeen(
            at=self.clock.now(),
            dice=self.clock.dice(),
            run=RunReport(ended_by=EndedBy.EXIT, exit_code=int(failed), duration_s=time.monotonic() - started),
            stream=stream,
            claim=detect_claim(stream.final_words, self.spec.completion.text),
            artifacts=(kept, keep_final_words(directory, stream.final_words)),
        )

    def _call(self, context: RunContext, number: int) -> StreamReport:
        try:
            words: object = self.function(context, number)
        except FATAL as error:
            return StreamReport(fatal=_told(error))
        except Exception as error:  # noqa: BLE001 - somebody else's function: whatever it raises, the attempt has failed
            return StreamReport(error=_told(error))
        if words is not None and not isinstance(words, str):
            return StreamReport(fatal=f"the function returned {type(words).__name__}: it should return its final words, or None")
        return StreamReport(final_words=words or "")

    def _context(self, action: RunAgent, prompt: str, directory: Path) -> RunContext:
        environment = self.environment(action)
        return RunContext(
            prompt=prompt,
            workspace=Path(self.spec.workspace),
            task_folder=None if self.spec.work.task_dir is None else Path(environment[TASK_FOLDER]),
            run_folder=directory,
            run_id=action.run_id,
            environment=environment,
            cancelled=self.cancelled,
        )


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

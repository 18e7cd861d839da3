"""One attempt of a CLI agent: prompt → command line → supervised process → events → report, with its artifacts on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ralphloop.core.claims import detect_claim
from ralphloop.core.messages import AttemptSeen, Event, RunAgent, ToolEnd, ToolStart
from ralphloop.core.model import LoopSpec, ProtectedFile, RunReport, StreamReport
from ralphloop.core.ports import Adapter, Clock, Invocation, Launch, Order, Runner, Sign, StreamParser, Watcher
from ralphloop.errors import ConfigError, WorkError
from ralphloop.files.artifacts import write_artifact

PROMPT, EVENTS, STDERR, FINAL, PROCESS = "prompt.md", "events.ndjson", "stderr.log", "final.md", "process"


class Guarded:
    """A parser whose faults end an attempt as failed, and not the loop: it may be somebody else's. Satisfies ports.StreamParser."""

    def __init__(self, parser: StreamParser, agent: str) -> None:
        self._parser = parser
        self._agent = agent
        self._fault: Exception | None = None

    @property
    def result_seen(self) -> bool:
        """As it says."""
        return self._parser.result_seen

    @property
    def background(self) -> bool:
        """As it says."""
        return self._parser.background

    @property
    def astray(self) -> bool:
        """As it says; a parser that has failed leads nowhere."""
        return self._fault is not None or self._parser.astray

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line; none any more, once it has failed."""
        if self._fault is not None:
            return ()
        try:
            return tuple(self._parser.feed(line))
        except Exception as fault:  # noqa: BLE001 - whatever it is
            self._fault = fault
            return ()

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, or why it cannot be read."""
        try:
            if self._fault is None:
                return self._parser.finish(run, now)
        except Exception as fault:  # noqa: BLE001 - as above
            self._fault = fault
        return StreamReport(error=f"its output cannot be read: the adapter of {self._agent} failed with {self._fault!r:.500}")


@dataclass(slots=True)
class ToolCount:
    """How many tools an attempt used, and how many of them came back with an error."""

    used: int = 0
    errors: int = 0

    def see(self, event: Event) -> None:
        """Count it, if it is a tool."""
        if isinstance(event, ToolStart):
            self.used += 1
        elif isinstance(event, ToolEnd):
            self.errors += event.is_error


@dataclass(frozen=True, slots=True, kw_only=True)
class CliAgent:
    """Satisfies ports.Agent with a command-line client."""

    spec: LoopSpec
    adapter: Adapter
    runner: Runner
    clock: Clock
    watcher: Watcher
    directory: Callable[[int, int], Path]
    environment: Callable[[RunAgent, Mapping[str, str]], Mapping[str, str]]

    def attempt(self, action: RunAgent, prompt: str) -> AttemptSeen:
        """Run one agent process to its end."""
        directory = self.directory(action.iteration, action.attempt)
        kept = keep_prompt(directory, prompt)
        order = Order(prompt=prompt, prompt_file=directory / PROMPT, budget_usd=action.budget_usd)
        parser, tools = Guarded(self.adapter.parser(self.spec.agent, order), self.spec.agent.called), ToolCount()
        run = self.runner.supervise(self._launch(action, order, directory), self._listener(parser, tools))
        ended = self.clock.now()
        stream = replace(parser.finish(run, ended), tools=tools.used, tool_errors=tools.errors)
        logs = ((EVENTS, run.stdout_digest), (STDERR, run.stderr_digest))
        streams = (ProtectedFile(path=str(directory / name), digest=digest) for name, digest in logs)
        return AttemptSeen(
            at=ended,
            dice=self.clock.dice(),
            run=run,
            stream=stream,
            claim=detect_claim(stream.final_words, self.spec.completion.text),
            artifacts=(kept, *streams, keep_final_words(directory, stream.final_words)),
        )

    def _launch(self, action: RunAgent, order: Order, directory: Path) -> Launch:
        agent = self.spec.agent
        invocation = self._invocation(order)
        return Launch(
            argv=invocation.argv,
            cwd=Path(self.spec.workspace),
            env=self.environment(action, invocation.env),
            stdin=invocation.stdin,
            stdout_log=directory / EVENTS,
            stderr_log=directory / STDERR,
            timeout_s=agent.timeout_s,
            idle_timeout_s=agent.idle_timeout_s if self.adapter.streams(agent) else 0.0,
            grace_s=agent.grace_s,
            identity_file=directory / PROCESS,
        )

    def _invocation(self, order: Order) -> Invocation:
        try:
            return self.adapter.invocation(self.spec.agent, order)
        except ConfigError as error:  # in the middle of a loop it is one more thing that goes wrong out there
            raise WorkError(str(error)) from error

    def _listener(self, parser: StreamParser, tools: ToolCount) -> Callable[[bytes], Sign]:
        def listen(line: bytes) -> Sign:
            for event in parser.feed(line):
                tools.see(event)
                self.watcher.event(event)
            if parser.astray:
                return Sign.ASTRAY
            if not parser.result_seen:
                return Sign.WORKING
            return Sign.BACKGROUND if parser.background else Sign.OVER

        return listen


def keep_prompt(directory: Path, prompt: str) -> ProtectedFile:
    """Write the prompt of an attempt down; WorkError where that cannot be, since a client may read it from there."""
    try:
        return _keep(directory / PROMPT, prompt)
    except OSError as error:
        raise WorkError(f"the prompt cannot be written to {directory / PROMPT}: {error.strerror}") from error


def keep_final_words(directory: Path, words: str) -> ProtectedFile:
    """Write the final words of an attempt down, if that can be: the ledger has them as well."""
    with suppress(OSError):
        return _keep(directory / FINAL, words)
    return ProtectedFile(path=str(directory / FINAL), digest=None)


def _keep(path: Path, text: str) -> ProtectedFile:
    """With the digest of what Ralph knows it to be: an agent could change the file afterwards."""
    content = text.encode("utf-8", "replace")
    write_artifact(path, content)
    return ProtectedFile(path=str(path), digest=hashlib.sha256(content).hexdigest())

"""One attempt of a CLI agent: prompt → command line → supervised process → events → report, with its artifacts on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ralphloop.core.claims import detect_claim
from ralphloop.core.messages import AttemptSeen, RunAgent
from ralphloop.core.model import LoopSpec, ProtectedFile
from ralphloop.core.ports import Adapter, Clock, Launch, Runner, StreamParser, Watcher
from ralphloop.files.artifacts import digest_of, write_artifact

PROMPT, EVENTS, STDERR, FINAL = "prompt.md", "events.ndjson", "stderr.log", "final.md"


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
    end_run: Callable[[str], int]

    def attempt(self, action: RunAgent, prompt: str) -> AttemptSeen:
        """Run one agent process to its end."""
        directory = self.directory(action.iteration, action.attempt)
        write_artifact(directory / PROMPT, prompt.encode("utf-8", "surrogateescape"))
        parser = self.adapter.parser()
        run = self.runner.supervise(self._launch(action, prompt, directory), self._listener(parser))
        stream = parser.finish(run)
        write_artifact(directory / FINAL, stream.final_words.encode("utf-8", "replace"))
        return AttemptSeen(
            at=self.clock.now(),
            dice=self.clock.dice(),
            run=run,
            stream=stream,
            claim=detect_claim(stream.final_words, self.spec.completion.text),
            artifacts=tuple(
                ProtectedFile(path=str(directory / name), digest=digest_of(directory / name)) for name in (PROMPT, EVENTS, STDERR, FINAL)
            ),
        )

    def end_leftovers(self, run_id: str) -> None:
        """End what an earlier incarnation left of that run."""
        self.end_run(run_id)

    def _launch(self, action: RunAgent, prompt: str, directory: Path) -> Launch:
        agent = self.spec.agent
        invocation = self.adapter.invocation(agent, prompt, directory / PROMPT)
        return Launch(
            argv=invocation.argv,
            cwd=Path(self.spec.workspace),
            env=self.environment(action, invocation.env),
            stdin=invocation.stdin,
            stdout_log=directory / EVENTS,
            stderr_log=directory / STDERR,
            timeout_s=agent.timeout_s,
            idle_timeout_s=agent.idle_timeout_s if self.adapter.STREAMS else 0.0,
            grace_s=agent.grace_s,
        )

    def _listener(self, parser: StreamParser) -> Callable[[bytes], bool]:
        def listen(line: bytes) -> bool:
            for event in parser.feed(line):
                self.watcher.event(event)
            return parser.result_seen

        return listen

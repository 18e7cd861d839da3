"""One attempt of a CLI agent: prompt → command line → supervised process → events → report, with its artifacts on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralphloop.core.claims import detect_claim
from ralphloop.core.messages import AttemptSeen, RunAgent
from ralphloop.core.model import LoopSpec, ProtectedFile
from ralphloop.core.ports import Adapter, Clock, Launch, Runner, Sign, StreamParser, Watcher
from ralphloop.files.artifacts import write_artifact

PROMPT, EVENTS, STDERR, FINAL, PROCESS = "prompt.md", "events.ndjson", "stderr.log", "final.md", "process"


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
        prompt_bytes = prompt.encode("utf-8", "replace")
        write_artifact(directory / PROMPT, prompt_bytes)
        parser = self.adapter.parser()
        run = self.runner.supervise(self._launch(action, prompt, directory), self._listener(parser))
        stream = parser.finish(run)
        final_bytes = stream.final_words.encode("utf-8", "replace")
        with suppress(OSError):  # the ledger has the words as well
            write_artifact(directory / FINAL, final_bytes)
        artifacts = {PROMPT: sha256(prompt_bytes), EVENTS: run.stdout_digest, STDERR: run.stderr_digest, FINAL: sha256(final_bytes)}
        return AttemptSeen(
            at=self.clock.now(),
            dice=self.clock.dice(),
            run=run,
            stream=stream,
            claim=detect_claim(stream.final_words, self.spec.completion.text),
            artifacts=tuple(ProtectedFile(path=str(directory / name), digest=digest) for name, digest in artifacts.items()),
        )

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
            identity_file=directory / PROCESS,
        )

    def _listener(self, parser: StreamParser) -> Callable[[bytes], Sign]:
        def listen(line: bytes) -> Sign:
            for event in parser.feed(line):
                self.watcher.event(event)
            if not parser.result_seen:
                return Sign.WORKING
            return Sign.BACKGROUND if parser.background else Sign.OVER

        return listen


def sha256(content: bytes) -> str:
    """The digest of an artifact, of what Ralph knows it to be: an agent could change the file afterwards."""
    return hashlib.sha256(content).hexdigest()

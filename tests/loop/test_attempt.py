"""What an attempt asks of the room that runs it: its own deadlines, and what the stream has said of the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from ralphloop.agents import claude, command, opencode
from ralphloop.core.messages import Event, RunAgent
from ralphloop.core.model import AgentSpec, Completion, EndedBy, Kind, Limits, LoopSpec, Purpose, RunReport, StreamReport, WorkSpec
from ralphloop.core.ports import Adapter, CallReport, Launch, Sign
from ralphloop.loop.attempt import CliAgent, Guarded
from ralphloop.testing.memory import FakeClock, SilentWatcher

AGENT = AgentSpec(type="claude", command="claude", timeout_s=11.0, idle_timeout_s=22.0, grace_s=33.0)
SPEC = LoopSpec(
    loop_id="app-1",
    name="app",
    workspace="/nowhere",
    work=WorkSpec(kind=Kind.PROMPT, prompt_text="Do it."),
    agent=AGENT,
    completion=Completion(text="DONE"),
    limits=Limits(),
)
RESULT = b'{"type":"result","subtype":"success","is_error":false,"result":"Done."}'
BACKGROUND = b'{"type":"system","subtype":"background_tasks_changed","tasks":[%s]}'


class Script:
    """A runner that starts nothing: it says these lines, and keeps what it was asked for."""

    def __init__(self, *lines: bytes) -> None:
        self._lines = lines
        self.signs: list[Sign] = []
        self.launch: Launch | None = None

    def supervise(self, launch: Launch, on_line: Callable[[bytes], Sign]) -> RunReport:
        self.launch = launch
        self.signs = [on_line(line) for line in self._lines]
        return RunReport(ended_by=EndedBy.EXIT, exit_code=0)

    def call(self, *_arguments: object, **_options: object) -> CallReport:
        raise AssertionError("an attempt calls nothing")


def attempt(runner: Script, adapter: Adapter, tmp_path: Path) -> Launch:
    agent = CliAgent(
        spec=replace(SPEC, workspace=str(tmp_path)),
        adapter=adapter,
        runner=runner,
        clock=FakeClock(),
        watcher=SilentWatcher(),
        directory=lambda _iteration, _attempt: tmp_path,
        environment=lambda _action, _of_adapter: {},
    )
    agent.attempt(RunAgent(before=0, iteration=1, attempt=1, purpose=Purpose.WORK, run_id="app-1/1/1"), "Do it.")
    assert runner.launch is not None
    return runner.launch


@pytest.mark.parametrize(("adapter", "idle_s"), [(claude, 22.0), (command, 0.0)], ids=["one that streams", "one that may be silent"])
def test_the_deadlines_are_those_of_the_settings_and_only_who_streams_can_be_idle(adapter: Adapter, idle_s: float, tmp_path: Path) -> None:
    launch = attempt(Script(), adapter, tmp_path)
    assert (launch.timeout_s, launch.idle_timeout_s, launch.grace_s, launch.after_result_s) == (11.0, idle_s, 33.0, 10.0)


def test_the_runner_hears_that_the_turn_is_over(tmp_path: Path) -> None:
    runner = Script(b'{"type":"assistant","message":{"content":[{"type":"text","text":"on it"}]}}', RESULT)
    attempt(runner, claude, tmp_path)
    assert runner.signs == [Sign.WORKING, Sign.OVER]


def test_the_runner_hears_that_a_client_goes_round_in_circles(tmp_path: Path) -> None:
    step = b'{"type":"step_finish","part":{"type":"step-finish","reason":"unknown","tokens":{}}}'
    runner = Script(*[step] * 30)
    attempt(runner, opencode, tmp_path)
    assert runner.signs[0] is Sign.WORKING
    assert runner.signs[-1] is Sign.ASTRAY


def test_the_runner_hears_that_background_work_runs_on_and_when_it_is_over(tmp_path: Path) -> None:
    runner = Script(BACKGROUND % b'{"id":"b1"}', RESULT, BACKGROUND % b"")
    attempt(runner, claude, tmp_path)
    assert runner.signs == [Sign.WORKING, Sign.BACKGROUND, Sign.OVER]


class Faulty:
    """A parser of somebody else's, with a fault."""

    result_seen = background = astray = False

    def __init__(self, where: str) -> None:
        self._where = where

    def feed(self, _line: bytes) -> Iterable[Event]:
        if self._where == "feed":
            raise RuntimeError("broken")
        return ()

    def finish(self, _run: RunReport, _now: float) -> StreamReport:
        raise RuntimeError("broken")


@pytest.mark.parametrize("where", ["feed", "finish"])
def test_a_fault_of_a_parser_ends_the_attempt_as_failed_and_names_the_agent(where: str) -> None:
    guarded = Guarded(Faulty(where), "tortoise")
    assert not guarded.astray
    assert list(guarded.feed(b"x")) == []
    assert guarded.astray is (where == "feed")
    report = guarded.finish(RunReport(ended_by=EndedBy.EXIT, exit_code=0), 0.0)
    assert report.error == "its output cannot be read: the adapter of tortoise failed with RuntimeError('broken')"

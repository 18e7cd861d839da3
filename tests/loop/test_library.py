"""`run_loop`: the loop in somebody else's program, which stays its own."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ralphloop
from ralphloop import RunContext, run_loop
from ralphloop.core import messages as m
from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.model import Limits, OutcomeKind, Strength
from ralphloop.errors import ConfigError
from ralphloop.ledger.codec import decode
from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.queries import Queries
from ralphloop.ledger.store import Ledger
from ralphloop.process.identity import identify, is_alive

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "use-as-a-library.md"
RALPH = Path(sys.executable).with_name("ralph")
PATIENCE_S = 60.0
CLAIM = "<response>DONE</response>"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task folder."""
    directory = tmp_path / "login"
    directory.mkdir()
    (directory / "TASK.md").write_text("# Log in\n\nMake it work.\n")
    return directory


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state home."""
    return tmp_path / "state"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A directory to work in, beside the state home."""
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


def entries_of(state: Path, name: str = "login") -> list[m.Entry]:
    with Queries(state / "ledger.db") as queries:
        row = queries.find(name)
        return [] if row is None else [decode(raw.type, raw.v, raw.json) for raw in queries.entries_raw(row.id)]


def ralph(state: Path, *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The installed program, on the same ledger."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(state.parent), "RALPH_STATE_HOME": str(state), "LANG": "C.UTF-8", **(env or {})}
    command = [RALPH, *arguments]
    return subprocess.run(command, cwd=cwd or state.parent, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def finish(context: RunContext, _attempt: int = 0) -> None:
    """An agent that is done at once."""
    assert context.task_folder is not None
    (context.task_folder / "DONE").write_text("It works.\n")


def endings(state: Path, name: str = "login") -> list[str]:
    return [str(entry.ending) for entry in entries_of(state, name) if isinstance(entry, m.ChangesJudged)]


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_example_of_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    code, shown = re.findall(r"^```(?:python|text)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "RALPH_STATE_HOME": str(tmp_path / "state")}
    directory = tmp_path / "program"
    directory.mkdir()
    done = subprocess.run([sys.executable, "-c", code], cwd=directory, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, "")
    assert endings(tmp_path / "state", "report") == ["failed", "ok"]


def test_every_field_of_the_context_is_documented() -> None:
    page = PAGE.read_text()
    for name in RunContext.__slots__:
        assert f"`{name}`" in page or f"`{name}()`" in page, name


def test_the_package_is_light_until_the_library_is_asked_for() -> None:
    code = "import sys, ralphloop; print('ralphloop.loop.library' in sys.modules); ralphloop.run_loop; print('ralphloop.loop.library' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError, match="has no attribute 'run_lop'"):
        _ = ralphloop.run_lop


# --- what the function is given, and gives ----------------------------------------------------------------------------


def test_options_that_are_not_given_have_the_defaults_of_the_command_line(task: Path, state: Path) -> None:
    assert run_loop(finish, task_dir=task, state=state).kind is OutcomeKind.DONE
    started = entries_of(state)[0]
    assert isinstance(started, m.LoopStarted)
    assert started.spec.limits == Limits(iterations=100, calls=300, attempts=1, empty_retries=0, stall=0, delay_s=1.0, wait_timeout_s=300.0)
    assert (started.spec.workspace, started.spec.work.task_dir, started.spec.name) == (str(task), ".", "login")


def test_settings_files_and_variables_are_not_read(task: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (task / ".ralph").mkdir()
    (task / ".ralph/settings.json").write_text(json.dumps({"gates": [{"command": "false"}]}))
    monkeypatch.setenv("RALPH_LIMITS__ITERATIONS", "7")
    assert run_loop(finish, task_dir=task, state=state).strength is Strength.ATTESTED
    started = entries_of(state)[0]
    assert isinstance(started, m.LoopStarted)
    assert started.spec.limits.iterations == 100


def test_attempts_are_counted_from_0_and_each_is_told_where_it_is(task: Path, state: Path, workspace: Path) -> None:
    seen: list[tuple[RunContext, int]] = []

    def agent(context: RunContext, attempt: int) -> str:
        seen.append((context, attempt))
        assert (context.run_folder / "prompt.md").read_text() == context.prompt
        if attempt == 2:
            finish(context)
        return f"attempt {attempt}"

    assert run_loop(agent, task_dir=task, workspace=workspace, state=state, restart_delay_s=0).kind is OutcomeKind.DONE
    assert [attempt for _, attempt in seen] == [0, 1, 2]
    loop = entries_of(state)[0]
    assert isinstance(loop, m.LoopStarted)
    for number, (context, _) in enumerate(seen, start=1):
        assert "# Log in\n\nMake it work." in context.prompt
        assert (context.workspace, context.task_folder) == (workspace, task)
        assert context.run_folder == state / "loops" / loop.spec.loop_id / str(number) / "1"
        assert context.run_id == f"{loop.spec.loop_id}/{number}/1"
        wanted = {"TASK_FOLDER": str(task), "RUN_FOLDER": str(context.run_folder), "RALPH_RUN_ID": context.run_id, "RALPH_ITERATION": str(number)}
        assert wanted.items() <= context.environment.items()
        assert (context.run_folder / "final.md").read_text() == f"attempt {number - 1}"
        assert not context.cancelled()


@pytest.mark.slow
def test_attempts_are_counted_through_the_loop_where_an_iteration_has_several(workspace: Path, state: Path) -> None:
    seen: list[int] = []

    def agent(_context: RunContext, attempt: int) -> str:
        seen.append(attempt)
        if attempt in {1, 3}:
            return CLAIM if attempt == 3 else "not yet"
        raise TimeoutError("the model did not answer")

    assert run_loop(agent, prompt="x", workspace=workspace, state=state).kind is OutcomeKind.DONE
    assert seen == [0, 1, 2, 3]


def test_final_words_that_cannot_be_written_down_count_all_the_same(task: Path, state: Path) -> None:
    def agent(context: RunContext, attempt: int) -> str:
        (context.run_folder / "final.md").mkdir()
        finish(context, attempt)
        return "It works."

    assert run_loop(agent, task_dir=task, state=state).kind is OutcomeKind.DONE
    (ended,) = (entry for entry in entries_of(state) if isinstance(entry, m.AttemptEnded))
    assert [(Path(file.path).name, file.digest is None) for file in ended.artifacts] == [("prompt.md", False), ("final.md", True)]


def test_what_the_function_returns_is_its_final_words_and_a_claim_in_them_counts(workspace: Path, state: Path) -> None:
    words: list[str | None] = [None, f"I would say {CLAIM} if it were done.", CLAIM]
    said: list[RunContext] = []

    def agent(context: RunContext, _attempt: int) -> str | None:
        said.append(context)
        (context.workspace / "notes").write_text(str(len(said)))
        return words[len(said) - 1]

    outcome = run_loop(agent, prompt="Tidy up.", workspace=workspace, name="tidy", state=state)
    assert (outcome.kind, outcome.strength, outcome.exit_code) == (OutcomeKind.DONE, Strength.ATTESTED, 0)
    assert len(said) == 3
    assert said[0].prompt == "Tidy up."
    assert said[0].task_folder is None


def test_checklist_work_is_done_when_every_box_is_ticked(workspace: Path, state: Path) -> None:
    (workspace / "PRD.md").write_text("- [ ] one\n- [ ] two\n")

    def agent(context: RunContext, _attempt: int) -> None:
        plan = context.workspace / "PRD.md"
        plan.write_text(plan.read_text().replace("[ ]", "[x]", 1))

    outcome = run_loop(agent, task_file="PRD.md", workspace=workspace, name="plan", state=state, gates=["true"])
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert endings(state, "plan") == ["ok", "ok"]


@pytest.mark.slow
def test_an_exception_is_a_failed_attempt_and_the_next_one_begins(task: Path, state: Path) -> None:
    def agent(context: RunContext, attempt: int) -> None:
        if not attempt:
            raise ValueError("the model answered nonsense")
        finish(context)

    assert run_loop(agent, task_dir=task, state=state, restart_delay_s=0).kind is OutcomeKind.DONE
    judged = [entry for entry in entries_of(state) if isinstance(entry, m.ChangesJudged)]
    assert [(str(entry.ending), entry.reason) for entry in judged] == [("failed", "ValueError: the model answered nonsense"), ("ok", "")]


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError(2, "No such file", "claude"), PermissionError(13, "Permission denied", "claude"), ConfigError("the key is wrong")],
    ids=lambda error: type(error).__name__,
)
def test_what_no_further_attempt_can_help_ends_the_loop(task: Path, state: Path, error: Exception) -> None:
    calls: list[int] = []

    def agent(_context: RunContext, attempt: int) -> None:
        calls.append(attempt)
        raise error

    outcome = run_loop(agent, task_dir=task, state=state)
    assert (outcome.kind, outcome.exit_code, calls) == (OutcomeKind.FAILED, 4, [0])
    assert outcome.reason == f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param({}, "no work found", id="no work"),
        pytest.param({"prompt": "x", "task_file": "PRD.md"}, "name two pieces of work", id="two pieces of work"),
        pytest.param({"prompt": " "}, "the prompt is empty", id="an empty prompt"),
        pytest.param({"task_dir": "nowhere"}, "is no directory", id="no such folder"),
        pytest.param({"task_dir": "."}, "the task TASK.md: there is no such file", id="no task in it"),
        pytest.param({"prompt": "x", "max_restarts": -1}, "limits.iterations", id="a negative bound"),
        pytest.param({"prompt": "x", "restart_delay_s": float("nan")}, "limits.delay_s", id="no number"),
        pytest.param({"prompt": "x", "name": "../outside"}, "'../outside' is no name for a loop", id="no name"),
        pytest.param({"prompt": "x", "name": 5}, "the name is 5: give a string", id="a number as name"),
        pytest.param({"prompt": "x", "stop": True}, "stop is True: give a threading.Event", id="no event"),
    ],
)
def test_a_wrong_argument_is_told_before_anything_is_started(
    workspace: Path, state: Path, arguments: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)

    def agent(_context: RunContext, _attempt: int) -> None:
        raise AssertionError("nothing is to be started")

    with pytest.raises(ConfigError, match=re.escape(words)):
        run_loop(agent, state=state, **arguments)
    assert list(workspace.iterdir()) == []
    assert not state.exists()


async def awaited(_context: RunContext, _attempt: int) -> str:
    return CLAIM


def yields(_context: RunContext, _attempt: int) -> Iterator[str]:
    yield CLAIM


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("claude", "the agent is 'claude', which cannot be called"),
        (None, "the agent is None, which cannot be called"),
        (awaited, "the agent is a coroutine or a generator function"),
        (yields, "the agent is a coroutine or a generator function"),
        (lambda: CLAIM, "the agent cannot be called with two arguments, (context, attempt): too many positional arguments"),
    ],
)
def test_what_cannot_be_called_as_an_agent_is_told_before_anything_is_started(workspace: Path, state: Path, agent: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        run_loop(agent, prompt="x", workspace=workspace, state=state)
    assert not state.exists()


def test_a_function_that_returns_no_text_ends_the_loop_and_is_told_so(task: Path, state: Path) -> None:
    outcome = run_loop(lambda _context, _attempt: 5, task_dir=task, state=state)  # type: ignore[arg-type,return-value]
    assert (outcome.kind, outcome.reason) == (OutcomeKind.FAILED, "the function returned int: it should return its final words, or None")


# --- gates, and an end that somebody asks for -------------------------------------------------------------------------


def test_gates_decide_and_the_next_prompt_tells_what_failed(task: Path, state: Path) -> None:
    prompts: list[str] = []

    def agent(context: RunContext, attempt: int) -> None:
        prompts.append(context.prompt)
        finish(context)
        (task / "proof").write_text(str(attempt))

    gate = 'grep -q 1 "$TASK_FOLDER/proof"'
    outcome = run_loop(agent, task_dir=task, state=state, gates=[gate], restart_delay_s=0)
    assert (outcome.kind, outcome.strength, outcome.reason) == (OutcomeKind.DONE, Strength.PROVED, "1 gate green")
    assert f'Guardrail "{gate}" failed with exit code 1.' in prompts[1]


def test_an_event_ends_the_loop_after_the_function_which_can_see_it(task: Path, state: Path) -> None:
    stop = threading.Event()
    seen: list[bool] = []

    def agent(context: RunContext, _attempt: int) -> None:
        seen.append(context.cancelled())
        stop.set()
        seen.append(context.cancelled())

    outcome = run_loop(agent, task_dir=task, state=state, stop=stop)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.INTERRUPTED, "stopped by the program that runs it")
    assert outcome.exit_code == 130
    assert seen == [False, True]


class StayingGate:
    """A gate that says its number and does not end."""

    def __init__(self, fifo: Path) -> None:
        os.mkfifo(fifo)
        self.command = f"echo $$ > {fifo}; exec sleep 600"
        self._descriptor = os.open(fifo, os.O_RDWR)

    def await_process(self) -> ProcessIdentity:
        """Wait until it runs."""
        assert select.select([self._descriptor], [], [], PATIENCE_S)[0], "the gate never ran"
        identity = identify(int(os.read(self._descriptor, 100)))
        assert identity is not None
        return identity

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[StayingGate]:
    """Such a gate."""
    gate = StayingGate(tmp_path / "gate")
    yield gate
    gate.close()


@pytest.mark.slow
def test_an_event_ends_a_gate_at_once(task: Path, state: Path, gate: StayingGate) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor() as pool:
        running = pool.submit(run_loop, finish, task_dir=task, state=state, gates=[gate.command], stop=stop)
        process = gate.await_process()
        stop.set()
        assert running.result(PATIENCE_S).kind is OutcomeKind.INTERRUPTED
    assert not is_alive(process)


# --- what people ask of it, from outside of the program ---------------------------------------------------------------

HOST = """\
import json, sys
from ralphloop import run_loop

def agent(context, attempt):
    print(json.dumps(context.prompt), flush=True)
    words = sys.stdin.readline().strip()
    if words == "finish":
        (context.task_folder / "DONE").touch()

print(run_loop(agent, task_dir=sys.argv[1], state=sys.argv[2], gates=sys.argv[3:], restart_delay_s=0).kind)
"""


class Host:
    """A program that runs a loop: it prints the prompt of each attempt, and goes on when it is told to."""

    def __init__(self, *arguments: str | Path) -> None:
        command = [sys.executable, "-c", HOST, *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._says, self._hears = self._process.stdout, self._process.stdin

    def prompt(self) -> str:
        """Wait for the next attempt: its prompt."""
        words = json.loads(self._says.readline())
        assert isinstance(words, str)
        return words

    def go_on(self, *, finish: bool = False) -> None:
        """Let the attempt end."""
        self._hears.write("finish\n" if finish else "go on\n")
        self._hears.flush()

    def end(self) -> str:
        """How the loop ended."""
        return self._process.communicate(timeout=PATIENCE_S)[0].strip()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def hosting(*arguments: str | Path) -> Iterator[Host]:
    host = Host(*arguments)
    try:
        yield host
    finally:
        host.close()


def test_people_can_stop_it_and_it_waits_for_the_function(task: Path, state: Path) -> None:
    with hosting(task, state) as host:
        host.prompt()
        environ = {"PATH": os.environ["PATH"], "HOME": str(state.parent), "RALPH_STATE_HOME": str(state)}
        with subprocess.Popen([RALPH, "stop", "login"], env=environ, stdout=subprocess.PIPE, text=True) as stopping:
            assert stopping.stdout is not None
            assert stopping.stdout.readline() == "Loop login is at work (run agent, 1 iteration so far); waiting for it.\n"
            host.go_on()
            assert stopping.stdout.readline().startswith("Loop login has ended: interrupted, stopped by ")
        assert host.end() == "interrupted"


@pytest.mark.slow
def test_people_can_stop_its_gate_at_once(task: Path, state: Path, gate: StayingGate) -> None:
    with hosting(task, state, gate.command) as host:
        host.prompt()
        host.go_on(finish=True)
        process = gate.await_process()
        stopped = ralph(state, "stop", "login", "--now")
        assert (stopped.returncode, stopped.stderr) == (0, "")
        assert host.end() == "interrupted"
        assert not is_alive(process)


def test_the_function_can_see_that_people_want_it_to_stop(task: Path, state: Path) -> None:
    seen: list[bool] = []

    def agent(context: RunContext, _attempt: int) -> None:
        seen.append(context.cancelled())
        with Ledger(state / "ledger.db") as ledger:
            Inbox(ledger.database).put(context.run_id.partition("/")[0], m.STOP, "", author="a person", at=0.0)
        seen.append(context.cancelled())

    assert run_loop(agent, task_dir=task, state=state, restart_delay_s=0).kind is OutcomeKind.INTERRUPTED
    assert seen == [False, True]


def test_gates_that_are_one_text_are_refused(task: Path, state: Path) -> None:
    with pytest.raises(ConfigError, match="gates is one text"):
        run_loop(lambda *_: None, task_dir=task, state=state, gates="true")


def test_what_people_tell_it_is_in_its_next_prompt(task: Path, state: Path) -> None:
    with hosting(task, state) as host:
        assert "Use the parser" not in host.prompt()
        assert ralph(state, "tell", "login", "Use the parser.").returncode == 0
        host.go_on()
        assert "Use the parser." in host.prompt()
        host.go_on(finish=True)
        assert host.end() == "done"


# --- the program around it --------------------------------------------------------------------------------------------

STAYS_ITS_OWN = """\
import ctypes, json, os, signal, sys, threading
from pathlib import Path
from ralphloop import run_loop

def look():
    subreaper = ctypes.c_int(-1)
    if sys.platform == "linux":
        assert ctypes.CDLL(None).prctl(37, ctypes.byref(subreaper), 0, 0, 0) == 0
    numbers = sorted(signal.valid_signals())
    handlers = [str(signal.getsignal(number)) for number in numbers]
    return [os.getpid(), os.getpgrp(), os.getsid(0), handlers, sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), subreaper.value]

forks, seen = [], []
os.register_at_fork(before=lambda: forks.append(1))
signal.signal(signal.SIGUSR1, lambda *_: None)
seen.append(look())

def agent(context, attempt):
    seen.append(look())
    (context.task_folder / "DONE").touch()

outcome = run_loop(agent, task_dir=sys.argv[1], state=sys.argv[2], gates=["true"])
seen.append(look())
wakeup = signal.set_wakeup_fd(-1)
print(json.dumps({"kind": outcome.kind, "same": seen[0] == seen[1] == seen[2], "forks": len(forks), "wakeup": wakeup, "subreaper": seen[1][5],
                  "threads": threading.active_count()}))
"""


def test_the_program_is_not_forked_and_its_signals_and_its_orphans_stay_its_own(task: Path, state: Path) -> None:
    done = subprocess.run([sys.executable, "-c", STAYS_ITS_OWN, task, state], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stderr == ""
    subreaper = 0 if sys.platform == "linux" else -1
    assert json.loads(done.stdout) == {"kind": "done", "same": True, "forks": 0, "wakeup": -1, "subreaper": subreaper, "threads": 1}


def test_what_the_program_had_started_itself_outlives_its_gates(task: Path, state: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as own:
        outcome = run_loop(finish, task_dir=task, state=state, gates=["sleep 600 & true"])
        assert (outcome.kind, own.poll()) == (OutcomeKind.DONE, None)
        own.kill()


def test_several_loops_run_at_a_time_in_threads_on_folders_of_their_own(tmp_path: Path, state: Path) -> None:
    together = threading.Barrier(4)
    folders = [tmp_path / f"task-{number}" for number in range(4)]

    def agent(context: RunContext, attempt: int) -> None:
        together.wait(PATIENCE_S)
        if attempt:
            finish(context)

    def loop(folder: Path) -> OutcomeKind:
        folder.mkdir()
        (folder / "TASK.md").write_text(f"# {folder.name}\n")
        return run_loop(agent, task_dir=folder, state=state, restart_delay_s=0).kind

    with ThreadPoolExecutor(len(folders)) as pool:
        assert list(pool.map(loop, folders)) == [OutcomeKind.DONE] * len(folders)
    assert all(endings(state, folder.name) == ["empty", "ok"] for folder in folders)


def test_two_loops_on_one_folder_are_refused_also_in_one_program(task: Path, state: Path) -> None:
    def agent(context: RunContext, _attempt: int) -> None:
        with pytest.raises(ConfigError, match="loop login is running here"):
            run_loop(finish, task_dir=task, state=state)
        finish(context)

    assert run_loop(agent, task_dir=task, state=state).kind is OutcomeKind.DONE


def test_status_shows_such_a_loop_while_it_runs_and_afterwards(task: Path, state: Path) -> None:
    shown: list[dict[str, Any]] = []

    def agent(context: RunContext, _attempt: int) -> None:
        shown.append(json.loads(ralph(state, "status", "--json").stdout)["sessions"]["login"])
        finish(context)

    run_loop(agent, task_dir=task, state=state)
    assert (shown[0]["status"], shown[0]["pid"], shown[0]["dir"]) == ("running", os.getpid(), str(task))
    assert json.loads(ralph(state, "status", "--json").stdout)["sessions"]["login"]["status"] == "complete"
    assert "done (attested: nothing was checked)" in ralph(state, "show", "login").stdout


def test_a_loop_can_begin_afresh_with_other_options(task: Path, state: Path) -> None:
    def agent(_context: RunContext, _attempt: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_loop(agent, task_dir=task, state=state, gates=["false"])
    outcome = run_loop(finish, task_dir=task, state=state, gates=["true"], new=True)
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)


@pytest.mark.parametrize("leaving", [KeyboardInterrupt, SystemExit])
def test_a_program_that_is_torn_out_of_a_loop_and_lives_on_has_stopped_it(task: Path, state: Path, leaving: type[BaseException]) -> None:
    def agent(_context: RunContext, attempt: int) -> None:
        assert attempt == 0
        raise leaving

    with pytest.raises(leaving):
        run_loop(agent, task_dir=task, state=state)
    shown = json.loads(ralph(state, "show", "login", "--json").stdout)["outcome"]
    assert (shown["kind"], shown["reason"]) == ("interrupted", f"stopped by {leaving.__name__} in the program that runs it")
    assert json.loads(ralph(state, "status", "--json").stdout)["sessions"]["login"]["status"] == "stopped"
    assert run_loop(finish, task_dir=task, state=state, restart_delay_s=0).kind is OutcomeKind.DONE
    assert endings(state) == ["lost", "ok"]


def test_the_program_itself_may_steer_its_loop_and_what_the_function_starts_may_not(task: Path, state: Path) -> None:
    told: list[subprocess.CompletedProcess[str]] = []

    def agent(context: RunContext, _attempt: int) -> None:
        told.append(ralph(state, "tell", "login", "from the program"))
        told.append(ralph(state, "tell", "login", "from the agent", env=dict(context.environment)))
        finish(context)

    assert run_loop(agent, task_dir=task, state=state).kind is OutcomeKind.DONE
    assert [done.returncode for done in told] == [0, 2]
    assert "`ralph tell` is for people, and this is an attempt of loop login" in told[1].stderr


# --- crashes ----------------------------------------------------------------------------------------------------------

DIES = """\
import os, sys
from ralphloop import run_loop
run_loop(lambda context, attempt: os.kill(os.getpid(), 9), task_dir=sys.argv[1], workspace=sys.argv[2], state=sys.argv[3])
"""


@pytest.fixture
def crashed(task: Path, state: Path, workspace: Path) -> Path:
    """The workspace of a loop whose program was killed in an attempt."""
    command: list[str | Path] = [sys.executable, "-c", DIES, task, workspace, state]
    assert subprocess.run(command, timeout=PATIENCE_S, check=False).returncode == -signal.SIGKILL
    return workspace


@pytest.mark.slow
def test_a_loop_whose_program_was_killed_goes_on_when_it_is_run_again(task: Path, state: Path, crashed: Path) -> None:
    assert run_loop(finish, task_dir=task, workspace=crashed, state=state, restart_delay_s=0).kind is OutcomeKind.DONE
    assert endings(state) == ["lost", "ok"]


def test_other_work_in_its_workspace_is_not_held_up_by_a_loop_whose_program_was_killed(state: Path, crashed: Path) -> None:
    done = ralph(state, "run", "-p", "x", "--agent-command", f"echo {CLAIM}", cwd=crashed)
    assert done.returncode == 0, done


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "resume"])
def test_the_command_line_does_not_go_on_with_such_a_loop_and_says_why(task: Path, state: Path, crashed: Path, command: str) -> None:
    arguments = ("resume", "login") if command == "resume" else ("run", crashed, "--task-dir", task, "--agent-command", "true")
    done = ralph(state, *arguments)
    assert done.returncode == 2, done
    assert "loop login runs in a program of its own (ralphloop.run_loop): start that program again" in done.stderr
    assert run_loop(finish, task_dir=task, workspace=crashed, state=state, restart_delay_s=0).kind is OutcomeKind.DONE

"""Task folders: a run of the agent ends nothing, the file DONE does; and a loop that is asked to wait waits, once for each time that it is asked."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from program import Ended, Program

from ralphloop.bus.board import PROJECT_BUS, TASK_BUS
from ralphloop.core.messages import GatesEnded
from ralphloop.process.identity import is_alive

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

FINISH = 'echo "It works." > "$TASK_FOLDER/DONE"'
COMPLETED = "task completed (DONE marker present, no active children)"


@pytest.fixture
def task(program: Program) -> Path:
    """A task directory; nothing is waited for between runs."""
    program.environ |= {"RALPH_LIMITS__DELAY_S": "0", "RALPH_LIMITS__BACKOFF_S": "0"}
    return program.task()


def run(program: Program, task: Path, script: str, *more: str | Path) -> Ended:
    return program.run("run", *more, "--task-dir", task, "--agent-command", program.agent(script))


def in_turn(*scripts: str) -> str:
    """A script whose runs do one thing after the other."""
    branches = "".join(f"{number}) {script} ;;\n" for number, script in enumerate(scripts, start=1))
    return f'case "$(wc -l < "$root/calls" | tr -d " ")" in\n{branches}esac'


def endings(program: Program, name: str = "login") -> list[str]:
    return [attempt["ending"] for attempt in program.attempts(name)]


# --- what ends the loop -----------------------------------------------------------------------------------------------


def test_exit_code_0_without_a_done_starts_the_agent_again(program: Program, task: Path) -> None:
    ended = run(program, task, in_turn("echo I am done", "true", FINISH))
    assert ended.code == 0, ended
    assert program.calls() == [1, 2, 3]
    assert "done (attested: nothing was checked)" in ended.out
    assert program.status()["login"]["status"] == "complete"


def test_a_task_that_is_done_before_the_first_run_needs_no_agent(program: Program, task: Path) -> None:
    (task / "DONE").touch()
    ended = run(program, task, "exit 1")
    assert ended.code == 0, ended
    assert program.calls() == []
    assert program.posted(task) == [("INFO", COMPLETED)]


@pytest.mark.parametrize(
    ("end", "ending"),
    [
        pytest.param("exit 1", "failed", id="exit code 1"),
        pytest.param("kill -9 $$", "failed", id="killed"),
        pytest.param("exit 42", "waiting", id="asks to wait"),
    ],
)
def test_done_counts_however_the_run_that_wrote_it_ended(program: Program, task: Path, end: str, ending: str) -> None:
    ended = run(program, task, f"{FINISH}; {end}")
    assert ended.code == 0, ended
    assert endings(program) == [ending]


def test_done_on_the_last_allowed_restart_is_done(program: Program, task: Path) -> None:
    ended = run(program, task, in_turn("exit 1", FINISH), "--max-restarts", "2")
    assert ended.code == 0, ended
    assert program.calls() == [1, 2]


def test_a_prompt_that_cannot_be_written_down_fails_the_loop_and_starts_nothing(program: Program) -> None:
    login = program.task()
    spoil = 'mkdir -p "$RUN_FOLDER/../../2/1/prompt.md"'
    ended = program.run("run", "--task-dir", login, "--restart-delay", "0", "--agent-command", program.agent(spoil))
    assert (ended.code, program.calls()) == (4, [1]), ended
    assert "the prompt cannot be written to" in ended.out


def test_restarts_have_a_limit_and_it_is_an_error_on_the_bus(program: Program, task: Path) -> None:
    ended = run(program, task, "echo on it", "--max-restarts", "2")
    assert ended.code == 1, ended
    assert program.calls() == [1, 2]
    type_, text = program.posted(task)[-1]
    assert type_ == "ERROR"
    assert text.startswith("max restarts exceeded: 2 of 2 iterations are used up")
    assert program.posted(task.parent, PROJECT_BUS) == []


def test_a_done_that_a_person_writes_after_the_limit_ends_the_loop_without_a_run(program: Program, task: Path) -> None:
    assert run(program, task, "echo on it", "--max-restarts", "1").code == 1
    (task / "DONE").touch()
    again = program.run("resume", "login")
    assert again.code == 0, again
    assert "done (attested: nothing was checked)" in again.out
    assert program.calls() == [1]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        pytest.param("mkdir", "a directory", id="directory"),
        pytest.param("ln -s TASK.md", "not a regular file", id="link to a file"),
        pytest.param("ln -s nowhere", "not a regular file", id="link to nothing"),
        pytest.param("mkfifo", "not a regular file", id="FIFO"),
    ],
)
def test_a_done_that_is_no_file_is_refused_before_the_start_and_fails_a_loop_later(program: Program, task: Path, make: str, kind: str) -> None:
    words = f"{task}/DONE is {kind}: a task is done when there is a regular file DONE; move it away, or write that file"
    later = run(program, task, f'cd "$TASK_FOLDER" && {make} DONE')
    assert (later.code, endings(program)) == (4, ["ok"]), later
    assert f"failed: {words}" in later.out
    nowhere = {"RALPH_STATE_HOME": str(program.root / "fresh")}
    before = program.run("run", "--task-dir", task, "--agent-command", "true", env=nowhere)
    assert (before.code, before.out, before.err) == (2, "", f"ralph: {words}\n")
    assert not (program.root / "fresh").exists()


def test_a_done_that_becomes_a_directory_proves_nothing(program: Program, task: Path) -> None:
    (task / "DONE").touch()
    ended = run(program, task, 'cd "$TASK_FOLDER" && rm DONE && mkdir DONE && touch proof', "--gate", 'test -e "$TASK_FOLDER/proof"')
    assert ended.code == 4, ended
    assert "DONE is a directory" in ended.out


def test_a_request_to_wait_counts_although_the_task_is_gone(program: Program, task: Path) -> None:
    ended = run(program, task, 'rm "$TASK_FOLDER/TASK.md"; touch "$TASK_FOLDER/WAIT_WITHOUT_RESTART"')
    assert ended.code == 3, ended
    assert program.calls() == [1]
    assert (task / "TASK.md").exists()


def test_a_task_folder_outside_the_workspace_comes_back_with_its_task(program: Program, task: Path) -> None:
    outside = program.root / "elsewhere"
    task.rename(outside)
    before = (outside / "TASK.md").read_bytes()
    ended = program.run("run", program.workspace, "--task-dir", outside, "--agent-command", program.agent(in_turn(f"rm -r {outside}", FINISH)))
    assert ended.code == 0, ended
    assert (outside / "TASK.md").read_bytes() == before


def test_red_gates_keep_the_loop_going_and_green_ones_prove_it(program: Program, task: Path) -> None:
    gate = 'test -e "$TASK_FOLDER/proof"'
    ended = run(program, task, in_turn(FINISH, 'touch "$TASK_FOLDER/proof"'), "--gate", gate)
    assert ended.code == 0, ended
    assert "done (proved): 1 gate green" in ended.out
    first, second = program.show("login")["iterations"]
    assert (first["done"], first["obstacles"]) == (False, [f"the gate {gate} failed with exit code 1"])
    assert second["done"]
    assert f'Guardrail "{gate}" failed with exit code 1.' in program.prompts("login")[1]


def test_a_task_that_is_done_needs_no_agent_where_the_gates_agree(program: Program, task: Path) -> None:
    (task / "DONE").touch()
    ended = run(program, task, "exit 1", "--gate", "true")
    assert (ended.code, program.calls()) == (0, []), ended
    assert "done (proved): 1 gate green" in ended.out


# --- the task ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        pytest.param("rm TASK.md", "the task TASK.md: there is no such file in {task}: write the task into it", id="missing"),
        pytest.param("echo > TASK.md", "the task TASK.md (in {task}) is empty: write into it what is to be done", id="empty"),
        pytest.param("rm TASK.md; mkdir TASK.md", "the task TASK.md: it is a directory in {task}: ", id="directory"),
        pytest.param("mv TASK.md x; ln -s x TASK.md", "the task TASK.md: TASK.md in {task} is a link to x, and links are not followed", id="link"),
        pytest.param("printf '\\377' > TASK.md", "the task TASK.md (in {task}) is not text: ", id="not UTF-8"),
    ],
)
def test_a_task_that_cannot_be_read_is_refused_with_what_to_do_and_nothing_is_written(program: Program, task: Path, spoil: str, words: str) -> None:
    subprocess.run(["sh", "-c", spoil], cwd=task, check=True)
    ended = run(program, task, FINISH)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"ralph: {words.format(task=task)}")
    assert ended.err.endswith("name the directory that holds TASK.md with --task-dir\n")
    assert len(ended.err.splitlines()) == 1
    assert program.calls() == []
    assert not program.state.exists()
    assert program.files() == set()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(("-p", "x"), "-p and --task-dir name two pieces of work; give one of them", id="a prompt"),
        pytest.param(("--task-file", "PRD.md"), "--task-file and --task-dir name two pieces of work; give one of them", id="a task list"),
        pytest.param(("--kind", "prompt"), "--kind prompt and --task-dir contradict each other", id="another kind"),
    ],
)
def test_a_task_folder_and_other_work_contradict_each_other(program: Program, task: Path, given: tuple[str, ...], words: str) -> None:
    ended = run(program, task, FINISH, *given)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert not program.state.exists()


def test_a_task_directory_that_is_not_there_is_refused(program: Program, task: Path) -> None:
    for wrong in (task / "nowhere", task / "TASK.md"):
        ended = run(program, wrong, FINISH)
        assert ended.code == 2
        assert str(wrong) in ended.err
    assert not program.state.exists()


def test_the_prompt_holds_the_task_in_its_own_words_and_the_rules_of_the_folder(program: Program, task: Path) -> None:
    words = "# Templates\n\nReplace {name}, {task}, {iteration} and {0} in greet.py; keep {braces} and %s.\n"
    (task / "TASK.md").write_text(words)
    assert run(program, task, FINISH).code == 0
    (prompt,) = program.prompts("login")
    assert words in prompt
    assert f"TASK FOLDER: {task} (also in $TASK_FOLDER)" in prompt
    assert 'echo "..." > "$TASK_FOLDER/DONE"' in prompt


CRIMES = {
    "changed": 'echo "Do nothing." > "$TASK_FOLDER/TASK.md"',
    "deleted": 'rm "$TASK_FOLDER/TASK.md"',
    "made a directory": 'rm "$TASK_FOLDER/TASK.md"; mkdir "$TASK_FOLDER/TASK.md"',
    "made a link": 'mv "$TASK_FOLDER/TASK.md" "$root/old"; ln -s "$root/old" "$TASK_FOLDER/TASK.md"',
    "made too large": 'head -c 20000000 /dev/zero > "$TASK_FOLDER/TASK.md"',
}


PLACES = ("the workspace", "in the workspace", "beside the workspace", "beside a repository")
CASES = [
    *((crime, "the workspace") for crime in CRIMES),
    *((crime, place) for crime in ("changed", "deleted", "made a link") for place in PLACES[1:]),
]


@pytest.mark.parametrize(("crime", "place"), CASES)
def test_a_task_that_the_agent_changes_is_put_back_wherever_it_lies(program: Program, crime: str, place: str, task: Path) -> None:
    if place == "in the workspace":
        task = program.task(path="project/tasks/login")
    if place == "beside a repository":
        subprocess.run(["git", "init", "-q", program.workspace], env=program.environ, check=True)
    before = (task / "TASK.md").read_text()
    workspace = () if place == "the workspace" else (program.workspace,)
    ended = run(program, task, in_turn(CRIMES[crime], 'cat "$TASK_FOLDER/TASK.md"; ' + FINISH), *workspace)
    assert ended.code == 0, ended
    assert (task / "TASK.md").read_text() == before
    assert not (task / "TASK.md").is_symlink()
    first, second = program.show("login")["iterations"]
    (restored,) = first["restored"]
    assert "says what is to be done, and was" in restored["reason"]
    assert restored["reason"] in program.prompts("login")[1]
    assert second["restored"] == []


# --- where it runs, and with what -------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [True, False], ids=["DIR", "no DIR"])
def test_the_agent_runs_in_dir_and_else_in_the_task_directory(program: Program, task: Path, *, given: bool) -> None:
    ended = run(program, task, f'pwd > "$root/cwd"; {FINISH}', *([program.workspace] if given else []))
    assert ended.code == 0, ended
    assert (program.root / "cwd").read_text().strip() == str(program.workspace if given else task)


def environment(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)


def test_the_agent_is_told_the_task_folder_and_the_folder_of_its_run(program: Program, task: Path) -> None:
    ended = run(program, task, f'env > "$root/seen"; cp "$RUN_FOLDER/prompt.md" "$root/prompt"; {FINISH}', program.workspace)
    assert ended.code == 0, ended
    (attempt,) = program.attempts("login")
    loop_id = program.status()["login"]["id"]
    wanted = {
        "TASK_FOLDER": str(task),
        "RUN_FOLDER": attempt["files"],
        "RALPH_LOOP": "login",
        "RALPH_ITERATION": "1",
        "RALPH_RUN_ID": f"{loop_id}/1/1",
        "RALPH_STATE_HOME": str(program.state),
    }
    assert wanted.items() <= environment(program.root / "seen").items()
    assert (program.root / "prompt").read_text() == program.prompts("login")[0]


def test_gates_are_told_the_task_folder_as_well(program: Program, task: Path) -> None:
    assert run(program, task, FINISH, program.workspace, "--gate", f"env > {program.root}/seen").code == 0
    assert environment(program.root / "seen")["TASK_FOLDER"] == str(task)
    assert "RUN_FOLDER" not in environment(program.root / "seen")


WANTED = {"iterations": 7, "delay_s": 0.25, "wait_timeout_s": 12.5, "poll_interval_s": 0.5}


@pytest.mark.parametrize(
    ("flags", "limits", "wanted"),
    [
        pytest.param((), {}, {"iterations": 100, "delay_s": 1.0, "wait_timeout_s": 300.0, "poll_interval_s": 1.0}, id="defaults"),
        pytest.param(("--max-restarts", "7", "--restart-delay", "0.25", "--wait-timeout", "12.5", "--poll-interval", "0.5"), {}, WANTED, id="flags"),
        pytest.param(("--delay", "0.25", "--max-iterations", "7"), {"wait_timeout_s": 12.5, "poll_interval_s": 0.5}, WANTED, id="other names"),
        pytest.param((), WANTED, WANTED, id="settings"),
    ],
)
def test_bounds_are_those_of_the_flags_or_of_the_settings(
    program: Program, flags: tuple[str, ...], limits: dict[str, float], wanted: dict[str, float]
) -> None:
    task = program.task()
    program.settings(limits=limits)
    assert run(program, task, FINISH, program.workspace, *flags).code == 0
    shown: dict[str, Any] = program.show("login")["limits"]
    assert shown | wanted == shown


def test_the_task_directory_can_be_named_in_the_settings(program: Program) -> None:
    task = program.task(path="project/tasks/login")
    program.settings(work={"task_dir": "tasks/login"}, limits={"delay_s": 0})
    ended = program.run("run", "--agent-command", program.agent(in_turn("true", FINISH)))
    assert ended.code == 0, ended
    assert "task folder tasks/login" in ended.out
    assert program.calls() == [1, 2]
    assert COMPLETED in (task / TASK_BUS).read_text()


@pytest.mark.parametrize("given", ["--delay=-1", "--restart-delay=soon", "--wait-timeout=nan", "--poll-interval=1e300"])
def test_a_number_of_seconds_that_is_none_is_refused(program: Program, task: Path, given: str) -> None:
    ended = run(program, task, FINISH, given)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert not program.state.exists()


# --- crashes ----------------------------------------------------------------------------------------------------------


def test_a_loop_that_is_killed_in_the_middle_goes_on_and_counts_honestly(program: Program, task: Path) -> None:
    agent = program.agent(in_turn("true", "at_work; await_go_on", FINISH))
    arguments = ("run", "--task-dir", task, "--agent-command", agent)
    running = program.start(*arguments)
    lost = program.await_agent()
    os.kill(program.loop_process("login").pid, signal.SIGKILL)
    assert running.end().code == 128 + signal.SIGKILL
    assert not is_alive(lost)
    assert program.status()["login"]["status"] == "crashed"
    again = program.run(*arguments)
    assert again.code == 0, again
    assert "Resuming loop login: it had crashed in iteration 2." in again.out
    assert endings(program) == ["empty", "lost", "ok"]
    assert program.calls() == [1, 2, 3]
    assert program.show("login")["totals"]["calls"] == 3
    assert [type_ for type_, _ in program.posted(task)] == [
        *("RUN_START", "RUN_STOP", "RUN_START", "RUN_CRASH", "RUN_START", "RUN_STOP"),
        "INFO",
    ]


def test_a_done_that_a_lost_run_has_written_counts(program: Program, task: Path) -> None:
    arguments = ("run", "--task-dir", task, "--agent-command", program.agent(f"{FINISH}; at_work; await_go_on"))
    running = program.start(*arguments)
    program.await_agent()
    os.kill(program.loop_process("login").pid, signal.SIGKILL)
    running.end()
    again = program.run(*arguments)
    assert again.code == 0, again
    assert (endings(program), program.calls()) == (["lost"], [1])


def test_two_loops_on_one_task_are_refused_whatever_their_names(program: Program, task: Path) -> None:
    running = program.start("run", "--task-dir", task, "--agent-command", program.agent(f"at_work; await_go_on; {FINISH}"))
    program.await_agent()
    for more in ((), ("--name", "second"), (program.workspace, "--name", "third")):
        second = run(program, task, FINISH, *more)
        assert second.code == 2, second
        assert "is running here" in second.err or f"another loop is working on {task}" in second.err
    program.go_on()
    assert running.end().code == 0


# --- the bus ----------------------------------------------------------------------------------------------------------


def test_the_bus_tells_of_every_run_and_of_the_end(program: Program, task: Path) -> None:
    assert run(program, task, in_turn("exit 7", "echo on it", FINISH)).code == 0
    loop_id = program.status()["login"]["id"]
    assert program.posted(task) == [
        ("RUN_START", f"Attempt 1 started ({loop_id}/1/1)."),
        ("RUN_CRASH", "Attempt 1: Agent failed (exit 7), restarting...\nit ended with exit code 7"),
        ("RUN_START", f"Attempt 2 started ({loop_id}/2/1)."),
        ("RUN_STOP", "Attempt 2: Agent ended (exit 0), ok."),
        ("RUN_START", f"Attempt 3 started ({loop_id}/3/1)."),
        ("RUN_STOP", "Attempt 3: Agent ended (exit 0), ok."),
        ("INFO", COMPLETED),
    ]
    assert program.posted(task.parent, PROJECT_BUS) == [("FACT", f"login: {COMPLETED}, attested")]


def test_agents_of_one_task_leave_one_another_messages(program: Program, task: Path) -> None:
    leave = 'ralph bus post --type FACT "the parser is in src/parse.py"'
    assert run(program, task, in_turn(leave, f'ralph bus read --type FACT > "$root/read"; {FINISH}'), program.workspace).code == 0
    assert "the parser is in src/parse.py" in (program.root / "read").read_text()


@pytest.mark.parametrize("instead", ["ln -s nowhere", "ln -s TASK.md", "mkdir", "mkfifo"])
def test_a_bus_that_cannot_be_used_harms_nothing(program: Program, task: Path, instead: str) -> None:
    subprocess.run(["sh", "-c", f"{instead} {TASK_BUS}; {instead} ../{PROJECT_BUS}"], cwd=task, check=True)
    before = (task / "TASK.md").read_text()
    ended = run(program, task, in_turn("true", FINISH))
    assert (ended.code, ended.err) == (0, ""), ended
    assert (task / "TASK.md").read_text() == before
    assert not (task / "nowhere").exists()


def test_a_bus_that_becomes_a_link_during_a_run_harms_nothing(program: Program, task: Path) -> None:
    crime = f'rm "$TASK_FOLDER/{TASK_BUS}"; ln -s "$TASK_FOLDER/TASK.md" "$TASK_FOLDER/{TASK_BUS}"'
    assert run(program, task, in_turn(crime, FINISH)).code == 0
    assert (task / "TASK.md").read_text() == "# Log in\n\nMake it work.\n"


# --- waiting ----------------------------------------------------------------------------------------------------------

MARK = 'touch "$TASK_FOLDER/WAIT_WITHOUT_RESTART"'
POST = 'ralph bus post --type wait_without_restart "for the designer"'
ASKING = [
    pytest.param("exit 42", "the agent asked to wait (exit code 42)", id="exit code 42"),
    pytest.param(MARK, "the agent asked to wait (WAIT_WITHOUT_RESTART in {task})", id="marker"),
    pytest.param(POST, "the agent asked to wait: for the designer", id="message"),
    pytest.param(f"{MARK}; exit 1", "the agent asked to wait (WAIT_WITHOUT_RESTART in {task})", id="marker, and exit code 1"),
]


@pytest.mark.parametrize(("ask", "reason"), ASKING)
def test_a_loop_that_is_asked_to_wait_does_not_start_the_agent_again(program: Program, task: Path, ask: str, reason: str) -> None:
    ended = run(program, task, ask)
    assert ended.code == 3, ended
    assert f"waiting: {reason.format(task=task)}" in ended.out
    assert program.calls() == [1]
    outcome = program.show("login")["outcome"]
    assert (outcome["kind"], outcome["reason"]) == ("waiting", reason.format(task=task))
    assert program.status()["login"]["status"] == "waiting"
    assert program.posted(task)[-1] == ("INFO", f"Wait-without-restart signal detected: {reason.format(task=task)}")


def test_what_asked_to_wait_before_the_run_does_not_count(program: Program, task: Path) -> None:
    (task / "WAIT_WITHOUT_RESTART").touch()
    assert program.run("bus", "post", "--task-dir", task, "--type", "wait_without_restart", "long ago").code == 0
    ended = run(program, task, in_turn("true", "true", FINISH))
    assert ended.code == 0, ended
    assert program.calls() == [1, 2, 3]


@pytest.mark.parametrize(("ask", "reason"), ASKING)
@pytest.mark.parametrize("on", ["resume", "run"])
def test_a_loop_that_goes_on_does_not_wait_again_for_the_same_thing(program: Program, task: Path, ask: str, reason: str, on: str) -> None:
    script = in_turn(ask, "true", FINISH)
    assert run(program, task, script).code == 3, reason
    again = program.run("resume", "login") if on == "resume" else run(program, task, script)
    assert again.code == 0, again
    assert "Resuming loop login: it was waiting in iteration 1." in again.out
    assert program.calls() == [1, 1, 2]
    assert not (task / "WAIT_WITHOUT_RESTART").exists()
    assert (task / "WAIT_WITHOUT_RESTART.consumed-1").exists() is (MARK in ask)


@pytest.mark.parametrize(("ask", "reason"), ASKING)
def test_a_loop_that_goes_on_waits_when_it_is_asked_anew(program: Program, task: Path, ask: str, reason: str) -> None:
    assert run(program, task, ask).code == 3
    again = program.run("resume", "login")
    assert again.code == 3, again
    assert f"waiting: {reason.format(task=task)}" in again.out
    assert len(program.calls()) == 2


@pytest.mark.parametrize(("ask", "reason"), ASKING)
def test_done_wins_over_a_request_to_wait(program: Program, task: Path, ask: str, reason: str) -> None:
    ended = run(program, task, f"{FINISH}; {ask}")
    assert ended.code == 0, (ended, reason)
    assert program.calls() == [1]


def test_a_task_that_a_person_edits_while_the_loop_waits_stays_edited(program: Program, task: Path) -> None:
    assert run(program, task, in_turn("exit 42", FINISH)).code == 3
    (task / "TASK.md").write_text("# Log in, by mail\n")
    again = program.run("resume", "login")
    assert again.code == 0, again
    assert (task / "TASK.md").read_text() == "# Log in, by mail\n"
    assert "# Log in, by mail" in program.prompts("login")[-1]
    assert all(not turn["restored"] for turn in program.show("login")["iterations"])


@pytest.mark.parametrize("on", ["resume", "run"])
def test_a_task_that_a_person_finishes_while_the_loop_waits_needs_no_further_run(program: Program, task: Path, on: str) -> None:
    assert run(program, task, "exit 42").code == 3
    (task / "DONE").touch()
    again = program.run("resume", "login") if on == "resume" else run(program, task, "exit 42")
    assert again.code == 0, again
    assert program.calls() == [1]


def test_a_task_that_a_person_finishes_after_a_stop_needs_no_further_run(program: Program, task: Path) -> None:
    running = program.start("run", "--task-dir", task, "--agent-command", program.agent(in_turn("at_work; await_go_on", "exit 1")))
    program.await_agent()
    running.signal(signal.SIGINT)
    running.await_err("shutting down")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    (task / "DONE").touch()
    again = program.run("resume", "login")
    assert again.code == 0, again
    assert program.calls() == [1]


def test_a_message_that_was_heeded_is_not_heeded_again_when_the_bus_is_written_anew(program: Program, task: Path) -> None:
    rewrite = f'cp "$TASK_FOLDER/{TASK_BUS}" "$root/bus"; mv "$root/bus" "$TASK_FOLDER/{TASK_BUS}"'
    assert run(program, task, in_turn(POST, rewrite, FINISH)).code == 3
    again = program.run("resume", "login")
    assert again.code == 0, again
    assert program.calls() == [1, 1, 2]


def test_a_message_counts_although_the_bus_is_written_anew_in_the_same_run(program: Program, task: Path) -> None:
    rewrite = f'cp "$TASK_FOLDER/{TASK_BUS}" "$root/bus"; mv "$root/bus" "$TASK_FOLDER/{TASK_BUS}"'
    ended = run(program, task, in_turn(f"{POST}; {rewrite}", FINISH))
    assert ended.code == 3, ended
    assert "waiting: the agent asked to wait: for the designer" in ended.out


def test_settings_that_are_not_read_are_named(program: Program, task: Path) -> None:
    program.settings(gates=[{"command": "false"}])
    ended = run(program, task, FINISH)
    assert ended.code == 0, ended
    settings = program.workspace / ".ralph" / "settings.json"
    assert (
        f"The settings in {settings} are not read, since the loop works in the task folder: say `ralph run . --task-dir …` to work here." in ended.out
    )
    for_both = run(program, task, FINISH, "-m", "1", "--new", program.workspace)
    assert (for_both.code, "are not read" in for_both.out) == (1, False), for_both


def test_what_a_person_finishes_during_a_wait_is_seen_at_once(program: Program, task: Path) -> None:
    running = program.start("run", "--task-dir", task, "--delay", "3600", "--gate", "true", "--agent-command", program.agent("true"))
    running.await_out("delay between iterations")
    (task / "DONE").touch()
    ended = running.end()
    assert ended.code == 0, ended
    assert "done (proved): 1 gate green · 1 iteration" in ended.out


def test_a_loop_of_200_runs_with_strays_and_failing_gates_leaves_nothing_but_its_story(program: Program, task: Path) -> None:
    """No descriptor, no zombie, no temporary file; and each gate that failed while strays were being reaped has failed."""
    look = 'echo "$(ls /proc/$PPID/fd | wc -l) $(ps -o pid= --ppid $PPID | wc -l)" >> $root/looks'
    agent = program.agent(f"{look}; {FINISH}; setsid sh -c 'sleep 600 &' &")
    gate = f"for i in 1 2 3; do (setsid sh -c 'true & exit 0' &); done; [ $(wc -l < {program.root}/calls) -ge 200 ] || exit 9"
    ended = program.run("run", "--task-dir", task, "--max-restarts", "300", "--gate", gate, "--agent-command", agent)
    assert ended.code == 0, ended.out[-2000:]
    assert len(program.calls()) == 200
    verdicts = [verdict for entry in program.entries("login") if isinstance(entry, GatesEnded) for verdict in entry.verdicts]
    assert [(verdict.exit_code, verdict.passed) for verdict in verdicts] == [(9, False)] * 199 + [(0, True)]
    first, *looks = (program.root / "looks").read_text().splitlines()
    assert looks == [first] * 199, "every run finds the loop as the one before did"
    assert list((program.root / "tmp").iterdir()) == []

"""The demo agent really does what its script says, as a process in a real project: honest work, and every kind of misbehaviour."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralphloop.agents import demo
from ralphloop.agents.demo_project import DEMO_GATE, DEMO_SCRIPT, write_demo_project
from ralphloop.agents.demo_script import WORDS
from ralphloop.core.claims import detect_claim
from ralphloop.core.endings import classify
from ralphloop.core.messages import Event
from ralphloop.core.model import AgentSpec, EndedBy, Ending, RunReport, StreamReport
from ralphloop.core.ports import Order
from ralphloop.errors import ConfigError

DEMO = AgentSpec(type="demo", command="demo")
GIT = ("git", "-c", "user.name=Test", "-c", "user.email=test@localhost")


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    write_demo_project(directory)
    return directory


@pytest.fixture
def repository(project: Path) -> Path:
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Begin"]):
        subprocess.run([*GIT, *arguments], cwd=project, env=environment(project.parent), check=True)
    return project


def attempt(project: Path, script: str, *, iteration: int = 1, prompt: str = "Go.") -> tuple[list[Event], RunReport, StreamReport]:
    invocation = demo.invocation(
        AgentSpec(type="demo", command="demo", flags=("--script", script)), Order(prompt=prompt, prompt_file=project / "unused")
    )
    env = {**environment(project.parent), "RALPH_ITERATION": str(iteration)}
    done = subprocess.run(invocation.argv, input=invocation.stdin, cwd=project, env=env, capture_output=True, check=False)
    run = RunReport(ended_by=EndedBy.EXIT, exit_code=done.returncode, stderr_tail=done.stderr.decode())
    parser = demo.parser(DEMO)
    events = [event for line in done.stdout.splitlines() for event in parser.feed(line)]
    return events, run, parser.finish(run, 0.0)


def ending_of(project: Path, script: str, *, changed: bool = True) -> Ending:
    _, run, stream = attempt(project, script)
    return classify(run, stream, changed=changed)[0]


def gate_passes(project: Path) -> bool:
    return subprocess.run(["sh", "-c", DEMO_GATE], cwd=project, env=environment(project.parent), capture_output=True, check=False).returncode == 0


def tasks(project: Path) -> str:
    marks = [line for line in (project / "PRD.md").read_text().splitlines() if line.startswith("- [")]
    return " ".join(line[2:5] for line in marks)


def subjects(repository: Path) -> list[str]:
    log = subprocess.run([*GIT, "log", "--format=%s"], cwd=repository, env=environment(repository.parent), capture_output=True, check=True)
    return log.stdout.decode().splitlines()


def test_work_does_one_task_each_time_until_the_code_works(project: Path) -> None:
    for iteration, expected in enumerate(("[x] [ ] [ ]", "[x] [x] [ ]", "[x] [x] [x]"), start=1):
        _, _, stream = attempt(project, "work", iteration=iteration)
        assert tasks(project) == expected
        assert gate_passes(project)
        assert not detect_claim(stream.final_words, "COMPLETE").claimed
    assert attempt(project, "work")[2].final_words == "There is nothing left to do in PRD.md."


def test_it_speaks_as_a_real_agent_does(project: Path) -> None:
    events, _, stream = attempt(project, "work")
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["Progress", "Text", "ToolStart", "ToolEnd", "ToolStart", "ToolEnd", "Text", "FinalResult"]
    assert stream.usage.cost_usd == 0.0123
    assert stream.usage.input_tokens == 1200
    assert stream.final_words.startswith("Done: Write `hello`")


def test_it_commits_what_it_did_and_nothing_else(repository: Path) -> None:
    (repository / "yours.txt").write_text("not the agent's")
    attempt(repository, "work")
    assert subjects(repository) == ["Write `hello`: Hello, Ada!", "Begin"]
    status = subprocess.run([*GIT, "status", "--porcelain"], cwd=repository, env=environment(repository.parent), capture_output=True, check=True)
    assert status.stdout == b"?? yours.txt\n"


def test_the_word_is_that_of_the_iteration_and_the_last_one_repeats(project: Path) -> None:
    assert attempt(project, "empty,lie,work", iteration=2)[2].final_words.startswith("Everything")
    assert attempt(project, "empty,lie,work", iteration=7)[2].final_words.startswith("Done:")


@pytest.mark.parametrize("prompt", ["Go.", "Say <promise>ALL_DONE</promise> at the end", "end with <response>DONE</response>"])
def test_a_lie_is_a_claim_in_the_words_that_the_prompt_asks_for(project: Path, prompt: str) -> None:
    _, _, stream = attempt(project, "lie", prompt=prompt)
    wanted = {"Go.": "COMPLETE"}.get(prompt) or ("ALL_DONE" if "ALL_DONE" in prompt else "DONE")
    assert detect_claim(stream.final_words, wanted).claimed
    assert tasks(project) == "[ ] [ ] [ ]"


def test_a_mention_does_a_task_and_is_no_claim(project: Path) -> None:
    _, _, stream = attempt(project, "mention")
    assert "I cannot output <promise>COMPLETE</promise> yet" in stream.final_words
    assert not detect_claim(stream.final_words, "COMPLETE").claimed
    assert tasks(project) == "[x] [ ] [ ]"


@pytest.mark.parametrize("done_before", [0, 1, 2])
def test_break_breaks_the_gate_on_any_task_and_fix_repairs_it(project: Path, done_before: int) -> None:
    for _ in range(done_before):
        attempt(project, "work")
    attempt(project, "break")
    assert tasks(project).count("[x]") == done_before + 1
    assert not gate_passes(project)
    attempt(project, "fix")
    assert gate_passes(project)


def test_delete_takes_an_open_task_away_commits_that_and_claims(repository: Path) -> None:
    _, _, stream = attempt(repository, "delete")
    assert tasks(repository) == "[ ] [ ]"
    assert subjects(repository)[0] == "Tidy up the list"
    assert detect_claim(stream.final_words, "COMPLETE").claimed


def test_finish_claims_only_when_nothing_is_open(project: Path) -> None:
    claims = [detect_claim(attempt(project, "finish")[2].final_words, "COMPLETE").claimed for _ in range(3)]
    assert claims == [False, False, True]


@pytest.mark.parametrize(("word", "ending"), [("crash", Ending.FAILED), ("empty", Ending.EMPTY), ("wait", Ending.WAITING)])
def test_a_bad_end_has_its_name(project: Path, word: str, ending: Ending) -> None:
    assert ending_of(project, word, changed=False) is ending
    assert tasks(project) == "[ ] [ ] [ ]"


def test_sleep_goes_on_until_it_is_ended(project: Path) -> None:
    argv = demo.invocation(AgentSpec(type="demo", command="demo", flags=("--script", "sleep")), Order(prompt="", prompt_file=project)).argv
    with subprocess.Popen(argv, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as agent:
        assert agent.stdout is not None
        assert b"init" in agent.stdout.readline()
        assert b"This will take a while." in agent.stdout.readline()
        assert agent.poll() is None
        agent.kill()
        assert agent.stdout.read() == b""


@pytest.mark.parametrize("flags", [("--script", "work,dance"), ("--no-such-flag",)])
def test_a_wrong_flag_is_fatal(project: Path, flags: tuple[str, ...]) -> None:
    argv = demo.invocation(AgentSpec(type="demo", command="demo", flags=flags), Order(prompt="", prompt_file=project)).argv
    done = subprocess.run(argv, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    run = RunReport(ended_by=EndedBy.EXIT, exit_code=done.returncode, stderr_tail=done.stderr.decode())
    assert classify(run, demo.parser(DEMO).finish(run, 0.0), changed=False)[0] is Ending.FATAL


def test_it_works_on_any_checklist_and_keeps_line_ends_and_other_lines(tmp_path: Path) -> None:
    tmp_path.joinpath("TODO.md").write_bytes(b"# T\xff\r\n\r\n1. [x] old\r\n   - [ ] Fix: the \xc3\x9cber/bug!  \r\nlast")
    attempt_flags = ("--script=break", "--task-file=TODO.md")
    argv = demo.invocation(AgentSpec(type="demo", command="demo", flags=attempt_flags), Order(prompt="", prompt_file=tmp_path)).argv
    subprocess.run(argv, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert tmp_path.joinpath("TODO.md").read_bytes() == b"# T\xff\r\n\r\n1. [x] old\r\n   - [x] Fix: the \xc3\x9cber/bug!  \r\nlast"
    assert tmp_path.joinpath("fix_the_über_bug.txt").read_text(encoding="utf-8") == "broken: Fix: the Über/bug!\n"


def test_without_a_list_every_iteration_is_a_task(tmp_path: Path) -> None:
    attempt(tmp_path, "break", iteration=1)
    _, _, stream = attempt(tmp_path, "fix,fix,finish", iteration=3)
    assert sorted(path.name for path in tmp_path.glob("*.txt")) == ["iteration_1.txt", "iteration_3.txt"]
    attempt(tmp_path, "fix", iteration=3)
    assert (tmp_path / "iteration_1.txt").read_text() == "done: Iteration 1\n"
    assert detect_claim(stream.final_words, "COMPLETE").claimed


def test_modules_of_the_workspace_do_not_stand_in_its_way(project: Path) -> None:
    (project / "json.py").write_text("raise SystemExit('shadowed')")
    assert ending_of(project, "work") is Ending.OK


@pytest.mark.slow
def test_the_demo_needs_six_iterations_and_ends_green(repository: Path) -> None:
    """As the loop would run it: the deleted task is put back, and all else is the agent's own doing."""
    assert len(DEMO_SCRIPT) <= 6
    assert set(DEMO_SCRIPT) <= set(WORDS)
    script, prd = ",".join(DEMO_SCRIPT), repository / "PRD.md"
    claimed, green = [], []
    for iteration, word in enumerate(DEMO_SCRIPT, start=1):
        before = prd.read_text()
        claimed.append(detect_claim(attempt(repository, script, iteration=iteration)[2].final_words, "COMPLETE").claimed)
        green.append(gate_passes(repository))
        if word == "delete":
            prd.write_text(before)
    assert claimed == [True, False, False, True, False, True]
    assert green == [True, False, True, True, True, True]
    assert tasks(repository) == "[x] [x] [x]"


def test_the_check_fails_where_a_task_is_ticked_but_not_done(project: Path) -> None:
    prd = project / "PRD.md"
    prd.write_text(prd.read_text().replace("- [ ] Write `shout`", "- [x] Write `shout`"))
    assert not gate_passes(project)


def test_the_check_leaves_no_file_behind(project: Path) -> None:
    attempt(project, "work")
    assert gate_passes(project)
    assert sorted(path.name for path in project.iterdir()) == ["PRD.md", "check.py", "greet.py"]


def test_the_demo_project_overwrites_nothing(project: Path) -> None:
    (project / "greet.py").unlink()
    (project / "PRD.md").write_text("mine")
    with pytest.raises(ConfigError, match=r"PRD\.md is there already"):
        write_demo_project(project)
    assert (project / "PRD.md").read_text() == "mine"
    assert not (project / "greet.py").exists()


def test_the_script_imports_nothing_of_ralphs_and_nothing_heavy(tmp_path: Path) -> None:
    spy = "import sys, ralphloop.agents.demo_script; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", spy], cwd=tmp_path, capture_output=True, check=True, text=True).stdout.split()
    ours = {name for name in loaded if name.startswith("ralphloop")}
    assert ours == {"ralphloop", "ralphloop.agents", "ralphloop.agents.demo_script"}
    assert not {"argparse", "subprocess", "dataclasses", "inspect", "typing"} & set(loaded)

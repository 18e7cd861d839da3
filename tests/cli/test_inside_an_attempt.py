"""Inside an attempt an agent may look and talk, and not steer: what is for people is refused, whatever the agent does to hide, and is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import ALONE, DONE, Program

from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import REFUSED, RequestTaken
from ralphloop.process.identity import is_alive

pytest_plugins = ["program_fixtures"]

HOLD = "at_work; await_go_on"
CLAIM = f"echo '{DONE}'"
FOR_PEOPLE = {"stop": "stop other --now", "tell": "tell other do as I say", "resume": "resume waiting"}
CLEAN = 'env -i PATH="$PATH" HOME="$HOME" RALPH_STATE_HOME="$RALPH_STATE_HOME"'
WAYS = {
    "plainly": "{script}",
    "with an empty environment": f"{CLEAN} {{script}}",
    "in a session of its own": f"{ALONE} {{script}}",
    "as an orphan": f"({ALONE} {{script}} &); await_go_on child-goes-on",
    "as an orphan with an empty environment": f"({ALONE} {CLEAN} {{script}} &); await_go_on child-goes-on",
}


@pytest.fixture
def other(program: Program) -> ProcessIdentity:
    """The agent of a loop that runs, called `other`; and there is one that waits, called `waiting`."""
    assert program.run("run", "-p", "x", "--name", "waiting", "--agent-command", program.agent("exit 42", name="waiting.sh")).code == 3
    started = program.run("start", "-p", "x", "--name", "other", "--agent-command", program.agent(f"{HOLD}; {CLAIM}", name="other.sh"))
    assert started.code == 0, started
    return program.await_agent()


def inside(program: Program, commands: dict[str, str], way: str = "{script}") -> dict[str, tuple[int, str, str]]:
    """Run commands in an attempt of the loop `project`: the exit code of each, its output and its words of error."""
    lines = "\n".join(
        f"ralph {command} > {program.root}/{key}.out 2> {program.root}/{key}.err; echo $? > {program.root}/{key}.code"
        for key, command in commands.items()
    )
    script = program.root / "agents" / "commands.sh"
    script.write_text(f"#!/bin/sh\n{lines}\necho on > {program.root}/child-goes-on\n")
    script.chmod(0o755)
    ended = program.run("run", "-p", "x", "--agent-command", program.agent(f"{way.format(script=script)}; {CLAIM}"))
    assert ended.code == 0, ended
    (program.root / "console").write_text(ended.out)

    def left(key: str, what: str) -> str:
        return Path(program.root, f"{key}.{what}").read_text()

    return {key: (int(left(key, "code")), left(key, "out"), left(key, "err")) for key in commands}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_for_people_is_refused_and_recorded_whatever_an_agent_does_to_hide(program: Program, other: ProcessIdentity, way: str) -> None:
    answers = inside(program, FOR_PEOPLE, way)
    for name, answer in answers.items():
        words = f"`ralph {name}` is for people, and this is an attempt of loop project: nothing was done, and it is recorded"
        assert answer == (2, "", f"ralph: {words}\n")
    assert is_alive(other)
    assert not any(isinstance(entry, RequestTaken) for name in ("other", "waiting") for entry in program.entries(name))
    assert program.show("waiting")["runs"] == 1
    refused = [entry for entry in program.entries() if isinstance(entry, RequestTaken)]
    assert [(entry.kind, entry.text) for entry in refused] == [(REFUSED, f"ralph {name}") for name in FOR_PEOPLE]
    shown = (program.root / "console").read_text()
    for entry in refused:
        assert entry.author.startswith("the agent of project")
        assert f"refused {entry.text}, asked for by {entry.author}" in shown


@pytest.mark.slow
def test_outside_of_an_attempt_people_do_all_of_that(program: Program, other: ProcessIdentity) -> None:
    ended = {name: program.run(*command.split()) for name, command in FOR_PEOPLE.items() if name != "stop"}
    assert {name: end.code for name, end in ended.items()} == {"tell": 0, "resume": 3}
    assert program.run(*FOR_PEOPLE["stop"].split()).code == 0
    assert not is_alive(other)
    assert [entry.kind for entry in program.entries("other") if isinstance(entry, RequestTaken)] == ["tell", "stop"]


@pytest.mark.slow
def test_an_agent_may_look_and_talk(program: Program, other: ProcessIdentity) -> None:
    program.write("TASK.md", "Do it.\n")
    commands = {
        "status": "status",
        "data": "status --json",
        "show": "show other",
        "explain": "explain waiting 1",
        "post": "bus post --type FACT the parser works",
        "read": "bus read",
    }
    answers = inside(program, commands)
    assert {name: (code, err) for name, (code, _, err) in answers.items()} == dict.fromkeys(commands, (0, ""))
    assert "project" in answers["status"][1]
    assert "the parser works" in answers["read"][1]
    assert not any(isinstance(entry, RequestTaken) for entry in program.entries())
    assert is_alive(other)


@pytest.mark.slow
def test_a_gate_may_not_steer_either(program: Program, other: ProcessIdentity) -> None:
    gate = "ralph stop other --now"
    ended = program.run("run", "-p", "x", "-m", "1", "--gate", gate, "--agent-command", program.agent(CLAIM))
    assert ended.code == 1, ended
    assert f"gate    {gate} … failed with exit code 2" in ended.out
    assert is_alive(other)


@pytest.mark.slow
def test_an_agent_does_not_go_on_with_its_own_loop(program: Program, other: ProcessIdentity) -> None:
    answers = inside(program, {"run": "run -p x --name project -m 1000"})
    assert answers["run"][0] == 2, answers
    assert "loop project is running here" in answers["run"][2]
    assert is_alive(other)


@pytest.mark.slow
def test_what_a_person_stopped_is_not_gone_on_with_by_running_it_and_no_bound_is_raised(program: Program) -> None:
    assert program.run("run", "-p", "x", "--name", "waiting", "--agent-command", program.agent("exit 42", name="waiting.sh")).code == 3
    mine = "run -p y --name mine --agent-command 'sh -c \"exit 42\"'"
    theirs = {"theirs": "run -p x --name waiting -m 99", "anew": "run -p x --name waiting --new", "other": "run -p z --name waiting"}
    answers = inside(program, theirs | {"begun": mine, "again": mine, "raised": f"{mine} -m 99"})
    assert {key: code for key, (code, _, _) in answers.items()} == dict.fromkeys(theirs, 2) | {"begun": 3, "again": 3, "raised": 2}
    assert all("only people go on with it, or replace it" in answers[key][2] for key in theirs)
    assert "goes on with the limits that it began with" in answers["raised"][2]
    assert program.status()["waiting"]["max_iterations"] == 10


@pytest.mark.slow
def test_a_loop_of_an_agent_without_a_name_takes_none_that_a_person_may_still_want(program: Program) -> None:
    elsewhere = program.root / "elsewhere"
    elsewhere.mkdir()
    assert program.run("run", elsewhere, "-p", "x", "--agent-command", program.agent("exit 42", name="waiting.sh")).code == 3
    answers = inside(program, {"child": f"run {elsewhere} -p x --agent-command 'echo {DONE}'"})
    assert answers["child"][0] == 0, answers
    statuses = {name: row["status"] for name, row in program.status().items()}
    assert statuses == {"project": "complete", "elsewhere": "waiting", "elsewhere-2": "complete"}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_way_of_hiding_lets_an_agent_replace_what_a_person_may_still_want(program: Program, way: str) -> None:
    assert program.run("run", "-p", "x", "--name", "waiting", "--agent-command", program.agent("exit 42", name="waiting.sh")).code == 3
    answers = inside(program, {"anew": "run -p y --name waiting --new"}, way)
    assert (answers["anew"][0], "only people go on with it, or replace it" in answers["anew"][2]) == (2, True), answers
    assert program.status()["waiting"]["status"] == "waiting"
    (refused,) = [entry for entry in program.entries() if isinstance(entry, RequestTaken)]
    assert (refused.kind, refused.text) == (REFUSED, "ralph run of loop waiting")


@pytest.mark.slow
def test_a_gate_does_not_replace_a_persons_loop_either(program: Program) -> None:
    assert program.run("run", "-p", "x", "--name", "waiting", "--agent-command", program.agent("exit 42", name="waiting.sh")).code == 3
    gate = "ralph run -p y --name waiting --new"
    ended = program.run("run", "-p", "x", "-m", "1", "--gate", gate, "--agent-command", program.agent(CLAIM))
    assert ended.code == 1, ended
    assert f"gate    {gate} … failed with exit code 2" in ended.out
    assert program.status()["waiting"]["status"] == "waiting"

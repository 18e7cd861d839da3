"""Every mistake is told with file and line, what is wrong, and what to do; and nothing else is raised."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings_project import BASE, LOCAL, Project

from ralphloop.config.document import read_document
from ralphloop.config.tree import node_of
from ralphloop.errors import ConfigError

HERE = Path(__file__).parent
COUNT = "write a whole number from 0 to 1000000000"
NUMBER = "write a number from 0 to 1000000000"

UNKNOWN_KEYS = [
    ('{"agnt": {}}', '1: unknown key "agnt"; did you mean "agent"?'),
    ('{"agent": {\n"comand": "x"}}', '2: unknown key "agent.comand"; did you mean "agent.command"?'),
    ('{"agent": {\n"zzz": "x"}}', '2: unknown key "agent.zzz"; known here: command, env, flags, format, grace_s,'),
    ('{"limit": {"iterations": 1}}', '1: unknown key "limit"; did you mean "limits"?'),
    ('{"maximumIteration": 1}', '1: unknown key "maximumIteration"; did you mean "maximumIterations"?'),
    ('{"MaximumIterations": 1}', '1: unknown key "MaximumIterations"; did you mean "maximumIterations"?'),
    ('{"usage_waits": 1}', '1: unknown key "usage_waits"; did you mean "limits.usage_waits"?'),
    ('{"defaults": {"max_iteration": 1}}', '1: unknown key "defaults.max_iteration"; did you mean "defaults.max_iterations"?'),
    ('{"claude": {"flag": []}}', '1: unknown key "claude.flag"; did you mean "claude.flags"?'),
    ('{"agents": {"claude": {"modle": "x"}}}', '1: unknown key "agents.claude.modle"; did you mean "agents.claude.model"?'),
    ('{"gates": [\n{"command": "x",\n"onfail": "append"}]}', '3: unknown key "gates[0].onfail"; did you mean "on_fail"?'),
    ('{"guardrails": [{"command": "x", "failaction": "append"}]}', '1: unknown key "guardrails[0].failaction"; did you mean "failAction"?'),
    ('{"limits.iterations": 1}', '1: unknown key "limits.iterations"; settings nest, a dot does not: write "limits": {"iterations": …}'),
    ('{"agents": {"\\u001b[2J": {"model": 1}}}', '1: "\\x1b[2J" is no name of an agent: it has letters, digits, - and _'),
    ('{"agents": {"my.agent": {"command": "x"}}}', '1: "my.agent" is no name of an agent'),
    ('{"agents": {"": {"command": "x"}}}', '1: "" is no name of an agent'),
    ('{"\\u001b[2J": 1}', '1: unknown key "\\x1b[2J"; known here: '),
]

WRONG_VALUES = [
    ("[]", "1: the document must be an object: write { … }"),
    ('{"agent": "claude"}', "1: agent must be an object: write { … }"),
    ('{"agents": {"claude": []}}', "1: agents.claude must be an object: write { … }"),
    ('{\n"limits": {"iterations":\n true}}', f"3: limits.iterations is true; {COUNT}"),
    ('{"maximumIterations": "5"}', f'1: maximumIterations is "5"; {COUNT}'),
    ('{"maximumIterations": 5.0}', f"1: maximumIterations is 5.0; {COUNT}"),
    ('{"maximumIterations": -1}', f"1: maximumIterations is -1; {COUNT}"),
    ('{"maximumIterations": null}', f"1: maximumIterations is null; {COUNT}"),
    ('{"maximumIterations": 1000000001}', f"1: maximumIterations is 1000000001; {COUNT}"),
    ('{"outputTruncateChars": [1]}', f"1: outputTruncateChars is a list; {COUNT}"),
    ('{"limits": {"minutes": -0.5}}', f"1: limits.minutes is -0.5; {NUMBER}"),
    ('{"limits": {"cost_usd": 1e999}}', f"1: limits.cost_usd is inf; {NUMBER}"),
    ('{"limits": {"cost_usd": false}}', f"1: limits.cost_usd is false; {NUMBER}"),
    ('{"agent": {"timeout_s": {}}}', f"1: agent.timeout_s is an object; {NUMBER}"),
    ('{"streamAgentOutput": 1}', "1: streamAgentOutput is 1; write true or false"),
    ('{"streamAgentOutput": "true"}', '1: streamAgentOutput is "true"; write true or false'),
    ('{"agent": {"command": ""}}', "1: agent.command is empty; write some text, or take the key away"),
    ('{"agent": {"command": " \\t"}}', "1: agent.command is empty; write some text, or take the key away"),
    ('{"agent": {"command": ["claude"]}}', "1: agent.command is a list; write text in double quotes"),
    ('{"agent": {"command": "a\\u0000b"}}', "1: agent.command holds a NUL character; take it away"),
    ('{"agent": {"command": "\'claude"}}', "1: agent.command cannot be split as a shell would: a quote is not closed, or a backslash ends it"),
    ('{"agent": {"command": "\'\'"}}', "1: agent.command is empty; name a program"),
    ('{"agent": {"flags": "--model opus"}}', '1: agent.flags is text; write a list such as ["…", "…"]'),
    ('{"agent": {"flags": ["-v", 1]}}', "1: agent.flags entry 2 is a number; write text in double quotes"),
    (
        '{"agent": {"flags": ["-v", "--x \'y"]}}',
        "1: agent.flags entry 2 cannot be split as a shell would: a quote is not closed, or a backslash ends it",
    ),
    ('{"agent": {"env": []}}', '1: agent.env is a list; write an object such as {"NAME": "value"}'),
    ('{"agent": {"env": {"A": "1",\n"B": 2}}}', "2: agent.env.B is a number; write text in double quotes"),
    ('{"agent": {"env": {"A=B": "1"}}}', '1: agent.env has the name "A=B"; a variable has a name without = in it'),
    ('{"agent": {"permissions": "skipp"}}', '1: agent.permissions is "skipp"; did you mean "skip"?'),
    ('{"agent": {"permissions": "none"}}', '1: agent.permissions is "none"; write skip, edits or ask'),
    ('{"agent": {"prompt_via": "tty"}}', '1: agent.prompt_via is "tty"; write stdin, arg or file'),
    ('{"work": {"kind": "stories"}}', "1: work.kind is stories, which is not available in this version; write prompt, checklist or folder"),
    ('{"completion": {"require": "prove"}}', '1: completion.require is "prove"; did you mean "proved"?'),
    ('{"completion": {"text": "<promise>DONE</promise>"}}', "1: completion.text is the text between the tags, on one line; write DONE, not <"),
    ('{"gates": {"command": "x"}}', '1: gates is an object; write a list such as [{"command": "make test"}]'),
    ('{"gates": ["make test"]}', '1: gates[0] is text; write an object such as {"command": "make test"}'),
    ('{"gates": [{"command": "x"},\n{"hint": "y"}]}', '2: gates[1] has no command; add "command": "…"'),
    ('{"prices": {"model": "m"}}', '1: prices is an object; write a list such as [{"model": "my-model", "input": 1.25, "output": 10}]'),
    ('{"prices": ["m"]}', '1: prices[0] is text; write an object such as {"model": "my-model"'),
    ('{"prices": [{"model": "m", "input": 1, "output": 2},\n{"model": "m", "input": 1}]}', "2: prices[1] has no output; write an object such as"),
    ('{"prices": [{"input": 1}]}', "1: prices[0] has no model and no output; write an object such as"),
    ('{"prices": [{"model": "m", "input": -1, "output": 2}]}', f"1: prices[0].input is -1; {NUMBER}"),
    ('{"prices": [{"model": "m", "input": 1, "outptu": 2}]}', '1: unknown key "prices[0].outptu"; did you mean "output"?'),
    ('{"agent": {"format": "json"}}', '1: agent.format is "json"; write stream or text'),
    ('{"output": {"max_lines": -1}}', "1: output.max_lines is -1"),
    ('{"gates": [{"command": ""}]}', "1: gates[0].command is empty; write some text, or take the key away"),
    ('{"gates": [{"command": "x",\n"on_fail": "apend"}]}', '2: gates[0].on_fail is "apend"; did you mean "append"?'),
    ('{"gates": [{"command": "x", "timeout_s": -1}]}', f"1: gates[0].timeout_s is -1; {NUMBER}"),
    ('{"scm": {"command": "hg"}}', '1: scm.command is "hg"; write git'),
    ('{"scm": {"tasks": ["comit"]}}', '1: scm.tasks has "comit"; known tasks are commit, push and merge BRANCH'),
    ('{"scm": {"tasks": ["merge"]}}', '1: scm.tasks has "merge"; known tasks are commit, push and merge BRANCH'),
    ('{"scm": {"tasks": ["merge --abort"]}}', '1: scm.tasks has "merge --abort"; known tasks are commit, push and merge BRANCH'),
    ('{"scm": {"tasks": ["push --force"]}}', '1: scm.tasks has "push --force"; known tasks are commit, push and merge BRANCH'),
    ('{"protect": ["../x"]}', "1: protect names ../x, which does not lie in "),
    ('{"protect": ["/etc/passwd"]}', "1: protect names /etc/passwd, which does not lie in "),
    ('{"protect": ["."]}', "1: protect names ., which does not lie in "),
    ('{"protect": [".ralph"]}', "1: protect names .ralph, and it takes single files in this version; name each file"),
    ('{"protect": ["tests/*.py"]}', "1: protect names tests/*.py, and it takes single files in this version; name each file"),
    ('{"agent": {"type": "cladue"}}', '1: unknown agent "cladue"; did you mean "claude"?'),
    ('{"agents": {"cladue": {\n"model": "x"}}}', '2: agents.cladue.model is for an unknown agent; did you mean "claude"?'),
    ('{"completion":\n{"require": "proved"}}', "2: completion.require is proved, and no gate could prove anything; add a command under gates"),
    ('{"work": {"template": "no.md"}}', "1: work.template names no.md, and there is no such file in "),
    ('{"work": {"task_file": "../PRD.md"}}', '1: "../PRD.md" does not lie in '),
    ('{"work": {"task_dir": "nowhere"}}', '1: "nowhere" is no directory; name the directory that holds TASK.md'),
    ('{"work": {"task_dir": "PRD.md"}}', '1: "PRD.md" is no directory; name the directory that holds TASK.md'),
    ('{"limits": {"wait_timeout_s": -1}}', f"1: limits.wait_timeout_s is -1; {NUMBER}"),
    ('{"limits": {"poll_interval_s": "1"}}', f'1: limits.poll_interval_s is "1"; {NUMBER}'),
]

BOTH_SPELLINGS = [
    ('{"maximumIterations": 1,\n"limits": {"iterations": 1}}', '2: "limits.iterations" and "maximumIterations" on line 1 are the same setting'),
    (
        '{"limits": {\n"iterations": 1},\n"defaults": {\n"max_iterations": 1}}',
        '4: "defaults.max_iterations" and "limits.iterations" on line 2 are the same',
    ),
    ('{"completion_marker": "A",\n"completionResponse": "A"}', '2: "completionResponse" and "completion_marker" on line 1 are the same setting'),
    ('{"guardrails": [],\n"gates": []}', '2: "gates" and "guardrails" on line 1 are the same setting'),
    ('{"claude": {"env": {"A": "1"}},\n"agents": {"claude": {"env": {"B": "1"}}}}', '2: "agents.claude.env" and "claude.env" on line 1 are the same'),
    ('{"gates": [{"command": "x",\n"on_fail": "append",\n"failAction": "APPEND"}]}', '3: "failAction" and "on_fail" on line 2 are the same setting'),
]


@pytest.mark.parametrize(("text", "message"), [*UNKNOWN_KEYS, *WRONG_VALUES, *BOTH_SPELLINGS])
def test_a_mistake_is_told_with_file_line_and_remedy(checklist: Project, text: str, message: str) -> None:
    checklist.settings(text)
    assert checklist.complaint().startswith(f"{BASE}:{message}")


def test_a_mistake_in_the_local_file_names_the_local_file(checklist: Project) -> None:
    checklist.settings("{}")
    checklist.settings('{\n"agent": {"modell": "x"}}', LOCAL)
    assert checklist.complaint() == f'{LOCAL}:2: unknown key "agent.modell"; did you mean "agent.model"?'


def test_a_broken_document_names_file_and_line(checklist: Project) -> None:
    checklist.settings('{\n  "agent": {\n    "command": "claude",\n  }\n}')
    assert checklist.complaint() == f"{BASE}:3: JSON has no comma before the closing }}; take it away"


@pytest.mark.parametrize("secret", ['"API_KEY": 1234567890', '"API_KEY": ["1234567890"]', '"API_KEY": 1234567890x', '"API_KEY": "1234567890'])
def test_a_secret_is_never_shown(checklist: Project, secret: str) -> None:
    checklist.settings(f'{{"agent": {{"env": {{{secret}}}}}}}')
    assert "12345" not in checklist.complaint()


# --- Files that cannot be read ----------------------------------------------------------------------------------------


def test_settings_that_are_a_directory_are_told(checklist: Project) -> None:
    (checklist.root / BASE).mkdir(parents=True)
    assert checklist.complaint().startswith(f"{BASE}: this is no regular file")


@pytest.mark.parametrize("target", ["elsewhere.json", "nowhere.json"])
def test_settings_that_are_a_link_are_told_and_not_followed(checklist: Project, target: str) -> None:
    checklist.write("elsewhere.json", "{}")
    (checklist.root / ".ralph").mkdir()
    (checklist.root / BASE).symlink_to(checklist.root / target)
    assert checklist.complaint().startswith(f"{BASE}: this is no regular file")


def test_settings_behind_a_linked_directory_are_told_and_not_silently_left_out(checklist: Project) -> None:
    checklist.write("real/settings.json", "{}")
    (checklist.root / ".ralph").symlink_to("real")
    assert checklist.complaint().startswith(f"{BASE}: this is no regular file")


def test_settings_that_are_a_pipe_are_told_and_do_not_hang(checklist: Project) -> None:
    (checklist.root / ".ralph").mkdir()
    os.mkfifo(checklist.root / BASE)
    assert checklist.complaint().startswith(f"{BASE}: this is no regular file")


def test_settings_that_are_not_utf_8_are_told(checklist: Project) -> None:
    checklist.write(BASE).write_bytes(b'{\n"completionResponse": "caf\xe9"}')
    assert checklist.complaint() == f"{BASE}:2: this is not UTF-8; save the file as UTF-8"


def test_settings_of_many_megabytes_are_told(checklist: Project) -> None:
    checklist.write(BASE, " " * 2_000_000)
    assert "too large" in checklist.complaint()


@pytest.fixture
def reachable() -> Iterator[Project]:
    """A project that another user can reach."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Project(Path(directory))


def test_settings_that_may_not_be_read_are_told(reachable: Project) -> None:
    reachable.write(BASE, "{}").chmod(0o000)
    command = [sys.executable, str(HERE / "settings_unprivileged.py"), str(reachable.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"ConfigError: {BASE}: ")
    assert "Permission denied" in done.stdout


# --- Whatever stands in a document ------------------------------------------------------------------------------------

KEYS = """agent agents claude defaults work completion limits gates guardrails output scm protect command type flags model env kind
hint iterations maximumIterations text tasks on_fail failAction timeout_s color a.b"""
keys = st.sampled_from(KEYS.split()) | st.text(max_size=3)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(keys, anything, max_size=4))
def test_any_document_gives_settings_or_a_config_error(document: dict[str, Any]) -> None:
    try:
        read_document(node_of(document), BASE)
    except ConfigError as refused:
        assert str(refused).startswith(BASE)  # noqa: PT017  either answer is right, a third is not

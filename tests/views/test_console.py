"""The live view says what happened and why, in plain words; and it never raises, whatever becomes of its streams."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from scripted_loop import CLAIM, GREEN, MENTION, RED, Script, checklist, committing, folder, prepending, prompt, states

import ralphloop
from ralphloop.core import messages as m
from ralphloop.core.model import (
    Completion,
    Ending,
    Kind,
    Limits,
    LoopSpec,
    Outcome,
    OutcomeKind,
    Require,
    Restoration,
    Result,
    Usage,
    UsageLimit,
    Verdict,
    WorkSpec,
)
from ralphloop.views.console import ERASE_LINE, Console
from ralphloop.views.facts import FACTS, SILENT
from ralphloop.views.style import Style, style_for
from ralphloop.views.text import width

SOURCE = Path(ralphloop.__file__).parent.parent
UNDO = (Restoration(path="PRD.md", digest="d", reason='the open task "Write docs" (line 7) was deleted; it is back'),)


def shown(script: Script, style: Style | None = None, events: Iterable[m.Event] = (), *, stream: bool = True) -> str:
    """What a person saw on standard output."""
    out = io.StringIO()
    console = Console(out, io.StringIO(), style or Style(home="/home/lena"), stream=stream)
    for entry, state in states(script.entries):
        if isinstance(entry, m.StepStarted) and entry.step is m.Step.RUN_GATES:
            for gate in state.spec.gates:
                console.gate_started(gate)
        console.entry(entry, state)
        if isinstance(entry, m.AttemptStarted):
            for event in events:
                console.event(event)
    return out.getvalue()


def said_on_stderr(script: Script) -> list[str]:
    err = io.StringIO()
    console = Console(io.StringIO(), err, Style(), verbose=True)
    for entry, state in states(script.entries):
        if isinstance(entry, m.GatesEnded):
            console.gate_started(state.spec.gates[0])
        console.entry(entry, state)
    return err.getvalue().splitlines()


def after_title(text: str) -> list[str]:
    """The lines after the last iteration's title."""
    lines = text.rstrip("\n").split("\n")
    return lines[max(index for index, line in enumerate(lines) if line.startswith("──")) + 1 :]


A_LYING_AGENT = """\
ralph   my-app · checklist PRD.md
in      ~/src/app
agent   claude · model opus · unsandboxed, permissions skip
gates   make test
limits  10 iterations · 30 agent calls

── Iteration 1/10 · 2 tasks open · Write the parser
agent   complete (cost: $0.02, tokens: 1.2M in (850K cached) / 45K out, time: 41s) · $0.02 so far
undone  PRD.md: the open task "Write docs" (line 7) was deleted; it is back
        in git as well: bbbbbbb
gate    make test …
gate    make test … failed with exit code 2 (1.2s)
        .ralph/guardrail_1_make_test.log · appended to the next prompt
claim   not believed: 2 tasks are still open; the gate make test failed with exit code 2

── Iteration 2/10 · 2 tasks open · Write the parser
agent   complete (cost: $0.02, tokens: 1.2M in (850K cached) / 45K out, time: 41s) · $0.04 so far
gate    make test …
gate    make test … passed (1.2s)
tasks   2 tasks closed

done (proved): 1 gate green · 2 iterations · $0.04 · 1m24s
next    ralph show my-app   what each iteration did
"""


def test_a_whole_loop_reads_as_a_story() -> None:
    script = Script(checklist("make test")).iteration(2).attempt(2, claim=CLAIM, undo=UNDO).gates(RED, left=2).close()
    script.iteration(2).attempt(0, claim=CLAIM).gates(GREEN, left=0).close().end()
    assert shown(script) == A_LYING_AGENT


def test_every_entry_either_says_something_or_is_silent_on_purpose() -> None:
    assert FACTS.keys() | SILENT == set(get_args(m.Entry))
    assert not FACTS.keys() & SILENT


# --- the head ---------------------------------------------------------------------------------------------------------


def test_the_head_says_which_prompt_and_what_no_gates_mean() -> None:
    head = shown(Script(prompt()))
    assert 'ralph   my-app · prompt "Make it fast"' in head
    assert "gates   none: an end can only be attested, not proved" in head


def test_the_head_names_the_limits_that_are_set_and_no_others() -> None:
    assert "limits  7 iterations · $5.00\n" in shown(Script(checklist(limits=Limits(iterations=7, calls=0, cost_usd=5.0))))
    assert "limits  none\n" in shown(Script(checklist(limits=Limits(iterations=0, calls=0))))


def test_a_resumed_loop_says_so_and_what_was_changed() -> None:
    script = Script(checklist("make test")).iteration().lost()
    script.add(m.LoopResumed(at=script.at, spec=script.spec, incarnation=2, changes=("limits.iterations: 10 → 20",)))
    lines = shown(script).splitlines()
    assert "resumed run 2 · 1 iteration so far" in lines
    assert "changed limits.iterations: 10 → 20" in lines


# --- iterations -------------------------------------------------------------------------------------------------------


def test_work_without_tasks_and_without_a_limit_has_a_short_title() -> None:
    assert "\n── Iteration 1\n" in shown(Script(prompt(limits=Limits(iterations=0))).iteration(None))


def test_an_edit_by_a_person_is_noted() -> None:
    assert "note    PRD.md was edited while no iteration was open" in shown(Script(checklist()).iteration().attempt().close().iteration(edited=True))


def test_a_failed_attempt_says_why_and_the_next_one_says_that_it_is_another() -> None:
    script = Script(checklist()).iteration().attempt(ending=Ending.FAILED, reason="it ended with exit code 1: no network", cost=0.01)
    script.add(m.WaitStarted(at=script.at, until=script.at + 1.5, why="back-off after a failed attempt"), m.WaitEnded(at=script.at + 1.5))
    assert after_title(shown(script.started())) == [
        "agent   failed: it ended with exit code 1: no network (cost: $0.01, tokens: 1.2M in (850K cached) / 45K out, time: 41s) · $0.01 so far",
        "wait    1.5s: back-off after a failed attempt",
        "agent   attempt 2",
    ]


def test_an_attempt_that_died_with_ralph_is_lost() -> None:
    assert "agent   lost: Ralph died while it ran" in shown(Script(checklist()).iteration().lost())


def test_an_iteration_without_a_good_attempt_closes_without_a_result() -> None:
    script = Script(checklist(limits=Limits(attempts=1))).iteration().attempt(2, ending=Ending.FAILED, reason="it crashed").close()
    assert "result  none: it crashed" in shown(script)


def test_a_cost_that_was_not_reported_is_marked_once_as_unknown_or_as_an_estimate() -> None:
    script = Script(checklist()).iteration().attempt(cost=None).close().iteration().attempt(cost=None).close()
    unknown = shown(script)
    assert unknown.count("the agent did not report its cost: the loop's cost is not known") == 1
    assert "$" not in unknown
    script = Script(checklist()).iteration().attempt(cost=0.02).close().iteration().started()
    ended = next(entry for entry in script.entries if isinstance(entry, m.AttemptEnded))
    guessed = shown(script.add(replace(ended, estimated=True, stream=replace(ended.stream, usage=Usage()))))
    assert "the agent did not report its cost: it is counted as about $0.02" in guessed


# --- gates, claims, source control ------------------------------------------------------------------------------------


def test_a_red_gate_shows_its_log_and_what_becomes_of_its_output() -> None:
    text = shown(Script(prepending(checklist("make test"))).iteration().attempt().gates(RED).close())
    assert "gate    make test … failed with exit code 2 (1.2s)\n        .ralph/guardrail_1_make_test.log · put before the next prompt\n" in text


def test_every_gate_is_announced_and_then_judged() -> None:
    lint = replace(GREEN, name="make lint", duration_s=0.4)
    text = shown(Script(checklist("make lint", "make test")).iteration().attempt().gates(lint, RED).close())
    assert "gate    make lint …\ngate    make test …\ngate    make lint … passed (0.4s)\ngate    make test … failed" in text


def test_interrupted_gates_say_that_they_run_again() -> None:
    script = Script(checklist("make test")).iteration().attempt()
    script.add(m.GatesEnded(at=script.at, verdicts=(), interrupted=True))
    assert "gate    interrupted; they run again when the loop goes on" in shown(script)


def test_a_gate_that_changed_a_protected_file_is_undone_and_spoils_the_claim() -> None:
    text = shown(Script(checklist("make test")).iteration().attempt(0, claim=CLAIM).gates(GREEN, left=0, undo=UNDO).close())
    assert "undone  PRD.md: the open task" in text
    assert "claim   not believed: a gate changed a protected file" in text


def test_a_claim_is_not_believed_while_tasks_are_open() -> None:
    assert "claim   not believed: 1 task is still open\n" in shown(Script(checklist()).iteration().attempt(1, claim=CLAIM).close())


def test_a_claim_is_not_believed_where_only_a_proved_end_counts_and_nothing_was_checked() -> None:
    spec = prompt(completion=Completion(text="COMPLETE", require=Require.PROVED))
    text = shown(Script(spec).iteration(None).attempt(None, claim=CLAIM).close())
    assert "claim   not believed: nothing proved it, and only a proved end counts here" in text


def test_a_mention_is_no_claim_and_the_reason_is_shown() -> None:
    text = shown(Script(checklist()).iteration().attempt(1, claim=MENTION).close())
    assert "claim   none: line 1: it is negated\nresult  not done: 1 task is still open; there is no claim\ntasks   1 task closed\n" in text


def test_work_that_is_complete_but_not_claimed_says_what_is_missing() -> None:
    assert "result  not done: there is no claim" in shown(Script(checklist()).iteration().attempt(0).close())


def test_commit_and_push_are_shown() -> None:
    pushed = Verdict(name="push", result=Result.FAILED, reason="no remote is configured")
    text = shown(Script(committing("make test")).iteration().attempt().gates(GREEN).commit().push(pushed).close())
    assert "commit  ccccccc Ralph: iteration 1\npush    failed: no remote is configured\n" in text


def test_nothing_to_commit_is_said() -> None:
    nothing = Verdict(name="commit", result=Result.PASSED, reason="nothing to commit")
    assert "commit  nothing to commit\n" in shown(Script(committing()).iteration().attempt().commit(nothing, sha=None))


def test_no_progress_is_counted() -> None:
    script = Script(checklist("make test")).iteration().attempt(2, undo=UNDO).gates(RED, left=2).close()
    script.iteration().attempt(2, undo=UNDO).gates(RED, left=2).close()
    assert "note    no progress (1 of 5 in a row)" in shown(script)


def test_complete_work_is_checked_without_an_agent() -> None:
    text = shown(Script(checklist("make test")).check().gates(RED, left=0).close())
    assert "── Check · 0 tasks open · do the gates agree?" in text
    assert "result  not done: the gate make test failed with exit code 2" in text


# --- waiting, people, the end -----------------------------------------------------------------------------------------


def test_a_long_wait_says_until_when_on_the_local_clock_and_why() -> None:
    script = Script(checklist()).iteration()
    until = script.at + 7500
    script.add(m.WaitStarted(at=script.at, until=until, why="usage limit: You've hit your limit"))
    same_day = time.localtime(until)[:3] == time.localtime(script.at)[:3]
    clock = time.strftime("%H:%M" if same_day else "%a %d %b %H:%M", time.localtime(until))
    assert f"wait    until {clock} (2h05m): usage limit: You've hit your limit" in shown(script)


def test_what_people_ask_for_is_shown() -> None:
    script = Script(checklist())
    script.add(m.RequestTaken(at=script.at, kind="tell", author="lena", text="use tabs"), m.RequestTaken(at=script.at, kind="stop", author="lena"))
    assert "told    by lena, for the next prompt: use tabs\nstop    asked for by lena\n" in shown(script)


def test_an_end_that_nothing_checked_is_only_attested() -> None:
    text = shown(Script(prompt()).iteration(None).attempt(None, claim=CLAIM).close().end())
    assert "\ndone (attested: nothing was checked) · 1 iteration · $0.02 · 41s\n" in text


A_TASK_FOLDER = """\
ralph   my-app · task folder
in      ~/src/app
agent   claude · model opus · unsandboxed, permissions skip
gates   make test
limits  10 iterations · 30 agent calls

── Iteration 1/10 · Log in
agent   complete (cost: $0.02, tokens: 1.2M in (850K cached) / 45K out, time: 41s) · $0.02 so far
gate    make test …
gate    make test … passed (1.2s)
result  not done: there is no DONE in the task folder

── Iteration 2/10 · Log in
agent   failed: it ended with exit code 1 (cost: $0.02, tokens: 1.2M in (850K cached) / 45K out, time: 41s) · $0.04 so far
wait    for 2 child loops, at most 5m0s: the work is complete
wait    no child loop runs any more
gate    make test …
gate    make test … passed (1.2s)

done (proved): 1 gate green · 2 iterations · $0.04 · 1m24s
next    ralph show my-app   what each iteration did
"""


def test_folder_work_reads_as_a_story_as_well() -> None:
    script = Script(folder("make test")).iteration(1).attempt(1).gates(GREEN, left=1).close()
    script.iteration(1).attempt(0, ending=Ending.FAILED, reason="it ended with exit code 1", children=2).awaited().gates(GREEN, left=0)
    assert shown(script.close().end()) == A_TASK_FOLDER


def test_a_task_folder_elsewhere_is_named() -> None:
    spec = folder(work=WorkSpec(kind=Kind.FOLDER, task_dir="/tasks/log-in"))
    assert "ralph   my-app · task folder /tasks/log-in\n" in shown(Script(spec))


def test_a_done_that_is_found_is_a_check_without_a_count_of_tasks() -> None:
    text = shown(Script(folder("make test")).check().gates(RED, left=0).close())
    assert "\n── Check · do the gates agree?\n" in text
    assert "result  not done: the gate make test failed with exit code 2\n" in text


def test_child_loops_that_run_for_too_long_are_said_and_so_is_the_way_on() -> None:
    text = shown(Script(folder()).iteration(1).attempt(0, children=1).awaited(still=1).end())
    assert "wait    for 1 child loop, at most 5m0s: the work is complete\n" in text
    assert "no child loop runs any more" not in text
    assert "\nlimit: children still running: 1 child loop after 300 s · 1 iteration" in text
    assert "next    ralph resume my-app --wait-timeout N   go on, with a higher limit\n" in text


def test_without_a_time_out_the_wait_for_child_loops_names_none() -> None:
    spec = folder(limits=Limits(iterations=10, wait_timeout_s=0.0))
    assert "wait    for 1 child loop: the work is complete\n" in shown(Script(spec).iteration(1).attempt(0, children=1).awaited())


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"strays": 1}, "note    1 process that it left behind was ended"),
        ({"strays": 3}, "note    3 processes that it left behind were ended"),
        ({"suspended_s": 7500.0}, "note    the machine slept, or Ralph was stopped, for 2h05m; that is not counted"),
    ],
)
def test_what_an_attempt_left_and_what_it_slept_through_is_noted(run: dict[str, Any], words: str) -> None:
    assert f"{words}\n" in shown(Script(checklist()).iteration().attempt(**run))


def test_an_attempt_that_left_nothing_has_no_note() -> None:
    assert "note" not in shown(Script(checklist()).iteration().attempt())


def test_a_met_limit_says_what_to_do_next() -> None:
    text = shown(Script(checklist(limits=Limits(iterations=1))).iteration().attempt(2).close().end())
    assert "\nlimit: 1 of 1 iterations are used up, 2 tasks open · 1 iteration · $0.02 · 41s\n" in text
    assert "next    ralph resume my-app -m 2   go on, with more iterations\n" in text


@pytest.mark.parametrize(
    ("outcome", "words", "next_step"),
    [
        (Outcome(kind=OutcomeKind.FAILED, reason="not logged in"), "failed: not logged in", "ralph resume 'my app'   try again"),
        (Outcome(kind=OutcomeKind.INTERRUPTED, reason="stopped by lena"), "interrupted: stopped by lena", "ralph resume 'my app'   go on where"),
        (Outcome(kind=OutcomeKind.WAITING, reason="for an answer"), "waiting: for an answer", "ralph resume 'my app'   go on, once"),
        (Outcome(kind=OutcomeKind.LIMIT, reason="no progress", limit="stall"), "limit: no progress", "ralph resume 'my app'   go on, once"),
        (
            Outcome(kind=OutcomeKind.LIMIT, reason="$5.00 were spent", limit="cost_usd"),
            "limit: $5.00 were spent",
            "ralph resume 'my app' --max-cost N",
        ),
    ],
)
def test_every_outcome_says_why_and_how_to_go_on(outcome: Outcome, words: str, next_step: str) -> None:
    text = shown(Script(checklist(name="my app")).add(m.LoopEnded(at=1.0, outcome=outcome)))
    assert f"\n{words} · 0 iterations" in text
    assert next_step in text


# --- the agent's stream -----------------------------------------------------------------------------------------------

EVENTS: tuple[m.Event, ...] = (
    m.Progress(text="conversation 7f3a"),
    m.Text(text="I will read the file.\n\nThen edit."),
    m.ToolStart(tool_id="t1", name="Read", summary="/path/to/file.go"),
    m.ToolEnd(tool_id="t1", output="package main\n\nfunc main() {\n\tx()\n}\n", is_error=False),
    m.ToolStart(tool_id="t2", name="Bash", summary="Bash go build"),
    m.ToolEnd(tool_id="t2", output="no Go files", is_error=True),
    m.Todo(
        items=(m.TodoItem(text="Read", status="completed"), m.TodoItem(text="Edit", status="in_progress"), m.TodoItem(text="Test", status="pending"))
    ),
    m.LimitNotice(limit=UsageLimit(resets_at=None, text="five-hour limit reached")),
    m.FinalResult(usage=Usage(cost_usd=5.0), is_error=False, text="done"),
    m.Unknown(line="{}"),
)
STREAMED = """\
  conversation 7f3a
  I will read the file.

  Then edit.
  * Read(/path/to/file.go)
  [OK] Result ← Read (5 lines, 35 chars)
    ⎿  package main
       func main() {
           x()
  * Bash(go build)
  [ERR] Error ← Bash (1 line, 11 chars)
    ⎿  no Go files
  [TODO] Todo List
    [x] Read
    [>] Edit ← ACTIVE
    [ ] Test
    [..] Progress: 1/3 (33%)
  usage limit: five-hour limit reached"""


def test_the_agents_words_and_tools_are_shown_indented() -> None:
    assert "\n".join(after_title(shown(Script(checklist()).iteration().started(), events=EVENTS))) == STREAMED


def test_with_emoji_the_same_events_have_the_signs_of_the_seed() -> None:
    text = shown(Script(checklist()).iteration().started(), Style(emoji=True), EVENTS)
    for sign in ("⏺ Read(", "✅ Result ← Read", "❌ Error ← Bash", "📋 Todo List", "🔄 Edit ← ACTIVE", "⏸️ Test", "📊 Progress: 1/3 (33%)"):
        assert sign in text


def test_without_streaming_the_agent_is_only_announced() -> None:
    [line] = after_title(shown(Script(checklist()).iteration().started(), events=EVENTS, stream=False))
    assert line.startswith("agent   at work since ")


# --- verbose ----------------------------------------------------------------------------------------------------------


def test_verbose_lines_are_those_of_the_seed_and_go_to_stderr() -> None:
    script = Script(checklist("make test")).iteration().attempt(1, claim=MENTION).gates(RED).close()
    lines = said_on_stderr(script)
    assert all(line.startswith("[ralph] ") for line in lines)
    for line in (
        "Agent command: claude --model opus",
        "Iteration 1/10 starting",
        "Agent ended by exit, code 0 (41s)",
        "Completion: not claimed: line 1: it is negated",
        "Completion: line 1: I cannot output <promise>COMPLETE</promise> yet: it is negated",
        "Running guardrail: make test",
        "Guardrail exited with code 2 (1.2s)",
        "run_agent took 41s",
        "run_gates took 1.2s",
    ):
        assert f"[ralph] {line}" in lines


def test_without_verbose_nothing_goes_to_stderr() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, Style())
    console.debug("Loading settings")
    for entry, state in states(Script(checklist("make test")).iteration().attempt().gates(RED).close().entries):
        console.entry(entry, state)
    assert err.getvalue() == ""


# --- the terminal -----------------------------------------------------------------------------------------------------


def a_story() -> Script:
    spec: LoopSpec = committing("a-gate --with a very long command line that goes on and on --and-on")
    script = Script(spec).iteration().attempt(2, claim=CLAIM, undo=UNDO, notes=("the branch was switched from main to 功能分支功能分支功能分支",))
    script.gates(RED, left=2).close()
    script.add(m.WaitStarted(at=script.at, until=script.at + 7500, why="usage limit: " + "very " * 30))
    return script.iteration().attempt(0).gates(GREEN, left=0).commit().push(GREEN).close().end()


@pytest.mark.parametrize("columns", [28, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    long = (
        m.Text(text="你好 " * 50 + "x" * 300),
        m.ToolStart(tool_id="1", name="Bash", summary="y" * 300),
        m.ToolEnd(tool_id="1", output="z" * 900, is_error=False),
    )
    text = shown(a_story(), Style(width=columns), (*EVENTS, *long))
    assert max(width(line) for line in text.splitlines()) <= columns


def test_on_a_terminal_the_title_is_drawn_across_it() -> None:
    [title] = [line for line in shown(Script(checklist()).iteration(), Style(width=70)).splitlines() if line.startswith("──")]
    assert title == "── Iteration 1/10 · 2 tasks open · Write the parser " + "─" * 18


def test_what_is_going_on_stands_only_until_there_is_something_to_tell() -> None:
    text = shown(Script(checklist("make test")).iteration().attempt().gates(RED).close(), Style(live=True, width=80))
    assert f"gate    make test …{ERASE_LINE}gate    make test … failed" in text


def test_plain_output_has_no_escape_sequence_at_all() -> None:
    assert "\x1b" not in shown(a_story(), events=EVENTS)
    assert "\x1b[31m" in shown(a_story(), Style(colour=True), EVENTS)


def test_time_stamps_stand_before_every_line_that_has_words() -> None:
    lines = shown(Script(checklist()).iteration(), Style(timestamps=True)).splitlines()
    assert all(time.strptime(line[:10], "[%H:%M:%S]") for line in lines if line)


@pytest.fixture
def terminal() -> Iterable[io.TextIOWrapper]:
    controller, follower = os.openpty()
    with os.fdopen(controller, "wb", buffering=0), os.fdopen(follower, "w", encoding="utf-8") as out:
        yield out


@pytest.mark.parametrize(
    ("environment", "colour"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm"}, True)],
)
def test_a_terminal_gets_colours_unless_the_person_said_no(terminal: io.TextIOWrapper, environment: dict[str, str], colour: bool) -> None:
    assert style_for(terminal, environment).colour is colour
    assert style_for(terminal, environment, colour=True).colour is True


def test_what_is_not_a_terminal_gets_plain_text(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as out:
        assert style_for(out, {"HOME": "/home/lena"}) == Style(home="/home/lena")


# --- streams that break -----------------------------------------------------------------------------------------------


def printed_to(out: io.TextIOWrapper) -> Console:
    console = Console(out, out, Style(), verbose=True)
    for entry, state in states(a_story().entries):
        console.entry(entry, state)
        for event in EVENTS:
            console.event(event)
    return console


def test_a_reader_that_goes_away_does_not_harm_the_loop() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w", encoding="utf-8") as out:
        os.close(reader)
        printed_to(out)


def test_a_closed_stream_and_a_full_disk_do_not_harm_the_loop(tmp_path: Path) -> None:
    closed = (tmp_path / "closed").open("w")
    closed.close()
    printed_to(closed)
    full = Path("/dev/full")
    if full.exists():  # Linux has one
        with full.open("w", encoding="utf-8") as out:
            printed_to(out)


@pytest.mark.slow
def test_a_full_pipe_that_nobody_reads_and_that_does_not_block_does_not_harm_the_loop() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while os.write(writer, b"x" * 4096):
            pass
    with os.fdopen(writer, "w", encoding="utf-8") as out:
        printed_to(out)
        os.set_blocking(writer, True)
        os.close(reader)
        printed_to(out)


def test_a_stream_that_cannot_show_a_letter_shows_another() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    printed_to(out)
    assert b"? Iteration 1/10 ? 2 tasks open" in raw.getvalue()


PROGRAM = """
import sys
from scripted_loop import Script, checklist, states
from ralphloop.views.console import Console
from ralphloop.views.style import Style

sys.stdin.readline()
console = Console(sys.stdout, sys.stderr, Style())
for entry, state in states(Script(checklist()).iteration().attempt().close().entries):
    console.entry(entry, state)
"""


def test_a_program_whose_reader_is_gone_still_ends_well() -> None:
    paths = os.pathsep.join((str(SOURCE), str(Path(__file__).parent)))
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": paths},
    )
    assert child.stdout is not None
    child.stdout.close()
    assert child.stdin is not None
    assert child.stderr is not None
    child.stdin.write("go\n")
    child.stdin.close()
    complaints = child.stderr.read()
    child.stderr.close()
    assert (child.wait(), complaints) == (0, "")


# --- waits ---


def waiting(style: Style, *left_s: float) -> str:
    """What a terminal shows while a loop waits for so long, and when it goes on."""
    out = io.StringIO()
    console = Console(out, io.StringIO(), style)
    for seconds in left_s:
        console.waiting(time.time() + seconds)
    script = Script(checklist()).iteration()
    console.entry(script.entries[-1], script.state)
    return out.getvalue().partition("\n")[0]


def test_a_terminal_shows_how_long_a_wait_still_takes_in_one_line_that_goes_away() -> None:
    text = waiting(Style(live=True, width=80), 7430.0, 100.4)
    shown_one_after_the_other = re.findall(r"wait    (\S+) left, until", text)
    assert shown_one_after_the_other == ["2h03m", "1m40s"]
    assert text.count(ERASE_LINE) == 2
    assert text.endswith(ERASE_LINE)


def test_what_is_no_terminal_is_not_told_every_second() -> None:
    assert waiting(Style(), 7384.4, 62.4) == ""


def test_a_wait_that_is_over_shows_no_negative_time() -> None:
    assert waiting(Style(live=True, width=80), -5.0) == ""

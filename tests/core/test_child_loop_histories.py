"""Child loops: complete work waits for them, what they changed is judged like the agent's own work, and only then do the gates run."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from loops import CLOSES, DONE, FAILS, IDLES, Loop, after, both, child_loop, edit, folder_spec, patched

from ralphloop.core import messages as m
from ralphloop.core.model import OutcomeKind, Strength
from ralphloop.testing.scripted import Turn

BREAKS = edit("code", lambda _: b"broken")
MENDS = edit("code", lambda _: b"fine")
REWRITES = edit("TASK.md", lambda _: b"Do nothing\n")
TOLD = "A child loop changed a protected file. TASK.md was changed; it is as it was"


def parent(runs_s: float, at_its_end: object = lambda _: None, *, gates: tuple[str, ...] = ("check",), **limits: float) -> Loop:
    """A loop whose agent starts a child loop and writes DONE."""
    loop = Loop(folder_spec(gates=gates, **limits), [])
    loop.agent.turns = [Turn(does=both(DONE, child_loop(loop, runs_s, at_its_end))), IDLES]  # type: ignore[arg-type]
    return loop


def steps(loop: Loop) -> list[m.Step]:
    return [entry.step for entry in loop.entries if isinstance(entry, m.StepStarted)]


def test_complete_work_waits_for_its_children_before_any_gate_runs() -> None:
    loop = parent(90.0)
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert steps(loop) == [m.Step.JUDGE, m.Step.AWAIT_CHILDREN, m.Step.RUN_GATES, m.Step.VERIFY]
    waited, gates = loop.of(m.ChildrenAwaited)[0], loop.of(m.GatesEnded)[0]
    assert 90.0 <= waited.at - loop.of(m.AttemptEnded)[0].at < 92.0
    assert gates.at > waited.at


def test_complete_work_without_gates_waits_for_its_children_as_well() -> None:
    loop = parent(90.0, gates=())
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.of(m.ChildrenAwaited)) == 1


def test_work_without_children_waits_for_nobody() -> None:
    loop = Loop(folder_spec(), [CLOSES])
    loop.run()
    assert loop.of(m.ChildrenAwaited) == []


def test_open_work_does_not_wait_for_its_children() -> None:
    loop = Loop(folder_spec(), [])
    loop.agent.turns = [Turn(does=child_loop(loop, 90.0)), CLOSES]
    assert loop.run().kind is OutcomeKind.DONE
    second = loop.of(m.AttemptStarted)[1]
    assert second.at - loop.of(m.AttemptEnded)[0].at < 1.0


def test_children_are_looked_at_once_in_each_interval_and_nothing_is_written_meanwhile() -> None:
    loop = parent(90.0, poll_interval_s=10.0)
    looks: list[float] = []
    wait = loop.clock.wait

    def noted(until: float, longest_s: float) -> bool:
        looks.append(until)
        return wait(until, longest_s)

    patched(loop.clock, "wait", noted)
    assert loop.run().kind is OutcomeKind.DONE
    assert [round(later - earlier) for earlier, later in pairwise(looks)] == [10] * 8
    assert steps(loop).count(m.Step.AWAIT_CHILDREN) == 1
    assert loop.of(m.WaitStarted, m.WaitEnded) == []


def test_a_wait_for_children_is_no_work() -> None:
    loop = parent(9000.0, wait_timeout_s=0.0, minutes=2.0)
    assert loop.run().kind is OutcomeKind.DONE


# --- what they did ----------------------------------------------------------------------------------------------------


def test_the_gates_see_the_tree_as_the_children_left_it() -> None:
    loop = parent(90.0, BREAKS)
    loop.agent.turns = [*loop.agent.turns[:1], Turn(does=MENDS)]
    assert loop.run().kind is OutcomeKind.DONE
    assert 'Guardrail "check" failed' in loop.agent.prompts[1]


@pytest.mark.parametrize("gates", [(), ("check",)])
def test_what_a_child_may_not_change_is_put_back_before_the_gates_run(gates: tuple[str, ...]) -> None:
    loop = parent(90.0, REWRITES, gates=gates)
    assert loop.run().kind is OutcomeKind.DONE
    assert loop.workspace.files["TASK.md"] == b"Write the parser\n"
    restored = loop.of(m.FilesRestored)[0]
    assert [entry.at for entry in loop.of(m.GatesEnded) if entry.at < restored.at] == []


def test_what_a_child_may_not_change_is_told_in_the_next_prompt() -> None:
    loop = parent(90.0, both(BREAKS, REWRITES), iterations=2)
    loop.run()
    assert TOLD in loop.agent.prompts[1]


def test_what_a_child_of_a_run_that_failed_may_not_change_is_put_back_and_told_as_well() -> None:
    loop = parent(90.0, both(REWRITES, lambda workspace: workspace.restore("DONE", None)), gates=(), iterations=2)
    loop.agent.turns = [replace(loop.agent.turns[0], run=FAILS.run), IDLES]
    loop.run()
    assert loop.workspace.files["TASK.md"] == b"Write the parser\n"
    assert TOLD in loop.agent.prompts[1]


def test_a_child_that_takes_done_away_keeps_the_loop_going() -> None:
    loop = parent(90.0, lambda workspace: workspace.restore("DONE", None), iterations=2)
    assert loop.run().limit == "iterations"


def test_a_done_that_is_found_waits_for_children_and_judges_them_without_a_run() -> None:
    loop = Loop(folder_spec(gates=["check"]), [IDLES], files={"TASK.md": b"Write the parser\n", "DONE": b""})
    child_loop(loop, 30.0, REWRITES)(loop.workspace)
    outcome = loop.run()
    assert (outcome.kind, outcome.strength, loop.agent.prompts) == (OutcomeKind.DONE, Strength.PROVED, [])
    assert loop.workspace.files["TASK.md"] == b"Write the parser\n"


# --- time-out, stop, crash --------------------------------------------------------------------------------------------


def test_children_that_run_for_too_long_are_a_limit() -> None:
    loop = parent(9000.0)
    outcome = loop.run()
    assert (outcome.kind, outcome.limit) == (OutcomeKind.LIMIT, "wait_timeout_s")
    assert outcome.reason == "children still running: 1 child loop after 300 s"
    assert loop.gates.runs == 0
    assert "DONE" in loop.workspace.files


def test_a_time_out_is_kept_however_seldom_children_are_looked_at() -> None:
    loop = parent(9000.0, wait_timeout_s=10.0, poll_interval_s=8.0)
    assert loop.run().limit == "wait_timeout_s"
    (began,) = (entry.at for entry in loop.entries if isinstance(entry, m.StepStarted) and entry.step is m.Step.AWAIT_CHILDREN)
    assert 10.0 <= loop.of(m.ChildrenAwaited)[0].at - began < 11.0


def test_without_a_time_out_children_are_waited_for_however_long_they_run() -> None:
    assert parent(90_000.0, wait_timeout_s=0.0, poll_interval_s=60.0).run().kind is OutcomeKind.DONE


def test_a_loop_whose_children_ran_for_too_long_waits_again_when_it_is_resumed() -> None:
    loop = parent(400.0, REWRITES)
    assert loop.run().limit == "wait_timeout_s"
    assert loop.resume().kind is OutcomeKind.DONE
    assert len(loop.agent.prompts) == 1
    assert loop.workspace.files["TASK.md"] == b"Write the parser\n"


def stopped_in_the_wait(loop: Loop) -> None:
    """A person stops the loop in the first pause."""
    wait, asked = loop.clock.wait, iter([True])

    def stops(until: float, longest_s: float) -> bool:
        if next(asked, False):
            loop.requests.waiting.append(m.RequestSeen(at=loop.clock.at, kind=m.STOP, author="Ann"))
            return False
        return wait(until, longest_s)

    patched(loop.clock, "wait", stops)


def test_a_stop_ends_the_wait_for_children_at_once() -> None:
    loop = parent(90.0)
    stopped_in_the_wait(loop)
    outcome = loop.run()
    assert (outcome.kind, outcome.reason) == (OutcomeKind.INTERRUPTED, "stopped by Ann")
    assert loop.gates.runs == 0
    assert loop.of(m.ChildrenAwaited) == []


def test_a_loop_that_was_stopped_in_the_wait_goes_on_to_wait() -> None:
    loop = parent(90.0, BREAKS)
    stopped_in_the_wait(loop)
    loop.run()
    loop.agent.turns = [CLOSES, Turn(does=MENDS)]
    assert loop.resume().kind is OutcomeKind.DONE
    assert steps(loop).count(m.Step.AWAIT_CHILDREN) == 2
    assert len(loop.agent.prompts) == 2


def test_a_stop_in_the_wait_launders_nothing_that_a_child_did_before() -> None:
    loop = parent(90.0)
    stopped_in_the_wait(loop)
    after(m.ChangesJudged, loop, REWRITES)
    assert loop.run().kind is OutcomeKind.INTERRUPTED
    assert loop.workspace.files["TASK.md"] == b"Do nothing\n"
    assert loop.resume().kind is OutcomeKind.DONE
    assert loop.workspace.files["TASK.md"] == b"Write the parser\n"


def test_a_message_in_the_wait_is_heard_and_the_wait_goes_on() -> None:
    loop = parent(90.0, BREAKS, iterations=2)
    told = m.RequestSeen(at=1.0, kind=m.TELL, author="Ann", text="use tabs", request_id=7)
    after(m.StepStarted, loop, lambda _: loop.requests.waiting.append(told))
    loop.run()
    assert "use tabs" in loop.agent.prompts[1]
    assert steps(loop).count(m.Step.AWAIT_CHILDREN) == 1

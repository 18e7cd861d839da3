"""Whole loops in memory: the true engine and the pure core, with an agent for each temper."""

from __future__ import annotations

import pytest
from loops import (
    ASKS_TO_WAIT,
    CLAIMS,
    DELETES,
    DIES,
    EMPTY,
    FAILS,
    FINISHES,
    IDLES,
    LIMITED,
    NOT_THERE,
    PROMISE,
    THREE_TASKS,
    WORKS,
    Loop,
    edit,
    exited,
    patched,
    spec,
    tick,
    tick_all,
)

from ralphloop.core import messages as m
from ralphloop.core.model import EndedBy, Ending, Kind, Limits, OnFail, OutcomeKind, Require, Scm, StreamReport, Strength, Tree, UsageLimit
from ralphloop.core.prompts import build_prompt
from ralphloop.core.state import LoopState
from ralphloop.errors import WorkError
from ralphloop.testing.scripted import Turn


def test_a_checklist_with_a_green_gate_ends_done_and_proved() -> None:
    loop = Loop(spec(gates=["check"]), [WORKS])
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert len(loop.of(m.IterationStarted)) == 3
    assert "[ ]" not in loop.tasks


def test_a_checklist_without_gates_needs_a_claim_and_ends_attested() -> None:
    loop = Loop(spec(), [FINISHES, IDLES, CLAIMS])
    outcome = loop.run()
    assert (outcome.kind, outcome.strength, outcome.exit_code) == (OutcomeKind.DONE, Strength.ATTESTED, 0)
    assert len(loop.agent.prompts) == 3


def test_a_claim_while_tasks_are_open_is_not_believed_and_the_next_prompt_says_so() -> None:
    loop = Loop(spec(gates=["check"]), [CLAIMS, FINISHES])
    assert loop.run().kind is OutcomeKind.DONE
    assert "3 tasks are still open in PRD.md" in loop.agent.prompts[1]


def test_a_claim_for_prompt_work_ends_it_attested_where_nothing_was_checked() -> None:
    loop = Loop(spec(Kind.PROMPT), [IDLES, CLAIMS])
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.ATTESTED)
    assert len(loop.agent.prompts) == 2


def test_a_claim_with_a_red_gate_does_not_end_prompt_work() -> None:
    breaks = Turn(does=edit("code", lambda _: b"broken"), says=PROMISE)
    mends = Turn(does=edit("code", lambda _: b"fine"), says=PROMISE)
    loop = Loop(spec(Kind.PROMPT, gates=["check"]), [breaks, mends])
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert 'Guardrail "check" failed with exit code 1.' in loop.agent.prompts[1]


def test_an_earlier_claim_does_not_count_when_the_gates_turn_green_later() -> None:
    breaks = Turn(does=edit("code", lambda _: b"broken"), says=PROMISE)
    mends = Turn(does=edit("code", lambda _: b"fine"), says="Mended.")
    loop = Loop(spec(Kind.PROMPT, gates=["check"], limits=Limits(iterations=2, calls=60)), [breaks, mends])
    assert loop.run().limit == "iterations"


def test_completion_on_the_last_allowed_iteration_is_done() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=3, calls=60)), [WORKS])
    assert loop.run().kind is OutcomeKind.DONE


def test_work_that_is_complete_before_the_first_attempt_ends_done_without_an_agent() -> None:
    loop = Loop(spec(gates=["check"]), [IDLES], files={"PRD.md": b"- [x] Done long ago\n"})
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert loop.agent.prompts == []
    assert loop.gates.runs == 1


def test_complete_work_without_gates_ends_attested_without_an_agent() -> None:
    loop = Loop(spec(), [IDLES], files={"PRD.md": b"- [x] Done long ago\n"})
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.ATTESTED)
    assert loop.agent.prompts == []


def test_a_red_gate_keeps_complete_work_going_and_is_told_to_the_agent() -> None:
    mends = Turn(does=edit("code", lambda _: b"fine"), says="Mended.")
    loop = Loop(spec(gates=["check"]), [mends], files={"PRD.md": b"- [x] Done\n", "code": b"broken"})
    assert loop.run().kind is OutcomeKind.DONE
    assert "failed with exit code 1" in loop.agent.prompts[0]
    assert len(loop.of(m.IterationStarted)) == 1


def test_a_workspace_that_never_rests_is_checked_once_between_two_iterations() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=3, calls=9, stall=0)), [IDLES], files={"PRD.md": b"- [x] Done\n", "code": b"broken"})
    noise = iter(range(1000))
    look = loop.workspace.look

    def restless() -> object:
        loop.workspace.files["noise"] = str(next(noise)).encode()
        return look()

    patched(loop.workspace, "look", restless)
    assert loop.run().limit == "iterations"
    assert len(loop.of(m.CheckStarted)) <= 4


def test_a_deleted_open_task_is_back_before_anything_is_decided() -> None:
    loop = Loop(spec(gates=["check"]), [DELETES, WORKS])
    assert loop.run().kind is OutcomeKind.DONE
    assert loop.tasks.count("- [x]") == 3
    assert "was deleted; it is back" in loop.agent.prompts[1]


def test_a_committed_deletion_is_undone_in_history_by_a_commit_of_that_path_alone() -> None:
    def delete_and_commit(_workspace: object) -> None:
        assert DELETES.does
        DELETES.does(loop.workspace)
        loop.workspace.commits.append(("agent", dict(loop.workspace.files)))

    loop = Loop(spec(gates=["check"]), [Turn(does=delete_and_commit, says=PROMISE), WORKS])
    loop.workspace.commits.append(("first", dict(loop.workspace.files)))
    assert loop.run().kind is OutcomeKind.DONE
    messages = [message for message, _ in loop.workspace.commits]
    assert len(messages) == 3
    assert messages[2].startswith("ralph: undo")
    assert "Ralph-Undo: app-1/1" in messages[2]


def test_a_gate_that_ticks_a_box_fails_and_its_tick_is_undone() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=1, calls=9)), [IDLES])

    def ticking(_workspace: object) -> bool:
        loop.workspace.files["PRD.md"] = tick_all(loop.workspace.files["PRD.md"])
        return True

    loop.green = ticking
    assert loop.run().kind is OutcomeKind.LIMIT
    assert loop.tasks.count("- [ ]") == 3


def test_a_failed_attempt_is_tried_again_in_the_same_iteration_and_three_close_it() -> None:
    loop = Loop(spec(limits=Limits(iterations=1, calls=9)), [FAILS])
    assert loop.run().limit == "iterations"
    assert len(loop.agent.prompts) == 3
    closed = loop.of(m.IterationEnded)[-1]
    assert isinstance(closed, m.IterationEnded)
    assert closed.failed


def test_failed_attempts_wait_longer_and_longer() -> None:
    loop = Loop(spec(limits=Limits(iterations=3, calls=9, stall=0)), [FAILS])
    loop.run()
    waits = [entry.until - entry.at for entry in loop.entries if isinstance(entry, m.WaitStarted)]
    assert waits == sorted(waits)
    assert waits[-1] > 4 * waits[0]


def test_ten_instant_deaths_in_a_row_end_the_loop_with_a_limit() -> None:
    loop = Loop(spec(limits=Limits(iterations=30, calls=90)), [DIES])
    assert loop.run().limit == "instant_deaths"
    assert len(loop.agent.prompts) == 10


def test_five_iterations_without_progress_end_the_loop_with_a_limit() -> None:
    loop = Loop(spec(limits=Limits(iterations=30, calls=90)), [IDLES])
    assert loop.run().limit == "stall"
    assert len(loop.of(m.IterationEnded)) == 5


def test_an_empty_attempt_is_tried_twice_more() -> None:
    loop = Loop(spec(limits=Limits(iterations=1, calls=9)), [EMPTY])
    loop.run()
    assert len(loop.agent.prompts) == 3


def test_the_limit_of_calls_bounds_every_agent_process() -> None:
    loop = Loop(spec(limits=Limits(iterations=10, calls=4, stall=0)), [FAILS])
    assert loop.run().limit == "calls"
    assert len(loop.agent.prompts) == 4


def test_the_limit_of_cost_is_checked_before_each_attempt() -> None:
    loop = Loop(spec(limits=Limits(iterations=10, calls=60, cost_usd=0.025, stall=0)), [IDLES])
    assert loop.run().limit == "cost_usd"
    assert len(loop.agent.prompts) == 3


def test_an_attempt_without_a_cost_report_is_charged_the_mean_and_marked() -> None:
    silent = Turn(says="I looked.", cost_usd=None)
    loop = Loop(spec(limits=Limits(iterations=3, calls=60, stall=0)), [Turn(says="I looked.", cost_usd=0.04), Turn(says="a", cost_usd=0.02), silent])
    loop.run()
    ended = [entry for entry in loop.entries if isinstance(entry, m.AttemptEnded)]
    assert ended[-1].estimated
    assert ended[-1].charged_usd == pytest.approx(0.03)


def test_the_limit_of_minutes_counts_work_and_not_waits() -> None:
    loop = Loop(spec(limits=Limits(iterations=10, calls=60, minutes=3, stall=0, delay_s=3600)), [IDLES])
    assert loop.run().limit == "minutes"
    assert len(loop.agent.prompts) == 3


def test_a_usage_limit_is_waited_out_and_not_counted() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=1, calls=9)), [LIMITED, LIMITED, FINISHES])
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.of(m.IterationStarted)) == 1
    assert len(loop.of(m.WaitEnded)) == 2


def test_usage_limits_are_waited_for_at_most_twenty_times() -> None:
    loop = Loop(spec(limits=Limits(iterations=5, calls=100)), [LIMITED])
    assert loop.run().limit == "usage_waits"
    assert len(loop.of(m.WaitStarted)) == 20


def test_an_agent_that_asks_to_wait_ends_the_loop_waiting() -> None:
    loop = Loop(spec(), [ASKS_TO_WAIT])
    assert loop.run().exit_code == 3


def test_an_executable_that_is_not_there_fails_the_loop_without_a_retry() -> None:
    loop = Loop(spec(), [NOT_THERE])
    outcome = loop.run()
    assert (outcome.exit_code, outcome.reason) == (4, "there is no program `agent`")
    assert len(loop.agent.prompts) == 1


def test_a_stop_lets_the_attempt_finish_and_judges_it_before_the_loop_ends() -> None:
    def delete_and_stop(_workspace: object) -> None:
        assert DELETES.does
        DELETES.does(loop.workspace)
        loop.requests.waiting.append(m.RequestSeen(at=loop.clock.now(), kind="stop", author="Ann"))

    loop = Loop(spec(gates=["check"]), [Turn(does=delete_and_stop, says=PROMISE), WORKS])
    outcome = loop.run()
    assert (outcome.exit_code, outcome.reason) == (130, "stopped by Ann")
    assert loop.tasks.count("- [ ]") == 3
    assert loop.gates.runs == 0


def test_a_message_from_a_person_reaches_the_next_prompt_once() -> None:
    loop = Loop(spec(gates=["check"]), [WORKS])
    loop.requests.waiting.append(m.RequestSeen(at=1.0, kind="tell", author="Ann", text="use tabs", request_id=7))
    loop.run()
    assert ["use tabs" in prompt for prompt in loop.agent.prompts] == [True, False, False]


def test_a_message_is_carried_again_when_its_attempt_is_lost() -> None:
    loop = Loop(spec(gates=["check"]), [Turn(does=lambda _: (_ for _ in ()).throw(KeyboardInterrupt)), WORKS])
    loop.requests.waiting.append(m.RequestSeen(at=1.0, kind="tell", author="Ann", text="use tabs", request_id=7))
    with pytest.raises(KeyboardInterrupt):
        loop.run()
    assert loop.resume().kind is OutcomeKind.DONE
    assert ["use tabs" in prompt for prompt in loop.agent.prompts] == [True, True, False, False]


def test_where_proof_is_required_a_claim_alone_does_not_end_the_loop() -> None:
    loop_spec = spec(limits=Limits(iterations=2, calls=9))
    object.__setattr__(loop_spec.completion, "require", Require.PROVED)
    loop = Loop(loop_spec, [FINISHES, CLAIMS])
    assert loop.run().kind is OutcomeKind.LIMIT


def test_green_iterations_are_committed_once_each_with_a_trailer() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit", "push"))), [WORKS])
    assert loop.run().kind is OutcomeKind.DONE
    assert [message.splitlines()[-1] for message, _ in loop.workspace.commits] == [f"Ralph-Iteration: app-1/{n}" for n in (1, 2, 3)]


def test_a_red_iteration_is_not_committed() -> None:
    breaks = Turn(does=edit("code", lambda _: b"broken"), says="x")
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit",)), limits=Limits(iterations=2, calls=9)), [breaks])
    loop.run()
    assert loop.workspace.commits == []


def test_the_iteration_line_stands_first_when_it_is_wanted() -> None:
    loop_spec = spec(gates=["check"])
    object.__setattr__(loop_spec.output, "iteration_in_prompt", True)
    loop = Loop(loop_spec, [WORKS])
    loop.run()
    assert loop.agent.prompts[1].startswith("Iteration 2 of 10, 8 remaining.\n\nWork on PRD.md")


@pytest.mark.parametrize(
    ("turn", "ending"),
    [
        (Turn(run=exited(None, signal=9), says="half a sentence"), Ending.FAILED),
        (Turn(run=exited(None, ended_by=EndedBy.TOTAL_TIMEOUT), says="half"), Ending.FAILED),
        (Turn(run=exited(None, ended_by=EndedBy.IDLE_TIMEOUT), says="half"), Ending.FAILED),
        (Turn(run=exited(None), says="half"), Ending.FAILED),
        (Turn(run=exited(None, signal=15, ended_by=EndedBy.AFTER_RESULT), says="all well"), Ending.OK),
        (Turn(run=exited(None, signal=15, ended_by=EndedBy.STOPPED), says="half"), Ending.INTERRUPTED),
        (ASKS_TO_WAIT, Ending.WAITING),
        (NOT_THERE, Ending.FATAL),
        (LIMITED, Ending.USAGE_LIMIT),
        (EMPTY, Ending.EMPTY),
        (Turn(says="", does=edit("code", lambda _: b"new")), Ending.OK),
        (IDLES, Ending.OK),
    ],
)
def test_every_way_an_attempt_can_end(turn: Turn, ending: Ending) -> None:
    loop = Loop(spec(limits=Limits(iterations=1, calls=1)), [turn])
    loop.run()
    judged = loop.of(m.ChangesJudged)[0]
    assert isinstance(judged, m.ChangesJudged)
    assert judged.ending is ending


def test_a_person_who_edits_the_list_between_iterations_is_recorded_and_not_undone() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=2, calls=9, delay_s=5)), [IDLES])
    waited = loop.clock.wait

    def edit_while_waiting(until: float, longest_s: float) -> bool:
        loop.workspace.files["PRD.md"] = b"- [ ] Something else\n"
        return waited(until, longest_s)

    patched(loop.clock, "wait", edit_while_waiting)
    loop.run()
    started = [entry for entry in loop.entries if isinstance(entry, m.IterationStarted)]
    assert [entry.edited for entry in started] == [False, True]
    assert loop.tasks == "- [ ] Something else\n"


def test_progress_is_a_closed_task_a_changed_tree_or_a_new_verdict() -> None:
    grows = Turn(does=edit("code", lambda content: content + b"x"), says="more")
    loop = Loop(spec(limits=Limits(iterations=3, calls=9)), [grows, IDLES, Turn(does=edit("PRD.md", tick), says="one")])
    loop.run()
    assert [entry.progress for entry in loop.entries if isinstance(entry, m.IterationEnded)] == [True, False, True]


def test_a_workspace_that_cannot_be_read_any_more_fails_the_loop_and_is_judged_when_it_is_back() -> None:
    def lose(_workspace: object) -> None:
        loop.workspace.files["PRD.md"] = b"- [x] Nothing to do\n"
        patched(loop.workspace, "look", gone)

    def gone() -> Tree:
        raise WorkError("the workspace is gone")

    loop = Loop(spec(gates=["check"]), [Turn(does=lose, says=PROMISE), WORKS])
    look = loop.workspace.look
    outcome = loop.run()
    assert (outcome.kind, outcome.reason) == (OutcomeKind.FAILED, "the workspace is gone")
    patched(loop.workspace, "look", look)
    assert loop.resume().kind is OutcomeKind.DONE
    assert "Write the parser" in loop.tasks


def test_a_protected_file_that_cannot_be_read_any_more_is_put_back() -> None:
    def bloat(_workspace: object) -> None:
        patched(loop.workspace, "read", too_large)

    def too_large(path: str) -> bytes | None:
        if path == "PRD.md" and not loop.of(m.ChangesJudged):
            raise WorkError("PRD.md is too large")
        return read(path)

    loop = Loop(spec(gates=["check"]), [Turn(does=bloat, says=PROMISE), WORKS])
    read = loop.workspace.read
    assert loop.run().kind is OutcomeKind.DONE
    assert any(entry.restorations for entry in loop.entries if isinstance(entry, m.ChangesJudged))


def test_an_agent_that_only_breaks_the_list_makes_no_progress() -> None:
    loop = Loop(spec(limits=Limits(iterations=9, calls=9, stall=3)), [DELETES])
    assert loop.run().limit == "stall"


def test_progress_begins_the_count_of_a_stall_anew() -> None:
    loop = Loop(spec(limits=Limits(iterations=20, calls=60, stall=3)), [IDLES, IDLES, WORKS, IDLES])
    assert loop.run().limit == "stall"
    assert len(loop.of(m.IterationEnded)) == 6


def test_a_good_attempt_begins_the_count_of_instant_deaths_anew() -> None:
    loop = Loop(spec(limits=Limits(iterations=20, calls=60, instant_deaths=3, stall=0)), [DIES, DIES, IDLES, DIES, DIES, IDLES, DIES])
    assert loop.run().limit == "instant_deaths"
    assert len(loop.agent.prompts) == 9


def test_what_the_gates_said_is_told_again_after_an_iteration_that_failed() -> None:
    breaks = Turn(does=edit("code", lambda _: b"broken"), says="x")
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=3, calls=9)), [breaks, FAILS, FAILS, FAILS, IDLES])
    loop.run()
    assert "failed with exit code 1" in loop.agent.prompts[4]
    assert loop.agent.prompts[4].count("The last attempt ended without a result") == 1


def test_gates_that_are_known_to_be_red_on_this_tree_are_not_run_again_before_the_agent() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=3, calls=9)), [FINISHES], files={"PRD.md": THREE_TASKS, "code": b"broken"})
    loop.run()
    assert loop.gates.runs == 3
    assert loop.of(m.CheckStarted) == []


def test_a_wait_is_written_down_once_however_many_naps_it_takes() -> None:
    loop = Loop(
        spec(gates=["check"], limits=Limits(iterations=9, calls=9, delay_s=60)), [FINISHES, WORKS], green=lambda workspace: len(workspace.files) < 0
    )
    naps = iter([False, False, True] * 20)
    patched(loop.clock, "wait", lambda *_until: next(naps))
    loop.run()
    assert len(loop.of(m.WaitStarted)) == len(loop.of(m.WaitEnded)) == 5


def test_an_attempt_that_ticks_what_git_does_not_see_is_not_empty() -> None:
    loop = Loop(spec(gates=["check"]), [Turn(says="", does=edit("PRD.md", tick))])
    patched(loop.workspace, "look", lambda: Tree(fingerprint="always the same"))
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.agent.prompts) == 3


@pytest.mark.parametrize(("resets_in", "waits"), [(7200.0, 7200.0), (-5.0, 1.0), (None, 900.0)])
def test_a_usage_limit_is_waited_for_until_its_reset(resets_in: float | None, waits: float) -> None:
    loop = Loop(spec(limits=Limits(iterations=1, calls=1)), [])
    resets_at = None if resets_in is None else loop.clock.at + 1 + resets_in
    limit = StreamReport(limit=UsageLimit(resets_at=resets_at, text="limit"), error="limit")
    loop.agent.turns = [Turn(stream=limit, run=exited(1, seconds=1))]
    object.__setattr__(loop.spec.limits, "calls", 2)
    loop.run()
    (started, *_) = (entry for entry in loop.entries if isinstance(entry, m.WaitStarted))
    assert waits <= started.until - started.at <= waits * 1.05 + 1


def test_a_second_limit_in_a_row_is_waited_for_a_minute_at_least_even_if_it_has_reset() -> None:
    past = StreamReport(limit=UsageLimit(resets_at=5.0, text="limit"), error="limit")
    loop = Loop(spec(limits=Limits(iterations=1, calls=3)), [Turn(stream=past, run=exited(1, seconds=1))])
    loop.run()
    waits = [entry.until - entry.at for entry in loop.entries if isinstance(entry, m.WaitStarted)]
    assert waits[0] < 2
    assert waits[1] >= 60


def test_text_of_failed_gates_stands_before_behind_or_in_place_of_the_prompt() -> None:
    loop_spec = spec(Kind.PROMPT, gates=["one", "two", "three"], limits=Limits(iterations=2, calls=9))
    for gate, on_fail in zip(loop_spec.gates, OnFail, strict=True):
        object.__setattr__(gate, "on_fail", on_fail)
    loop = Loop(loop_spec, [IDLES], green=lambda _: False)
    loop.run()
    second = loop.agent.prompts[1]
    assert "Do it." not in second
    assert second.index('"two"') < second.index('"three"') < second.index('"one"')


def test_a_prompt_is_used_as_it_is_braces_and_all() -> None:
    state = LoopState(spec=spec(Kind.PROMPT), at=1.0)
    assert build_prompt(state, "Fill {task_file} and {iteration}.") == "Fill {task_file} and {iteration}."
    assert build_prompt(LoopState(spec=spec(), at=1.0), "Fill {task_file}, {iteration}, {other}.") == "Fill PRD.md, 0, {other}."


def test_a_stream_that_breaks_off_without_a_result_is_a_failure_whatever_the_exit_code() -> None:
    loop = Loop(spec(limits=Limits(iterations=1, calls=1)), [Turn(stream=StreamReport(final_words="half", result_seen=False))])
    loop.run()
    judged = loop.of(m.ChangesJudged)[0]
    assert isinstance(judged, m.ChangesJudged)
    assert (judged.ending, judged.reason) == (Ending.FAILED, "its stream broke off without a result")


@pytest.mark.parametrize("unread", [LIMITED, FAILS])
def test_a_message_is_carried_again_when_the_provider_refused_the_call_and_only_then(unread: Turn) -> None:
    loop = Loop(spec(gates=["check"]), [unread, WORKS])
    loop.requests.waiting.append(m.RequestSeen(at=1.0, kind="tell", author="Ann", text="use tabs", request_id=7))
    loop.run()
    assert ["use tabs" in prompt for prompt in loop.agent.prompts[:3]] == [True, unread is LIMITED, False]

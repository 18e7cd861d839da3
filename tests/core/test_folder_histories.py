"""Folder work: a file DONE is what ends it, whoever wrote it and however the run ended; the gates have the last word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from loops import (
    CLOSES,
    DONE,
    EMPTY,
    FAILS,
    IDLES,
    NOT_THERE,
    PROMISE,
    REQUEST,
    Loop,
    after,
    both,
    edit,
    exited,
    folder_spec,
    nothing,
    patched,
    spec,
    tick_all,
)

from ralphloop.core import messages as m
from ralphloop.core.model import (
    Completion,
    EndedBy,
    Ending,
    Kind,
    Limits,
    OutcomeKind,
    Require,
    Result,
    RunReport,
    Scm,
    StreamReport,
    Strength,
    UsageLimit,
    Verdict,
)
from ralphloop.testing.memory import FakeClock, MemoryWorkspace
from ralphloop.testing.scripted import Turn

BREAKS = edit("code", lambda _: b"broken")
MENDS = edit("code", lambda _: b"fine")
UNDOES = edit("TASK.md", lambda _: b"Do nothing\n")
FINISHED = {"TASK.md": b"Write the parser\n", "DONE": b""}
LIMIT = StreamReport(limit=UsageLimit(resets_at=None, text="you have hit your limit"), error="limit")


def crash(_workspace: MemoryWorkspace) -> None:
    raise KeyboardInterrupt


class MidWait(FakeClock):
    """In the middle of its first wait something happens."""

    def __init__(self, happens: Callable[[], None]) -> None:
        super().__init__()
        self._happens = [happens]

    def wait(self, until: float, longest_s: float) -> bool:
        if not self._happens:
            return super().wait(until, longest_s)
        self._happens.pop()()
        self.at = (self.at + until) / 2
        return False


def waits(loop: Loop) -> list[m.WaitStarted]:
    return [entry for entry in loop.entries if isinstance(entry, m.WaitStarted)]


def found_complete(loop: Loop) -> list[bool]:
    return [entry.complete for entry in loop.entries if isinstance(entry, m.WaitEnded)]


def endings(loop: Loop) -> list[Ending]:
    return [entry.ending for entry in loop.entries if isinstance(entry, m.ChangesJudged)]


# --- DONE -------------------------------------------------------------------------------------------------------------


def test_a_run_that_ends_well_without_a_done_is_followed_by_another() -> None:
    loop = Loop(folder_spec(), [IDLES, IDLES, CLOSES])
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.of(m.IterationStarted)) == len(loop.agent.prompts) == 3


def test_without_gates_done_is_attested_and_needs_no_claim() -> None:
    outcome = Loop(folder_spec(), [CLOSES]).run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.ATTESTED)


def test_with_green_gates_done_is_proved() -> None:
    loop = Loop(folder_spec(gates=["check"]), [CLOSES])
    outcome = loop.run()
    assert (outcome.kind, outcome.strength, loop.gates.runs) == (OutcomeKind.DONE, Strength.PROVED, 1)


def test_a_red_gate_keeps_folder_work_going_and_is_told() -> None:
    loop = Loop(folder_spec(gates=["check"]), [Turn(does=both(DONE, BREAKS)), Turn(does=MENDS)])
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert 'Guardrail "check" failed with exit code 1.' in loop.agent.prompts[1]


def test_where_proof_is_required_a_done_alone_does_not_end_the_loop() -> None:
    attested = replace(folder_spec(iterations=2), completion=Completion(text="COMPLETE", require=Require.PROVED))
    assert Loop(attested, [CLOSES]).run().limit == "iterations"


@pytest.mark.parametrize("gates", [(), ("check",)])
@pytest.mark.parametrize(
    ("turn", "ending"),
    [
        (CLOSES, Ending.OK),
        (replace(EMPTY, does=DONE), Ending.OK),
        (replace(FAILS, does=DONE), Ending.FAILED),
        (Turn(does=DONE, run=exited(None, signal=9)), Ending.FAILED),
        (Turn(does=DONE, run=exited(None, ended_by=EndedBy.TOTAL_TIMEOUT)), Ending.FAILED),
        (Turn(does=DONE, stream=StreamReport(error="overloaded")), Ending.FAILED),
        (Turn(does=DONE, run=exited(42)), Ending.WAITING),
        (Turn(does=both(DONE, REQUEST)), Ending.WAITING),
    ],
)
def test_done_ends_folder_work_however_the_run_ended(turn: Turn, ending: Ending, gates: tuple[str, ...]) -> None:
    loop = Loop(folder_spec(gates=gates), [turn])
    assert loop.run().kind is OutcomeKind.DONE
    assert endings(loop) == [ending]
    assert loop.gates.runs == len(gates)


def test_done_ends_folder_work_after_a_run_that_said_and_changed_nothing() -> None:
    colours = iter([False, True])
    loop = Loop(folder_spec(gates=["check"]), [EMPTY], files=FINISHED, green=lambda _: next(colours))
    assert loop.run().kind is OutcomeKind.DONE
    assert endings(loop) == [Ending.EMPTY]
    assert len(loop.of(m.CheckStarted)) == 1, "the gates ran in that iteration, not in a check after it"


def test_done_ends_folder_work_after_a_run_that_was_lost() -> None:
    loop = Loop(folder_spec(gates=["check"]), [Turn(does=both(DONE, crash))])
    with pytest.raises(KeyboardInterrupt):
        loop.run()
    assert loop.resume().kind is OutcomeKind.DONE
    assert endings(loop) == [Ending.LOST]
    assert len(loop.agent.prompts) == 1
    assert loop.of(m.CheckStarted) == [], "the gates ran in that iteration, not in a check after it"


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (NOT_THERE, OutcomeKind.FAILED),
        (Turn(stream=StreamReport(fatal="not logged in")), OutcomeKind.FAILED),
        (Turn(run=replace(exited(), leaked="process 4711 (sleep)")), OutcomeKind.FAILED),
        (Turn(run=exited(None, signal=15, ended_by=EndedBy.STOPPED)), OutcomeKind.INTERRUPTED),
    ],
)
def test_done_does_not_outrank_a_fatal_ending_or_a_person(turn: Turn, kind: OutcomeKind) -> None:
    loop = Loop(folder_spec(gates=["check"]), [replace(turn, does=DONE)])
    assert loop.run().kind is kind
    assert loop.gates.runs == 0


def test_a_done_before_a_usage_limit_ends_the_loop_without_a_wait() -> None:
    loop = Loop(folder_spec(), [Turn(does=DONE, stream=LIMIT, run=exited(1)), IDLES])
    assert loop.run().kind is OutcomeKind.DONE
    assert endings(loop) == [Ending.USAGE_LIMIT]
    assert loop.of(m.WaitStarted) == []


def test_a_done_before_a_usage_limit_that_the_gates_refuse_is_mended_after_the_reset() -> None:
    loop = Loop(folder_spec(gates=["check"]), [Turn(does=both(DONE, BREAKS), stream=LIMIT, run=exited(1)), Turn(does=MENDS)])
    assert loop.run().kind is OutcomeKind.DONE
    assert endings(loop) == [Ending.USAGE_LIMIT, Ending.OK]
    (wait,) = waits(loop)
    before, after_it = [entry for entry in loop.entries if isinstance(entry, m.AttemptStarted)]
    assert before.at < wait.at < wait.at + 900 <= wait.until <= after_it.at


def test_a_done_that_a_person_makes_during_a_wait_ends_the_wait_and_no_agent_runs() -> None:
    loop = Loop(folder_spec(gates=["check"]), [Turn(stream=LIMIT, run=exited(1)), IDLES])
    loop.clock = MidWait(lambda: DONE(loop.workspace))
    assert loop.run().kind is OutcomeKind.DONE
    assert endings(loop) == [Ending.USAGE_LIMIT]
    assert found_complete(loop) == [True]


def test_a_done_that_a_person_makes_between_two_runs_is_seen_in_the_delay() -> None:
    loop = Loop(folder_spec(gates=["check"], delay_s=60.0), [IDLES, IDLES])
    loop.clock = MidWait(lambda: DONE(loop.workspace))
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.agent.prompts) == 1
    (wait,) = waits(loop)
    assert loop.clock.at < wait.until


def test_other_work_is_not_looked_at_during_a_wait() -> None:
    loop = Loop(spec(Kind.CHECKLIST, limits=Limits(iterations=1, calls=9)), [Turn(stream=LIMIT, run=exited(1)), IDLES])
    loop.clock = MidWait(lambda: edit("PRD.md", tick_all)(loop.workspace))
    loop.run()
    assert not any(found_complete(loop))


def test_a_done_that_was_taken_away_again_does_not_count() -> None:
    loop = Loop(
        folder_spec(gates=["check"], iterations=2), [Turn(does=both(DONE, BREAKS)), Turn(does=both(MENDS, lambda w: w.restore("DONE", None)))]
    )
    assert loop.run().limit == "iterations"


# --- before an attempt, and at a limit --------------------------------------------------------------------------------


@pytest.mark.parametrize(("gates", "strength"), [((), Strength.ATTESTED), (("check",), Strength.PROVED)])
def test_a_done_before_the_first_run_needs_no_run(gates: tuple[str, ...], strength: Strength) -> None:
    loop = Loop(folder_spec(gates=gates), [IDLES], files=FINISHED)
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, strength)
    assert loop.agent.prompts == []


def test_a_done_before_the_first_run_with_a_red_gate_is_worked_on() -> None:
    loop = Loop(folder_spec(gates=["check"]), [Turn(does=MENDS)], files=FINISHED | {"code": b"broken"})
    assert loop.run().kind is OutcomeKind.DONE
    assert "failed with exit code 1" in loop.agent.prompts[0]


@pytest.mark.parametrize("gates", [(), ("check",)])
def test_a_done_that_a_person_writes_between_two_runs_needs_no_further_run(gates: tuple[str, ...]) -> None:
    loop = Loop(folder_spec(gates=gates, delay_s=5.0), [IDLES])
    after(m.WaitStarted, loop, DONE)
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.agent.prompts) == 1


COMPLETES = {Kind.CHECKLIST: edit("PRD.md", tick_all), Kind.FOLDER: DONE}


@pytest.mark.parametrize("kind", COMPLETES)
def test_work_that_is_found_complete_at_a_limit_is_done(kind: Kind) -> None:
    loop = Loop(spec(kind, gates=["check"], limits=Limits(iterations=1, calls=9)), [IDLES])
    after(m.IterationEnded, loop, COMPLETES[kind])
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert loop.of(m.LimitMet) == []
    assert len(loop.agent.prompts) == 1


@pytest.mark.parametrize("kind", COMPLETES)
def test_work_that_a_person_completes_after_the_limit_is_done_when_the_loop_is_resumed(kind: Kind) -> None:
    loop = Loop(spec(kind, gates=["check"], limits=Limits(iterations=1, calls=9)), [IDLES])
    assert loop.run().limit == "iterations"
    COMPLETES[kind](loop.workspace)
    assert loop.resume().kind is OutcomeKind.DONE
    assert len(loop.agent.prompts) == 1


@pytest.mark.parametrize("kind", list(Kind))
def test_a_limit_without_completion_is_a_limit(kind: Kind) -> None:
    loop = Loop(spec(kind, gates=["check"], limits=Limits(iterations=2, calls=9)), [IDLES])
    outcome = loop.run()
    assert (outcome.kind, outcome.limit) == (OutcomeKind.LIMIT, "iterations")
    assert outcome == loop.of(m.LimitMet)[0].outcome  # type: ignore[union-attr]
    assert loop.of(m.CheckStarted) == []


@pytest.mark.parametrize("kind", COMPLETES)
def test_complete_work_whose_gates_are_red_at_the_limit_is_a_limit(kind: Kind) -> None:
    loop = Loop(spec(kind, gates=["check"], limits=Limits(iterations=1, calls=9)), [Turn(does=both(COMPLETES[kind], BREAKS), says="x")])
    assert loop.run().limit == "iterations"
    assert loop.gates.runs == 1


@pytest.mark.parametrize(
    "bound",
    [{"iterations": 1}, {"calls": 1}, {"cost_usd": 0.01}, {"minutes": 1.0}, {"instant_deaths": 1}],
    ids=lambda bound: next(iter(bound)),
)
@pytest.mark.parametrize("complete", [False, True])
def test_neither_delay_nor_back_off_is_waited_out_where_a_bound_forbids_what_would_follow(bound: dict[str, float], *, complete: bool) -> None:
    turn = Turn(run=exited(1, seconds=1)) if "instant_deaths" in bound else IDLES
    loop = Loop(folder_spec(gates=["check"], delay_s=3600.0, backoff_s=600.0, **bound), [turn])
    after(m.IterationEnded, loop, DONE if complete else nothing)
    outcome = loop.run()
    assert outcome.kind is (OutcomeKind.DONE if complete else OutcomeKind.LIMIT)
    assert loop.of(m.WaitStarted) == []


@pytest.mark.parametrize(("delay_s", "backoff_s", "waits"), [(30.0, 4.0, 30.0), (1.0, 40.0, 30.0), (0.0, 40.0, 30.0), (30.0, 0.0, 30.0)])
def test_after_a_failed_run_the_later_of_delay_and_back_off_is_waited_for(delay_s: float, backoff_s: float, waits: float) -> None:
    loop = Loop(folder_spec(iterations=2, delay_s=delay_s, backoff_s=backoff_s), [FAILS])
    loop.run()
    (wait,) = (entry for entry in loop.entries if isinstance(entry, m.WaitStarted))
    assert wait.until - wait.at == pytest.approx(waits, abs=0.1)
    assert wait.why == ("back-off after a failed attempt" if backoff_s * 0.75 > delay_s else "delay between iterations")


# --- what the agent may not do, and what it is told -------------------------------------------------------------------


def test_a_changed_task_is_put_back_and_told() -> None:
    loop = Loop(folder_spec(), [Turn(does=UNDOES), CLOSES])
    assert loop.run().kind is OutcomeKind.DONE
    assert loop.workspace.files["TASK.md"] == b"Write the parser\n"
    assert "TASK.md was changed; it is as it was" in loop.agent.prompts[1]


def test_a_claim_without_a_done_is_answered() -> None:
    loop = Loop(folder_spec(), [Turn(says=PROMISE), CLOSES])
    assert loop.run().kind is OutcomeKind.DONE
    assert (
        "You said that everything is complete, but there is no file DONE in the task folder: only that file ends the task." in loop.agent.prompts[1]
    )
    assert "You said" not in loop.agent.prompts[0]


def test_what_red_gates_said_of_a_run_that_failed_is_told() -> None:
    loop = Loop(folder_spec(gates=["check"], iterations=2), [replace(FAILS, does=both(DONE, BREAKS)), IDLES])
    loop.run()
    assert 'Guardrail "check" failed' in loop.agent.prompts[1]


def test_what_is_done_is_committed_also_where_the_run_failed() -> None:
    committing = replace(folder_spec(gates=["check"]), scm=Scm(tasks=("commit",)))
    loop = Loop(committing, [replace(FAILS, does=DONE)])
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.workspace.commits) == 1


def test_the_task_reaches_the_prompt_as_it_is_braces_and_all() -> None:
    loop = Loop(folder_spec(), [CLOSES], files={"TASK.md": b"Print {task} and {iteration}\n"})
    loop.run()
    assert loop.agent.prompts == ["Print {task} and {iteration}\n"]


def test_the_limit_of_a_task_folder_counts_no_tasks() -> None:
    assert Loop(folder_spec(iterations=1), [IDLES]).run().reason == "1 of 1 iterations are used up"


# --- what cannot be ended ---------------------------------------------------------------------------------------------


def test_a_process_that_cannot_be_ended_fails_the_loop_whatever_else_is_well() -> None:
    loop = Loop(
        spec(limits=Limits(iterations=9, calls=9)), [Turn(does=edit("PRD.md", tick_all), says=PROMISE, run=replace(exited(), leaked="4711 (sleep)"))]
    )
    outcome = loop.run()
    assert (outcome.kind, len(loop.agent.prompts)) == (OutcomeKind.FAILED, 1)
    assert "4711 (sleep)" in outcome.reason


@pytest.mark.parametrize("kind", list(Kind))
def test_a_gate_whose_processes_cannot_be_ended_fails_the_loop_although_it_is_green(kind: Kind) -> None:
    loop = Loop(spec(kind, gates=["check"]), [Turn(does=both(DONE, edit("PRD.md", tick_all)), says=PROMISE)])
    leak = Verdict(name="check", result=Result.PASSED, reason="left a process that cannot be ended: 4711", fatal=True)
    patched(loop.gates, "run", lambda *_: leak)
    outcome = loop.run()
    assert (outcome.kind, outcome.reason) == (OutcomeKind.FAILED, "the gate check left a process that cannot be ended: 4711")
    assert loop.of(m.IterationEnded) == []


def test_gates_that_failed_the_loop_run_again_when_it_is_resumed() -> None:
    loop = Loop(folder_spec(gates=["check"]), [CLOSES])
    run = loop.gates.run
    patched(loop.gates, "run", lambda *_: Verdict(name="check", result=Result.PASSED, reason="left a process", fatal=True))
    assert loop.run().kind is OutcomeKind.FAILED
    patched(loop.gates, "run", run)
    assert (loop.resume().strength, loop.gates.runs, len(loop.agent.prompts)) == (Strength.PROVED, 1, 1)


def test_what_a_run_left_and_what_the_machine_slept_decides_nothing() -> None:
    slept = RunReport(ended_by=EndedBy.EXIT, exit_code=0, duration_s=60.0, strays=3, suspended_s=9000.0)
    loop = Loop(folder_spec(minutes=2.0), [replace(CLOSES, run=slept)])
    assert loop.run().kind is OutcomeKind.DONE

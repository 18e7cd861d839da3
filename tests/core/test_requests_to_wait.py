"""Requests to wait: the loop stands still for what was asked for in its last attempt, once, and undoes nothing that a person did meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loops import (
    ASKS_TO_WAIT,
    CLOSES,
    DONE,
    FAILS,
    IDLES,
    NOT_THERE,
    POSTS,
    REQUEST,
    WORKS,
    Does,
    Loop,
    after,
    both,
    edit,
    exited,
    folder_spec,
    patched,
    spec,
)

from ralphloop.core import messages as m
from ralphloop.core.model import EndedBy, Ending, Kind, Limits, OutcomeKind, Scm, StreamReport, UsageLimit
from ralphloop.testing.memory import MemoryWorkspace
from ralphloop.testing.scripted import Turn

TASK = {"TASK.md": b"Write the parser\n"}
LIMIT = StreamReport(limit=UsageLimit(resets_at=None, text="you have hit your limit"), error="limit")
NEW_TASK = edit("TASK.md", lambda _: b"Write the printer\n")


class Crash(BaseException):
    """`kill -9`."""


def crash(_workspace: MemoryWorkspace) -> None:
    raise Crash


def endings(loop: Loop) -> list[Ending]:
    return [entry.ending for entry in loop.entries if isinstance(entry, m.ChangesJudged)]


# --- when one counts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [POSTS, ASKS_TO_WAIT, replace(POSTS, says=""), replace(FAILS, does=REQUEST), replace(ASKS_TO_WAIT, does=REQUEST)])
def test_a_request_that_was_made_in_the_attempt_ends_the_loop_waiting(turn: Turn) -> None:
    loop = Loop(folder_spec(gates=["check"]), [turn])
    assert loop.run().kind is OutcomeKind.WAITING
    assert endings(loop) == [Ending.WAITING]
    assert loop.gates.runs == 0


def test_exit_code_42_beside_a_request_is_waited_for_once() -> None:
    loop = Loop(folder_spec(), [replace(ASKS_TO_WAIT, does=REQUEST), IDLES, CLOSES])
    assert loop.run().kind is OutcomeKind.WAITING
    assert loop.resume().kind is OutcomeKind.DONE
    assert endings(loop) == [Ending.WAITING, Ending.OK, Ending.OK]


def test_a_request_that_is_older_than_the_loop_does_not_count() -> None:
    loop = Loop(folder_spec(iterations=2), [IDLES], files=TASK | {"WAIT_WITHOUT_RESTART": b"long ago"})
    assert loop.run().limit == "iterations"


def test_a_request_that_was_made_between_two_iterations_does_not_count() -> None:
    loop = Loop(folder_spec(iterations=3, delay_s=5.0), [IDLES])
    after(m.WaitStarted, loop, REQUEST)
    assert loop.run().limit == "iterations"


def test_a_request_that_is_made_anew_counts_anew() -> None:
    loop = Loop(folder_spec(), [POSTS, POSTS, CLOSES])
    assert [loop.run().kind, loop.resume().kind, loop.resume().kind] == [OutcomeKind.WAITING, OutcomeKind.WAITING, OutcomeKind.DONE]


def test_a_request_of_an_attempt_that_was_lost_is_waited_for() -> None:
    loop = Loop(folder_spec(), [Turn(does=both(REQUEST, crash)), CLOSES])
    with pytest.raises(Crash):
        loop.run()
    assert loop.resume().kind is OutcomeKind.WAITING
    assert endings(loop) == [Ending.WAITING]
    assert loop.resume().kind is OutcomeKind.DONE


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (NOT_THERE, OutcomeKind.FAILED),
        (Turn(stream=StreamReport(fatal="not logged in")), OutcomeKind.FAILED),
        (Turn(run=replace(exited(), leaked="4711")), OutcomeKind.FAILED),
        (Turn(run=exited(None, signal=15, ended_by=EndedBy.STOPPED)), OutcomeKind.INTERRUPTED),
    ],
)
def test_a_fatal_ending_and_a_person_outrank_a_request(turn: Turn, kind: OutcomeKind) -> None:
    assert Loop(folder_spec(), [replace(turn, does=REQUEST)]).run().kind is kind


def test_a_usage_limit_outranks_a_request() -> None:
    loop = Loop(folder_spec(), [Turn(does=REQUEST, stream=LIMIT, run=exited(1)), Turn(does=DONE)])
    loop.run()
    assert endings(loop)[0] is Ending.USAGE_LIMIT


# --- how the loop goes on ---------------------------------------------------------------------------------------------


def test_a_request_is_put_aside_when_the_loop_goes_on() -> None:
    loop = Loop(folder_spec(), [POSTS, IDLES, CLOSES])
    assert loop.run().kind is OutcomeKind.WAITING
    assert "WAIT_WITHOUT_RESTART" in loop.workspace.files
    assert loop.resume().kind is OutcomeKind.DONE
    assert "WAIT_WITHOUT_RESTART" not in loop.workspace.files


def test_a_request_of_a_loop_that_ended_for_another_reason_is_left_where_it_is() -> None:
    loop = Loop(folder_spec(), [replace(NOT_THERE, does=REQUEST), CLOSES])
    loop.run()
    loop.resume()
    assert "WAIT_WITHOUT_RESTART" in loop.workspace.files


def test_the_loop_goes_on_in_the_same_iteration_with_another_attempt() -> None:
    loop = Loop(folder_spec(), [POSTS, CLOSES])
    loop.run()
    assert loop.resume().kind is OutcomeKind.DONE
    assert len(loop.of(m.IterationStarted)) == 1
    assert [(entry.iteration, entry.attempt) for entry in loop.entries if isinstance(entry, m.AttemptStarted)] == [(1, 1), (1, 2)]


WAITS = ASKS_TO_WAIT, OutcomeKind.WAITING
IS_NOT_THERE = NOT_THERE, OutcomeKind.FAILED
IS_STOPPED = Turn(run=exited(None, signal=15, ended_by=EndedBy.STOPPED)), OutcomeKind.INTERRUPTED
BY_A_PERSON: dict[Kind, tuple[str, bytes]] = {
    Kind.CHECKLIST: ("PRD.md", b"- [x] Something else\n"),
    Kind.FOLDER: ("TASK.md", b"Something else\n"),
}


@pytest.mark.parametrize("kind", BY_A_PERSON)
@pytest.mark.parametrize(("turn", "ended"), [WAITS, IS_NOT_THERE, IS_STOPPED], ids=["waiting", "failed", "interrupted"])
def test_what_a_person_edits_while_the_loop_stands_still_between_two_attempts_is_not_undone(turn: Turn, ended: OutcomeKind, kind: Kind) -> None:
    path, content = BY_A_PERSON[kind]
    loop = Loop(spec(kind, gates=["check"], limits=Limits(iterations=1, calls=9)), [turn, Turn(does=DONE)])
    assert loop.run().kind is ended
    loop.workspace.files[path] = content
    assert loop.resume().kind is OutcomeKind.DONE
    assert loop.workspace.files[path] == content
    assert loop.of(m.FilesRestored) == []


@pytest.mark.parametrize("kind", BY_A_PERSON)
def test_what_a_person_edits_after_a_stop_during_a_back_off_is_not_undone(kind: Kind) -> None:
    path, content = BY_A_PERSON[kind]
    loop = Loop(spec(kind, gates=["check"], limits=Limits(iterations=1, calls=9)), [FAILS, Turn(does=DONE)])
    after(m.WaitStarted, loop, lambda _: loop.requests.waiting.append(m.RequestSeen(at=loop.clock.at, kind=m.STOP, author="Ann")))
    assert loop.run().kind is OutcomeKind.INTERRUPTED
    loop.workspace.files[path] = content
    assert loop.resume().kind is OutcomeKind.DONE
    assert loop.workspace.files[path] == content
    assert len(loop.of(m.IterationStarted)) == 1


def test_what_the_agent_did_before_the_stop_is_not_taken_for_a_persons_edit() -> None:
    def undoes_and_is_stopped(workspace: MemoryWorkspace) -> None:
        NEW_TASK(workspace)
        loop.requests.waiting.append(m.RequestSeen(at=loop.clock.at, kind=m.STOP, author="Ann"))

    loop = Loop(folder_spec(attempts=3, backoff_s=5.0), [replace(FAILS, does=undoes_and_is_stopped), CLOSES])
    assert loop.run().kind is OutcomeKind.INTERRUPTED
    assert loop.resume().kind is OutcomeKind.DONE
    assert loop.workspace.files["TASK.md"] == TASK["TASK.md"]


def test_a_crash_during_a_back_off_launders_nothing() -> None:
    """Nobody can say who changed the file, and the iteration is still open: it is as it was."""
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=9, calls=9)), [FAILS, WORKS])
    wait = loop.clock.wait
    patched(loop.clock, "wait", lambda *_: crash(loop.workspace))
    with pytest.raises(Crash):
        loop.run()
    patched(loop.clock, "wait", wait)
    loop.workspace.files["PRD.md"] = b"- [x] Nothing to do\n"
    assert loop.resume().kind is OutcomeKind.DONE
    assert all(task in loop.tasks for task in ("[x] Write the parser", "[x] Write the printer", "[x] Write the manual"))


def finishing(does: Does) -> Loop:
    """A loop that waits, and somebody does something meanwhile."""
    loop = Loop(folder_spec(gates=["check"]), [POSTS, IDLES])
    assert loop.run().kind is OutcomeKind.WAITING
    does(loop.workspace)
    return loop


def test_a_done_that_a_person_writes_while_the_loop_waits_ends_it_without_another_attempt() -> None:
    loop = finishing(DONE)
    assert loop.resume().kind is OutcomeKind.DONE
    assert len(loop.agent.prompts) == 1


def test_a_done_that_a_person_writes_while_the_loop_waits_ends_nothing_while_a_gate_is_red() -> None:
    loop = finishing(both(DONE, edit("code", lambda _: b"broken")))
    loop.agent.turns = [POSTS, Turn(does=edit("code", lambda _: b"fine"))]
    assert loop.resume().kind is OutcomeKind.DONE
    assert 'Guardrail "check" failed' in loop.agent.prompts[1]


@pytest.mark.parametrize(("worked", "commits"), [(edit("code", lambda _: b"fine"), 1), (None, 0)], ids=["work", "no work"])
def test_what_the_agent_did_before_a_person_finished_the_task_is_committed(worked: Does | None, commits: int) -> None:
    committing = replace(folder_spec(gates=["check"]), scm=Scm(tasks=("commit",)))
    loop = Loop(committing, [replace(ASKS_TO_WAIT, does=worked)])
    assert loop.run().kind is OutcomeKind.WAITING
    DONE(loop.workspace)
    assert loop.resume().kind is OutcomeKind.DONE
    assert len(loop.workspace.commits) == commits


def test_a_done_that_a_person_writes_after_a_stop_during_a_usage_limit_is_not_kept_waiting() -> None:
    loop = Loop(folder_spec(gates=["check"]), [Turn(stream=LIMIT, run=exited(1))])
    after(m.WaitStarted, loop, lambda _: loop.requests.waiting.append(m.RequestSeen(at=loop.clock.at, kind=m.STOP, author="Ann")))
    wait = loop.clock.wait
    patched(loop.clock, "wait", lambda *_: False)
    assert loop.run().kind is OutcomeKind.INTERRUPTED
    patched(loop.clock, "wait", wait)
    DONE(loop.workspace)
    asked = loop.clock.at
    assert loop.resume().kind is OutcomeKind.DONE
    assert loop.clock.at - asked < 1.0
    assert len(loop.agent.prompts) == 1


def test_a_loop_that_died_before_it_had_written_that_it_waits_waits_and_asks_the_agent_nothing() -> None:
    loop = Loop(folder_spec(), [POSTS])
    loop.run()
    assert isinstance(loop.journal.entries.pop(), m.LoopEnded)
    assert loop.resume().kind is OutcomeKind.WAITING
    assert len(loop.of(m.AttemptStarted)) == 1

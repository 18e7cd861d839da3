"""What resume does about the action that was open: the table of docs/explanation/crash-and-resume.md, a crash test for each row."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from loops import DIES, DONE, FINISHES, IDLES, PROMISE, WORKS, Loop, both, child_loop, edit, folder_spec, patched, spec, tick

from ralphloop.core import messages as m
from ralphloop.core.decide import ON_RESUME, STEPS
from ralphloop.core.evolve import fold
from ralphloop.core.model import Limits, OutcomeKind, Result, Scm, Strength, Verdict
from ralphloop.testing.scripted import Turn


class Crash(BaseException):
    """`kill -9`."""


def crash(*_arguments: object) -> None:
    raise Crash


def crashed_once(original: Callable[..., object], *, after: bool = False) -> Callable[..., object]:
    """The call crashes the first time, before or after it has done its work."""
    calls = iter(range(1000))

    def call(*arguments: object, **named: object) -> object:
        first = next(calls) == 0
        if first and not after:
            raise Crash
        result = original(*arguments, **named)
        if first:
            raise Crash
        return result

    return call


def crash_and_resume(loop: Loop) -> None:
    with pytest.raises(Crash):
        loop.run()
    assert loop.resume().kind is OutcomeKind.DONE


def test_every_step_has_a_row() -> None:
    assert set(ON_RESUME) == set(m.Step) == set(STEPS.values())


def test_row_run_agent_is_lost_and_counted_as_failed() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=9, calls=9)), [Turn(does=crash), WORKS])
    crash_and_resume(loop)
    assert len(loop.of(m.AttemptLost)) == 1
    assert len(loop.of(m.AttemptStarted)) == 4
    assert len(loop.of(m.IterationStarted)) == 3


def test_row_run_agent_that_dies_with_its_host_every_time_is_not_retried_for_ever() -> None:
    loop = Loop(spec(limits=Limits(iterations=2, calls=60, backoff_s=0)), [Turn(does=crash)])
    for _ in range(6):
        with pytest.raises(Crash):
            loop.resume() if loop.entries else loop.run()
    assert loop.resume().limit == "iterations"


def test_row_run_agent_judges_the_disk_against_the_snapshot_of_that_iteration() -> None:
    def delete_and_die(_workspace: object) -> None:
        edit("PRD.md", lambda _: b"- [x] Nothing to do\n")(loop.workspace)
        raise Crash

    loop = Loop(spec(gates=["check"]), [Turn(does=delete_and_die), WORKS])
    crash_and_resume(loop)
    assert all(task in loop.tasks for task in ("[x] Write the parser", "[x] Write the printer", "[x] Write the manual"))


def test_row_judge_is_done_again() -> None:
    loop = Loop(spec(gates=["check"]), [WORKS])
    patched(loop.workspace, "describe_moves", crashed_once(loop.workspace.describe_moves))
    crash_and_resume(loop)
    assert len(loop.of(m.AttemptStarted)) == 3


@pytest.mark.parametrize("after", [False, True])
def test_row_restore_is_done_again(*, after: bool) -> None:
    replaces = Turn(does=edit("PRD.md", lambda _: b"- [ ] Rest\n"), says=PROMISE)
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=9, calls=9)), [replaces, WORKS])
    patched(loop.workspace, "restore", crashed_once(loop.workspace.restore, after=after))
    with pytest.raises(Crash):
        loop.run()
    loop.resume()
    assert "Write the parser" in loop.tasks
    assert any("was deleted; it is back" in prompt for prompt in loop.agent.prompts)


@pytest.mark.parametrize("after", [False, True])
def test_row_run_gates_is_done_again(*, after: bool) -> None:
    loop = Loop(spec(gates=["check"]), [WORKS])
    patched(loop.gates, "run", crashed_once(loop.gates.run, after=after))
    crash_and_resume(loop)
    assert len(loop.of(m.AttemptStarted)) == 3


def test_row_verify_is_done_again() -> None:
    loop = Loop(spec(gates=["check"]), [WORKS])
    reads: list[object] = []
    read = loop.workspace.read

    def dying_in_verify(path: str) -> bytes | None:
        if loop.entries and fold(loop.entries).step is m.Step.VERIFY and not reads:
            reads.append(path)
            raise Crash
        return read(path)

    patched(loop.workspace, "read", dying_in_verify)
    crash_and_resume(loop)
    assert reads
    assert len(loop.of(m.AttemptStarted)) == 3


@pytest.mark.parametrize("after", [False, True])
def test_row_commit_looks_for_its_trailer_else_commits_with_the_recorded_message(*, after: bool) -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit",), message="Work on {task}")), [WORKS])
    patched(loop.workspace, "commit", crashed_once(loop.workspace.commit, after=after))
    crash_and_resume(loop)
    assert [message.splitlines()[0] for message, _ in loop.workspace.commits] == [
        "Work on Write the parser",
        "Work on Write the printer",
        "Work on Write the manual",
    ]


def test_row_push_is_done_again() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit", "push"))), [WORKS])
    patched(loop.workspace, "push", crashed_once(loop.workspace.push, after=True))
    crash_and_resume(loop)
    assert len(loop.workspace.commits) == 3
    assert len([entry for entry in loop.entries if isinstance(entry, m.ScmEnded) and entry.step is m.Step.PUSH]) == 3


def test_row_merge_is_done_again() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("merge main",))), [WORKS])
    patched(loop.workspace, "merge", crashed_once(loop.workspace.merge))
    crash_and_resume(loop)
    assert len([entry for entry in loop.entries if isinstance(entry, m.ScmEnded)]) == 3


def test_row_wait_goes_on_to_the_recorded_moment() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=9, calls=9, delay_s=500)), [WORKS])
    patched(loop.clock, "wait", crashed_once(loop.clock.wait))
    with pytest.raises(Crash):
        loop.run()
    (started,) = [entry for entry in loop.entries if isinstance(entry, m.WaitStarted)]
    loop.clock.at += 100
    assert loop.resume().kind is OutcomeKind.DONE
    ended = next(entry for entry in loop.entries if isinstance(entry, m.WaitEnded))
    assert started.until <= ended.at < started.until + 1


@pytest.mark.parametrize("after", [False, True])
def test_row_await_children_is_done_again(*, after: bool) -> None:
    loop = Loop(folder_spec(gates=["check"]), [])
    loop.agent.turns = [Turn(does=both(DONE, child_loop(loop, 90.0)))]
    patched(loop.clock, "wait", crashed_once(loop.clock.wait, after=after))
    with pytest.raises(Crash):
        loop.run()
    assert fold(loop.entries).step is m.Step.AWAIT_CHILDREN
    assert loop.resume().kind is OutcomeKind.DONE
    assert len(loop.of(m.ChildrenAwaited)) == len(loop.agent.prompts) == 1


def test_row_await_children_has_its_whole_time_again() -> None:
    loop = Loop(folder_spec(), [])
    loop.agent.turns = [Turn(does=both(DONE, child_loop(loop, 5000.0)))]
    patched(loop.clock, "wait", crashed_once(loop.clock.wait))
    with pytest.raises(Crash):
        loop.run()
    loop.clock.at += 4800
    assert loop.resume().kind is OutcomeKind.DONE


def test_row_await_children_judges_what_they_did_while_nobody_looked_against_the_snapshot_of_that_iteration() -> None:
    loop = Loop(folder_spec(), [])
    loop.agent.turns = [Turn(does=both(DONE, child_loop(loop, 90.0)))]
    patched(loop.clock, "wait", crashed_once(loop.clock.wait))
    with pytest.raises(Crash):
        loop.run()
    edit("TASK.md", lambda _: b"Do nothing\n")(loop.workspace)
    assert loop.resume().kind is OutcomeKind.DONE
    assert loop.workspace.files["TASK.md"] == b"Write the parser\n"


def test_a_merge_that_moves_the_tree_does_not_end_the_loop_on_a_tree_that_no_gate_saw() -> None:
    loop = Loop(
        spec(gates=["check"], scm=Scm(tasks=("merge main",))),
        [
            Turn(
                does=edit("PRD.md", lambda _: b"".join([b"# Plan\n\n- [x] Write the parser\n- [x] Write the printer\n- [x] Write the manual\n"])),
                says="all",
            )
        ],
    )
    moved = iter([True])

    def merge(branch: str) -> tuple[Verdict, str | None]:
        passed = Verdict(name=f"merge {branch}", result=Result.PASSED, reason="merged")
        if next(moved, False):
            loop.workspace.files["theirs"] = b"broken"
            loop.workspace.commits.append(("theirs", dict(loop.workspace.files)))
        return passed, loop.workspace.head

    patched(loop.workspace, "merge", merge)
    mends = Turn(does=edit("theirs", lambda _: b"fine"), says="mended")
    loop.agent.turns = [*loop.agent.turns, mends]
    outcome = loop.run()
    assert (outcome.kind, outcome.strength) == (OutcomeKind.DONE, Strength.PROVED)
    assert len(loop.agent.prompts) == 2


def test_a_merge_made_before_a_crash_does_not_end_the_loop_on_a_tree_that_no_gate_saw() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("merge main",))), [FINISHES, Turn(does=edit("theirs", lambda _: b"fine"), says="mended")])

    def merge_and_die(branch: str) -> tuple[Verdict, str | None]:
        loop.workspace.files["theirs"] = b"broken"
        loop.workspace.commits.append(("theirs", dict(loop.workspace.files)))
        patched(
            loop.workspace, "merge", lambda branch: (Verdict(name=branch, result=Result.PASSED, reason="already up to date"), loop.workspace.head)
        )
        raise Crash(branch)

    patched(loop.workspace, "merge", merge_and_die)
    crash_and_resume(loop)
    assert loop.workspace.files["theirs"] == b"fine"


def test_a_loop_that_met_its_limit_goes_on_when_the_limit_is_raised() -> None:
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=1, calls=9)), [WORKS])
    assert loop.run().limit == "iterations"
    raised = spec(gates=["check"], limits=Limits(iterations=5, calls=9))
    assert loop.resume(raised).kind is OutcomeKind.DONE
    assert len(loop.of(m.IterationStarted)) == 3


def test_a_loop_that_was_stopped_goes_on_where_it_was() -> None:
    def tick_and_stop(_workspace: object) -> None:
        edit("PRD.md", tick)(loop.workspace)
        loop.requests.waiting.append(m.RequestSeen(at=1.0, kind="stop", author="Ann"))

    loop = Loop(spec(gates=["check"]), [Turn(does=tick_and_stop, says="one"), WORKS])
    assert loop.run().kind is OutcomeKind.INTERRUPTED
    assert loop.resume().kind is OutcomeKind.DONE
    assert len(loop.of(m.IterationStarted)) == 3


def stopped_while_the_gates_ran(then: Callable[[Loop], None], **settings: object) -> Loop:
    """A loop that a person stopped while its gates ran, changed, and took up again."""
    loop = Loop(spec(gates=["check"], **settings), [FINISHES, WORKS])  # type: ignore[arg-type]
    run = loop.gates.run

    def stopping(*arguments: object) -> object:
        loop.requests.waiting.append(m.RequestSeen(at=1.0, kind=m.STOP, author="Ann"))
        return run(*arguments)  # type: ignore[arg-type]

    patched(loop.gates, "run", stopping)
    assert loop.run().kind is OutcomeKind.INTERRUPTED
    patched(loop.gates, "run", run)
    then(loop)
    return loop


def test_gates_that_ran_before_a_stop_are_run_again_on_what_a_person_made_of_the_tree() -> None:
    loop = stopped_while_the_gates_ran(lambda loop: edit("code", lambda _: b"broken")(loop.workspace), limits=Limits(iterations=1, calls=9))
    assert loop.resume().limit == "iterations"


def test_a_task_that_a_person_added_during_a_stop_is_kept_and_done() -> None:
    loop = stopped_while_the_gates_ran(lambda loop: edit("PRD.md", lambda content: content + b"- [ ] Write the index\n")(loop.workspace))
    assert loop.resume().kind is OutcomeKind.DONE
    assert "- [x] Write the index" in loop.tasks
    assert not any(entry.restorations for entry in loop.entries if isinstance(entry, m.WorkVerified))


def test_a_task_that_a_person_added_during_a_push_keeps_the_loop_going() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit", "push"))), [FINISHES, WORKS])
    push, added = loop.workspace.push, iter([b"- [ ] Write the index\n"])

    def slow_push() -> Verdict:
        edit("PRD.md", lambda content: content + next(added, b""))(loop.workspace)
        return push()

    patched(loop.workspace, "push", slow_push)
    assert loop.run().kind is OutcomeKind.DONE
    assert "- [x] Write the index" in loop.tasks


def test_a_commit_that_failed_is_still_owed_when_the_work_is_found_complete() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit",)), limits=Limits(iterations=3, calls=9)), [FINISHES, IDLES])
    commit, failures = loop.workspace.commit, iter([True])

    def failing(message: str, trailer: str, fingerprint: str) -> tuple[Verdict, str | None]:
        if next(failures, False):
            return Verdict(name="commit", result=Result.FAILED, reason="HEAD is locked"), None
        return commit(message, trailer, fingerprint)

    patched(loop.workspace, "commit", failing)
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.workspace.commits) == 1


def test_the_recorded_message_is_committed_also_where_the_template_has_changed() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit",), message="Old")), [FINISHES])
    patched(loop.workspace, "commit", crashed_once(loop.workspace.commit))
    with pytest.raises(Crash):
        loop.run()
    assert loop.resume(spec(gates=["check"], scm=Scm(tasks=("commit",), message="New"))).kind is OutcomeKind.DONE
    assert loop.workspace.commits[0][0].startswith("Old")


def test_a_push_that_fails_does_not_swallow_the_commit_behind_it() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("push", "commit"))), [FINISHES])
    patched(loop.workspace, "push", lambda: Verdict(name="push", result=Result.FAILED, reason="no remote"))
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.workspace.commits) == 1


def test_a_commit_that_fails_is_not_pushed() -> None:
    loop = Loop(spec(gates=["check"], scm=Scm(tasks=("commit", "push")), limits=Limits(iterations=1, calls=9)), [FINISHES])
    patched(loop.workspace, "commit", lambda *_: (Verdict(name="commit", result=Result.FAILED, reason="locked"), None))
    loop.run()
    assert {entry.step for entry in loop.entries if isinstance(entry, m.ScmEnded)} == {m.Step.COMMIT}


def test_breakers_go_on_counting_through_a_crash_and_begin_anew_when_a_person_resumes() -> None:
    loop = Loop(spec(limits=Limits(iterations=30, calls=90)), [DIES, DIES, Turn(does=crash), DIES])
    with pytest.raises(Crash):
        loop.run()
    assert loop.resume().limit == "instant_deaths"
    died = len(loop.agent.prompts)
    assert loop.resume().limit == "instant_deaths"
    assert len(loop.agent.prompts) == died + 10


def test_a_request_of_a_kind_that_this_version_does_not_know_is_recorded_and_changes_nothing() -> None:
    loop = Loop(spec(gates=["check"]), [WORKS])
    loop.requests.waiting.append(m.RequestSeen(at=1.0, kind="approve", author="Ann", request_id=3))
    assert loop.run().kind is OutcomeKind.DONE
    assert len(loop.of(m.RequestTaken)) == 1

"""Values that the tests of the ledger write."""

from __future__ import annotations

from pathlib import Path

from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import AttemptLost, Entry, LoopStarted, Step, WaitStarted
from ralphloop.core.model import AgentSpec, Completion, Kind, Limits, LoopSpec, WorkSpec
from ralphloop.core.rollup import Rollup

GOLDEN = Path(__file__).parent / "golden"
ME = ProcessIdentity(boot_id="boot-1", pid=4711, started="123456")
OTHER = ProcessIdentity(boot_id="boot-1", pid=4712, started="123999")


def spec(loop_id: str = "loop-1", name: str = "demo", workspace: str = "/projects/demo") -> LoopSpec:
    return LoopSpec(
        loop_id=loop_id,
        name=name,
        workspace=workspace,
        work=WorkSpec(kind=Kind.CHECKLIST, task_file="PRD.md"),
        agent=AgentSpec(type="claude", command="claude"),
        completion=Completion(text="COMPLETE"),
        limits=Limits(iterations=30),
    )


def rollup(
    iteration: int = 0,
    *,
    status: str = "running",
    task: str | None = None,
    cost_usd: float = 0.0,
    outcome: str | None = None,
    exit_code: int | None = None,
) -> Rollup:
    return Rollup(
        status=status,
        iteration=iteration,
        max_iterations=30,
        remaining=None,
        total=None,
        task=task,
        step=Step.RUN_AGENT,
        calls=iteration,
        cost_usd=cost_usd,
        estimated=False,
        input_tokens=0,
        output_tokens=0,
        outcome=outcome,
        outcome_reason=None,
        strength=None,
        exit_code=exit_code,
        updated_at=float(iteration),
    )


def started() -> Entry:
    return LoopStarted(at=1.0, spec=spec())


def cheap(number: int, why: str = "nothing to do") -> Entry:
    return WaitStarted(at=float(number), until=number + 0.1, why=why)


def money(number: int) -> Entry:
    return AttemptLost(at=float(number), charged_usd=0.01)

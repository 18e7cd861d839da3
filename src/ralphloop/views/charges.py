"""What each attempt of a loop cost, read from its entries. Pure, and without the fold: whoever adds up a thousand loops reads six types of entry."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import get_args

from ralphloop.core import messages as m
from ralphloop.core.model import LoopSpec, Purpose, Usage
from ralphloop.ledger.queries import LoopRow

TELLING = (m.LoopStarted, m.LoopResumed, m.IterationStarted, m.AttemptStarted, m.AttemptEnded, m.AttemptLost)
SILENT = tuple(entry.__name__ for entry in get_args(m.Entry) if entry not in TELLING)
"""The types of entry that say nothing of money. One that is unknown here may: it is not among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one attempt cost, and whose it is. None: nobody said. `at`: when it ended; where nobody saw its end, when it began."""

    loop: str
    id: str
    workspace: str
    work: str | None = None
    task: str | None = None
    agent: str | None = None
    model: str | None = None
    iteration: int
    attempt: int | None = None
    purpose: Purpose | None = None
    at: float
    cost_usd: float | None = None
    estimated: bool = False
    usage: Usage = field(default_factory=Usage)
    duration_s: float = 0.0

    @property
    def day(self) -> str:
        """The local day of that moment."""
        return time.strftime("%Y-%m-%d", time.localtime(self.at))


def charges(row: LoopRow, entries: Iterable[m.Entry]) -> Iterator[Charge]:
    """A loop's attempts in their order; entries may be missing. One that began and has no end in the ledger has no price."""
    spec: LoopSpec | None = None
    turn: m.IterationStarted | None = None
    begun: m.AttemptStarted | None = None
    for entry in entries:
        match entry:
            case m.LoopStarted() | m.LoopResumed():
                spec = entry.spec
            case m.IterationStarted():
                turn = entry
            case m.AttemptStarted():
                if begun:
                    yield _charge(row, spec, turn, begun)
                begun = entry
            case m.AttemptEnded() | m.AttemptLost():
                yield _charge(row, spec, turn, begun, entry)
                begun = None
            case _:
                pass
    if begun:
        yield _charge(row, spec, turn, begun)


def _charge(
    row: LoopRow,
    spec: LoopSpec | None,
    turn: m.IterationStarted | None,
    begun: m.AttemptStarted | None,
    end: m.AttemptEnded | m.AttemptLost | None = None,
) -> Charge:
    number = begun.iteration if begun else turn.number if turn else 0
    ended = end if isinstance(end, m.AttemptEnded) else None
    moment = ended or begun or end
    assert moment is not None, "an attempt began, or ended"
    estimated = end is not None and (ended is None or ended.estimated)
    silent = end is None or (estimated and not end.charged_usd)
    return Charge(
        loop=row.name,
        id=row.id,
        workspace=row.workspace,
        work=spec.work.task_file or spec.work.task_dir if spec else None,
        task=turn.survey.task if turn and turn.number == number else None,
        agent=spec.agent.called if spec else None,
        model=(ended and ended.stream.model) or (spec.agent.model if spec else None),
        iteration=number,
        attempt=begun.attempt if begun else None,
        purpose=begun.purpose if begun else None,
        at=moment.at,
        cost_usd=None if silent or end is None else end.charged_usd,
        estimated=estimated,
        usage=ended.stream.usage if ended else Usage(),
        duration_s=ended.run.duration_s if ended else 0.0,
    )

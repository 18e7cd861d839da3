"""`ralph status`: the roll-up rows of the ledger as a table, and as JSON, a map of sessions by name.

This is a fast path: nothing that costs time may be imported here (no dataclasses, no json, no core); a test looks at the module list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ralphloop.views.figures import count, iso
from ralphloop.views.terminal import paint
from ralphloop.views.text import clip, clip_start, one_line, pad, tilde, width

if TYPE_CHECKING:
    from ralphloop.ledger.queries import LoopRow

    Alive = Callable[[LoopRow], bool]

COLOURS = {"complete": "green", "running": "yellow", "failed": "red", "crashed": "red"}
HEADINGS = ("NAME", "DIR", "ITERATION", "STATUS", "REMAINING")
ROOMY = (12, 23, 9, 9, 9)
NAME, DIR, STATUS = 0, 1, 3
NARROWEST = 8
GAP = "  "


def status_word(row: LoopRow, alive: Alive) -> str:
    """The state of a loop in one word; a loop that says it runs, and whose process is gone, has crashed."""
    return "crashed" if row.status == "running" and not alive(row) else row.status


def render_table(rows: Iterable[LoopRow], alive: Alive, *, home: str = "", columns: int = 0, colour: bool = False) -> str:
    """The table of loops, fitted to that many columns (0: no bound)."""
    cells = [_cells(row, alive, home) for row in rows]
    if not cells:
        return "No loops yet.\n"
    widths = _fitted(_natural(cells), columns)
    lines = [_line(HEADINGS, widths, None)]
    lines += [_line(line, widths, COLOURS.get(line[STATUS]) if colour else None) for line in cells]
    return "\n".join(lines) + "\n"


def _cells(row: LoopRow, alive: Alive, home: str) -> tuple[str, ...]:
    return (
        one_line(row.name),
        tilde(row.workspace, home),
        f"{row.iteration}/{row.max_iterations}" if row.max_iterations else f"{row.iteration}",
        status_word(row, alive),
        "-" if row.remaining is None else count(row.remaining, "task"),
    )


def _natural(cells: list[tuple[str, ...]]) -> list[int]:
    return [max(map(width, column)) for column in zip(HEADINGS, *cells, strict=True)]


def _fitted(natural: list[int], columns: int) -> list[int]:
    """Roomy where there is room; where there is not, directories give way first, and then names."""
    roomy = [max(pair) for pair in zip(natural, ROOMY, strict=True)]
    if not columns or _total(roomy) <= columns:
        return roomy
    for column in (DIR, NAME):
        excess = max(_total(natural) - columns, 0)
        natural[column] = max(natural[column] - excess, min(natural[column], NARROWEST))
    return natural


def _total(widths: list[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _line(line: tuple[str, ...], widths: list[int], colour: str | None) -> str:
    cut = [clip_start(text, size) if index == DIR else clip(text, size) for index, (text, size) in enumerate(zip(line, widths, strict=True))]
    padded = [pad(text, size) for text, size in zip(cut, widths, strict=True)]
    padded[STATUS] = paint(cut[STATUS], colour) + " " * (widths[STATUS] - width(cut[STATUS]))
    return GAP.join(padded).rstrip()


def render_json(rows: Iterable[LoopRow], alive: Alive) -> str:
    """The loops as `sessions` by name; of several loops with one name, the further ones are keyed `NAME (DIR)`."""
    import json  # noqa: PLC0415 - the table does not need it

    sessions: dict[str, dict[str, Any]] = {}
    for row in rows:
        sessions[_free_key(row, sessions)] = _session(row, alive)
    return json.dumps({"sessions": sessions}, indent=2) + "\n"


def _free_key(row: LoopRow, taken: Mapping[str, Any]) -> str:
    keys = (row.name, f"{row.name} ({row.workspace})", f"{row.name} ({row.workspace}) {row.id}")
    return next(key for key in keys if key not in taken or key == keys[-1])


def _session(row: LoopRow, alive: Alive) -> dict[str, Any]:
    word = status_word(row, alive)
    return {
        "name": row.name,
        "dir": row.workspace,
        "task_file": row.task_file,
        "pid": row.pid if word == "running" else None,  # a pid whose process is gone may be somebody else's by now
        "tmux_session": None,
        "started_at": iso(row.created_at),
        "iteration": row.iteration,
        "max_iterations": row.max_iterations,
        "status": word,
        "last_task_count": row.remaining,
        "completion_marker": None,
        "log_file": None,
        "outcome": row.outcome,
        "strength": row.strength,
        "exit_code": row.exit_code,
        "cost_usd": row.cost_usd,
        "kind": row.kind,
        "id": row.id,
    }

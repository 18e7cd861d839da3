"""`ralph show LOOP --json`: what a loop did, as plain data for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from ralphloop.core import messages as m
from ralphloop.core.model import LoopSpec, Outcome, Usage, Verdict
from ralphloop.core.state import LoopState, Turn
from ralphloop.views.facts import Moment, moments, turns
from ralphloop.views.figures import iso
from ralphloop.views.keys import obstacles


def show_as_dict(entries: Iterable[m.Entry], directory: Callable[[int, int], str]) -> dict[str, Any]:
    """The loop, its turns and its outcome, with nothing in it but what JSON knows."""
    history = list(moments(entries))
    first, last = history[0], history[-1].after
    return {
        **_spec(last.spec),
        "started_at": iso(first.entry.at),
        "runs": last.incarnation,
        "iterations": [_turn(turn, directory) for turn in turns(history)],
        "totals": {
            "iterations": last.iteration,
            "calls": last.spent.calls,
            "cost_usd": last.spent.cost_usd,
            "estimated": last.spent.estimated,
            "active_s": last.spent.active_s,
            "waits": last.spent.waits,
            **_tokens(last.spent.usage),
        },
        "outcome": _outcome(last.outcome),
    }


def _spec(spec: LoopSpec) -> dict[str, Any]:
    return {
        "id": spec.loop_id,
        "name": spec.name,
        "workspace": spec.workspace,
        "kind": spec.work.kind.value,
        "task_file": spec.work.task_file,
        "task_dir": spec.work.task_dir,
        "agent": {
            "name": spec.agent.called,
            "type": spec.agent.type,
            "command": spec.agent.command,
            "model": spec.agent.model,
            "permissions": spec.agent.permissions,
        },
        "gates": [gate.command for gate in spec.gates],
        "limits": asdict(spec.limits),
        "completion": {"text": spec.completion.text, "require": spec.completion.require.value},
    }


def _outcome(outcome: Outcome | None) -> dict[str, Any] | None:
    if outcome is None:
        return None
    strength = outcome.strength.value if outcome.strength else None
    return {
        "kind": outcome.kind.value,
        "reason": outcome.reason,
        "strength": strength,
        "limit": outcome.limit,
        "exit_code": outcome.exit_code,
    }


def _turn(seen: Sequence[Moment], directory: Callable[[int, int], str]) -> dict[str, Any]:
    opened = seen[0].after
    closed = next((each for each in seen if isinstance(each.entry, m.IterationEnded | m.CheckEnded)), None)
    last = closed.before if closed else next(each.after for each in reversed(seen) if each.after.turn is not None)
    turn = last.open_turn
    survey = opened.open_turn.survey
    return {
        "number": None if turn.checking else opened.iteration,
        "check": turn.checking,
        "started_at": iso(seen[0].entry.at),
        "ended_at": iso(closed.entry.at) if closed else None,
        "task": survey.task,
        "remaining_before": survey.remaining,
        "remaining_after": last.survey.remaining if last.survey else None,
        "edited": isinstance(seen[0].entry, m.IterationStarted) and seen[0].entry.edited,
        "attempts": [_attempt(each.after, directory) for each in seen if isinstance(each.entry, m.ChangesJudged)],
        "restored": [restored for each in seen if isinstance(each.entry, m.FilesRestored) for restored in _restored(each.entry, each.before)],
        "notes": list(turn.notes),
        "verdicts": [_verdict(verdict) for verdict in turn.verdicts],
        "scm": [_scm(each.entry) for each in seen if isinstance(each.entry, m.ScmEnded)],
        **_close(closed, last, turn),
    }


def _close(closed: Moment | None, last: LoopState, turn: Turn) -> dict[str, Any]:
    entry = closed.entry if closed else None
    if not isinstance(entry, m.IterationEnded | m.CheckEnded):
        return {"done": None, "strength": None, "claimed": None, "obstacles": []}
    return {
        "done": entry.done,
        "strength": entry.strength.value if entry.strength else None,
        "claimed": turn.last.claim.claimed if turn.last else False,
        "obstacles": [] if entry.done else list(obstacles(last)),
    }


def _attempt(state: LoopState, directory: Callable[[int, int], str]) -> dict[str, Any]:
    turn = state.open_turn
    assert turn.ending is not None
    facts: dict[str, Any] = {
        "number": turn.attempt,
        "ending": turn.ending.value,
        "reason": turn.reason,
        "files": directory(state.iteration, turn.attempt),
    }
    if turn.last is None:
        return facts
    run, claim = turn.last.run, turn.last.claim
    return facts | {
        "exit_code": run.exit_code,
        "signal": run.signal,
        "ended_by": run.ended_by.value,
        "duration_s": run.duration_s,
        "suspended_s": run.suspended_s,
        "strays": run.strays,
        "cost_usd": turn.last.charged_usd,
        "estimated": turn.last.estimated,
        **_tokens(turn.last.stream.usage),
        "model": turn.last.stream.model,
        "tools": turn.last.stream.tools,
        "tool_errors": turn.last.stream.tool_errors,
        "denied": list(turn.last.stream.denied),
        "question": turn.last.stream.question,
        "cause": turn.last.stream.cause,
        "claim": asdict(claim),
        "conversation_id": turn.last.stream.conversation_id,
    }


def _tokens(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
    }


def _restored(entry: m.FilesRestored, before: LoopState) -> list[dict[str, Any]]:
    return [{"path": file.path, "reason": file.reason, "undo_commit": entry.undo_commit} for file in before.open_turn.restorations]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "result": verdict.result.value,
        "reason": verdict.reason,
        "exit_code": verdict.exit_code,
        "duration_s": verdict.duration_s,
        "log": verdict.log,
    }


def _scm(entry: m.ScmEnded) -> dict[str, Any]:
    return {"step": entry.step.value, "sha": entry.sha, **_verdict(entry.verdict)}

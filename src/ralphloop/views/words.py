"""The words for a loop and its facts, the same in every view. Everything that others wrote is made harmless here."""

from __future__ import annotations

import shlex

from ralphloop.core.limits import RAISING
from ralphloop.core.messages import AttemptEnded, ScmEnded
from ralphloop.core.model import Ending, Kind, Limits, LoopSpec, OnFail, Outcome, OutcomeKind, Strength, Verdict, WorkSpec
from ralphloop.core.state import LoopState, Spent
from ralphloop.views.figures import count, duration, magnitude, money, tokens
from ralphloop.views.text import clip, one_line

DOT = " · "
LONGEST_TITLE = 72
SHORT_SHA = 7

ENDINGS = {
    Ending.OK: "complete",
    Ending.EMPTY: "empty",
    Ending.FAILED: "failed",
    Ending.USAGE_LIMIT: "usage limit",
    Ending.WAITING: "waiting",
    Ending.FATAL: "failed for good",
    Ending.LOST: "lost",
    Ending.INTERRUPTED: "interrupted",
}

ON_FAIL = {
    OnFail.APPEND: "appended to the next prompt",
    OnFail.PREPEND: "put before the next prompt",
    OnFail.REPLACE: "the next prompt is this alone",
}


def work_words(work: WorkSpec) -> str:
    """Which kind of work, and where it comes from."""
    if work.kind is Kind.CHECKLIST:
        return f"checklist {one_line(work.task_file or '')}"
    if work.kind is Kind.FOLDER:
        return "task folder" if work.task_dir in {None, "."} else f"task folder {one_line(str(work.task_dir))}"
    if work.prompt_file is not None:
        return f"prompt from {one_line(work.prompt_file)}"
    return f'prompt "{clip(one_line(work.prompt_text or ""), LONGEST_TITLE)}"'


def agent_words(spec: LoopSpec) -> str:
    """Which agent, which model, and what it may do."""
    agent = spec.agent
    command = "" if agent.command == agent.called else f" ({one_line(agent.command)})"
    model = f"model {one_line(agent.model)}" if agent.model else ""
    return DOT.join(filter(None, (one_line(agent.called) + command, model, f"unsandboxed, permissions {one_line(agent.permissions)}")))


def gates_words(spec: LoopSpec) -> str:
    """The gates, or what it means that there are none."""
    return DOT.join(one_line(gate.command) for gate in spec.gates) or "none: an end can only be attested, not proved"


def limits_words(limits: Limits) -> str:
    """The bounds that are set."""
    bounds = (
        (limits.iterations, count(limits.iterations, "iteration")),
        (limits.calls, count(limits.calls, "agent call")),
        (limits.minutes, f"{limits.minutes:g} minutes"),
        (limits.cost_usd, money(limits.cost_usd)),
    )
    return DOT.join(words for bound, words in bounds if bound) or "none"


def iteration_title(state: LoopState) -> str:
    """The title of the iteration or check that has just been opened."""
    turn, allowed = state.open_turn, state.spec.limits.iterations
    survey = turn.survey
    left = "" if survey.remaining is None or state.spec.work.kind is Kind.FOLDER else f"{count(survey.remaining, 'task')} open"
    if turn.checking:
        return DOT.join(filter(None, ("Check", left, "do the gates agree?" if state.spec.gates else "")))
    number = f"Iteration {state.iteration}/{allowed}" if allowed else f"Iteration {state.iteration}"
    return DOT.join(filter(None, (number, left, clip(one_line(survey.task or ""), LONGEST_TITLE))))


def spent_words(spent: Spent) -> str:
    """The money that the loop has cost; nothing where nobody said what anything costs."""
    return "" if spent.estimated and not spent.cost_usd else money(spent.cost_usd, estimated=spent.estimated)


def attempt_words(state: LoopState) -> str:
    """How the attempt that was just judged ended, what it took, and what the loop has cost so far."""
    turn = state.open_turn
    assert turn.ending is not None
    reason = f": {one_line(turn.reason)}" if turn.reason else ""
    figures = f" ({attempt_figures(turn.last)})" if turn.last else ""
    so_far = spent_words(state.spent)
    return f"{ENDINGS[turn.ending]}{reason}{figures}" + (f"{DOT}{so_far} so far" if so_far else "")


def attempt_figures(ended: AttemptEnded) -> str:
    """Cost, tokens and time of one attempt, as far as they are known."""
    used = ended.stream.usage
    read, written = used.input_tokens + used.cache_write_tokens, used.output_tokens
    cost = "" if ended.estimated and not ended.charged_usd else f"cost: {money(ended.charged_usd, estimated=ended.estimated)}"
    said = f"tokens: {tokens(read, used.cache_read_tokens, written)}" if read or written or used.cache_read_tokens else ""
    stream = ended.stream
    tools = f"tools: {magnitude(stream.tools)}, errors: {magnitude(stream.tool_errors)}" if stream.tools else ""
    return ", ".join(filter(None, (cost, said, tools, f"time: {duration(ended.run.duration_s)}")))


def verdict_words(verdict: Verdict) -> str:
    """A gate and how it ended."""
    how = "passed" if verdict.passed else one_line(verdict.reason)
    return f"{one_line(verdict.name)} … {how} ({duration(verdict.duration_s)})"


def scm_words(entry: ScmEnded, message: str | None) -> str:
    """A commit, push or merge and how it ended."""
    what = one_line(entry.verdict.reason)
    if not entry.verdict.passed:
        return f"failed: {what}"
    if entry.sha is None:
        return what or "done"
    return " ".join(filter(None, (short_sha(entry.sha), one_line(message or what))))


def short_sha(sha: str) -> str:
    """A commit as people name it."""
    return one_line(sha)[:SHORT_SHA]


def outcome_words(outcome: Outcome) -> str:
    """Why the loop ended; a *done* says what stands behind it."""
    reason = one_line(outcome.reason)
    if outcome.kind is not OutcomeKind.DONE:
        return f"{outcome.kind.value}: {reason}"
    if outcome.strength is Strength.PROVED:
        return f"done (proved): {reason}"
    return f"done (attested: {reason})"


def end_words(state: LoopState, outcome: Outcome) -> str:
    """Why the loop ended, and what it took."""
    took = (count(state.iteration, "iteration"), spent_words(state.spent), duration(state.spent.active_s))
    return DOT.join((outcome_words(outcome), *filter(None, took)))


def way_on(spec: LoopSpec, outcome: Outcome) -> str:
    """The command by which a person goes on, and when to; nothing where it is done."""
    if outcome.kind is OutcomeKind.DONE:
        return ""
    resume = f"ralph resume {shlex.quote(one_line(spec.name))}"
    if outcome.limit == "iterations":
        return f"{resume} -m {spec.limits.iterations * 2}   go on, with more iterations"
    if outcome.limit in RAISING:
        return f"{resume} {RAISING[outcome.limit]}   go on, with a higher limit"
    return f"{resume}   {WHEN_TO_RESUME[outcome.kind]}"


WHEN_TO_RESUME = {
    OutcomeKind.LIMIT: "go on, once the cause is put right",
    OutcomeKind.WAITING: "go on, once what it waits for is there",
    OutcomeKind.FAILED: "try again, once the cause is put right",
    OutcomeKind.INTERRUPTED: "go on where it stopped",
}


def way_back(spec: LoopSpec) -> str:
    """The command by which a person looks at what was done."""
    return f"ralph show {shlex.quote(one_line(spec.name))}   what each iteration did"

"""One handler per Action: the only impure line of the loop. Whatever goes wrong out there comes back as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import assert_never

from ralphloop.core import messages as m
from ralphloop.core.claims import ClaimReading
from ralphloop.core.model import EndedBy, Kind, ProtectedFile, Restoration, RunReport, StreamReport, Survey, Verdict
from ralphloop.core.ports import Ports
from ralphloop.core.prompts import build_prompt
from ralphloop.core.state import PAST_JUDGING, LoopState, Phase
from ralphloop.errors import WorkError, WorkUnclear

SHORTEST_PAUSE_S = 0.01


def perform(action: m.Action, state: LoopState, ports: Ports) -> m.Observation:
    """Do it, and say what was seen; a workspace that cannot be read any more is something that was seen."""
    try:
        return _perform(action, state, ports)
    except WorkError as error:
        return m.WorkUnreadable(at=ports.clock.now(), reason=str(error))


def _perform(action: m.Action, state: LoopState, ports: Ports) -> m.Observation:
    match action:
        case m.SurveyWork():
            return survey_work(state, ports)
        case m.RunAgent():
            return run_agent(action, state, ports)
        case m.Judge():
            return judge(action, state, ports)
        case m.Restore():
            return restore(action, state, ports)
        case m.RunGates():
            return run_gates(action, state, ports)
        case m.Verify():
            return verify(action, state, ports)
        case m.Commit():
            verdict, sha = ports.workspace.commit(action.message, trailer(state, action.iteration), action.fingerprint)
            return m.ScmSeen(at=ports.clock.now(), verdict=verdict, sha=sha, survey=ports.work.survey())
        case m.Push():
            verdict = ports.workspace.push()
            return m.ScmSeen(at=ports.clock.now(), verdict=verdict, survey=ports.work.survey())
        case m.Merge():
            verdict, sha = ports.workspace.merge(action.branch)
            return m.ScmSeen(at=ports.clock.now(), verdict=verdict, sha=sha, survey=ports.work.survey())
        case m.Wait():
            ports.watcher.waiting(action.until)
            over = ports.clock.wait(action.until, action.until - state.step_since)
            complete = state.spec.work.kind is Kind.FOLDER and is_complete(ports)
            return m.Waited(at=ports.clock.now(), over=over or complete, complete=complete)
        case m.AwaitChildren():
            return await_children(action, state, ports)
        case m.Stop():
            raise AssertionError("the engine stops by itself")
    assert_never(action)


def survey_work(state: LoopState, ports: Ports) -> m.Observation:
    """Take the Snapshot first, so that what is surveyed is no newer than what is protected."""
    snapshot = digests(protected_contents(state, ports), ports)
    survey = ports.work.survey()
    return m.WorkSurveyed(at=ports.clock.now(), survey=survey, tree=ports.workspace.look(), snapshot=snapshot)


def run_agent(action: m.RunAgent, state: LoopState, ports: Ports) -> m.Observation:
    """Build the prompt from the work as it is now, and run the agent on it."""
    try:
        return ports.agent.attempt(action, build_prompt(state, ports.work.brief()))
    except WorkError as error:
        report = RunReport(ended_by=EndedBy.NOT_STARTED, start_error=str(error))
        nothing = ClaimReading(claimed=False, why="the agent was not started")
        return m.AttemptSeen(at=ports.clock.now(), dice=0.0, run=report, stream=StreamReport(), claim=nothing)


def judge(action: m.Judge, state: LoopState, ports: Ports) -> m.Observation:
    """Compare with the Snapshot; nothing is put back before it is written down."""
    before = state.tree
    tree = ports.workspace.look()
    contents = protected_contents(state, ports)
    restorations = tuple(unlawful_changes(action.snapshot, contents, ports))
    return m.Judged(
        at=ports.clock.now(),
        survey=surveyed(state, ports, put_back=bool(restorations), since=state.survey),
        tree=tree,
        lawful=digests(contents, ports),
        restorations=restorations,
        notes=ports.workspace.describe_moves(before, tree) if before else (),
    )


def restore(action: m.Restore, state: LoopState, ports: Ports) -> m.Observation:
    """Put the files back; where the agent committed the illegal version, commit the lawful one after it."""
    for restoration in action.restorations:
        content = None if restoration.digest is None else ports.blobs.get(restoration.digest)
        ports.workspace.restore(restoration.path, content, executable=restoration.executable)
    illegal = illegal_at_head(action, ports)
    message = f"ralph: undo a change of {', '.join(illegal)}"
    sha = ports.workspace.commit_paths(illegal, message, f"Ralph-Undo: {state.spec.loop_id}/{action.iteration}") if illegal else None
    return m.RestoreSeen(
        at=ports.clock.now(),
        survey=ports.work.survey(),
        tree=ports.workspace.look(),
        lawful=digests(protected_contents(state, ports), ports),
        undo_commit=sha,
    )


def run_gates(action: m.RunGates, state: LoopState, ports: Ports) -> m.Observation:
    """Every gate in order, also after one has failed: the next prompt is told of all."""
    gates = state.spec.gates
    verdicts: list[Verdict] = []
    for gate, log in zip(gates, ports.gates.log_names(gates, action.iteration), strict=True):
        ports.watcher.gate_started(gate)
        verdict = ports.gates.run(gate, action.iteration, log, action.run_id)
        if verdict is None:
            return m.GatesSeen(at=ports.clock.now(), verdicts=tuple(verdicts), interrupted=True)
        verdicts.append(verdict)
    return m.GatesSeen(at=ports.clock.now(), verdicts=tuple(verdicts))


def verify(action: m.Verify, state: LoopState, ports: Ports) -> m.Observation:
    """The last look before the decision: after the gates every protected file must still be what it was before them."""
    changes = (changed_file(file, readable(file.path, ports), ports) for file in action.lawful)
    restorations = tuple(restoration for restoration in changes if restoration is not None)
    return m.Verified(
        at=ports.clock.now(),
        survey=surveyed(state, ports, put_back=bool(restorations)),
        tree=ports.workspace.look(),
        restorations=restorations,
    )


def await_children(action: m.AwaitChildren, state: LoopState, ports: Ports) -> m.Observation:
    """One pause, and a look when it is over; what the children did meanwhile is compared with the Snapshot like the agent's own work."""
    began, now = state.step_since, ports.clock.now()
    last = began + action.timeout_s if action.timeout_s else inf
    timed_out = last < inf and ports.clock.has_come(last, action.timeout_s)  # asked first: the count begins with the question
    pause_s = max(action.pause_s, SHORTEST_PAUSE_S)
    look = began + (max(now - began, 0.0) // pause_s + 1) * pause_s
    if not timed_out and not ports.clock.wait(min(look, last) if now < last else look, pause_s):
        return m.Waited(at=now, over=False)
    contents = protected_contents(state, ports)
    restorations = tuple(unlawful_changes(action.snapshot, contents, ports))
    # What a child has spoilt is put back at once, and who still runs is waited for after that.
    survey = surveyed(state, ports, put_back=bool(restorations), since=state.survey)
    if survey.children and not timed_out:
        return m.Waited(at=now, over=False)
    return m.ChildrenSeen(
        at=ports.clock.now(), survey=survey, tree=ports.workspace.look(), lawful=digests(contents, ports), restorations=restorations
    )


def is_complete(ports: Ports) -> bool:
    """Whether somebody has completed the work; while it cannot be read nobody has."""
    try:
        return ports.work.survey().complete
    except WorkError:
        return False


def look_again(state: LoopState, ports: Ports) -> m.FreshLook | None:
    """What a loop that is taken up again finds where its last attempt has been judged already: what differs now, a person did."""
    between_attempts = state.phase is Phase.ATTEMPT and state.outcome is not None
    if state.phase not in PAST_JUDGING and not between_attempts:
        return None
    lawful = digests(protected_contents(state, ports), ports)
    return m.FreshLook(survey=ports.work.survey(), tree=ports.workspace.look(), lawful=lawful)


# --- what the handlers share ------------------------------------------------------------------------------------------


def trailer(state: LoopState, iteration: int) -> str:
    """The line by which a commit of Ralph's own is known again after a crash."""
    return f"Ralph-Iteration: {state.spec.loop_id}/{iteration}"


def surveyed(state: LoopState, ports: Ports, *, put_back: bool, since: Survey | None = None) -> Survey:
    """The work as it is; as it was last seen where it cannot be read and is about to be put back. What is unclear is not complete."""
    try:
        return ports.work.survey(since)
    except WorkError as error:
        unclear = isinstance(error, WorkUnclear)
        if not (put_back or unclear):
            raise
        assert state.survey is not None, "work is surveyed before an iteration opens"
        return replace(state.survey, remaining=1) if unclear else state.survey


Contents = Mapping[str, bytes | None]


def protected_contents(state: LoopState, ports: Ports) -> Contents:
    """The protected files as they are now, each read once: what is judged is what is kept."""
    return {path: readable(path, ports) for path in (*ports.work.files(), *state.spec.protect)}


def digests(contents: Contents, ports: Ports) -> tuple[ProtectedFile, ...]:
    """Those files by digest, their contents kept."""
    return tuple(
        ProtectedFile(path=path, digest=kept(content, ports), executable=content is not None and ports.workspace.is_executable(path))
        for path, content in contents.items()
    )


def readable(path: str, ports: Ports) -> bytes | None:
    """The content of a protected file; what nobody can read (too large, no permission) is as good as gone, and is put back."""
    try:
        return ports.workspace.read(path)
    except WorkError:
        return None


def kept(content: bytes | None, ports: Ports) -> str | None:
    """The digest under which a content can be had again."""
    return None if content is None else ports.blobs.put(content)


def unlawful_changes(snapshot: Iterable[ProtectedFile], contents: Contents, ports: Ports) -> Iterable[Restoration]:
    """What has to be put back: the work judges its own files, any other protected file must not change at all."""
    for file in snapshot:
        now = contents.get(file.path)
        if file.path in ports.work.files():
            content, reasons = ports.work.judge(file.path, content_of(file, ports), now)
            if reasons:
                reason, replaced = "\n".join(reasons), kept(now, ports)
                yield Restoration(path=file.path, digest=kept(content, ports), reason=reason, replaced=replaced, executable=file.executable)
        else:
            restoration = changed_file(file, now, ports)
            if restoration is not None:
                yield restoration


def changed_file(file: ProtectedFile, now: bytes | None, ports: Ports) -> Restoration | None:
    """The restoration of a file that must not differ, or None where it does not."""
    replaced = kept(now, ports)
    same_mode = now is None or ports.workspace.is_executable(file.path) is file.executable
    if replaced == file.digest and same_mode:
        return None
    what = "was changed" if file.digest and now is not None else "was deleted" if file.digest else "was made"
    back = "it is as it was" if file.digest else "it is gone again"
    reason = f"{file.path} is protected and {what}; {back}."
    return Restoration(path=file.path, digest=file.digest, reason=reason, replaced=replaced, executable=file.executable)


def content_of(file: ProtectedFile, ports: Ports) -> bytes | None:
    """The content that a Snapshot names."""
    return None if file.digest is None else ports.blobs.get(file.digest)


def illegal_at_head(action: m.Restore, ports: Ports) -> list[str]:
    """The restored paths whose version at HEAD is illegal: only a commit made since the iteration began can have brought it there."""
    head = ports.workspace.look().head
    if head is None or head == action.head:
        return []
    before = {file.path: file for file in action.snapshot}
    return [restoration.path for restoration in action.restorations if _committed_illegally(before[restoration.path], action.head, head, ports)]


def _committed_illegally(file: ProtectedFile, start: str | None, head: str, ports: Ports) -> bool:
    at_start = None if start is None else ports.workspace.read_at(start, file.path)
    at_head, before = ports.workspace.read_at(head, file.path), content_of(file, ports)
    if at_head == at_start:
        return False
    if file.path in ports.work.files():
        return bool(ports.work.judge(file.path, before, at_head)[1])
    return at_head != before

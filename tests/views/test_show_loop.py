"""`ralph show` and `ralph explain`: afterwards, everything that happened can be read, with the reasons."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from scripted_loop import CLAIM, GREEN, MENTION, NO_CLAIM, RED, Script, checklist, committing, folder, prompt

from ralphloop.core import messages as m
from ralphloop.core.model import Completion, Ending, LoopSpec, Outcome, OutcomeKind, Require, Restoration, Result, Verdict
from ralphloop.views.explain import render_explain
from ralphloop.views.keys import obstacles
from ralphloop.views.record import show_as_dict
from ralphloop.views.show import render_show
from ralphloop.views.style import Style

UNDO = (Restoration(path="PRD.md", digest="d", reason='the open task "Write docs" (line 7) was deleted; it is back'),)
PLAIN = Style(home="/home/lena")


def directory(iteration: int, attempt: int) -> str:
    return f"/home/lena/.local/state/ralph/loops/01JX/{iteration}/{attempt}"


def a_history() -> Script:
    script = Script(committing("make test")).iteration(2)
    script.attempt(2, ending=Ending.FAILED, reason="it crashed", cost=None).attempt(2, claim=CLAIM, undo=UNDO).gates(RED, left=2).close()
    return script.iteration(2).attempt(0, claim=MENTION).gates(GREEN, left=0).commit().push(GREEN).close().end()


SHOWN = """\
ralph   my-app · checklist PRD.md
in      ~/src/app
agent   claude · model opus · unsandboxed, permissions skip
gates   make test
limits  10 iterations · 30 agent calls
loop    01JX · started 2023-11-14T22:13:20Z

── Iteration 1/10 · 2 tasks open · Write the parser
note    the agent did not report its cost: the loop's cost is not known
agent   failed: it crashed (tokens: 1.2M in (850K cached) / 45K out, time: 41s)
files   ~/.local/state/ralph/loops/01JX/1/1
agent   attempt 2
agent   complete (cost: $0.02, tokens: 1.2M in (850K cached) / 45K out, time: 41s) · ~$0.02 so far
files   ~/.local/state/ralph/loops/01JX/1/2
undone  PRD.md: the open task "Write docs" (line 7) was deleted; it is back
        in git as well: bbbbbbb
gate    make test … failed with exit code 2 (1.2s)
        .ralph/guardrail_1_make_test.log · appended to the next prompt
claim   not believed: 2 tasks are still open; the gate make test failed with exit code 2

── Iteration 2/10 · 2 tasks open · Write the parser
agent   complete (cost: $0.02, tokens: 1.2M in (850K cached) / 45K out, time: 41s) · ~$0.04 so far
files   ~/.local/state/ralph/loops/01JX/2/1
gate    make test … passed (1.2s)
commit  ccccccc Ralph: iteration 1
push    passed
claim   none: line 1: it is negated
tasks   2 tasks closed

done (proved): 1 gate green · 2 iterations · ~$0.04 · 2m5s
"""


def test_the_whole_loop_can_be_read_afterwards() -> None:
    assert render_show(a_history().entries, directory, PLAIN) == SHOWN


def test_a_loop_without_an_outcome_says_so() -> None:
    assert render_show(Script(checklist()).iteration().entries, directory, PLAIN).endswith("\nno outcome yet · 1 iteration · $0.00\n")


def test_a_lost_attempt_still_shows_where_its_artifacts_lie() -> None:
    assert "files   ~/.local/state/ralph/loops/01JX/1/1" in render_show(Script(checklist()).iteration().lost().entries, directory, PLAIN)


def test_as_data_every_iteration_has_its_attempts_verdicts_and_reasons() -> None:
    data = json.loads(json.dumps(show_as_dict(a_history().entries, directory)))
    first, second = data["iterations"]
    assert (data["name"], data["kind"], data["started_at"]) == ("my-app", "checklist", "2023-11-14T22:13:20Z")
    assert [(each["ending"], each["exit_code"], each["files"][-3:]) for each in first["attempts"]] == [("failed", 1, "1/1"), ("ok", 0, "1/2")]
    assert first["restored"] == [{"path": "PRD.md", "reason": UNDO[0].reason, "undo_commit": "b" * 40}]
    assert (first["done"], first["claimed"], first["remaining_before"], first["remaining_after"]) == (False, True, 2, 2)
    assert first["obstacles"] == ["2 tasks are still open", "the gate make test failed with exit code 2"]
    assert [(each["name"], each["result"], each["exit_code"]) for each in first["verdicts"]] == [("make test", "failed", 2)]
    assert (second["done"], second["strength"], second["obstacles"]) == (True, "proved", [])
    assert [(each["step"], each["sha"]) for each in second["scm"]] == [("commit", "c" * 40), ("push", None)]
    assert data["outcome"] == {"kind": "done", "reason": "1 gate green", "strength": "proved", "limit": None, "exit_code": 0}
    assert (data["totals"]["calls"], data["totals"]["cost_usd"], data["totals"]["estimated"]) == (3, 0.04, True)


def test_as_data_an_open_iteration_and_a_check_and_a_lost_attempt_have_their_place() -> None:
    script = Script(checklist("make test")).check().gates(RED, left=0).close().iteration(2).lost()
    check, open_one = show_as_dict(script.entries, directory)["iterations"]
    assert (check["number"], check["check"], check["done"]) == (None, True, False)
    assert (open_one["number"], open_one["done"], open_one["ended_at"]) == (1, None, None)
    assert open_one["attempts"] == [{"number": 1, "ending": "lost", "reason": "Ralph died while it ran", "files": directory(1, 1)}]


# --- explain ----------------------------------------------------------------------------------------------------------

EXPLAINED = """\
── Iteration 1 of my-app
looked  at the agent's final words
   1 │ Hello.
   2 │ All done.
   3 │ <promise>COMPLETE</promise>
for     <promise>COMPLETE</promise> or <response>COMPLETE</response>
line 3  stands: alone on its line   <promise>COMPLETE</promise>
claim   yes: line 3: alone on its line
key 1   not turned: 2 tasks are still open; the next: Write the parser
key 2   not turned: 0 of 1 gate green; the agent claims to be done - the gate make test failed with exit code 2
so      Not done, because 2 tasks are still open; the gate make test failed with exit code 2.
"""


def test_an_iteration_is_explained_with_what_was_looked_at_and_both_keys() -> None:
    words = "Hello.\r\nAll done.\n<promise>COMPLETE</promise>\n"
    assert render_explain(a_history().entries, 1, words, PLAIN) == EXPLAINED


def test_the_words_of_the_ledger_are_used_where_no_others_are_given() -> None:
    assert "   1 │ I did it.\n" in render_explain(a_history().entries, 2, None, PLAIN)


def test_a_proved_and_an_attested_end_are_told_apart() -> None:
    assert "so      Done and proved: both keys are turned." in render_explain(a_history().entries, 2, "", PLAIN)
    attested = Script(prompt()).iteration(None).attempt(None, claim=CLAIM).close()
    text = render_explain(attested.entries, 1, "", PLAIN)
    assert "key 1   turned: a prompt leaves nothing to count: key 2 decides alone" in text
    assert "so      Done, but only attested: nothing was checked." in text


def test_a_mention_is_explained_tag_by_tag() -> None:
    text = render_explain(Script(checklist()).iteration().attempt(claim=MENTION).close().entries, 1, "", PLAIN)
    assert "line 1  does not stand: it is negated   I cannot output <promise>COMPLETE</promise> yet\nclaim   no: line 1: it is negated\n" in text


def test_of_very_long_words_the_lines_around_tags_and_the_last_ones_are_shown() -> None:
    words = "\n".join(f"line number {number}" for number in range(1, 1001))
    text = render_explain(Script(checklist()).iteration().attempt(claim=CLAIM).close().entries, 1, words, PLAIN)
    assert "   6 │ line number 6\n     ┆\n 981 │ line number 981\n" in text
    assert "1000 │ line number 1000\n" in text


def test_an_iteration_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(LookupError, match="loop my-app has no iteration 7: it has 1 to 2"):
        render_explain(a_history().entries, 7, "", PLAIN)
    with pytest.raises(LookupError, match="loop my-app has no iteration 1: it has had none"):
        render_explain(Script(checklist()).entries, 1, "", PLAIN)


def test_an_open_iteration_and_one_that_the_end_cut_off_are_not_decided() -> None:
    script = Script(checklist()).iteration()
    assert "there are no final words" in render_explain(script.entries, 1, None, PLAIN)
    assert "so      Not decided yet: the iteration is still open." in render_explain(script.entries, 1, None, PLAIN)
    script.add(m.LoopEnded(at=script.at, outcome=Outcome(kind=OutcomeKind.INTERRUPTED, reason="stopped by lena")))
    assert "Not decided: the loop ended before the iteration did (interrupted: stopped by lena)." in render_explain(script.entries, 1, None, PLAIN)


def test_the_keys_of_a_task_folder_are_a_done_and_the_gates() -> None:
    script = Script(folder("make test")).iteration(1).attempt(1, claim=CLAIM).gates(GREEN, left=1).close()
    script.iteration(1).attempt(0, ending=Ending.FAILED, reason="it crashed").gates(GREEN, left=0).close().end()
    first, second = (render_explain(script.entries, number, "", PLAIN) for number in (1, 2))
    assert "key 1   not turned: there is no DONE in the task folder\n" in first
    assert "key 1   turned: there is a DONE in the task folder, and no child loop runs\n" in second
    assert "key 2   turned: 1 of 1 gate green\n" in second
    assert "so      Done and proved: both keys are turned." in second


def test_as_data_a_task_folder_is_named_and_an_attempt_says_what_it_left_and_slept_through() -> None:
    data = show_as_dict(Script(folder()).iteration(1).attempt(0, strays=2, suspended_s=7200.0).close().end().entries, directory)
    assert (data["kind"], data["task_dir"], data["task_file"]) == ("folder", ".", None)
    (attempt,) = data["iterations"][0]["attempts"]
    assert (attempt["strays"], attempt["suspended_s"], attempt["duration_s"]) == (2, 7200.0, 41.0)


# --- the words agree with the decision --------------------------------------------------------------------------------

PROVED = Completion(text="COMPLETE", require=Require.PROVED)
PUSHED = Verdict(name="push", result=Result.PASSED, reason="")
NOT_PUSHED = Verdict(name="push", result=Result.FAILED, reason="no remote")
NOT_COMMITTED = Verdict(name="commit", result=Result.FAILED, reason="the tree has changed")
SPECS: dict[str, LoopSpec] = {
    f"{kind.__name__}, {len(gates)} gates, {'proved' if require else 'any'}{', commits' if commits else ''}": kind(*gates, **changes)
    for kind, gates, require, commits in product((checklist, prompt, folder), ((), ("make test",)), (False, True), (False, True))
    for changes in [({"completion": PROVED} if require else {}) | ({"scm": committing().scm} if commits else {})]
}


def closed_turns(spec: LoopSpec) -> list[Script]:
    """Every way a turn of that loop can close."""
    scripts = []
    ways: Any = product((0, 1), (NO_CLAIM, CLAIM), (Ending.OK, Ending.FAILED), (GREEN, RED), (False, True), ("both", "no push", "no commit"))
    for left, claim, ending, gate, tampered, scm in ways:
        script = Script(spec).iteration(2)
        for _ in range(1 if ending is Ending.OK else spec.limits.attempts):
            script.attempt(left, claim=claim, ending=ending, reason="" if ending is Ending.OK else "it crashed")
        if script.state.phase.value == "gates":
            script.gates(gate, left=left, undo=UNDO if tampered else ())
        if script.state.phase.value == "scm":
            script.commit(NOT_COMMITTED if scm == "no commit" else None)
            if scm != "no commit":
                script.push(PUSHED if scm == "both" else NOT_PUSHED)
        scripts.append(script)
    return scripts


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_there_is_an_obstacle_exactly_where_the_core_did_not_take_the_work_for_done(spec: LoopSpec) -> None:
    for script in closed_turns(spec):
        state = script.state
        assert state.phase.value == "close"
        ended = script.close().entries[-1]
        assert isinstance(ended, m.IterationEnded)
        assert ended.done is (obstacles(state) == ()), obstacles(state)


@pytest.mark.parametrize("verdict", [GREEN, RED])
@pytest.mark.parametrize("kind", [checklist, folder])
def test_a_check_agrees_as_well(kind: Callable[..., LoopSpec], verdict: Verdict) -> None:
    script = Script(kind("make test")).check().gates(verdict, left=0)
    state = script.state
    ended = script.close().entries[-1]
    assert isinstance(ended, m.CheckEnded)
    assert ended.done is (obstacles(state) == ())

"""`ralph cost` adds up what each attempt cost: nothing twice, nothing invented, and what nobody said is never shown as nothing."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_loop import Script, checklist, folder, prompt

from ralphloop.core import messages as m
from ralphloop.core.evolve import fold
from ralphloop.core.model import AgentSpec, Ending, LoopSpec, Purpose, Usage
from ralphloop.ledger.queries import LoopRow
from ralphloop.views.charges import SILENT, TELLING, Charge, charges
from ralphloop.views.cost import BY, added, cost_as_dict, grouped, render_cost
from ralphloop.views.text import width

DAY = 86400.0


def row_of(spec: LoopSpec) -> LoopRow:
    values: dict[str, Any] = dict.fromkeys(LoopRow._fields)
    return LoopRow(**(values | {"id": spec.loop_id, "name": spec.name, "workspace": spec.workspace}))


def charged(script: Script, *left_out: type) -> list[Charge]:
    """The charges of that loop, read from the entries that tell of money alone."""
    kept = [entry for entry in script.entries if isinstance(entry, TELLING) and not isinstance(entry, left_out)]
    return list(charges(row_of(script.spec), kept))


def charge(**facts: Any) -> Charge:
    values: dict[str, Any] = {"loop": "shop", "id": "shop-1", "workspace": "/srv/shop", "iteration": 1, "attempt": 1, "at": 1_700_000_000.0}
    return Charge(**(values | facts))


def costs(found: list[Charge]) -> list[float | None]:
    return [one.cost_usd for one in found]


def table(found: list[Charge], by: str = "loop") -> list[list[str]]:
    """The cells of the table, without its notes."""
    return [re.split(r" {2,}", line.strip()) for line in render_cost(grouped(found, by), by).splitlines() if not line.endswith(".")]


# --- from entries to charges ---


def test_every_attempt_is_one_charge_with_all_that_is_known_of_it() -> None:
    script = Script(checklist()).iteration().attempt(cost=0.02).close().iteration(1).attempt(0, cost=0.03)
    first, second = charged(script)
    assert (first.loop, first.id, first.workspace, first.work) == ("my-app", "01JX", "/home/lena/src/app", "PRD.md")
    assert (first.agent, first.model, first.purpose) == ("claude", "opus", Purpose.WORK)
    assert [(one.iteration, one.attempt, one.task) for one in (first, second)] == [(1, 1, "Write the parser"), (2, 1, "Write the parser")]
    assert costs([first, second]) == [0.02, 0.03]
    assert (first.duration_s, first.usage.cache_read_tokens) == (41.0, 850_000)


def test_an_agent_goes_by_the_name_that_its_user_gave_it() -> None:
    script = Script(checklist(agent=AgentSpec(type="command", command="sh mine.sh", name="mine"))).iteration().attempt()
    assert [(one.agent, one.model) for one in charged(script)] == [("mine", None)]


def test_the_model_that_answered_counts_before_the_one_that_was_asked_for() -> None:
    script = Script(checklist()).iteration().attempt()
    script.entries = [
        replace(entry, stream=replace(entry.stream, model="haiku")) if isinstance(entry, m.AttemptEnded) else entry for entry in script.entries
    ]
    assert [one.model for one in charged(script)] == ["haiku"]


def test_a_task_is_the_one_that_its_iteration_began_with_and_prompt_work_has_none() -> None:
    asked = replace(Script(checklist())._survey(2), task="Other")
    script = Script(checklist()).iteration()
    script.attempt(1, ending=Ending.FAILED)
    script.add(m.LoopResumed(at=script.at, spec=script.spec, incarnation=2, look=m.FreshLook(survey=asked, tree=script._tree(), lawful=())))
    assert [one.task for one in charged(script.attempt())] == ["Write the parser"] * 2
    assert [one.task for one in charged(Script(prompt()).iteration(None).attempt(None))] == [None]
    assert [(one.task, one.work) for one in charged(Script(folder()).iteration(1).attempt(1))] == [("Log in", ".")]


def test_a_lost_attempt_is_charged_and_counts_on_the_day_it_began() -> None:
    script = Script(checklist()).iteration().started()
    script.add(m.AttemptLost(at=script.at + 30 * DAY, charged_usd=0.5))
    (lost,) = charged(script)
    assert (lost.cost_usd, lost.estimated, lost.duration_s) == (0.5, True, 0.0)
    assert lost.at == script.at - 41.0


@pytest.mark.parametrize("spec", [checklist(), prompt()])
def test_what_nobody_said_has_no_price_and_a_price_of_nothing_is_one(spec: LoopSpec) -> None:
    assert costs(charged(Script(spec).iteration().attempt(cost=None))) == [None]
    assert costs(charged(Script(spec).iteration().attempt(cost=0.0))) == [0.0]
    assert costs(charged(Script(spec).iteration().lost())) == [None]
    (running,) = charged(Script(spec).iteration().started())
    assert (running.cost_usd, running.estimated) == (None, False)


def test_waits_and_checks_cost_nothing() -> None:
    script = Script(checklist("true")).check()
    script.add(m.WaitStarted(at=1.0, until=2.0, why="usage limit"), m.WaitEnded(at=2.0))
    assert charged(script) == []


def test_every_type_of_entry_either_tells_of_money_or_does_not() -> None:
    assert {entry.__name__ for entry in TELLING} & set(SILENT) == set()
    assert "AttemptEnded" not in SILENT
    assert "ChangesJudged" in SILENT
    assert "AttemptPaused" not in SILENT  # so that it comes along, and can be named


@pytest.mark.parametrize("missing", TELLING)
def test_an_entry_that_cannot_be_read_takes_only_its_own_facts_away(missing: type) -> None:
    script = Script(checklist()).iteration().attempt(cost=0.02).close().iteration(1).attempt(0, cost=0.03)
    found = charged(script, missing)
    assert costs(found) == ([None, None] if missing is m.AttemptEnded else [0.02, 0.03])
    lost: dict[type, tuple[str, ...]] = {m.LoopStarted: ("agent",), m.IterationStarted: ("task",), m.AttemptStarted: ("attempt", "purpose")}
    facts = lost.get(missing, ())
    assert all(getattr(one, fact) is None for one in found for fact in facts)


def estimate(script: Script, usd: float) -> None:
    """The last attempt was charged with an estimate."""
    place, ended = next((place, entry) for place, entry in reversed(list(enumerate(script.entries))) if isinstance(entry, m.AttemptEnded))
    script.entries[place] = replace(ended, charged_usd=usd)


STEPS = st.lists(st.sampled_from(["priced", "free", "estimated", "silent", "lost", "new iteration"]), max_size=12)


@given(steps=STEPS, runs=st.booleans())
def test_the_sums_are_those_that_the_loop_itself_has_counted(steps: list[str], runs: bool) -> None:
    script = Script(checklist()).iteration()
    for number, step in enumerate(steps):
        match step:
            case "priced":
                script.attempt(cost=0.1 * number)
            case "free":
                script.attempt(cost=0.0)
            case "estimated":
                script.attempt(cost=None)
                estimate(script, 0.07 * number)
            case "silent":
                script.attempt(cost=None)
            case "lost":
                script.lost()
            case _:
                script.close().iteration()
    if runs:
        script.started()
    spent, sums = fold(script.entries).spent, added(charged(script))
    assert (sums.calls, sums.cost_usd, sums.estimated) == (spent.calls, spent.cost_usd, spent.estimated)
    assert replace(sums.usage, cost_usd=None) == replace(spent.usage, cost_usd=None)


# --- groups ---


TWO_LOOPS = [
    charge(task="Log in", model="opus", agent="claude", cost_usd=1.0),
    charge(task="Log out", model="opus", agent="claude", cost_usd=2.0, iteration=2, at=1_700_000_000.0 + 2 * DAY),
    charge(loop="docs", id="docs-1", workspace="/srv/docs", agent="mine", cost_usd=4.0, at=1_700_000_000.0 + 2 * DAY + 60),
]


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("loop", [("docs", 4.0), ("shop", 3.0)]),
        ("task", [("-", 4.0), ("Log out", 2.0), ("Log in", 1.0)]),
        ("agent", [("mine", 4.0), ("claude", 3.0)]),
        ("model", [("-", 4.0), ("opus", 3.0)]),
        ("iteration", [("docs 1", 4.0), ("shop 2", 2.0), ("shop 1", 1.0)]),
        ("attempt", [("docs 1/1", 4.0), ("shop 2/1", 2.0), ("shop 1/1", 1.0)]),
    ],
)
def test_charges_are_added_up_by_what_was_asked_for_and_the_latest_comes_first(by: str, wanted: list[tuple[str, float]]) -> None:
    assert [(group.label, group.spent.cost_usd) for group in grouped(TWO_LOOPS, by)] == wanted


def test_a_day_is_the_local_one(monkeypatch: pytest.MonkeyPatch) -> None:
    late = [charge(at=1_700_002_800.0)]  # 2023-11-14T23:00:00Z
    for zone, day in {"UTC": "2023-11-14", "EAST-2": "2023-11-15"}.items():
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        assert [group.label for group in grouped(late, "day")] == [day]
    monkeypatch.undo()
    time.tzset()


def test_loops_of_one_name_are_told_apart_by_their_ids() -> None:
    again = [*TWO_LOOPS, charge(id="shop-2", at=1.0)]
    assert [group.label for group in grouped(again, "loop")] == ["docs", "shop-1", "shop-2"]
    assert [group.label for group in grouped(again, "iteration")] == ["docs 1", "shop-1 2", "shop-1 1", "shop-2 1"]


def test_a_task_that_two_loops_work_on_is_one_and_one_of_the_same_title_elsewhere_is_another() -> None:
    same = [charge(task="Log in", work="PRD.md"), charge(task="Log in", work="PRD.md", id="shop-2")]
    assert [(group.label, group.spent.calls) for group in grouped(same, "task")] == [("Log in", 2)]
    other = [*same, charge(task="Log in", work="PRD.md", workspace="/srv/docs", at=1.0), charge(task="Log in", work="/srv/tasks/login", at=0.5)]
    assert [group.label for group in grouped(other, "task")] == ["Log in (shop/PRD.md)", "Log in (docs/PRD.md)", "Log in (/srv/tasks/login)"]


@pytest.mark.parametrize("by", BY)
def test_nothing_is_lost_and_nothing_counts_twice_however_it_is_added_up(by: str) -> None:
    groups = grouped(TWO_LOOPS, by)
    assert sum(group.spent.calls for group in groups) == 3
    assert cost_as_dict(groups, by, {})["total"]["cost_usd"] == 7.0


# --- the table ---


def test_the_table_has_a_line_for_each_and_a_total() -> None:
    used = Usage(input_tokens=1_000, cache_read_tokens=150_000, cache_write_tokens=4_000, output_tokens=340)
    found = [charge(cost_usd=0.5, usage=used, duration_s=367.0), charge(loop="docs", id="docs-1", cost_usd=1.25, usage=used, duration_s=60.0, at=1.0)]
    assert render_cost(grouped(found, "loop"), "loop") == (
        "LOOP   CALLS   COST  INPUT  CACHED  OUTPUT  TIME\n"
        "shop       1  $0.50   155K    150K     340  6m7s\n"
        "docs       1  $1.25   155K    150K     340  1m0s\n"
        "total      2  $1.75   310K    300K     680  7m7s\n"
    )


def test_what_is_unknown_is_never_shown_as_a_price_of_nothing() -> None:
    found = [charge(), charge(loop="free", id="free-1", cost_usd=0.0)]
    heading, silent, free, total = table(found)
    assert heading[2] == "COST"
    assert [line[2] for line in (silent, free, total)] == ["-", "$0.00", "~$0.00"]
    assert silent[3:] == ["-"] * 4
    assert "1 attempt without a price, and in no sum: nobody has said what it cost." in render_cost(grouped(found, "loop"), "loop")


def test_an_estimate_is_marked_wherever_it_is_part_of_a_sum() -> None:
    found = [charge(cost_usd=0.5), charge(cost_usd=0.25, estimated=True, iteration=2, at=1.0)]
    assert [line[2] for line in table(found, "iteration")] == ["COST", "$0.50", "~$0.25", "~$0.75"]
    assert "~ is an estimate" in render_cost(grouped(found, "loop"), "loop")
    assert "~" not in render_cost(grouped(found[:1], "loop"), "loop")


def test_no_attempts_are_said_in_words() -> None:
    assert render_cost([], "loop") == "No attempts yet.\n"


TERMINALS = range(20, 130, 7)


@pytest.mark.parametrize("columns", TERMINALS)
@pytest.mark.parametrize("by", BY)
def test_no_line_is_wider_than_the_terminal_and_the_cost_is_always_there(columns: int, by: str) -> None:
    wide = {"task": "A task with a title that goes on and on 你好你好", "agent": "my-own-agent-behind-a-proxy", "model": "a-model-2026-11-18-preview"}
    found = [charge(loop="a-rather-long-name-for-a-loop", cost_usd=12.5, duration_s=12.0, usage=Usage(input_tokens=10_000), **wide), charge(id="b")]
    lines = render_cost(grouped(found, by), by, columns=columns).splitlines()
    assert max(map(width, lines)) <= columns
    assert any("$12.50" in line for line in lines)


def test_what_others_wrote_cannot_command_the_terminal() -> None:
    evil = "a\x1b]0;x\x07b\nc\u202e"
    found = [charge(task=evil, agent=evil, model=evil, loop=evil, id="1"), charge(task=evil, loop=evil, id=evil, work=evil, at=1.0)]
    for by in BY:
        shown = render_cost(grouped(found, by), by)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert len(shown.splitlines()) <= 5


def test_colours_mark_what_is_not_certain_and_do_not_move_the_columns() -> None:
    groups = grouped([charge(cost_usd=0.5), charge(cost_usd=0.25, estimated=True, iteration=2)], "iteration")
    coloured = render_cost(groups, "iteration", colour=True)
    assert "\x1b[33m~$0.25\x1b[0m" in coloured
    assert "\x1b[33m$0.50" not in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == render_cost(groups, "iteration")


# --- JSON ---


def test_json_says_what_is_common_to_a_row_and_null_for_what_is_not() -> None:
    shown = json.loads(json.dumps(cost_as_dict(grouped(TWO_LOOPS, "loop"), "loop", {"AttemptPaused v1": 2})))
    assert list(shown) == ["by", "rows", "total", "left_out"]
    assert shown["left_out"] == {"AttemptPaused v1": 2}
    docs, shop = shown["rows"]
    assert docs == {
        "loop": "docs",
        "id": "docs-1",
        "workspace": "/srv/docs",
        "work": None,
        "task": None,
        "day": TWO_LOOPS[2].day,
        "agent": "mine",
        "model": None,
        "iteration": 1,
        "attempt": 1,
        "purpose": None,
        "cost_usd": 4.0,
        "estimated": False,
        "unknown": 0,
        "input_tokens": 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "output_tokens": 0,
        "calls": 1,
        "duration_s": 0.0,
    }
    assert (shop["loop"], shop["agent"], shop["task"], shop["iteration"], shop["calls"]) == ("shop", "claude", None, None, 2)


def test_json_gives_no_number_where_nobody_said_one() -> None:
    groups = grouped([charge(), charge(loop="paid", id="paid-1", cost_usd=0.5, at=1.0)], "loop")
    shown = cost_as_dict(groups, "loop", {})
    assert [(row["cost_usd"], row["unknown"]) for row in shown["rows"]] == [(None, 1), (0.5, 0)]
    assert (shown["total"]["cost_usd"], shown["total"]["unknown"]) == (0.5, 1)
    assert cost_as_dict([], "loop", {})["total"]["cost_usd"] == 0.0

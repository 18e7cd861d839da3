"""`ralph cost` says what loops cost: the same sums as each loop has of itself, whatever happened to it."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from program import DONE, Program
from pseudo_terminal import Terminal

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

CLAIM = f"echo '{DONE}'"
DEMO_USD = 0.0123
FIGURES = ("cost_usd", "estimated", "calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
USAGE = '"usage":{"input_tokens":1000,"cache_read_input_tokens":5000,"cache_creation_input_tokens":200,"output_tokens":300}'
PRICED = f'{{"type":"result","subtype":"success","is_error":false,"result":"on it","total_cost_usd":0.5,{USAGE}}}'
TOKENS_ONLY = f'{{"type":"result","subtype":"success","is_error":false,"result":"on it",{USAGE}}}'


def cost(program: Program, *arguments: str) -> dict[str, Any]:
    """`ralph cost … --json`."""
    ended = program.run("cost", *arguments, "--json")
    assert (ended.code, ended.err) == (0, "")
    shown = json.loads(ended.out)
    assert isinstance(shown, dict)
    return shown


def table(program: Program, *arguments: str) -> list[list[str]]:
    ended = program.run("cost", *arguments)
    assert (ended.code, ended.err) == (0, "")
    return [re.split(r" {2,}", line.strip()) for line in ended.out.splitlines()]


def run_demo(program: Program, script: str, name: str, *flags: str) -> None:
    program.settings(agents={"demo": {"flags": ["--script", script]}})
    assert program.run("run", "--agent", "demo", "--name", name, *flags).code in {0, 1}


def run_silent(program: Program, name: str) -> None:
    assert program.run("run", "-p", "x", "--name", name, "--agent-command", program.agent(CLAIM)).code == 0


def figures(of: dict[str, Any]) -> dict[str, Any]:
    return {name: of[name] for name in FIGURES}


# --- what it adds up ---


def test_before_the_first_loop_it_says_so_and_makes_nothing(program: Program) -> None:
    assert program.run("cost").out == "No loops yet.\n"
    assert cost(program)["rows"] == []
    assert not program.state.exists()


def test_it_shows_every_loop_the_latest_first_and_a_total(program: Program) -> None:
    program.tasks("one", "two")
    run_demo(program, "work,finish", "paid")
    run_silent(program, "silent")
    heading, silent, paid, total, note = table(program)
    assert heading == ["LOOP", "CALLS", "COST", "INPUT", "CACHED", "OUTPUT", "TIME"]
    assert silent[:6] == ["silent", "1", "-", "-", "-", "-"]
    assert paid[:6] == ["paid", "2", "$0.02", "2.4K", "0", "680"]
    assert total[:6] == ["total", "3", "~$0.02", "2.4K", "0", "680"]
    assert note == ["1 attempt without a price, and in no sum: nobody has said what it cost."]
    shown = cost(program)
    assert [(row["loop"], row["cost_usd"], row["unknown"]) for row in shown["rows"]] == [("silent", None, 1), ("paid", 2 * DEMO_USD, 0)]
    assert (shown["by"], shown["total"]["calls"], shown["total"]["unknown"], shown["left_out"]) == ("loop", 3, 1, {})


@pytest.mark.parametrize(
    ("by", "labels"),
    [
        ("loop", ["plan"]),
        ("task", ["two", "one"]),
        ("agent", ["demo"]),
        ("model", ["demo"]),
        ("iteration", ["plan 3", "plan 2", "plan 1"]),
        ("attempt", ["plan 3/1", "plan 2/1", "plan 1/1"]),
    ],
)
def test_it_adds_up_by_what_it_is_asked_for(program: Program, by: str, labels: list[str]) -> None:
    program.tasks("one", "two")
    run_demo(program, "lie,work,finish", "plan", "-m", "3")
    shown = program.show("plan")
    attempts = [attempt for turn in shown["iterations"] for attempt in turn["attempts"]]
    assert [line[0] for line in table(program, "--by", by)] == [by.upper(), *labels, "total"]
    rows = cost(program, "--by", by)
    assert figures(rows["total"]) == pytest.approx(figures(shown["totals"]))
    assert sum(row["calls"] for row in rows["rows"]) == len(attempts)
    assert rows["total"]["duration_s"] == pytest.approx(sum(attempt["duration_s"] for attempt in attempts))
    assert {row["purpose"] for row in rows["rows"]} == {"work"}


def test_after_failures_a_crash_and_estimates_the_sums_are_those_of_the_loop(program: Program) -> None:
    """Four attempts: one with a price, a failed one with tokens alone, one in the middle of which Ralph was killed, and the last."""
    program.settings(
        agents={"mine": {"command": program.agent(four_attempts()), "speaks": "claude"}},
        prices=[{"model": "mine", "input": 1, "output": 10, "cache_read": 0.1}],
    )
    running = program.start("run", "-p", "x", "--agent", "mine")
    program.await_agent()
    alive = cost(program)["total"]
    program.crash(running)
    for crashed in (alive, cost(program)["total"]):
        assert (crashed["calls"], crashed["unknown"]) == (3, 1)
        assert figures(crashed) == figures(program.show()["totals"])
    assert table(program)[1][2].startswith("~$0.5")
    assert program.run("resume", "project").code == 0
    total, shown = cost(program)["total"], program.show()
    assert figures(total) == figures(shown["totals"])
    assert (total["calls"], total["unknown"], total["estimated"]) == (4, 0, True)
    attempts = cost(program, "--by", "attempt")["rows"][::-1]
    by_tokens = (1200 * 1 + 300 * 10 + 5000 * 0.1) / 1e6
    mean = (0.5 + by_tokens) / 2
    assert [row["cost_usd"] for row in attempts] == pytest.approx([0.5, by_tokens, mean, by_tokens])
    assert [row["estimated"] for row in attempts] == [False, True, True, True]
    assert [row["agent"] for row in attempts] == ["mine"] * 4
    endings = [attempt["ending"] for turn in shown["iterations"] for attempt in turn["attempts"]]
    assert endings == ["ok", "failed", "lost", "ok"]


def four_attempts() -> str:
    last = TOKENS_ONLY.replace("on it", DONE)
    return f"""
case $(wc -l < ../calls) in
    *1) echo '{PRICED}';;
    *2) echo '{TOKENS_ONLY}'; exit 1;;
    *3) at_work; await_go_on;;
    *) echo '{last}';;
esac"""


def test_every_loop_of_a_name_is_meant_and_names_patterns_and_ids_choose(program: Program) -> None:
    for name in ("shop", "shop", "shop-2", "docs"):
        run_silent(program, name)
    newest, oldest = [row["id"] for row in cost(program, "shop")["rows"]]
    assert [line[0] for line in table(program, "shop")[1:4]] == [newest, oldest, "total"]
    assert program.show("shop")["id"] == newest
    assert [line[0] for line in table(program, "sh*2", "docs")[1:4]] == ["docs", "shop-2", "total"]
    assert [row["id"] for row in cost(program, oldest)["rows"]] == [oldest]
    assert cost(program, "*")["total"]["calls"] == 4


def test_since_leaves_out_what_was_before(program: Program) -> None:
    run_silent(program, "shop")
    for since in ("7d", "24h", "1h", "2000-01-01"):
        assert cost(program, "--since", since)["total"]["calls"] == 1
    with closing(sqlite3.connect(program.state / "ledger.db")) as ledger, ledger:
        ledger.execute("UPDATE entry SET json = json_set(json, '$.at', json_extract(json, '$.at') - 100000)")
    assert cost(program, "--since", "2d")["total"]["calls"] == 1
    assert cost(program, "--since", "24h")["rows"] == []
    assert program.run("cost", "--since", "9999-12-31").out == "No attempts since 9999-12-31 00:00.\n"


def test_what_a_newer_ralph_wrote_is_left_out_and_that_is_said(program: Program) -> None:
    program.tasks("one", "two")
    run_demo(program, "work,finish", "plan")
    (row,) = cost(program)["rows"]
    with closing(sqlite3.connect(program.state / "ledger.db")) as ledger, ledger:
        ledger.execute("UPDATE entry SET v = 99 WHERE seq = (SELECT min(seq) FROM entry WHERE type = 'AttemptEnded')")
        ledger.execute("INSERT INTO entry SELECT loop_id, max(seq) + 1, 'AttemptPaused', 1, 0, '{}' FROM entry")
        ledger.execute("UPDATE loop SET last_seq = last_seq + 1")
    ended = program.run("cost", "--json")
    shown = json.loads(ended.out)
    assert ended.code == 0
    assert shown["left_out"] == {"AttemptEnded v99": 1, "AttemptPaused v1": 1}
    assert (shown["total"]["calls"], shown["total"]["unknown"], shown["total"]["cost_usd"]) == (row["calls"], 1, DEMO_USD)
    words = "ralph: left out what a newer ralph wrote, and what may tell of money: "
    assert ended.err == f"{words}AttemptEnded v99 (1 times)\n{words}AttemptPaused v1 (1 times)\n"
    assert program.run("cost").err == ended.err


# --- where, and by whom, it is asked ---


def test_an_agent_may_ask_what_it_costs(program: Program) -> None:
    ended = program.run("run", "-p", "x", "--agent-command", program.agent(f"ralph cost --json > ../cost.json || exit 1; {CLAIM}"))
    assert ended.code == 0, ended
    total = json.loads((program.root / "cost.json").read_text())["total"]
    assert (total["calls"], total["unknown"], total["cost_usd"]) == (1, 1, None)


def test_the_table_fits_the_terminal_and_its_tasks_cannot_command_it(program: Program) -> None:
    program.tasks("Draw \x1b]0;owned\x07 a picture of everything that there is in the whole wide world, and of the rest", "two")
    run_demo(program, "work,finish", "plan")
    with Terminal(program, "cost", "--by", "task", shell='stty cols 40; "$@"; echo "code $?"') as terminal:
        shown = terminal.await_words("code 0")
    assert "\x1b" not in shown
    assert "Draw" in shown
    assert max(map(len, shown.splitlines())) <= 40
    assert "wide world" in program.run("cost", "--by", "task").out  # a pipe gets whole lines


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(("shp",), "there is no loop called shp: did you mean shop?", id="a name"),
        pytest.param(("shop", "zzz"), "there is no loop called zzz: `ralph status` lists the loops", id="one of two names"),
        pytest.param(("zzz*",), "there is no loop called zzz*: `ralph status` lists the loops", id="a pattern"),
        pytest.param(
            ("--since", "yesterday"), "'yesterday' is no day and no span of time: write a date such as 2026-11-18, or 7d, or 24h", id="words"
        ),
        pytest.param(("--since", "2026-02-30"), "'2026-02-30' is no day and no span of time", id="no such day"),
        pytest.param(("--since", "0001-01-01"), None, id="the first day"),
        pytest.param(("--since", "9" * 400 + "d"), "is no day and no span of time", id="a huge number"),
        pytest.param(("--since", "-1d"), "'-1d' is no day and no span of time", id="a negative number"),
        pytest.param(("--since", ""), "'' is no day and no span of time", id="nothing"),
        pytest.param(("--by", "month"), "'month' is not one of 'loop', 'task', 'day', 'agent', 'model', 'iteration', 'attempt'", id="by"),
    ],
)
def test_bad_input_is_answered_with_what_to_write(program: Program, arguments: tuple[str, ...], words: str | None) -> None:
    run_silent(program, "shop")
    ended = program.run("cost", *arguments)
    if words is None:
        assert ended.code in {0, 2}  # as far back as the platform's clock goes
        return
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert ended.err.startswith("ralph: ")
    if arguments == ("shp",):
        assert program.run("show", "shp").err == ended.err


def test_views_of_money_work_where_the_terminal_knows_only_ascii(program: Program) -> None:
    program.tasks("Ünïcödé ✓", "two")
    run_demo(program, "work,finish", "plan")
    poor = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    ended = program.run("cost", "--by", "task", env=poor)
    assert (ended.code, ended.err) == (0, "")

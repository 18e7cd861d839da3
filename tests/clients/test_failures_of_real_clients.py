"""What the provider and the client report as failed is told apart, as they report it; what the agent merely writes is not a report."""

from __future__ import annotations

import os
import signal
import time

import pytest
from client import CLAUDE, CODEX, DONE
from room import Room
from speech import Ask, Delivery, Reply

from ralphloop.core.limits import JITTER_MAX_S
from ralphloop.core.messages import WaitStarted

pytest_plugins = ["client_fixtures"]
pytestmark = pytest.mark.slow

ARTICLE = """\
# Rate limits

You've hit your 5-hour limit · resets 5:52pm (UTC)
You've hit your usage limit. Upgrade to Pro, or try again at 5:53 PM.
API Error: Request rejected (429) · 429 Too Many Requests · {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}
Not logged in · Please run /login
"""


# --- usage limits ---


@pytest.mark.parametrize("room", [CLAUDE], indirect=True, ids=str)
def test_at_a_usage_limit_one_request_is_made_and_the_next_one_only_after_the_reset(room: Room) -> None:
    resets_at = int(time.time()) + 4
    early: list[Ask] = []

    def script(ask: Ask) -> Reply:
        if time.time() < resets_at:
            early.append(ask)
            return room.client.limited(resets_at)
        return Reply(text=DONE)

    with room.model(script) as model:
        room.subscribe()
        ended = room.run("-p", "Go on.", "--gate", "true")
    assert ended.code == 0, ended
    assert len(early) == 1
    assert len(model.asks) == 2
    assert room.endings() == ["usage_limit", "ok"]
    shown = room.program.show()
    assert shown["totals"]["iterations"] == 1, "a limit costs no iteration"
    assert shown["totals"]["waits"] == 1


@pytest.mark.parametrize("room", [CLAUDE], indirect=True, ids=str)
def test_a_loop_that_dies_while_it_waits_goes_on_waiting_and_asks_nobody_before_the_reset(room: Room) -> None:
    resets_at = int(time.time()) + 15
    early: list[Ask] = []

    def script(ask: Ask) -> Reply:
        if time.time() < resets_at:
            early.append(ask)
            return room.client.limited(resets_at)
        return Reply(text=DONE)

    with room.model(script) as model:
        room.subscribe()
        waiting = room.start("-p", "Go on.", "--gate", "true")
        waiting.await_out("\nwait    ")
        room.program.crash(waiting)
        ended = room.program.run("resume", "project")
    assert ended.code == 0, ended
    assert (len(early), len(model.asks)) == (1, 2)
    assert room.endings() == ["usage_limit", "ok"]
    assert room.program.show()["totals"]["iterations"] == 1


@pytest.mark.parametrize("room", [CODEX], indirect=True, ids=str)
@pytest.mark.parametrize("away_s", [4, 5 * 3600, 50 * 3600], ids=["seconds", "hours", "days"])
def test_a_reset_that_is_named_to_the_minute_is_waited_for_to_the_end_of_that_minute(room: Room, away_s: int) -> None:
    """Codex tells of a limit in words alone: "try again at 5:53 PM", with a date if that is not today (0.166.0)."""
    resets_at = int(time.time()) + away_s
    with room.model(lambda _: room.client.limited(resets_at)) as model:
        running = room.start("-p", "Go on.")
        running.await_out("\nwait    ")
        running.signal(signal.SIGTERM)
        ended = running.end()
    assert ended.code == 130, ended
    assert len(model.asks) == 1
    assert room.endings() == ["usage_limit"]
    (wait,) = (entry for entry in room.program.entries() if isinstance(entry, WaitStarted))
    assert resets_at <= wait.until <= resets_at + 60 + JITTER_MAX_S


def test_an_agent_that_writes_about_rate_limits_is_not_taken_for_limited(room: Room) -> None:
    room.program.write("article.md", ARTICLE)
    with room.model([read_the_article(room), Reply(text=ARTICLE), Reply(text=DONE)]):
        ended = room.run("-p", "Write about rate limits.", "--gate", "true")
    assert ended.code == 0, ended
    assert room.endings() == ["ok", "ok"]
    assert room.program.show()["totals"]["waits"] == 0


def test_not_even_when_its_run_fails_for_another_reason(room: Room) -> None:
    room.program.write("article.md", ARTICLE)
    article = read_the_article(room)
    with room.model(lambda ask: article if ask.number == 1 else room.client.bad_request if ask.output else Reply(text=DONE)):
        ended = room.run("-p", "Write about rate limits.", "--gate", "true")
    assert ended.code == 0, ended
    assert room.endings() == ["failed", "ok"]
    assert room.program.show()["totals"]["waits"] == 0


def read_the_article(room: Room) -> Reply:
    """The agent says it, and its tool says it, on both streams."""
    return Reply(text=ARTICLE, calls=(room.client.shell("cat article.md; cat article.md >&2"),))


# --- overload ---


@pytest.mark.parametrize("cut", [False, True], ids=["overloaded", "cut off"])
def test_what_the_client_retries_by_itself_is_no_failure(room: Room, cut: bool) -> None:
    trouble = Reply(text="It is half", delivery=Delivery.CUT) if cut else room.client.overloaded
    with room.model([trouble, Reply(text=DONE)]) as model:
        ended = room.run("-p", "Go on.", "--gate", "true")
    assert ended.code == 0, ended
    assert len(model.asks) == 2
    assert room.endings() == ["ok"]


def test_an_overload_that_outlasts_the_client_is_waited_out_with_another_attempt(room: Room) -> None:
    conversations: list[str] = []

    def script(ask: Ask) -> Reply:
        conversations.append(ask.conversation)
        return room.client.overloaded if ask.conversation == conversations[0] else Reply(text=DONE)

    room.settings(limits={"backoff_s": 0.2})
    with room.model(script):
        ended = room.run("-p", "Go on.", "--gate", "true")
    assert ended.code == 0, ended
    assert conversations.count(conversations[0]) > 1, "the client tried again"
    assert room.endings() == ["failed", "ok"]
    assert "\nwait    " in ended.out
    assert room.program.show()["totals"]["iterations"] == 1


# --- what no further attempt can help ---


def test_without_a_key_the_loop_fails_at_once_and_says_how_to_log_in(room: Room) -> None:
    with room.model([]):
        del room.program.environ[room.client.key]
        ended = room.run("-p", "Go on.")
    assert ended.code == 4, ended
    assert room.endings() == ["fatal"]
    assert room.client.key in ended.out
    assert "ralph resume" in ended.out


@pytest.mark.parametrize(
    ("trouble", "remedy"),
    [
        pytest.param("unauthorized", "log in", id="not logged in"),
        pytest.param("out_of_credit", "add credit to the account", id="out of credit"),
        pytest.param("unknown_model", "set agent.model to a model that this account may use", id="unknown model"),
    ],
)
def test_what_only_a_person_can_put_right_fails_the_loop_at_once_and_names_the_remedy(room: Room, trouble: str, remedy: str) -> None:
    with room.model(lambda _: getattr(room.client, trouble)):
        ended = room.run("-p", "Go on.", "--model", "no-such-model")
    assert ended.code == 4, ended
    assert room.endings() == ["fatal"]
    assert remedy in ended.out


@pytest.mark.parametrize("room", [CLAUDE], indirect=True, ids=str)
def test_as_root_claude_works_only_where_it_is_told_of_a_sandbox_and_ralph_names_the_setting(room: Room) -> None:
    refused = os.geteuid() == 0
    room.settings(agent={"env": {}})
    with room.model([Reply(text=DONE)]) as model:
        ended = room.run("-p", "Go on.", "--gate", "true")
    assert (ended.code, room.endings(), len(model.asks)) == ((4, ["fatal"], 0) if refused else (0, ["ok"], 1)), ended
    assert ("agent.permissions" in ended.out) is refused

"""What a real client may do, spend and hold is bounded; where it meets a bound, the loop names it and tells the next prompt. And clients that write text."""

from __future__ import annotations

import pytest
from client import CLAUDE, DONE
from room import Room
from speech import Reply, Tokens

pytest_plugins = ["client_fixtures"]
pytestmark = pytest.mark.slow

CLAUDE_ALONE = pytest.mark.parametrize("room", [CLAUDE], indirect=True, ids=str)


# --- text ---


def test_a_client_that_is_asked_for_text_does_its_work_and_is_believed_by_its_last_words(room: Room) -> None:
    room.settings(agent={"format": "text"})
    path = room.program.workspace / "greeting.txt"
    with room.model([Reply(text="Now I write.", calls=(room.client.new_file(path, "hello\n"),)), Reply(text=f"It is written.\n\n{DONE}")]):
        ended = room.run("-p", "Write the greeting.", "--gate", "grep hello greeting.txt")
    assert ended.code == 0, ended
    assert f" {room.client.writes}(" not in ended.out, "tools are not told in text"
    (attempt,) = room.program.attempts()
    assert (attempt["claim"]["claimed"], attempt["input_tokens"]) == (True, 0)


def test_a_client_that_fails_in_text_is_read_by_its_own_error_and_the_remedy_is_named(room: Room) -> None:
    room.settings(agent={"format": "text"})
    with room.model(lambda _: room.client.unknown_model):
        ended = room.run("-p", "Go on.", "--model", "no-such-model")
    assert ended.code == 4, ended
    assert "set agent.model to a model that this account may use" in ended.out


# --- bounds ---


@CLAUDE_ALONE
def test_an_attempt_gets_what_is_left_of_the_loops_budget_and_the_loop_ends_when_it_is_used_up(room: Room) -> None:
    dear = Tokens(input=100_000, output=10_000)
    with room.model([Reply(calls=(room.client.shell("echo hi"),), tokens=dear), Reply(text=DONE, tokens=dear)]) as model:
        ended = room.run("-p", "Go on.", "--gate", "true", "--max-cost", "0.10", "--model", "claude-opus-5-5")
    assert ended.code == 1, ended
    assert len(model.asks) == 1, "the client stopped before it asked again"
    (attempt,) = room.program.attempts()
    assert attempt["cause"] == "budget"
    assert room.program.show()["outcome"]["limit"] == "cost_usd"
    assert "what the attempt may cost was used up" in ended.out


@CLAUDE_ALONE
def test_used_up_turns_are_named_and_told_to_the_next_attempt(room: Room) -> None:
    room.settings(agent={"flags": ["--max-turns 1"]})
    with room.model([Reply(calls=(room.client.shell("echo hi"),)), Reply(text=DONE)]) as model:
        ended = room.run("-p", "Go on.", "--gate", "true")
    assert ended.code == 0, ended
    assert room.endings() == ["failed", "ok"]
    assert room.program.attempts()[0]["cause"] == "turns"
    assert "Take a smaller step, and bring it to its end." in model.asks[1].said


@CLAUDE_ALONE
def test_a_full_context_window_is_named_and_told_to_the_next_attempt(room: Room) -> None:
    too_long = Reply(status=400, error="invalid_request_error", text="prompt is too long: 250000 tokens > 200000 maximum")
    with room.model([too_long, Reply(text=DONE)]) as model:
        ended = room.run("-p", "Go on.", "--gate", "true")
    assert ended.code == 0, ended
    assert room.program.attempts()[0]["cause"] == "context_window"
    assert "the context window was full" in model.asks[-1].said


@CLAUDE_ALONE
def test_a_denied_tool_is_shown_as_the_reason_of_no_progress_and_told_to_the_next_prompt(room: Room) -> None:
    room.settings(agent={"permissions": "ask"})
    denied = [Reply(calls=(room.client.shell("touch made.txt"),)), Reply(text="I could not.")]
    with room.model([*denied, Reply(text=DONE)]) as model:
        ended = room.run("-p", "Make made.txt.")
    assert ended.code == 0, ended
    assert not (room.program.workspace / "made.txt").exists()
    assert room.program.attempts()[0]["denied"] == ["Bash"]
    assert "no progress (1 of 5 in a row): the agent was not allowed to use Bash (agent.permissions is ask)" in ended.out
    assert "You were not allowed to use Bash." in model.asks[-1].said

"""Work done by real clients: what they were asked, did, said and used is what Ralph asked, saw, believed and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from client import CLAUDE, COMPLETE, DONE
from room import Room
from speech import Call, Reply, Tokens

pytest_plugins = ["client_fixtures"]
pytestmark = pytest.mark.slow

STILL_OPEN = "You said that everything is complete, but 1 task is still open in PRD.md"
TICK = "sed -i.old 's/\\[ \\]/[x]/' PRD.md && rm PRD.md.old"


def test_a_false_claim_and_a_red_gate_are_told_to_the_agent_until_the_work_is_proved(room: Room) -> None:
    room.program.tasks("Write the greeting")
    script = [
        Reply(text=COMPLETE),
        Reply(calls=(room.client.shell(f"echo helo > greeting.txt; {TICK}"),)),
        Reply(text=COMPLETE),
        Reply(calls=(room.client.shell("echo hello > greeting.txt"),)),
        Reply(text=COMPLETE),
    ]
    with room.model(script) as model:
        ended = room.run("--gate", "cat greeting.txt; grep -q hello greeting.txt")
    assert ended.code == 0, ended
    assert ended.out.count("claim   not believed: ") == 2
    assert "done (proved): 1 gate green" in ended.out
    first, second, third = (model.asks[index].said for index in (0, 1, 3))
    assert STILL_OPEN not in first
    assert STILL_OPEN in second
    assert STILL_OPEN not in third
    assert "failed with exit code 1" in third
    assert third.rstrip().endswith("helo"), "what the gate said"
    assert len(model.asks) == len(script)


def test_each_iteration_is_a_conversation_of_its_own_known_by_the_name_that_the_client_gave_it(room: Room) -> None:
    with room.model([Reply(text="On it."), Reply(text="Still on it."), Reply(text=DONE)]) as model:
        ended = room.run("-p", "Make it work.", "--gate", "true")
    assert ended.code == 0, ended
    conversations = [ask.conversation for ask in model.asks]
    assert len(set(conversations)) == 3
    assert [attempt["conversation_id"] for attempt in room.program.attempts()] == conversations


def test_a_tool_call_writes_a_file_and_is_shown(room: Room) -> None:
    path = room.program.workspace / "greeting.txt"
    with room.model([Reply(calls=(room.client.new_file(path, "hello\n"),)), Reply(text=f"It is written.\n\n{DONE}")]) as model:
        ended = room.run("-p", "Write the greeting.", "--gate", "grep hello greeting.txt")
    assert ended.code == 0, ended
    assert path.read_text() == "hello\n"
    assert f" {room.client.writes}(" in ended.out.partition("It is written.")[0]
    assert model.asks[1].output, "the client told the model what came of it"


def test_tokens_are_those_that_the_model_used_and_the_cost_is_the_clients_or_estimated_from_them(room: Room) -> None:
    room.settings(prices=[{"model": room.client.name, "input": 10, "output": 100, "cache_read": 1}])
    script = [
        Reply(calls=(room.client.shell("echo hi"),), tokens=Tokens(input=1000, output=100, cached=500)),
        Reply(text=DONE, tokens=Tokens(input=2000, output=20, cached=5000)),
    ]
    with room.model(script):
        ended = room.run("-p", "Say hi.", "--gate", "true")
    assert ended.code == 0, ended
    (attempt,) = room.program.attempts()
    used = {name: attempt[name] for name in ("input_tokens", "output_tokens", "cache_read_tokens")}
    assert used == {"input_tokens": 3000, "output_tokens": 120, "cache_read_tokens": 5500}
    estimate = pytest.approx((3000 * 10 + 120 * 100 + 5500 * 1) / 1_000_000)
    says_its_cost = room.client is CLAUDE
    assert attempt["estimated"] is not says_its_cost
    assert attempt["cost_usd"] > 0
    assert (attempt["cost_usd"] == estimate) is not says_its_cost


def test_a_prompt_of_300_kb_arrives_whole(room: Room) -> None:
    lines = [f"{number}: a line of a long prompt, with ümlauts and 'quotes'" for number in range(5500)]
    prompt = "\n".join(lines)
    assert len(prompt.encode()) > 300_000
    room.program.write("prompt.md", prompt)
    with room.model([Reply(text=DONE)]) as model:
        ended = room.run("-f", "prompt.md", "--gate", "true")
    assert ended.code == 0, ended
    assert prompt in model.asks[0].said


@pytest.mark.parametrize("room", [CLAUDE], indirect=True, ids=str)
def test_what_an_agent_says_when_its_background_work_has_ended_is_its_final_word(room: Room) -> None:
    """Claude Code writes a second result line then: its cost includes the first one, its tokens do not (2.1.325)."""
    first_result = f'until grep -qs \'"type":"result"\' {room.program.state}/loops/*/1/1/events.ndjson; do sleep 0.05; done'
    script = [
        Reply(calls=(Call(name="Bash", input={"command": first_result, "run_in_background": True}),), tokens=Tokens(input=1000, output=100)),
        Reply(text="The tests run in the background.", tokens=Tokens(input=1000, output=100)),
        Reply(text=f"The tests passed.\n\n{DONE}", tokens=Tokens(input=1000, output=100)),
    ]
    with room.model(script):
        ended = room.run("-p", "Run the tests.", "--gate", "true")
    assert ended.code == 0, ended
    (attempt,) = room.program.attempts()
    lines = map(json.loads, Path(attempt["files"], "events.ndjson").read_text().splitlines())
    costs = [line["total_cost_usd"] for line in lines if line["type"] == "result"]
    assert len(costs) == 2
    assert attempt["claim"]["claimed"]
    assert attempt["ended_by"] == "exit"
    assert (attempt["input_tokens"], attempt["output_tokens"]) == (3000, 300)
    assert attempt["cost_usd"] == max(costs)

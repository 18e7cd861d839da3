"""However a real client ends, and whatever it leaves, its run ends in bounded time and nothing of it survives."""

from __future__ import annotations

import signal
import sys
from threading import Event

import pytest
from client import CLAUDE, CODEX, DONE
from room import LEAVE, Room
from speech import Call, Reply

from ralphloop.process.identity import identify, is_alive
from ralphloop.process.kinship import descendants_of

pytest_plugins = ["client_fixtures"]
pytestmark = pytest.mark.slow

FOR_EVER = "while :; do sleep 1; done"

IMPATIENT = f"""\
#!{sys.executable}
import sys
from ralphloop.process import watch
watch.LONGEST_AFTER_RESULT_S = 1.0
from ralphloop.__main__ import main
sys.exit(main())
"""
"""Ralph waits five minutes for background work that an agent has announced; a test has not got that long."""


def at_work(room: Room, then: str = FOR_EVER) -> str:
    """A command that is deaf to polite signals, and says which process it is, for `await_agent`."""
    return f"sh -c 'trap \"\" HUP INT TERM; echo $$ > {room.program.root}/at-work; {then}'"


def test_sigterm_in_the_middle_of_a_tool_leaves_nothing_and_the_loop_can_be_resumed(room: Room) -> None:
    with room.model([Reply(calls=(room.client.shell(f"echo begun > work; {at_work(room)}"),)), Reply(text=DONE)]) as model:
        running = room.start("-p", "Go on.", "--gate", "test -f work")
        tool = room.program.await_agent()
        started = {identity for pid in descendants_of(running.process.pid) if (identity := identify(pid))}
        running.signal(signal.SIGTERM)
        running.await_err("Received signal, shutting down...")
        assert is_alive(tool), "the first signal is patient"
        running.signal(signal.SIGTERM)
        stopped = running.end()
        assert stopped.code == 130, stopped
        assert not any(map(is_alive, started | {tool}))
        assert room.endings() == ["interrupted"]
        resumed = room.program.run("resume", "project")
    assert resumed.code == 0, resumed
    assert room.endings() == ["interrupted", "ok"]
    assert len(model.asks) == 2
    assert "done (proved)" in resumed.out


@pytest.mark.parametrize(
    ("room", "how"),
    [
        pytest.param(CLAUDE, "nohup", id="claude-nohup"),
        pytest.param(CLAUDE, "setsid", id="claude-setsid"),
        pytest.param(CODEX, "setsid", id="codex-setsid"),  # the rest of a tool's group it ends by itself (0.166.0)
    ],
    indirect=["room"],
)
def test_a_process_that_an_agent_leaves_behind_does_not_outlive_its_iteration(room: Room, how: str) -> None:
    turn_ends, next_turn = Event(), Event()
    leave = f"{LEAVE[how]} {at_work(room, f'touch away; {FOR_EVER}')} > /dev/null 2>&1 < /dev/null & until [ -e away ]; do sleep 0.05; done"
    script = [
        Reply(calls=(room.client.shell(leave),)),
        Reply(text="On it.", after=turn_ends),
        Reply(text=DONE, after=next_turn),
    ]
    with room.model(script) as model:
        running = room.start("-p", "Go on.", "--gate", "true")
        left = room.program.await_agent()
        model.await_asks(2)
        assert is_alive(left), "its tool has ended, and it goes on"
        turn_ends.set()
        model.await_asks(3)
        assert not is_alive(left), "the next iteration has begun"
        next_turn.set()
        ended = running.end()
    assert ended.code == 0, ended
    assert room.endings() == ["ok", "ok"]


@pytest.mark.parametrize("room", [CLAUDE], indirect=True, ids=str)
def test_a_client_that_stays_after_its_result_is_ended_and_its_turn_counts(room: Room) -> None:
    """Claude Code stays as long as a command runs in the background (2.1.325)."""
    impatient = room.program.root / "ralph"
    impatient.write_text(IMPATIENT)
    impatient.chmod(0o755)
    stay = Reply(calls=(Call(name="Bash", input={"command": at_work(room), "run_in_background": True}),))
    with room.model([stay, Reply(text="The server runs."), Reply(text=DONE)]) as model:
        running = room.start("-p", "Go on.", "--gate", "true", executable=str(impatient))
        server = room.program.await_agent()
        ended = running.end()
    assert ended.code == 0, ended
    assert len(model.asks) == 3
    assert not is_alive(server)
    assert room.endings() == ["ok", "ok"]
    assert [attempt["ended_by"] for attempt in room.program.attempts()] == ["after_result", "exit"]

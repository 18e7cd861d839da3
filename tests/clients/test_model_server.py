"""The scripted model: what it says is what was written, whoever listens, and it closes whatever goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from threading import Event, Thread
from typing import Any

import pytest
from model_server import ModelServer
from speech import Call, Delivery, Reply, Tokens

TOOLS: dict[str, list[dict[str, Any]]] = {
    "messages": [{"name": "shell"}],
    "responses": [{"type": "function", "name": "shell"}],
    "chat": [{"type": "function", "function": {"name": "shell"}}],
    "gemini": [{"functionDeclarations": [{"name": "shell"}]}],
}
PATHS = {
    ("messages", True): "/v1/messages?beta=true",
    ("messages", False): "/v1/messages",
    ("responses", True): "/v1/responses",
    ("responses", False): "/v1/responses",
    ("chat", True): "/v1/chat/completions",
    ("chat", False): "/v1/chat/completions",
    ("gemini", True): "/v1beta/models/m:streamGenerateContent?alt=sse",
    ("gemini", False): "/v1beta/models/m:generateContent",
}
WORDS: dict[str, dict[str, Any]] = {
    "messages": {"messages": [{"role": "user", "content": [{"type": "text", "text": "<system-reminder>x"}, {"type": "text", "text": "Begin"}]}]},
    "responses": {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Begin"}]}]},
    "chat": {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "Begin"}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Begin"}]}]},
}
PROTOCOLS = list(PATHS)


def ask(model: ModelServer, protocol: str = "messages", *, stream: bool = False, tools: bool = True) -> tuple[int, str]:
    """Ask as a client of that protocol does: status and body."""
    connection = HTTPConnection(model.url.removeprefix("http://"), timeout=60)
    body = WORDS[protocol] | ({"stream": stream} if protocol != "gemini" else {}) | ({"tools": TOOLS[protocol]} if tools else {})
    connection.request("POST", PATHS[protocol, stream], json.dumps(body))
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, said


def objects(said: str) -> Iterator[dict[str, Any]]:
    """The objects of a stream, or the one object."""
    for line in said.splitlines():
        content = line.removeprefix("data: ")
        if content.startswith("{"):
            yield json.loads(content)


@pytest.mark.parametrize(("protocol", "stream"), PROTOCOLS)
def test_a_reply_says_its_text_its_calls_and_its_tokens_in_every_protocol(protocol: str, stream: bool) -> None:
    reply = Reply(text="Grüße", calls=(Call(name="shell", input={"cmd": "ls"}),), tokens=Tokens(input=4001, output=4002, cached=1000))
    with ModelServer([reply]) as model:
        status, said = ask(model, protocol, stream=stream)
    assert status == 200
    spoken = " ".join(json.dumps(each, ensure_ascii=False).replace('\\"', '"') for each in objects(said))
    for part in ("Grüße", '"shell"', '{"cmd": "ls"}', "4002", "1000"):
        assert part in spoken
    assert ("4001" if protocol == "messages" else "5001") in spoken, "only Anthropic counts the cached tokens apart"
    (heard,) = model.asks
    assert (heard.protocol, heard.said, heard.output, heard.heard.tools) == (protocol, "Begin", "", ("shell",))


@pytest.mark.parametrize(("protocol", "stream"), PROTOCOLS)
def test_an_error_has_its_status_its_headers_and_the_shape_of_its_protocol(protocol: str, stream: bool) -> None:
    with ModelServer([Reply(status=529, error="overloaded_error", text="Overloaded")]) as model:
        status, said = ask(model, protocol, stream=stream)
    assert status == 529
    assert json.loads(said)["error"]["message"] == "Overloaded"


def test_a_request_without_tools_gets_an_answer_beside_the_script() -> None:
    with ModelServer([Reply(text="Mine")]) as model:
        _, aside = ask(model, tools=False)
        _, said = ask(model)
    assert "Aside" in aside
    assert "Mine" in said
    assert (len(model.asks), len(model.side_asks)) == (1, 1)


def test_a_script_that_is_too_short_fails_the_test_and_ends_the_client() -> None:
    def listen() -> int:
        with ModelServer([]) as model:
            return ask(model)[0]

    with pytest.raises(ExceptionGroup) as raised:
        listen()
    assert "no reply for ask 1: 'Begin'" in str(raised.value.exceptions[0])


def test_a_cut_stream_ends_in_the_middle() -> None:
    with ModelServer([Reply(text="Half", delivery=Delivery.CUT)]) as model:
        _, said = ask(model, stream=True)
    assert "message_start" in said
    assert "message_stop" not in said


def test_an_answer_waits_for_its_event() -> None:
    now = Event()
    with ModelServer([Reply(text="At last", after=now)]) as model:
        asking = Thread(target=ask, args=(model,))
        asking.start()
        assert [each.said for each in model.await_asks(1)] == ["Begin"]
        assert asking.is_alive()
        now.set()
        asking.join(60)
        assert not asking.is_alive()


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(lambda: Reply(delivery=Delivery.HANG), id="hangs"),
        pytest.param(lambda: Reply(after=Event()), id="waits for ever"),
        pytest.param(lambda: Reply(text="x" * 50_000_000), id="is longer than anybody reads"),
    ],
)
def test_the_end_of_the_block_releases_whoever_waits(reply: Callable[[], Reply]) -> None:
    with ModelServer([reply()]) as model, socket.create_connection(("127.0.0.1", int(model.url.rpartition(":")[2])), timeout=60) as idle:
        connection = HTTPConnection(model.url.removeprefix("http://"), timeout=60)
        connection.request("POST", PATHS["messages", True], json.dumps(WORDS["messages"] | {"stream": True, "tools": TOOLS["messages"]}))
        model.await_asks(1)
    assert idle.fileno() == -1
    connection.close()


def test_a_client_that_goes_away_is_no_error() -> None:
    with ModelServer([Reply(text="x" * 50_000_000), Reply(text="Next")]) as model:
        connection = HTTPConnection(model.url.removeprefix("http://"), timeout=60)
        connection.request("POST", PATHS["messages", False], json.dumps(WORDS["messages"] | {"tools": TOOLS["messages"]}))
        model.await_asks(1)
        connection.close()
        assert "Next" in ask(model)[1]

"""A scripted model on loopback, for real clients: it plays replies, and keeps what it was asked.

    with ModelServer([Reply(calls=(Call(name="Bash", input={"command": "make"}),)), Reply(text="Made.")]) as model:
        ...  # a client whose base URL is model.url
        model.await_asks(2)

A script is a list of replies, one for each ask, or a function from Ask to Reply; a list that is too short, or a function that raises, fails the
test at the end of the block. What a client asks beside its work (titles and the like: requests without tools) gets a harmless answer and is kept
apart. Which protocol a request speaks is known by its path.

By hand: `python tests/clients/model_server.py '{"text": "Hello."}' '{"status": 529, "text": "Overloaded"}'`; the last reply is repeated.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, islice, repeat
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Any, Self

import speak_chat
import speak_gemini
import speak_messages
import speak_responses
from speech import Ask, Call, Delivery, Heard, Reply, Speech, Tokens

Script = Iterable[Reply] | Callable[[Ask], Reply]

SPEECHES: dict[str, Speech] = {"messages": speak_messages, "responses": speak_responses, "chat": speak_chat, "gemini": speak_gemini}
PATIENCE_S = 60.0
"""How long a test waits for a request that must come."""

ASIDE = Reply(text="Aside")


class ModelServer:
    """The server, from `with` to the end of the block; nothing of it outlives the block, whoever still waits for an answer."""

    def __init__(self, script: Script) -> None:
        self.asks: list[Ask] = []
        self.side_asks: list[Ask] = []
        self._reply = script if callable(script) else partial(_next, iter(script))
        self._faults: list[Exception] = []
        self._news = Condition()
        self._closing = Event()
        self._server = _Server(("127.0.0.1", 0), partial(_Handler, self), self)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The base URL; OpenAI's clients want `/v1` after it."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def await_asks(self, number: int) -> list[Ask]:
        """Wait until that many asks have come; all that came."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.asks) >= number or self._faults, PATIENCE_S), f"{len(self.asks)} of {number} asks came"
            return list(self.asks)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()
        if self._faults and error is not None:
            error.add_note(f"the script of the model: {self._faults}")
        elif self._faults:
            raise ExceptionGroup("the script of the model", self._faults)

    # --- for the handlers ---

    def answer(self, speech: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[Ask, Reply]:
        """Keep a request, and find its reply."""
        heard = SPEECHES[speech].hear(path, headers, body)
        with self._news:
            kept = self.asks if heard.tools else self.side_asks
            ask = Ask(number=len(kept) + 1, protocol=speech, path=path, headers=headers, body=body, heard=heard)
            kept.append(ask)
            reply = self._reply(ask) if heard.tools else ASIDE
            self._news.notify_all()
        return ask, reply

    def fault(self, error: Exception) -> None:
        """Keep what the test must hear of."""
        with self._news:
            self._faults.append(error)
            self._news.notify_all()

    def await_event(self, event: Event | None) -> None:
        """Wait for it, or for the end of the block."""
        while event is not None and not event.wait(0.02) and not self._closing.is_set():
            pass

    def hang(self) -> None:
        """Wait for the end of the block."""
        self._closing.wait()


def _next(replies: Iterator[Reply], ask: Ask) -> Reply:
    for reply in replies:
        return reply
    raise AssertionError(f"the script has no reply for ask {ask.number}: {ask.said[-500:]!r} {ask.output[-500:]!r}")


class _Server(ThreadingHTTPServer):
    """Ends with its handlers: every connection that is open is hung up."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: Callable[..., BaseHTTPRequestHandler], model: ModelServer) -> None:
        self._model = model
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for request in tuple(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the signature is the library's
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, OSError):  # a client that went away is no error
            self._model.fault(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, model: ModelServer, *arguments: Any) -> None:
        self._model = model
        super().__init__(*arguments)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        speech = next((name for name, speech in SPEECHES.items() if speech.PATH.match(self.path)), None)
        if speech is None:
            return self._begin(404, {"content-type": "application/json", "content-length": "2"}, b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            ask, reply = self._model.answer(speech, self.path, headers, json.loads(content))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test hears of it, and the client does not try again
            self._model.fault(error)
            reply = Reply(status=400, text=str(error), error="invalid_request_error")
            ask = Ask(number=0, protocol=speech, path=self.path, headers=headers, body={}, heard=Heard(said=""))
        self._model.await_event(reply.after)
        return self._refuse(SPEECHES[speech], reply) if reply.status >= 400 else self._say(SPEECHES[speech], reply, ask)

    def do_GET(self) -> None:
        self._begin(404, {"content-type": "application/json", "content-length": "2"}, b"{}")

    def do_HEAD(self) -> None:
        self._begin(404, {"content-length": "0"}, b"")

    def _refuse(self, speech: Speech, reply: Reply) -> None:
        content = _encoded(speech.refuse(reply) if reply.body is None else reply.body)
        self._begin(reply.status, {"content-type": "application/json", "content-length": str(len(content)), **reply.headers}, content)

    def _say(self, speech: Speech, reply: Reply, ask: Ask) -> None:
        pieces = list(speech.say(reply, ask)) if reply.body is None else [_encoded(reply.body)]
        kind = "text/event-stream" if ask.heard.streams else "application/json"
        self._begin(reply.status, {"content-type": kind, **reply.headers}, b"")
        said = pieces if reply.delivery is Delivery.WHOLE else islice(pieces, (len(pieces) + 1) // 2)
        self.wfile.writelines(said)
        self.wfile.flush()
        if reply.delivery is Delivery.HANG:
            self._model.hang()

    def _begin(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the library's name
        """Say nothing: the asks are kept."""


def _encoded(body: object) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def by_hand(replies: list[str]) -> None:
    """Play the replies, the last one for ever, and show what is asked, until Ctrl-C."""
    script = [_read(reply) for reply in replies] or [Reply(text="Hello.")]
    played = chain(script, repeat(script[-1]))

    def show(ask: Ask) -> Reply:
        sys.stdout.write(f"{ask.number} {ask.protocol} {ask.conversation} said {ask.said[-300:]!r} output {ask.output[-300:]!r}\n")
        sys.stdout.flush()
        return next(played)

    with ModelServer(show) as model, suppress(KeyboardInterrupt):
        sys.stdout.write(f"{model.url}\n")
        sys.stdout.flush()
        model.hang()


def _read(text: str) -> Reply:
    fields = json.loads(text)
    calls = tuple(Call(name=name, input=given) for name, given in fields.pop("calls", ()))
    tokens, delivery = Tokens(**fields.pop("tokens", {})), Delivery(fields.pop("delivery", "whole"))
    return Reply(calls=calls, tokens=tokens, delivery=delivery, **fields)


if __name__ == "__main__":
    by_hand(sys.argv[1:])

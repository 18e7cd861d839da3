"""What the parsers of all clients with a JSON stream have in common: one JSON object a line, of which nothing is believed but its shape.

A client's own parser adds a reader for each type of line. It keeps the last words and the last result, never the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ralphloop.agents.failures import Failure, Meaning, Wordings, meaning, rejection
from ralphloop.agents.fields import read_object, text
from ralphloop.agents.one_line import one_line
from ralphloop.agents.resets import possible_reset, with_reset
from ralphloop.core.messages import Event, FinalResult, Text, Unknown
from ralphloop.core.model import EndedBy, RunReport, StreamReport, Usage, UsageLimit

FINAL_WORDS_CHARS = 256 * 1024
TOOL_OUTPUT_CHARS = 64 * 1024
UNKNOWN_CHARS = 2000
NAME_CHARS = 200
QUESTION_CHARS = 1000
MOST_DENIALS = 10

Reader = Callable[[dict[str, Any]], Iterable[Event]]


class NdjsonParser:
    """One run's stdout; satisfies ports.StreamParser. `readers`: one for each type of line, as its key `type` names it."""

    def __init__(self, wordings: Wordings) -> None:
        self._wordings = wordings
        self._readers: dict[str, Reader] = {}
        self._lines = 0
        self._objects = 0
        self._known = 0
        self._conversation: str | None = None
        self._model: str | None = None
        self._usage = Usage()
        self._result_seen = False
        self._background = False
        self._said = ""
        self._final: str | None = None
        self._failure: Failure | None = None
        self._limit: UsageLimit | None = None
        self._denied: dict[str, None] = {}
        self._question = ""

    @property
    def result_seen(self) -> bool:
        """Whether the client has said that its turn is over."""
        return self._result_seen

    @property
    def background(self) -> bool:
        """Whether it says that tasks run in the background: it stays for them after its result."""
        return self._background

    @property
    def astray(self) -> bool:
        """Whether it goes round in circles; most clients do not."""
        return False

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line."""
        if not line.strip():
            return ()
        self._lines += 1
        found = read_object(line)
        if found is None:
            return (_unknown(line),)
        self._objects += 1
        reader = self._readers.get(text(found.get("type")))
        if reader is None:
            return (_unknown(line),)
        self._known += 1
        return tuple(reader(found))

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, all told."""
        meant = self._meaning(run)
        failed = self._failure is not None or not self._result_seen
        return StreamReport(
            final_words=self.final_words()[-FINAL_WORDS_CHARS:],
            usage=self._usage,
            model=self._model,
            conversation_id=self._conversation,
            denied=tuple(self._denied),
            question=self._question,
            error=self._error(run),
            cause=meant.cause,
            fatal=meant.fatal,
            limit=self._limited(meant, run, now) if failed else None,
            result_seen=self._result_seen,
        )

    def final_words(self) -> str:
        """The agent's own last words: the only text in which a claim is looked for."""
        return self._said if self._final is None else self._final

    # --- for the readers of a client ---

    def _converses(self, conversation: Any, model: Any = None) -> None:
        """The first id counts, and the last model."""
        self._conversation = self._conversation or text(conversation)[:NAME_CHARS] or None
        self._model = text(model)[:NAME_CHARS] or self._model

    def _says(self, words: str) -> Event:
        self._said = words
        return Text(text=words)

    def _denies(self, tool: Any) -> None:
        """A tool that the agent was not allowed to use: the reason why an attempt may have achieved nothing."""
        if len(self._denied) < MOST_DENIALS:
            self._denied[one_line(text(tool)) or "a tool"] = None

    def _asks(self, question: Any) -> None:
        """The agent asked a person, and nobody is there."""
        self._question = one_line(text(question), QUESTION_CHARS) or self._question

    def _ends(self, usage: Usage, failure: Failure | None = None, words: str = "") -> Event:
        """The turn is over. `words` are shown; what counts as the final ones is the client's business."""
        self._result_seen = True
        self._failure = failure
        return FinalResult(usage=usage, is_error=failure is not None, text=failure.text if failure else words)

    # --- the end ---

    def _meaning(self, run: RunReport) -> Meaning:
        if self._failure is not None:
            return meaning(self._failure, self._wordings)
        if self._lines or not run.exit_code:
            return Meaning()
        # It refused to begin: what it then says on standard error is its own report, of which no run of an agent is a part.
        return Meaning(fatal=rejection(run.stderr_tail, self._wordings))

    def _limited(self, meant: Meaning, run: RunReport, now: float) -> UsageLimit | None:
        """The limit that the error means, or, where a client ended by itself without any, the one that was announced last.

        It ends as announced, else as the error names it.
        """
        by_itself = run.ended_by is EndedBy.EXIT and run.signal is None
        limit = self._limit if self._failure is None and by_itself else meant.limit
        resets_at = None if self._limit is None else possible_reset(self._limit.resets_at, now)
        if limit is not None and resets_at is not None:
            return UsageLimit(resets_at=resets_at, text=limit.text)
        return with_reset(None if limit is None else UsageLimit(resets_at=None, text=limit.text), now)

    def _error(self, run: RunReport) -> str | None:
        if self._failure is not None:
            return self._failure.words
        if self._lines and not self._known and run.exit_code == 0:
            return (
                "nothing that it put out is known: flags in agent.flags may have changed its output, or the client is too old "
                "(`ralph agents` tells); with agent.format set to text its plain words are read"
            )
        return None


def _unknown(line: bytes) -> Unknown:
    return Unknown(line=line[:UNKNOWN_CHARS].decode("utf-8", "replace"))

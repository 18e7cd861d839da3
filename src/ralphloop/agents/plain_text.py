"""Reads plain text: what an agent prints is what it says.

Of a mere command nothing more is known. A known client that was asked for text prints its final words alone, or, where it failed, its error alone.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from ralphloop.agents.failures import READ_CHARS, Failure, Meaning, Wordings, meaning, rejection, unpainted
from ralphloop.agents.resets import with_reset
from ralphloop.core.messages import Event, Text
from ralphloop.core.model import EndedBy, RunReport, StreamReport

FINAL_WORDS_BYTES = 256 * 1024


class PlainTextParser:
    """One run's stdout as the agent's words, of which the last 256 KiB are remembered; satisfies ports.StreamParser.

    `on_stdout`: how a report of a failure begins, where the client makes it on standard output, and nothing else is there. `report`: what one looks
    like on standard error, with the group `words`, and `status` for that of HTTP; without it, the last line is one.
    """

    def __init__(self, wordings: Wordings | None = None, *, on_stdout: re.Pattern[str] | None = None, report: re.Pattern[str] | None = None) -> None:
        self._wordings = wordings
        self._report = report
        self._on_stdout = on_stdout
        self._tail: deque[bytes] = deque()
        self._size = 0

    @property
    def result_seen(self) -> bool:
        """Plain text has no last line: only the exit ends the run."""
        return False

    @property
    def background(self) -> bool:
        """Plain text does not tell."""
        return False

    @property
    def astray(self) -> bool:
        """Nor does it tell this."""
        return False

    def feed(self, line: bytes) -> Iterable[Event]:
        """Each line is something the agent said."""
        self._remember(line[-FINAL_WORDS_BYTES:])
        return (Text(text=line.decode("utf-8", "replace").rstrip("\r")),)

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """The words; of a known client that failed, what its error means. Everything else is told by the exit status."""
        words = b"\n".join(self._tail).decode("utf-8", "replace")
        failure = self._failure(words, run)
        if failure is None or self._wordings is None:
            return StreamReport(final_words=words)
        fatal = None if words.strip() else rejection(run.stderr_tail, self._wordings)  # what has begun may have tools that write there
        meant = Meaning(fatal=fatal) if fatal else meaning(failure, self._wordings)
        error = failure.words if failure.text else None
        return StreamReport(final_words=words, error=error, fatal=meant.fatal, limit=with_reset(meant.limit, now), cause=meant.cause)

    def _failure(self, words: str, run: RunReport) -> Failure | None:
        """What a known client reported before it ended by itself: at the end of standard error, where tools may have written before it, or on stdout."""
        if self._wordings is None or run.ended_by is not EndedBy.EXIT or not (run.exit_code or _fails_with_0(words, run)):
            return None
        if self._on_stdout is not None and words.strip():
            is_report = run.exit_code == 1 and len(words) <= READ_CHARS and self._on_stdout.match(words.strip())
            return Failure(text=words.strip()) if is_report else None
        if self._report is not None:
            found = [match.groupdict() for match in self._report.finditer(unpainted(run.stderr_tail))]
            return Failure(text=found[-1]["words"], status=float(found[-1].get("status") or 0)) if found else Failure(text="")
        lines = [line for line in unpainted(run.stderr_tail).splitlines() if line.strip()]
        return Failure(text=lines[-1] if lines else "")

    def _remember(self, line: bytes) -> None:
        self._tail.append(line)
        self._size += len(line) + 1
        while self._size > FINAL_WORDS_BYTES + 1:
            self._size -= len(self._tail.popleft()) + 1


def _fails_with_0(words: str, run: RunReport) -> bool:
    """Amp ends so where its turn has failed (read in its source of 2026-09): it says nothing, and names an error."""
    return run.exit_code == 0 and not words.strip() and "Error:" in run.stderr_tail

"""Prompt work: one text, given directly or in a file; there are no tasks to count, so completion is claimed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ralphloop.core.model import Survey
from ralphloop.errors import ConfigError, WorkError
from ralphloop.work.documents import read_text

_REMEDY = "name a text file with --prompt-file, or give the text itself with --prompt"


class PromptWork:
    """ports.Work on a prompt: exactly one of text and file is given. A relative file lies in the workspace."""

    def __init__(self, root: Path, text: str | None = None, file: str | None = None) -> None:
        if (text is None) == (file is None):
            raise ValueError("a prompt is either a text or a file")
        self._root = root
        self._text = text
        self._file = file

    def survey(self, since: Survey | None = None) -> Survey:  # noqa: ARG002  nothing here asks the loop to wait
        """The prompt's digest; nothing is counted."""
        content = self.brief().encode("utf-8", "surrogateescape")  # a command line may hold bytes that are no UTF-8
        return Survey(remaining=None, total=None, task=None, digest=hashlib.sha256(content).hexdigest())

    def files(self) -> tuple[str, ...]:
        """None: a prompt holds no tasks that could be taken away."""
        return ()

    def judge(self, path: str, before: bytes | None, now: bytes | None) -> tuple[bytes | None, tuple[str, ...]]:  # noqa: ARG002  the port's names
        """Every change is lawful."""
        return now, ()

    def brief(self) -> str:
        """The text, or what the file holds now."""
        return self._text if self._text is not None else _read_prompt(self._root, str(self._file))

    def consume(self) -> None:
        """Nothing here asks the loop to wait."""


def check_prompt_file(root: Path, file: str) -> None:
    """Raise ConfigError where that prompt file could not be read."""
    try:
        _read_prompt(root, file)
    except WorkError as error:
        raise ConfigError(str(error)) from error


def _read_prompt(root: Path, file: str) -> str:
    return read_text(root, file, "the prompt file", _REMEDY)

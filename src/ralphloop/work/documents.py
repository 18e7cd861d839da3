"""Text files that a person wrote for the loop: read with a bound, never through a link that an agent could have laid."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ralphloop.errors import WorkError
from ralphloop.files.beneath import read_beneath, stat_beneath
from ralphloop.work.tasklist import BOM


def text_of(content: bytes) -> str | None:
    """The content as text, or None where it is none: not UTF-8, or with NUL in it. A BOM stays, so that encoding gives the same bytes."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def read_document(root: Path, path: str, what: str, remedy: str) -> bytes:
    """The bytes of a text file. A relative path lies beneath the workspace; an absolute one elsewhere is the user's own and is trusted."""
    base, rel = _located(root, path, what, remedy)
    content = read_beneath(base, rel)
    if content is None:
        raise WorkError(f"{what} {path}: {_obstacle(base, rel)}: {remedy}")
    if text_of(content) is None:
        raise WorkError(f"{what} {path} (in {base}) is not text: it has NUL in it or is not UTF-8: save it as UTF-8, or {remedy}")
    return content


def read_text(root: Path, path: str, what: str, remedy: str) -> str:
    """The text of such a file, without a BOM; an empty one is an error."""
    text = read_document(root, path, what, remedy).decode("utf-8").removeprefix(BOM)
    if not text.strip():
        raise WorkError(f"{what} {path} (in {root}) is empty: write into it what is to be done, or {remedy}")
    return text


def _located(root: Path, path: str, what: str, remedy: str) -> tuple[Path, str]:
    """The directory that is trusted, and the way from there."""
    given = Path(path)
    if not given.is_absolute():
        return root, path
    if given.is_relative_to(root):
        return root, str(given.relative_to(root))
    try:
        real = given.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise WorkError(f"{what} {path} cannot be found: {remedy}") from error
    return real.parent, real.name


def _obstacle(base: Path, rel: str) -> str:
    """Why there is no regular file at that path."""
    there = stat_beneath(base, rel)
    if there is not None and stat.S_ISDIR(there.st_mode):
        return f"it is a directory in {base}"
    for part in [base / rel, *(base / rel).parents]:
        if part == base:
            break
        if part.is_symlink():
            return _described_link(base, part)
    return f"there is no such file in {base}" if there is None else f"it is not a regular file in {base}"


def _described_link(base: Path, link: Path) -> str:
    name = link.relative_to(base)
    real, target = Path(os.path.realpath(base)), Path(os.path.realpath(link))  # Path.resolve raises where links run in a circle
    if target.is_relative_to(real):
        return f"{name} in {base} is a link to {target.relative_to(real)}, and links are not followed, because an agent can lay them"
    return f"{name} is a link that leads out of the workspace {base}, to {target}"

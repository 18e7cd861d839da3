"""Prompt work hands on the user's own words, as they are at that moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ralphloop.core.ports import Work
from ralphloop.errors import ConfigError, WorkError
from ralphloop.work.prompt import PromptWork, check_prompt_file


def test_a_text_is_handed_on_as_it_is(tmp_path: Path) -> None:
    work: Work = PromptWork(tmp_path, text="Do {this}.\n\n")
    assert work.brief() == "Do {this}.\n\n"


def test_nothing_is_counted_nothing_is_judged(tmp_path: Path) -> None:
    work = PromptWork(tmp_path, text="Do this.")
    survey = work.survey()
    assert (survey.remaining, survey.total, survey.task, survey.complete) == (None, None, None, False)
    assert work.files() == ()
    assert work.judge("any", b"before", b"now") == (b"now", ())


def test_a_file_is_read_anew_each_time_and_the_digest_follows(tmp_path: Path) -> None:
    work = PromptWork(tmp_path, file="prompt.md")
    (tmp_path / "prompt.md").write_bytes(b"\xef\xbb\xbfone\r\n")
    first = work.survey()
    assert work.brief() == "one\r\n"
    (tmp_path / "prompt.md").write_text("two")
    assert work.brief() == "two"
    assert work.survey().digest != first.digest


def test_a_file_and_a_text_of_the_same_words_have_the_same_digest(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_bytes(b"\xef\xbb\xbfone")
    assert PromptWork(tmp_path, file="prompt.md").survey() == PromptWork(tmp_path, text="one").survey()


def test_a_prompt_from_a_command_line_with_stray_bytes_can_be_surveyed(tmp_path: Path) -> None:
    assert PromptWork(tmp_path, text=os.fsdecode(b"caf\xe9")).survey().digest


def test_a_file_outside_the_workspace_is_the_users_own_even_through_a_link(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "prompt.md").write_text("mine")
    (tmp_path / "link.md").symlink_to("prompt.md")
    for name in ("prompt.md", "link.md"):
        check_prompt_file(root, str(tmp_path / name))
        assert PromptWork(root, file=str(tmp_path / name)).brief() == "mine"


def test_an_absolute_path_into_the_workspace_is_not_followed_through_a_link(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "secret").write_text("secret")
    (root / "prompt.md").symlink_to("../secret")
    with pytest.raises(WorkError, match="leads out of the workspace"):
        PromptWork(root, file=str(root / "prompt.md")).brief()


@pytest.mark.parametrize(
    "content", [None, b"", b" \n\t\n", b"\xef\xbb\xbf\n", b"\xff", b"a\0b"], ids=["vanished", "empty", "blank", "only BOM", "latin", "NUL"]
)
@pytest.mark.parametrize("outside", [False, True])
def test_an_unusable_file_is_explained_with_what_to_do(tmp_path: Path, content: bytes | None, *, outside: bool) -> None:
    root = tmp_path / "project"
    root.mkdir()
    path = (tmp_path if outside else root) / "prompt.md"
    if content is not None:
        path.write_bytes(content)
    named = str(path) if outside else "prompt.md"
    with pytest.raises(WorkError, match=r"prompt\.md.*--prompt-file") as in_the_loop:
        PromptWork(root, file=named).brief()
    with pytest.raises(ConfigError) as before_the_start:
        check_prompt_file(root, named)
    assert str(in_the_loop.value) == str(before_the_start.value)


def test_a_prompt_is_a_text_or_a_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="either a text or a file"):
        PromptWork(tmp_path)
    with pytest.raises(ValueError, match="either a text or a file"):
        PromptWork(tmp_path, text="a", file="b")

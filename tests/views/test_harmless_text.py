"""What others wrote cannot command a terminal; what a person needs to read is still there."""

from __future__ import annotations

import dataclasses
import io
import typing
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_loop import CLAIM, GREEN, RED, Script, committing, prepending, states

from ralphloop.core import messages as m
from ralphloop.core.model import Restoration, UsageLimit
from ralphloop.views.console import Console
from ralphloop.views.disarm import disarm
from ralphloop.views.explain import render_explain
from ralphloop.views.show import render_show
from ralphloop.views.style import Style
from ralphloop.views.text import clean, clip, clip_start, one_line, width, wrap

CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
HOSTILE = f"{CLIPBOARD}\x1b[2J\x9b31m\x90q\x9c\u202egnp.exe\u2066\r\nsecond\rthird\x00\x7f\u200b\ud800 end"

SEQUENCES = {
    "the clipboard (OSC 52)": CLIPBOARD,
    "the title (OSC 0)": "\x1b]0;you are root\x1b\\",
    "the title, by C1": "\x9d0;you are root\x9c",
    "the title, as screen has it": "\x1bkname\x1b\\",
    "a hyperlink": "\x1b]8;;http://evil.example\x1b\\",
    "a device control string": "\x1bP+q544e\x1b\\",
    "an application command": "\x1b_Gf=24\x1b\\",
    "a privacy message": "\x1b^hidden\x1b\\",
    "a start of string": "\x1bXhidden\x1b\\",
    "colours": "\x1b[1;31m",
    "colours, by C1": "\x9b31m",
    "cursor moves": "\x1b[10A",
    "the alternate screen": "\x1b[?1049h",
    "a reset": "\x1bc",
    "another character set": "\x1b(0",
    "a bell": "\x07",
    "backspaces": "\x08\x08\x08",
    "a bidi override": "\u202e",
    "a bidi isolate": "\u2066",
    "a bidi mark": "\u200f",
    "what cannot be seen": "\u200b\ufeff\u2060\U000e0041",
    "a null": "\x00",
}


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_a_sequence_vanishes_whole_and_the_words_around_it_stay(sequence: str) -> None:
    assert clean(f"before{sequence}after") == "beforeafter"


def test_newlines_and_tabs_stay_and_every_other_line_break_becomes_a_newline() -> None:
    assert clean("a\tb\nc\r\nd\re\x0bf\x0cg\x85h\u2028i\u2029j") == "a\tb\nc\nd\ne\nf\ng\nh\ni\nj"


def test_letters_of_all_scripts_and_emoji_stay() -> None:
    said = "Grüße, 你好, שלום, 👩‍💻 is done ✅"
    assert clean(said) == said


def test_the_words_after_an_unfinished_sequence_are_not_swallowed() -> None:
    assert clean("a\x1b]0;title never ends\nthe next line") == "a0;title never ends\nthe next line"


def test_what_is_left_cannot_be_put_together_to_a_new_sequence() -> None:
    assert "\x1b" not in clean("\x1b\x1b[31m[2J\x1b\x1b]0;x\x07c")


@given(st.text(st.one_of(st.sampled_from("\x1b\x9b\x9d\x07\\[]0;mP\r\n\t\u202e"), st.characters())))
def test_no_text_whatever_keeps_a_control_character(text: str) -> None:
    for char in disarm(text):
        assert char in "\n\t" or (ord(char) >= 0x20 and not 0x7F <= ord(char) <= 0x9F and not 0xD800 <= ord(char) <= 0xDFFF and char != "\u202e")


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x1b[1;", "\x9d", "\x1b(", "\x1b]52;c;"])
def test_hostile_repetition_is_read_in_linear_time(unit: str) -> None:
    assert "\x1b" not in clean(unit * 200_000)


def hostile(value: Any) -> Any:
    """The same value with every text in it replaced by a hostile one."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return HOSTILE
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **{field.name: hostile(getattr(value, field.name)) for field in dataclasses.fields(value)})
    return tuple(map(hostile, value)) if isinstance(value, tuple) else value


def a_long_history() -> list[m.Entry]:
    undo = (Restoration(path="PRD.md", digest="d", reason="a task was deleted; it is back"),)
    spec = prepending(committing("make test"))
    script = Script(spec).iteration(2).attempt(2, claim=CLAIM, undo=undo, notes=("the branch was switched",)).gates(RED, left=2).close()
    script.add(m.LoopResumed(at=script.at, spec=spec, incarnation=2, changes=("limits.iterations: 10 → 20",)))
    script.add(m.RequestTaken(at=script.at, kind="tell", author="lena", text="be careful"))
    script.add(m.WaitStarted(at=script.at, until=script.at + 9000.0, why="usage limit"), m.WaitEnded(at=script.at))
    script.add(m.RequestTaken(at=script.at, kind="stop", author="lena"))
    script.iteration(2).attempt(0, claim=CLAIM).gates(GREEN, left=0).commit().push(dataclasses.replace(RED, name="push")).close()
    return script.end().entries


HOSTILE_EVENTS: tuple[m.Event, ...] = (
    m.Text(text=HOSTILE),
    m.ToolStart(tool_id="1", name=HOSTILE, summary=HOSTILE),
    m.ToolEnd(tool_id="1", output=HOSTILE, is_error=True),
    m.Todo(items=(m.TodoItem(text=HOSTILE, status=HOSTILE),)),
    m.Progress(text=HOSTILE),
    m.LimitNotice(limit=UsageLimit(resets_at=None, text=HOSTILE)),
    m.Unknown(line=HOSTILE),
)


def dangers(text: str) -> set[str]:
    return {char for char in text if char != "\n" and not char.isprintable()}


def test_hostile_text_in_every_field_of_every_entry_and_event_reaches_no_terminal() -> None:
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, Style(width=80), verbose=True)
    history = [hostile(entry) for entry in a_long_history()]
    for entry, state in states(history):
        console.entry(entry, state)
    for event in HOSTILE_EVENTS:
        console.event(event)
    console.gate_started(history[0].spec.gates[0])
    assert not dangers(out.getvalue())
    assert not dangers(err.getvalue())
    assert "end" in out.getvalue()


def test_every_event_is_among_the_hostile_ones_or_holds_no_text_that_is_shown() -> None:
    assert {type(event) for event in HOSTILE_EVENTS} == set(typing.get_args(m.Event)) - {m.FinalResult}


def test_hostile_text_reaches_no_terminal_through_show_or_explain() -> None:
    history = [hostile(entry) for entry in a_long_history()]
    assert not dangers(render_show(history, lambda _n, _k: HOSTILE, Style(width=80)))
    assert not dangers(render_explain(history, 1, HOSTILE, Style(width=80)))


def test_a_text_on_one_line_has_no_line_break_and_single_spaces() -> None:
    assert one_line(" a\n\tb \x1b[31mc ") == "a b c"


def test_wide_letters_count_for_two_columns_and_marks_for_none() -> None:
    assert (width("abc"), width("你好"), width("e\u0301"), width("✅")) == (3, 4, 1, 2)


def test_text_is_cut_by_columns_not_by_letters() -> None:
    assert clip("你好世界", 6) == "你好…"
    assert clip_start("/a/very/long/path", 8) == "…ng/path"
    assert clip("short", 0) == "short"


def test_long_lines_are_broken_at_spaces_and_keep_their_indentation() -> None:
    assert wrap("    one two three four", 16) == ["    one two", "    three four"]
    assert wrap("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]
    assert wrap("a\tb", 0) == ["a   b"]


@given(st.text(st.characters(exclude_categories=["C", "Z", "M"]) | st.just(" ")), st.integers(2, 60))
def test_wrapped_lines_fit_and_no_letter_is_lost(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")

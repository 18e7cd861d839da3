"""A box counts as a task exactly where Markdown and a person's eye say so."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralphloop.core.model import Stage
from ralphloop.work.tasklist import parse_tasks

# Each text with the tasks in it: ' ' open, 'x' done, then the title.
TASKS = {
    "dash": ("- [ ] a", [" a"]),
    "star": ("* [ ] a", [" a"]),
    "plus": ("+ [ ] a", [" a"]),
    "number with dot": ("1. [ ] a", [" a"]),
    "number with bracket": ("1) [ ] a", [" a"]),
    "long number": ("123456789. [ ] a", [" a"]),
    "number that does not begin a list, after text": ("text\n2. [ ] a", [" a"]),
    "small x": ("- [x] a", ["xa"]),
    "capital X": ("- [X] a", ["xa"]),
    "tab in the box": ("- [\t] a", [" a"]),
    "tab after the box": ("- [ ]\ta", [" a"]),
    "tab after the marker": ("-\t[ ] a", [" a"]),
    "many blanks after the marker": ("-     [ ] a", [" a"]),
    "one blank before": (" - [x] a", ["xa"]),
    "three blanks before": ("   - [ ] a", [" a"]),
    "blanks at the end": ("- [ ] a   ", [" a"]),
    "no final newline": ("- [ ] a\n- [x] b", [" a", "xb"]),
    "CRLF": ("- [ ] a\r\n- [x] b\r\n", [" a", "xb"]),
    "old Mac line ends": ("- [ ] a\r- [x] b\r", [" a", "xb"]),
    "mixed line ends": ("- [ ] a\r\n- [ ] b\n- [ ] c\r", [" a", " b", " c"]),
    "BOM": ("\ufeff- [ ] a", [" a"]),
    "form feed is no line end": ("- [ ] a\x0c- [ ] b", [" a - [ ] b"]),
    "line separator is no line end": ("- [ ] a\u2028- [ ] b", [" a - [ ] b"]),
    "nested by two": ("- [ ] a\n  - [ ] b\n    - [ ] c", [" a", " b", " c"]),
    "nested by four": ("- [ ] a\n    - [ ] b\n        - [ ] c", [" a", " b", " c"]),
    "nested by tabs": ("- [ ] a\n\t- [ ] b\n\t\t- [x] c", [" a", " b", "xc"]),
    "nested deeper than the list allows": ("- [ ] a\n          - [ ] b", [" a", " b"]),
    "nested after a blank line": ("- [ ] a\n\n    - [ ] b", [" a", " b"]),
    "nested under an item without a box": ("- Backend\n  - [ ] a", [" a"]),
    "nested under a number": ("1. Backend\n   - [ ] a", [" a"]),
    "list in a list on one line": ("1. - [ ] a", [" a"]),
    "odd indents": ("- [ ] a\n - [ ] b\n  - [ ] c\n   - [ ] d\n    - [ ] e", [" a", " b", " c", " d", " e"]),
    "four blanks after a lazy line of an item": ("- [ ] a\nlazy\n    - [ ] b", [" a", " b"]),
    "right after text": ("text\n- [ ] a", [" a"]),
    "right after a heading": ("# H\n- [ ] a", [" a"]),
    "after a rule": ("---\n- [ ] a", [" a"]),
    "after a closed fence": ("```\ncode\n```\n- [ ] a", [" a"]),
    "after a fence with an info string": ("```js title=x\n- [ ] no\n```\n- [ ] a", [" a"]),
    "after a fence that an item closed": ("- [ ] a\n  ```\n  - [ ] no\n- [ ] b", [" a", " b"]),
    "after a longer closing fence": ("```\n- [ ] no\n`````\n- [ ] a", [" a"]),
    "after an inline code line that looks like a fence": ("``` x ``` y\n- [ ] a", [" a"]),
    "after a one-line comment": ("<!-- note -->\n- [ ] a", [" a"]),
    "after two comments on a line": ("<!-- a --> <!-- b -->\n- [ ] a", [" a"]),
    "after an empty comment": ("<!-->\n- [ ] a", [" a"]),
    "after a comment mark in code": ("Strip `<!--` from text\n- [ ] a", [" a"]),
    "after a task with a comment mark": ("- [ ] Strip `<!--`\n- [ ] a", [" Strip <!--", " a"]),
    "after a quote": ("> quote\n- [ ] a", [" a"]),
    "with a comment at the end": ("- [ ] a <!-- id:1 -->", [" a"]),
    "with a box in its text": ("- [ ] count `- [ ]` here", [" count - [ ] here"]),
    "with a link after the box": ("- [x] (see below) b", ["x(see below) b"]),
    "with bold, code, link, strike": ("- [x] **a** `b_c()` [d](http://e) ~~f~~ _g_", ["xa b_c() d f g"]),
    "with names that only look dressed": ("- [ ] read snake_case and *.py in ~/src/* 2 * 3", [" read snake_case and *.py in ~/src/* 2 * 3"]),
    "with an escape": (r"- [ ] a \* b", [" a * b"]),
    "with Unicode": ("- [ ] Größe prüfen ✅ 日本語", [" Größe prüfen ✅ 日本語"]),
    "in an open details block": ("<details>\n<summary>s</summary>\n- [ ] a\n</details>", [" a"]),
}

NO_TASKS = {
    "nothing": "",
    "only BOM": "\ufeff",
    "no marker": "[ ] a",
    "escaped marker": r"\- [ ] a",
    "escaped box": r"- \[ ] a",
    "no blank after the marker": "-[ ] a",
    "no blank in the box": "- [] a",
    "two blanks in the box": "- [  ] a",
    "another sign in the box": "- [-] a\n- [~] a\n- [✓] a",
    "no blank after the box": "- [ ]a\n- [x]a",
    "link": "- [x](http://a)",
    "link by reference": "- [x][a]",
    "link definition": "- [x]: http://a",
    "box without text": "- [ ]\n- [ ]  \n- [x]",
    "bullet sign": "• [ ] a",
    "letter as a number": "a. [ ] a",
    "number of ten digits": "1234567890. [ ] a",
    "box in the middle": "- a [ ] b",
    "heading": "# [ ] a\n# - [ ] a",
    "table": "| - [ ] a | b |",
    "inline code": "`- [ ] a`",
    "fence": "```\n- [ ] a\n```",
    "fence of tildes": "~~~\n- [ ] a\n~~~",
    "long fence with a short one in it": "`````\n```\n- [ ] a\n```\n- [ ] b\n`````",
    "fence with another in it": "~~~\n```\n- [ ] a\n```\n~~~",
    "fence with an info string": "```markdown\n- [ ] a\n```",
    "closing fence with text is none": "```\n- [ ] a\n``` x\n- [ ] b",
    "closing fence too deep": "```\n- [ ] a\n    ```\n- [ ] b",
    "unclosed fence": "```\n- [ ] a\n\n# H\n\n- [ ] b",
    "indented fence": "   ```\n   - [ ] a\n   ```",
    "fence in an item": "- a\n  ```\n  - [ ] b\n  ```",
    "fence in an item, blank line in it": "- a\n  ```\n\n  - [ ] b\n  ```",
    "fence as an item": "- ```\n  - [ ] a\n  ```",
    "fence in a nested item": "- a\n  - b\n    ~~~\n    - [ ] c\n    ~~~",
    "fence after BOM": "\ufeff```\n- [ ] a\n```",
    "fence with CRLF": "```\r\n- [ ] a\r\n```\r\n",
    "indented code": "text\n\n    - [ ] a",
    "indented code by a tab": "\t- [ ] a",
    "indented code after a heading": "# H\n    - [ ] a",
    "indented code after a list has ended": "- a\n\ntext\n\n    - [ ] b",
    "indented code after a rule has ended the list": "- a\n***\n    - [ ] b",
    "paragraph that goes on": "text\n    - [ ] a",
    "comment": "<!-- - [ ] a -->",
    "comment of several lines": "<!--\n- [ ] a\n-->",
    "comment with blank lines": "<!--\n\n- [ ] a\n\n- [ ] b\n-->",
    "second comment of a line stays open": "<!-- a --> <!-- b\n- [ ] a\n-->",
    "comment that ends and begins again": "<!--\n- [ ] a\n--> <!--\n- [ ] b\n-->",
    "unclosed comment": "<!--\n- [ ] a",
    "comment in an item": "- a\n  <!--\n  - [ ] b\n  -->",
    "text after a comment on its line": "<!-- a --> - [ ] b",
    "quote": "> - [ ] a",
    "quote without a blank": ">- [ ] a",
    "nested quote": "> > - [ ] a",
    "fence in a quote": "> ```\n> - [ ] a\n> ```",
    "quote in an item": "- a\n  > - [ ] b",
    "item that is a quote": "- > - [ ] a",
}


def seen(text: str) -> list[str]:
    return [f"{' ' if task.is_open else 'x'}{task.title}" for task in parse_tasks(text)]


@pytest.mark.parametrize(("text", "expected"), TASKS.values(), ids=TASKS.keys())
def test_a_task_is_seen(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


@pytest.mark.parametrize("text", NO_TASKS.values(), ids=NO_TASKS.keys())
def test_no_task_is_imagined(text: str) -> None:
    assert seen(text) == []


@pytest.mark.parametrize("text", [text for name, text in NO_TASKS.items() if not name.startswith(("unclosed", "closing"))])
def test_what_is_no_task_does_not_hide_the_task_after_it(text: str) -> None:
    assert seen(f"{text}\n\n# Next\n\n- [ ] after") == [" after"]


def test_line_numbers_count_from_one_and_every_line_end_counts_once() -> None:
    text = "\ufeff- [ ] a\r\n\r\n- [x] b\rtext\n\x0c\n- [ ] c"
    assert [task.line for task in parse_tasks(text)] == [1, 3, 6]


def test_repetitions_of_a_text_have_keys_of_their_own() -> None:
    keys = [task.key for task in parse_tasks("- [ ] Write tests\n- [x] write  **tests**\n- [ ] Write docs")]
    assert keys == ["write tests#1", "write tests#2", "write docs#1"]


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    composed, decomposed = parse_tasks("- [ ] pr\u00fcfen\n- [ ] pru\u0308fen")
    assert (composed.key, decomposed.key) == ("pr\u00fcfen#1", "pr\u00fcfen#2")


SEED_PRD = """\
### Unit 02: Core Loop Engine (`lib/core.sh`)
- [ ] Implement `run_iteration()` function
  - [ ] Spawn Claude Code with proper flags
- [x] Implement `check_completion()` function
  - [ ] Count `- [ ]` in task file
  - [ ] Return true only if both conditions met

### Unit 05: Configuration (`lib/config.sh`)
 - [x] Implement `load_config()` - merge default + global + project configs
 - [x] Implement `get_config()` - get specific key
- [ ] Implement `set_config()` - set global config value
- [x] Create default.yaml with sensible defaults

## Prompt Template

```
2. Find any task marked with '- [ ]' (unchecked checkbox)
- [ ] not a task
```

### Unit 10: Release Automation
- [ ] Attach install script to release
 - [x] Update version in rloop script
"""


def test_the_task_list_of_a_real_requirements_document_is_read_as_a_person_reads_it() -> None:
    assert seen(SEED_PRD) == [
        " Implement run_iteration() function",
        " Spawn Claude Code with proper flags",
        "xImplement check_completion() function",
        " Count - [ ] in task file",
        " Return true only if both conditions met",
        "xImplement load_config() - merge default + global + project configs",
        "xImplement get_config() - get specific key",
        " Implement set_config() - set global config value",
        "xCreate default.yaml with sensible defaults",
        " Attach install script to release",
        "xUpdate version in rloop script",
    ]


unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

LINES = st.sampled_from(
    [
        "- [ ] a",
        "- [x] a",
        "  - [ ] b",
        "1. [X] **c**",
        "    - [ ] d",
        "\t* [ ] e",
        "text",
        "",
        "```",
        "  ~~~",
        "<!--",
        "-->",
        "> - [ ] q",
        "# H",
        "---",
    ],
)


@unhurried
@given(st.lists(LINES, max_size=25).map("\n".join), st.data())
def test_ticking_a_task_changes_no_key(text: str, data: st.DataObject) -> None:
    before = parse_tasks(text)
    if not before:
        return
    ticked = data.draw(st.sampled_from(before))
    lines = text.split("\n")
    line = lines[ticked.line - 1]
    lines[ticked.line - 1] = line.replace("[ ]", "[x]", 1) if ticked.is_open else line
    after = parse_tasks("\n".join(lines))
    assert [task.key for task in after] == [task.key for task in before]
    assert [task.stage for task in after if task.line == ticked.line] == [Stage.DONE]


@unhurried
@given(st.text(alphabet=st.sampled_from("- []xX*`~<!>#1.)\t\n\r\\a(\ufeff"), max_size=300))
def test_whatever_stands_in_a_file_is_read_and_each_task_lies_on_a_line_of_its_own(text: str) -> None:
    tasks = parse_tasks(text)
    lines = [task.line for task in tasks]
    assert lines == sorted(set(lines))
    assert all(task.title.strip() for task in tasks)
    assert len({task.key for task in tasks}) == len(tasks)


TEN_MEGABYTES = 10_000_000
HOSTILE = {
    "list markers": "- " * (TEN_MEGABYTES // 2) + "[ ] a",
    "rule that is none": "- [ ] a\n" + "* " * (TEN_MEGABYTES // 2) + "x",
    "code marks": "- [ ] " + "`" * TEN_MEGABYTES,
    "unequal code marks": "- [ ] " + "` `` " * (TEN_MEGABYTES // 5),
    "open comments": "- [ ] " + "<!--" * (TEN_MEGABYTES // 4),
    "open comments before an end": "- [ ] " + "<!--" * (TEN_MEGABYTES // 4) + "--> a" + "<!--" * 1000,
    "open links": "- [ ] " + "[a](" * (TEN_MEGABYTES // 4),
    "emphasis": "- [ ] " + "*_" * (TEN_MEGABYTES // 2),
    "blanks in a box line": "- [ ]" + " " * TEN_MEGABYTES + "a",
    "deep nesting": "".join(f"{' ' * depth}- [ ] a\n" for depth in range(4000)) + "- [ ] a\n",
    "fences": "- [ ] a\n" + "```x\n```\n" * (TEN_MEGABYTES // 9),
    "tasks": "- [ ] a task of a usual length, with `code` in it\n" * (TEN_MEGABYTES // 50),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_ten_hostile_megabytes_are_read_to_the_end(text: str) -> None:
    """A reading that is not linear does not come to its end here."""
    assert parse_tasks(text)

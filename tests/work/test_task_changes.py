"""An open task leaves the list only by being ticked: honest edits pass, everything else is put back."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralphloop.work.changes import judge_tasks
from ralphloop.work.tasklist import parse_tasks

# --- Is it the same task? One old task, the lines that stand in its place, between two neighbours that stay. ----------

SAME = {
    "words added": ("Add login form", "- [ ] Add a login form with validation"),
    "words added and ticked": ("Add login form", "- [x] Add a login form with validation"),
    "tick in the past tense": ("Create the login form", "- [x] Created the login form (src/login.py)"),
    "number in front": ("Implement billing export", "- [ ] T012: Implement billing export"),
    "dressing": ("Implement `run_loop()` function", "- [ ] **Implement** run_loop()"),
    "another verb": ("Add login form", "- [ ] Build login form"),
    "plural": ("Write unit test for parser", "- [ ] Write unit tests for the parser"),
    "abbreviation written out": ("Implement auth middleware", "- [ ] Implement authentication middleware"),
    "word order": ("Validate user input", "- [ ] User input validation"),
    "one word of four replaced": ("Show progress bar during upload", "- [ ] Show progress indicator during upload"),
    "case and punctuation": ("Write usage examples in README.", "- [ ] write usage examples in readme"),
    "other list marker": ("Add login form", "3) [ ] Add login form"),
    "other signs": ("实现登录表单", "- [ ] 实现登录表单和验证"),
    "split with a common beginning": ("Implement auth", "- [ ] Implement auth: login\n- [ ] Implement auth: logout"),
    "split, one part ticked": ("Implement auth", "- [x] Implement auth: login\n- [ ] Implement auth: logout"),
    "split into what it asks for": (
        "Implement OAuth with refresh tokens and logout",
        "- [ ] Implement OAuth\n- [ ] Add refresh tokens\n- [ ] Add logout",
    ),
    "split and all parts ticked": ("Implement login and logout", "- [x] Implement login\n- [x] Implement logout"),
    "parts below it": ("Implement login", "- [ ] Implement login\n  - [ ] form\n  - [ ] session"),
}

OTHER = {
    "replaced": ("Add login form", "- [ ] Update README"),
    "replaced, with the same verb": ("Implement auth", "- [ ] Implement billing"),
    "replaced, with one word in common": ("Add login form", "- [ ] Add logout form"),
    "replaced, with most words in common": ("Write unit tests for parser", "- [ ] Write unit tests for lexer"),
    "one word mentioned elsewhere": ("Implement auth", "- [ ] Fix a typo about auth in README"),
    "weaker": ("Implement OAuth with refresh tokens and logout", "- [ ] Implement OAuth"),
    "weaker and ticked": ("Implement OAuth with refresh tokens and logout", "- [x] Implement OAuth"),
    "a little weaker and ticked": ("Implement OAuth with refresh tokens and logout", "- [x] Implement OAuth with refresh tokens"),
    "a little weaker": ("Implement OAuth with refresh tokens and logout", "- [ ] Implement OAuth with refresh tokens"),
    "one word of four replaced and ticked": ("Show progress bar during upload", "- [x] Show progress indicator during upload"),
    "smaller number": ("Reach 80 percent line coverage in core modules", "- [ ] Reach 60 percent line coverage in core modules"),
    "quantifier gone": ("Fix all lint warnings in tests", "- [ ] Fix some lint warnings in tests"),
    "negation gone": ("Do not log secrets", "- [ ] Log secrets"),
    "turned round": ("Add login form", "- [ ] Remove the login form"),
    "ticked with an excuse": ("Implement OAuth", "- [x] Implement OAuth (skipped: needs a key)"),
    "ticked in part": ("Implement OAuth", "- [x] Implement OAuth, partially"),
    "ticked with its end in a comment": ("Implement OAuth with logout", "- [x] Implement OAuth <!-- with logout -->"),
    "split, one part left out": ("Implement OAuth with refresh tokens and logout", "- [ ] Implement OAuth\n- [ ] Add refresh tokens"),
    "words scattered over other tasks": ("Add login form", "- [ ] Fix login bug\n- [ ] Validate form input"),
    "no box any more": ("Add login form", "- Add login form"),
    "struck out, without a box": ("Add login form", "- ~~Add login form~~"),
    "broken box": ("Add login form", "- [-] Add login form"),
    "in a fence": ("Add login form", "```\n- [ ] Add login form\n```"),
    "in a comment": ("Add login form", "<!-- - [ ] Add login form -->"),
    "in a comment of several lines": ("Add login form", "<!--\n- [ ] Add login form\n-->"),
    "in a quote": ("Add login form", "> - [ ] Add login form"),
    "only signs": ("→ ✓", "- [ ] ← ✗"),
    "gone": ("Add login form", ""),
}


def between_neighbours(middle: str) -> str:
    return f"# Plan\n\n- [ ] First neighbour\n{middle}\n- [x] Last neighbour\n"


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME.keys())
def test_an_honest_rewording_or_split_is_recognised(old: str, new: str) -> None:
    before, after = between_neighbours(f"- [ ] {old}"), between_neighbours(new)
    judgement = judge_tasks(before, after)
    assert judgement.vanished == ()
    assert judgement.restored == after


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER.keys())
def test_a_task_that_was_replaced_weakened_or_hidden_is_put_back_in_its_place(old: str, new: str) -> None:
    before, after = between_neighbours(f"- [ ] {old}"), between_neighbours(new)
    judgement = judge_tasks(before, after)
    assert [task.title for task in judgement.vanished] == [old]
    assert judgement.restored == between_neighbours(f"- [ ] {old}\n{new}")


def test_each_new_line_stands_for_one_old_task_only() -> None:
    judgement = judge_tasks("- [ ] keep\n- [ ] Add login form\n- [ ] Style login form", "- [ ] keep\n- [ ] Add and style login form")
    assert len(judgement.vanished) == 1
    assert len(judgement.reworded) == 1


def test_the_nearest_wording_wins_not_the_first() -> None:
    before = "- [ ] Add login form\n- [ ] Add login form tests"
    judgement = judge_tasks(before, "- [ ] Add the login form tests\n- [ ] Add the login form")
    assert {was.title: now.title for was, now in judgement.reworded} == {
        "Add login form": "Add the login form",
        "Add login form tests": "Add the login form tests",
    }


# --- What is reported -------------------------------------------------------------------------------------------------


def test_ticked_reopened_added_reworded_and_split_tasks_are_told_apart() -> None:
    before = "- [ ] Alpha one\n- [x] Beta two\n- [ ] Gamma three\n- [ ] Delta four\n- [x] Epsilon five\n"
    after = "- [x] Alpha one\n- [ ] Beta two\n- [ ] Gamma three, in detail\n- [ ] Delta four: left\n- [ ] Delta four: right\n- [ ] Zeta six\n"
    judgement = judge_tasks(before, after)
    assert judgement.vanished == ()
    assert [task.title for task in judgement.ticked] == ["Alpha one"]
    assert [task.title for task in judgement.reopened] == ["Beta two"]
    assert [(was.title, now.title) for was, now in judgement.reworded] == [("Gamma three", "Gamma three, in detail")]
    assert [(was.title, [now.title for now in parts]) for was, parts in judgement.splits] == [
        ("Delta four", ["Delta four: left", "Delta four: right"])
    ]
    assert [task.title for task in judgement.added] == ["Zeta six"]


def test_a_done_task_may_go() -> None:
    after = "- [ ] b\n"
    judgement = judge_tasks("- [x] a\n- [ ] b\n", after)
    assert (judgement.vanished, judgement.restored) == ((), after)


def test_a_task_may_move_to_another_section_and_be_ticked_there() -> None:
    before = "## Todo\n- [ ] a\n- [ ] b\n## Done\n- [x] c\n"
    after = "## Todo\n- [ ] b\n## Done\n- [x] c\n- [x] a\n"
    judgement = judge_tasks(before, after)
    assert (judgement.vanished, judgement.restored) == ((), after)
    assert [task.title for task in judgement.ticked] == ["a"]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("## A\n- [x] Write tests\n## B\n- [ ] Write tests\n", "## A\n- [x] Write tests\n## B\n", 4),
        ("- [x] A\n  - [x] Write tests\n- [ ] B\n  - [ ] Write tests\n", "- [x] A\n  - [x] Write tests\n- [ ] B\n", 4),
        ("- [ ] A\n  - [ ] Write tests\n- [ ] B\n  - [ ] Write tests\n", "- [ ] A\n- [ ] B\n  - [x] Write tests\n", 2),
        ("- [x] Write tests\n- [ ] Write tests\n", "- [x] Write tests\n", 2),
    ],
)
def test_a_done_task_of_the_same_text_does_not_stand_for_the_open_one(before: str, after: str, line: int) -> None:
    judgement = judge_tasks(before, after)
    assert [task.line for task in judgement.vanished] == [line]
    assert parse_tasks(judgement.restored)[-1].stage == parse_tasks(before if line != 2 or "A" not in before else after)[-1].stage


def test_the_done_one_of_two_tasks_with_the_same_text_may_go() -> None:
    judgement = judge_tasks("- [x] Write tests\n- [ ] Write tests\n", "- [ ] Write tests\n")
    assert judgement.vanished == ()
    assert judgement.reopened == ()


# --- Putting back -----------------------------------------------------------------------------------------------------

PUT_BACK = {
    "between its neighbours": ("- [ ] a\n- [ ] b\n- [ ] c\n", "- [ ] a\n- [ ] c\n", "- [ ] a\n- [ ] b\n- [ ] c\n"),
    "at the beginning": ("- [ ] a\n- [ ] b\n", "- [ ] b\n", "- [ ] a\n- [ ] b\n"),
    "at the end": ("- [ ] a\n- [ ] b\n", "- [ ] a\n", "- [ ] a\n- [ ] b\n"),
    "several, in order": ("- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n", "- [ ] d\n", "- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n"),
    "beside edits that stay": (
        "# P\n- [ ] a\n- [ ] b\n",
        "# Plan\nnew text\n- [x] a\n  done in 5 minutes\n\nmore\n- [ ] new\n",
        "# Plan\nnew text\n- [x] a\n  done in 5 minutes\n- [ ] b\n\nmore\n- [ ] new\n",
    ),
    "with CRLF": ("- [ ] a\r\n- [ ] b\r\n", "- [x] a\r\n", "- [x] a\r\n- [ ] b\r\n"),
    "with the line ends that the file has now": ("- [ ] a\r\n- [ ] b\r\n", "- [x] a\n", "- [x] a\n- [ ] b\n"),
    "without a final newline": ("- [ ] a\n- [ ] b", "- [x] a", "- [x] a\n- [ ] b\n"),
    "not with the BOM in its line": ("\ufeff- [ ] a\n- [ ] b\n", "\ufeff- [ ] b\n", "\ufeff- [ ] a\n- [ ] b\n"),
    "nested, behind the text of its parent": (
        "- [ ] a\n  text\n  - [ ] b\n  - [ ] c\n",
        "- [ ] a\n  text\n  - [ ] c\n",
        "- [ ] a\n  text\n  - [ ] b\n  - [ ] c\n",
    ),
    "nested, its parent with it": ("- [ ] z\n- [ ] a\n  - [ ] b\n", "- [ ] z\n", "- [ ] z\n- [ ] a\n  - [ ] b\n"),
    "behind what is nested in its neighbour": (
        "- [ ] a\n- [ ] b\n",
        "- [ ] a\n  - [ ] new\n    text\n",
        "- [ ] a\n  - [ ] new\n    text\n- [ ] b\n",
    ),
    "before what was nested in it": ("- [ ] a\n- [ ] b\n  - [ ] c\n", "- [ ] a\n  - [ ] c\n", "- [ ] a\n- [ ] b\n  - [ ] c\n"),
    "before the parent of the task that followed": (
        "- [ ] a\n- Backend\n  - [ ] b\n",
        "- Backend\n  - [ ] b\n",
        "- [ ] a\n- Backend\n  - [ ] b\n",
    ),
    "first of its section": (
        "## A\n- [ ] a\n\n## B\n- [ ] b\n- [ ] c\n",
        "## A\n- [ ] a\n\n## B\n- [ ] c\n",
        "## A\n- [ ] a\n\n## B\n- [ ] b\n- [ ] c\n",
    ),
    "only one of its section": (
        "## A\n- [ ] a\n\n## B\nabout b\n- [ ] b\n\n## C\n- [ ] c\n",
        "## A\n- [ ] a\n\n## B\nabout b\n\n## C\n- [ ] c\n",
        "## A\n- [ ] a\n\n## B\nabout b\n- [ ] b\n\n## C\n- [ ] c\n",
    ),
    "of the right one of two sections with one name": (
        "# A\n## Tests\n- [ ] a\n# B\n## Tests\n- [ ] b\n# C\n- [ ] c\n",
        "# A\n## Tests\n- [ ] a\n# B\n## Tests\n# C\n- [ ] c\n",
        "# A\n## Tests\n- [ ] a\n# B\n## Tests\n- [ ] b\n# C\n- [ ] c\n",
    ),
    "its section is gone": ("## A\n- [ ] a\n## B\n- [ ] b\n", "## A\n- [ ] a\n", "## A\n- [ ] a\n- [ ] b\n"),
    "its neighbour has moved to another section": (
        "## Todo\n- [ ] a\n- [ ] b\n- [ ] c\n## Done\n- [x] z\n",
        "## Todo\n- [ ] c\n## Done\n- [x] z\n- [x] a\n",
        "## Todo\n- [ ] b\n- [ ] c\n## Done\n- [x] z\n- [x] a\n",
    ),
    "before a fence that swallows the rest": (
        "- [ ] a\n- [ ] b\n- [ ] c\n",
        "- [ ] a\n```\n- [ ] b\n- [ ] c\n",
        "- [ ] a\n- [ ] b\n- [ ] c\n```\n- [ ] b\n- [ ] c\n",
    ),
    "before a fence in the item that it is nested in": (
        "- [ ] a\n  - [ ] b\n",
        "- [ ] a\n  ```\n  - [ ] b\n",
        "- [ ] a\n  - [ ] b\n  ```\n  - [ ] b\n",
    ),
    "without its indent where that would make it code": (
        "- [x] gone\n    - [ ] a\n\n- [ ] b\n",
        "- [ ] b\n",
        "- [ ] a\n- [ ] b\n",
    ),
}


@pytest.mark.parametrize(("before", "after", "restored"), PUT_BACK.values(), ids=PUT_BACK.keys())
def test_a_vanished_task_goes_back(before: str, after: str, restored: str) -> None:
    assert judge_tasks(before, after).restored == restored


@pytest.mark.parametrize(
    "after", [None, "", "all done, the list is no longer needed\n", "- [ ] Write a poem\n", "```\n- [ ] Add login form\n- [x] Set up CI\n```\n"]
)
def test_a_list_of_which_nothing_is_left_comes_back_whole(after: str | None) -> None:
    before = "# Plan\n\n- [ ] Add login form\n- [x] Set up CI\n\nnotes"
    judgement = judge_tasks(before, after)
    assert [task.title for task in judgement.vanished] == ["Add login form"]
    assert judgement.restored == before


# --- Properties -------------------------------------------------------------------------------------------------------

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TITLES = [
    "Add login form",
    "Add login form with validation",
    "Add logout form",
    "Write tests",
    "Implement auth",
    "Implement auth: login",
    "Set up CI",
]
INDENTS = ["", "", "", " ", "  ", "    ", "\t", "      "]
MARKS = ["-", "-", "*", "1.", "10)", "- -"]
NOISE = [
    "",
    "",
    "text",
    "  text",
    "      deep text",
    "# One",
    "## Two",
    "```",
    "  ```",
    "~~~",
    "<!--",
    "-->",
    "<!-- x -->",
    "> quote",
    "---",
    "- item",
    "    - [ ] Set up CI",
]
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])

TASK_LINES = st.builds(
    lambda indent, mark, box, title: f"{indent}{mark} [{box}] {title}",
    st.sampled_from(INDENTS),
    st.sampled_from(MARKS),
    st.sampled_from(" x"),
    st.sampled_from(TITLES),
)


def documents(lines: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bodies = st.lists(st.tuples(lines, ENDS).map("".join), max_size=14).map("".join)
    return st.builds(lambda bom, body, last: f"{bom}{body}{last}", st.sampled_from(["", "", "\ufeff"]), bodies, st.one_of(st.just(""), lines))


LISTS = documents(st.one_of(TASK_LINES, TASK_LINES, st.sampled_from(NOISE)))


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A list and what an agent made of it: lines kept, ticked, deleted, moved and written in between."""
    before = draw(LISTS)
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", before)
    after: list[str] = []
    for line in lines:
        edit = draw(st.sampled_from(["keep", "keep", "keep", "tick", "delete", "noise", "move"]))
        if edit == "noise":
            after.append(draw(st.one_of(TASK_LINES, st.sampled_from(NOISE))) + "\n")
        if edit == "move":
            after.insert(0, line)
        elif edit != "delete":
            after.append(line.replace("[ ]", "[x]") if edit == "tick" else line)
    return before, "".join(after)


PAIRS = st.one_of(edited(), st.tuples(LISTS, LISTS))


def lines_of(text: str) -> Counter[str]:
    return Counter(re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")))


def counted(text: str) -> Counter[tuple[str, str]]:
    return Counter((task.key.rpartition("#")[0], task.stage) for task in parse_tasks(text))


@unhurried
@given(PAIRS)
def test_nothing_has_vanished_from_what_was_restored(pair: tuple[str, str]) -> None:
    before, after = pair
    judgement = judge_tasks(before, after)
    again = judge_tasks(before, judgement.restored)
    assert again.vanished == ()
    assert again.restored == judgement.restored


@unhurried
@given(PAIRS)
def test_where_nothing_vanished_not_a_byte_is_changed(pair: tuple[str, str]) -> None:
    before, after = pair
    judgement = judge_tasks(before, after)
    assert judgement.vanished or judgement.restored == after


@unhurried
@given(PAIRS)
def test_restoring_keeps_every_line_and_every_task_of_the_agent_and_adds_only_what_vanished(pair: tuple[str, str]) -> None:
    before, after = pair
    judgement = judge_tasks(before, after)
    if judgement.restored == before:
        return  # nothing of the list was left
    assert not lines_of(after) - lines_of(judgement.restored)
    vanished = Counter((task.key.rpartition("#")[0], task.stage) for task in judgement.vanished)
    assert not counted(after) + vanished - counted(judgement.restored)
    assert counted(judgement.restored).total() - counted(after).total() <= 2 * len(judgement.vanished)


@unhurried
@given(LISTS)
def test_a_list_that_nobody_touched_is_as_it_was(text: str) -> None:
    judgement = judge_tasks(text, text)
    assert (judgement.vanished, judgement.reworded, judgement.splits, judgement.ticked, judgement.reopened, judgement.added) == (
        (),
        (),
        (),
        (),
        (),
        (),
    )
    assert judgement.restored == text


@unhurried
@given(LISTS, st.data())
def test_ticking_is_always_lawful(text: str, data: st.DataObject) -> None:
    open_lines = [task.line for task in parse_tasks(text) if task.is_open]
    chosen = data.draw(st.sets(st.sampled_from(open_lines))) if open_lines else set()
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
    after = "".join(line.replace("[ ]", "[x]", 1) if number in chosen else line for number, line in enumerate(lines, start=1))
    judgement = judge_tasks(text, after)
    assert (judgement.vanished, judgement.restored) == ((), after)
    assert sorted(task.line for task in judgement.ticked) == sorted(chosen)


@unhurried
@given(
    st.text(alphabet=st.sampled_from("- [x]`~<!>#1.)\t\n\r\\ab"), max_size=200),
    st.text(alphabet=st.sampled_from("- [x]`~<!>#1.)\t\n\r\\ab"), max_size=200),
)
def test_any_two_texts_can_be_judged(before: str, after: str) -> None:
    judgement = judge_tasks(before, after)
    assert judge_tasks(before, judgement.restored).vanished == ()


@pytest.mark.slow
def test_a_large_list_rewritten_from_end_to_end_is_judged_to_the_end() -> None:
    before = "".join(f"- [ ] Write tests for part {number} of the parser\n" for number in range(5_000))
    after = "".join(f"- [x] Write the tests for part {number} of the parser and more\n" for number in range(0, 5_000, 2))
    judgement = judge_tasks(before, after)
    assert len(judgement.reworded) == 2_500
    assert len(judgement.vanished) == 2_500
    assert judge_tasks(before, judgement.restored).vanished == ()

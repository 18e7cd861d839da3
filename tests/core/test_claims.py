"""A claim is never believed lightly: what counts as one, and what never does."""

from __future__ import annotations

import pytest
from claim_corpus import CORPUS, CorpusMessage, load_all
from hypothesis import given
from hypothesis import strategies as st

from ralphloop.core.claims import detect_claim

TAG = "<promise>COMPLETE</promise>"
CLAIMS = load_all("claims")
NOT_CLAIMS = load_all("not_claims")

# True claims that the rule does not see, each with the reason. The share is bounded below; the list is held to reality in both directions.
MISSED = {
    "a/claims/066-followed-optional-long": "an idea for later says that something 'never hurts': a denial in a tail is doubt",
    "c/claims/041-unicode-text": "the last sentence is called step four: it cannot be told from a part",
    "c/claims/080-blind-alley": "'the flaky test was the only item': that it was cured stands sentences earlier",
    "d/claims/004-unrelated-negation": "a program 'doesn't print anything': good news of grep, bad news of others",
    "d/claims/012-recovered-withdrawn-earlier": "'the missing seed data is in': in is no word for done",
    "d/claims/036-user-quote": "'there isn't one' denies something that only the sentence before it names",
    "d/claims/092-long-faq": "an answer begins with 'later', and one says what was not done",
    "d/claims/094-long-no-deferred": "a list of everything that was ever postponed: its title announces open work",
    "e/claims/056-plain-report": "changes are told as what no longer happens: a denial in a tail is doubt",
    "e/claims/077-plain-report": "two skipped tests in a table: open work or not cannot be told",
    "e/claims/084-plain-report": "three facts on the line of the tag, and none of them says that all is done",
    "f/claims/010-unicode-text": "the last sentence says of a file only that nothing refers to it any more",
    "f/claims/044-response-tag-long": "it ends in a section on manners: the assertion stands under the first heading, and says all of the sources only",
    "f/claims/121-long-sql": "on the line of the tag stands the result of a test run, and nothing that says that all is done",
    "g/claims/017-closing": "'the linter does not scold' (ru): the negated word is in no table",
    "g/claims/039-custom-text": "'regression' (zh) of a regression test is read as trouble",
}
# How many of a hundred true claims may be missed, by the hands that wrote them.
MAY_BE_MISSED = {"ab": 2, "cd": 6, "e": 6, "f": 4, "g": 4}


def _lines(name: str) -> list[str]:
    return [line for line in (CORPUS / name).read_text(encoding="utf-8").split("\n") if line.strip()]


def _settings() -> list[str]:
    return (CORPUS / "settings_not_standing.txt").read_text(encoding="utf-8").rstrip("\n").split("\n%%%\n")


@pytest.mark.parametrize("message", NOT_CLAIMS, ids=lambda message: message.name)
def test_a_mention_in_the_corpus_is_never_taken_for_a_claim(message: CorpusMessage) -> None:
    reading = detect_claim(message.words, message.text)

    assert not reading.claimed, reading


@pytest.mark.parametrize("message", CLAIMS, ids=lambda message: message.name)
def test_a_claim_in_the_corpus_is_found_unless_it_is_listed_as_missed(message: CorpusMessage) -> None:
    reading = detect_claim(message.words, message.text)

    assert reading.claimed is (message.name not in MISSED), reading


@pytest.mark.parametrize(("hands", "percent"), MAY_BE_MISSED.items())
def test_few_claims_of_the_corpus_are_missed(hands: str, percent: int) -> None:
    names = {message.name for message in CLAIMS if message.name[0] in hands}

    assert set(MISSED) <= {message.name for message in CLAIMS}
    assert len(names & set(MISSED)) * 100 <= len(names) * percent


@pytest.mark.parametrize("join", [" ", "\n", ":\n\n", "\n\n"], ids=["inline", "next line", "after a colon", "next paragraph"])
@pytest.mark.parametrize("phrasing", _lines("phrasings_negated.txt"))
def test_saying_in_any_language_that_it_cannot_be_said_yet_is_no_claim(phrasing: str, join: str) -> None:
    assert not detect_claim(phrasing.replace(" {t}", f"{join}{TAG}").replace("{t}", TAG), "COMPLETE").claimed


@pytest.mark.parametrize("words", _lines("phrasings_withdrawn.txt"))
def test_a_claim_that_is_taken_back_in_the_next_breath_is_none(words: str) -> None:
    assert not detect_claim(f"All stories are implemented.\n\n{TAG}\n\n{words}", "COMPLETE").claimed


@pytest.mark.parametrize("words", _settings())
def test_a_tag_in_a_setting_that_is_no_claim_does_not_stand(words: str) -> None:
    assert not detect_claim(words.replace("{t}", TAG), "COMPLETE").claimed


@pytest.mark.parametrize("join", ["{t}", "\n\n{t}", "\n\n**{t}**"], ids=["same line", "own line", "bold"])
@pytest.mark.parametrize("sentence", _lines("phrasings_closing.txt"))
def test_a_closing_sentence_in_any_language_carries_a_claim(sentence: str, join: str) -> None:
    assert detect_claim(sentence.replace("{t}", join.replace("{t}", TAG)), "COMPLETE").claimed


@pytest.mark.parametrize(
    "dressed",
    [
        TAG,
        f"**{TAG}**",
        f"*{TAG}*",
        f"`{TAG}`",
        f"## {TAG}",
        f"- {TAG}",
        f"🎉 {TAG} 🎉",
        f"```\n{TAG}\n```",
        f"~~~text\n{TAG}\n~~~",
        f"{TAG}.",
        "<promise>\nCOMPLETE\n</promise>",
    ],
)
def test_markdown_dressing_and_emoji_do_not_hide_a_claim(dressed: str) -> None:
    assert detect_claim(f"Everything is done.\n\n{dressed}\n", "COMPLETE").claimed


@pytest.mark.parametrize(
    "near",
    [
        "<promise>COMPLETED</promise>",
        "<promises>COMPLETE</promises>",
        "<promise>COMPLETE<promise>",
        "<promise>COMPLETE",
        "<promise>COMPLETE</response>",
        "<promise id=1>COMPLETE</promise>",
        "&lt;promise&gt;COMPLETE&lt;/promise&gt;",
        "PROMISE: COMPLETE",
        "<promise>COMP\nLETE</promise>",
        "<promise></promise>",
        "<promise>.*</promise>",
    ],
)
def test_something_like_the_tag_is_reported_and_never_counts(near: str) -> None:
    reading = detect_claim(f"Everything is done.\n\n{near}\n", "COMPLETE")

    assert not reading.claimed
    assert reading.tags[0].line == 3
    assert not any(tag.stands for tag in reading.tags)


def test_the_text_is_literal_and_never_a_pattern() -> None:
    assert not detect_claim(TAG, ".*").claimed
    assert detect_claim("<promise>.*</promise>", ".*").claimed


def test_an_empty_text_claims_nothing() -> None:
    assert not detect_claim("<promise></promise>", " ").claimed


def test_the_reading_says_where_each_tag_stands_and_why() -> None:
    reading = detect_claim(f"The prompt says: `{TAG}` when done.\n\nAll tasks are done.\n\n{TAG}", "COMPLETE")

    assert reading.claimed
    assert reading.why == "The tag in line 5 stands."
    assert [(tag.line, tag.stands) for tag in reading.tags] == [(1, False), (5, True)]


def test_a_quoted_tag_elsewhere_does_not_spoil_a_true_claim() -> None:
    assert detect_claim(f"> {TAG}\n\nThat was the rule. All tasks are done.\n\n{TAG}", "COMPLETE").claimed


standing = st.sampled_from([message for message in CLAIMS if message.name not in MISSED])
any_text = st.text(st.characters(codec=None), max_size=300) | st.lists(
    st.sampled_from([TAG, "```", "> ", "- [ ] ", "\n", "\r\n", "    ", "|", "not ", "done. ", "\ud800", "<!--", "<details>", "`", "**", "完了", "؟"]),
    max_size=30,
).map("".join)


@given(words=any_text, text=st.text(st.characters(codec=None), max_size=20))
def test_nothing_that_can_be_said_makes_it_raise(words: str, text: str) -> None:
    detect_claim(words, text)
    detect_claim(f"{words}\n\n<promise>{text}</promise>\n\n{words}", text)


@given(words=any_text)
def test_a_message_without_the_exact_tag_never_claims(words: str) -> None:
    assert not detect_claim(words.replace(TAG, ""), "NEVER SAID").claimed


@given(message=standing)
def test_a_block_quote_of_a_whole_claim_is_none(message: CorpusMessage) -> None:
    quoted = "\n".join(f"> {line}" for line in message.words.splitlines())

    assert not detect_claim(quoted, message.text).claimed


@given(message=standing)
def test_a_claim_in_a_fence_with_other_content_is_none(message: CorpusMessage) -> None:
    assert not detect_claim(f"`````\n$ ralph show\n{message.words}\n`````", message.text).claimed


@given(message=standing)
def test_a_correction_after_any_claim_takes_it_back(message: CorpusMessage) -> None:
    assert not detect_claim(f"{message.words}\n\nCorrection: that was wrong, tests still fail.", message.text).claimed


@given(
    message=standing,
    neutral=st.sampled_from(["I looked at `parser.py` first.", "# Report", "- `a.py`: a new function", "It is a warm day in Lisbon."]),
)
def test_unrelated_text_before_a_claim_leaves_it_found(message: CorpusMessage, neutral: str) -> None:
    assert detect_claim(f"{neutral}\n\nThe work is done.\n\n{message.words}", message.text).claimed


@given(message=st.sampled_from(CLAIMS + NOT_CLAIMS))
def test_the_kind_of_line_ends_never_matters(message: CorpusMessage) -> None:
    lines = message.words.replace("\r\n", "\n")

    assert detect_claim(lines, message.text) == detect_claim(lines.replace("\n", "\r\n"), message.text)


@given(message=st.sampled_from(CLAIMS + NOT_CLAIMS), change=st.sampled_from([str.upper, str.lower, str.swapcase, str.title]))
def test_the_case_of_the_text_never_matters(message: CorpusMessage, change: object) -> None:
    assert callable(change)
    changed = str(change(message.text))
    if changed.casefold() != message.text.casefold():
        return
    respelt = message.words.replace(f">{message.text}<", f">{changed}<")

    assert detect_claim(respelt, changed).claimed == detect_claim(message.words, message.text).claimed


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        "`" * 1_000_000,
        "<promise>" * 50_000,
        f"{TAG} " * 50_000,
        f"{TAG}\n" * 40_000,
        "> " * 500_000,
        "- [ ] x\n" * 50_000,
        "*" * 1_000_000,
        "<promise>" + " " * 1_000_000,
        "<!--\n" * 100_000,
        "a, " * 100_000,
        "1 of 2 " * 100_000,
        "a/b.c " * 100_000,
        "a.a/" * 200_000,
        "x" * 5_000_000,
        "The test passed and it is done.\n" * 15_000,
        "no fails not done " * 8_000,
        "nothing fails: none, " * 8_000,
        "if not " * 37_000,
        "## Final check\n- ok\n" * 5_000,
        "没有失败的" * 8_000,
        "| 0 | no |\n" * 20_000,
        "|" * 1_000_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_message_is_read_in_linear_time(hostile: str) -> None:
    detect_claim(hostile, "COMPLETE")
    detect_claim(f"{hostile}\n\n{TAG}\n\n{hostile}", "COMPLETE")

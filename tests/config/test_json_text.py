from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ralphloop.config.json_text import DEEPEST, read_json
from ralphloop.config.tree import Node
from ralphloop.errors import ConfigError

SOURCE = ".ralph/settings.json"


def plain(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {name: plain(member) for name, member in node.value.items()}
    return [plain(item) for item in node.value] if isinstance(node.value, tuple) else node.value


def complaint(content: bytes | str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_json(content if isinstance(content, bytes) else content.encode(), SOURCE)
    return str(caught.value)


# repr tells 1 from 1.0 and from True, which == does not.
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
@example("\U0001f600 \u2028 \x7f \\u0041", None, True)
@example({"": [[], {}, ""]}, 2, False)
def test_every_valid_document_is_read_as_json_reads_it(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert repr(plain(read_json(text.encode(), SOURCE))) == repr(json.loads(text))


documents = st.text(st.sampled_from('{}[]",:\\/ \n\t0123456789.eE+-truefalsn#*u"'), max_size=60).map(str.encode)


@given(st.binary() | documents)
@example(b"\xef\xbb\xbf")
@example(b'"\\')
@example(b'"\\u')
@example(b'"\\ud800"')
@example(b'"\\ud800\\u0041"')
@example(b"-")
@example(b"9" * 5000)
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
def test_whatever_the_bytes_are_the_answer_is_a_document_that_json_accepts_or_a_config_error(content: bytes) -> None:
    try:
        node = read_json(content, SOURCE)
    except ConfigError as refused:
        assert str(refused).startswith(f"{SOURCE}:")  # noqa: PT017  either answer is right, a third is not
    else:
        assert repr(plain(node)) == repr(json.loads(content.removeprefix(b"\xef\xbb\xbf")))


@given(st.dictionaries(st.text(), values, max_size=4))
def test_every_key_knows_its_line(document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=1)
    lines = text.split("\n")

    def check(node: Node) -> None:
        members = node.value.items() if isinstance(node.value, dict) else ()
        for key, member in members:
            assert member.key_line is not None
            assert lines[member.key_line - 1].lstrip().startswith(f"{json.dumps(key)}:")
            assert member.line == member.key_line
        for inner in node.value.values() if isinstance(node.value, dict) else node.value if isinstance(node.value, tuple) else ():
            check(inner)

    check(read_json(text.encode(), SOURCE))


def test_a_value_on_another_line_than_its_key_knows_its_own_line() -> None:
    node = read_json(b'{\r\n"a"\r\n:\r\n[1,\r\n2]}', SOURCE)
    assert isinstance(node.value, dict)
    member = node.value["a"]
    assert (member.key_line, member.line) == (2, 4)
    assert isinstance(member.value, tuple)
    assert [item.line for item in member.value] == [4, 5]


def test_a_byte_order_mark_is_tolerated() -> None:
    assert plain(read_json(b'\xef\xbb\xbf{"a": 1}', SOURCE)) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the file is empty; write at least {}"),
        (" \n\n ", "3: the file is empty; write at least {}"),
        ('{\n "a": 1,\n "b": 2,\n}', "3: JSON has no comma before the closing }; take it away"),
        ('{"a": [1,\n2,\n]}', "2: JSON has no comma before the closing ]; take it away"),
        ('{\n "a": 1,\n "b": 2,\n "a": 3}', '4: "a" is given twice, first on line 2; keep one of them'),
        ('{"a": 1,\n "\\u0061": 3}', '2: "a" is given twice, first on line 1; keep one of them'),
        ('{\n// no\n"a": 1}', "2: JSON has no comments; take this one away"),
        ('{"a": 1 /* no */}', "1: JSON has no comments; take this one away"),
        ('{"a": 1}\n# no', "2: JSON has no comments; take this one away"),
        ("{'a': 1}", "1: text stands in double quotes in JSON, not in single ones"),
        ("{a: 1}", "1: a key in double quotes is expected here, and something else stands there"),
        ('{"a" 1}', "1: a colon is expected here, and something else stands there"),
        ('{"a": 1\n"b": 2}', "2: a comma or } is expected here, and something else stands there"),
        ('{"a": [1 2]}', "1: a comma or ] is expected here, and something else stands there"),
        ('{"a": 1', "1: the file ends here, and a comma or } is missing"),
        ('{"a":\n', "2: the file ends here, and a value (text in double quotes, a number, true, false, null, [ or {) is missing"),
        ("{} {}", "1: the end of the file is expected here, and something else stands there"),
        ('{"a": "b\n"}', "1: this text is not closed on its line; end it with a double quote, or write \\n for a new line"),
        ('{"a": "C:\\dir"}', '1: "\\d" is no escape of JSON; write two backslashes for one'),
        ('{"a": "\\u12"}', "1: \\u takes four hexadecimal digits"),
        ('{"a": "\\ud83d"}', "1: this is half of a surrogate pair; write the character itself"),
        ("9" * 5000, "1: this number is too long"),
        ("[" * (DEEPEST + 1), f"1: this is nested more than {DEEPEST} levels deep"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_remedy(text: str, message: str) -> None:
    assert complaint(text) == f"{SOURCE}:{message}"


@pytest.mark.parametrize("word", ["True", "None", "NaN", "Infinity", "-Infinity", "undefined", "01", "+1", ".5", "1.", "0x10", "1e", "tru", "yes"])
def test_what_is_no_value_of_json_is_refused(word: str) -> None:
    message = "1: a value (text in double quotes, a number, true, false, null, [ or {) is expected here, and something else stands there"
    assert complaint(f'{{"a": {word}}}') == f"{SOURCE}:{message}"


def test_what_is_not_utf_8_is_told_with_its_line() -> None:
    assert complaint(b'{\n"a": "\xff"}') == f"{SOURCE}:2: this is not UTF-8; save the file as UTF-8"
    assert complaint('{"a": 1}'.encode("utf-16")) == f"{SOURCE}:1: this is not UTF-8; save the file as UTF-8"


def test_a_secret_that_stands_without_quotes_is_not_shown() -> None:
    assert "sk-1" not in complaint('{"agent": {"env": {"API_KEY": sk-1}}}')


def test_the_deepest_nesting_that_is_allowed_is_read() -> None:
    text = "[" * DEEPEST + "]" * DEEPEST
    assert plain(read_json(text.encode(), SOURCE)) == json.loads(text)

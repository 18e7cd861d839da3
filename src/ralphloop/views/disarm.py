"""Untrusted text → text that a terminal only prints.

What an agent says, and what it names files and tasks, is written by others. Obeyed by a terminal it could set the clipboard (OSC 52), the
title, hide or overwrite lines, or turn the order of letters (bidi overrides). So first whole sequences go, that no rubbish is left of them; then
every control character that remains goes, whatever it belonged to: nothing can be reassembled from what is left.
Every pattern is linear: no class can run past the next introducer.
"""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_k]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC, title: with its payload
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, erase
    r"|\x1b[ -/]*[0-~]"  # the short ones, and the introducer of a string that never ends
)
_LINE_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f"
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi marks, embeddings, overrides, isolates
    r"\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"  # what cannot be seen (joiners stay: emoji need them)
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def disarm(text: str) -> str:
    """The text without escape sequences, control, bidi and invisible characters; newlines and tabs stay."""
    text = _SEQUENCE.sub("", text)
    text = _LINE_BREAK.sub("\n", text)
    text = _CONTROL.sub("", text)
    return _SURROGATE.sub("\ufffd", text)

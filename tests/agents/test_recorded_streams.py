"""What is read from the recorded streams of every client: events and report, word for word as reviewed, and the ending that the run truly had.

To take over a change that has been reviewed, run `RALPH_WRITE_GOLDEN=1 pytest tests/agents/test_recorded_streams.py` and read the difference.
"""

from __future__ import annotations

import os

import pytest
from recorded import CLIENTS, golden, names, read, recorded, rendered
from recorded_endings import ENDINGS, run_of

from ralphloop.core.endings import classify

RECORDED = [(client, name) for client in CLIENTS for name in names(client)]


@pytest.mark.parametrize(("client", "name"), RECORDED)
def test_a_recorded_stream_is_read_as_reviewed(client: str, name: str) -> None:
    found = rendered(*read(client, recorded(client, name), run_of(client, name)))
    if os.environ.get("RALPH_WRITE_GOLDEN"):
        golden(client, name).write_text(found, encoding="utf-8")
    assert found == golden(client, name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("client", "name"), RECORDED)
def test_a_recorded_run_has_its_true_ending(client: str, name: str) -> None:
    run = run_of(client, name)
    assert classify(run, read(client, recorded(client, name), run)[1], changed=True)[0] is ENDINGS[client][name][1]


def test_every_ending_has_its_recording() -> None:
    assert sorted(RECORDED) == sorted((client, name) for client, table in ENDINGS.items() for name in table)

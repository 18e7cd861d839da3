"""Which loop `run` means: the table of docs/explanation/crash-and-resume.md, a test for each row. (`alive` is a held lock: tests/cli/test_what_run_means.py.)"""

from __future__ import annotations

import pytest

from ralphloop.core.model import Kind, WorkSpec
from ralphloop.core.which import Choice, Found, Standing, choose, has_open_work

WORK = WorkSpec(kind=Kind.CHECKLIST, task_file="PRD.md")
OTHER = WorkSpec(kind=Kind.CHECKLIST, task_file="TODO.md")
ASKED = WorkSpec(kind=Kind.PROMPT, prompt_text="Do it.")
ASKED_OTHERWISE = WorkSpec(kind=Kind.PROMPT, prompt_text="Do that.")


def chosen(standing: Standing, *, open_work: bool = True, work: WorkSpec = WORK, wanted: WorkSpec = WORK, new: bool = False) -> Choice:
    return choose(Found(standing=standing, work=work), wanted, new=new, open_work=open_work)


def test_row_no_loop_of_that_name_is_a_new_loop() -> None:
    assert choose(Found(standing=Standing.ABSENT), WORK, new=False, open_work=True) is Choice.NEW


@pytest.mark.parametrize("standing", [Standing.CRASHED, Standing.INTERRUPTED, Standing.WAITING])
def test_row_crashed_interrupted_waiting_is_resumed(standing: Standing) -> None:
    assert chosen(standing) is Choice.RESUME


@pytest.mark.parametrize("standing", [Standing.FAILED, Standing.LIMIT])
def test_row_failed_or_limit_ends_with_the_reason_and_the_way_on(standing: Standing) -> None:
    assert chosen(standing) is Choice.EXPLAIN


def test_row_done_with_open_work_is_a_new_loop() -> None:
    assert chosen(Standing.DONE, open_work=True) is Choice.NEW


def test_row_done_without_open_work_is_done() -> None:
    assert chosen(Standing.DONE, open_work=False) is Choice.FINISHED


@pytest.mark.parametrize("standing", [standing for standing in Standing if standing is not Standing.ABSENT])
def test_row_other_work_or_prompt_text_is_a_new_loop(standing: Standing) -> None:
    assert chosen(standing, wanted=OTHER) is Choice.NEW
    assert chosen(standing, work=ASKED, wanted=ASKED_OTHERWISE) is Choice.NEW


@pytest.mark.parametrize("standing", list(Standing))
def test_new_always_begins_afresh(standing: Standing) -> None:
    assert chosen(standing, new=True) is Choice.NEW


def test_prompt_work_that_is_done_is_begun_again_when_asked_again() -> None:
    assert has_open_work(Kind.PROMPT, None)
    assert not has_open_work(Kind.CHECKLIST, 0)
    assert has_open_work(Kind.CHECKLIST, 2)

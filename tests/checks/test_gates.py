"""Gates are real commands: what they say is their exit status, all of their output is evidence, and nothing an agent puts in the way matters."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ralphloop.checks.gates import GateRunner
from ralphloop.core.feedback import gate_feedback
from ralphloop.core.model import Gate, Result, RunReport, Verdict
from ralphloop.core.ports import Launch, Sign
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor

LOG = "guardrail_1_gate.log"


@pytest.fixture
def stop() -> Iterator[StopFlag]:
    flag = StopFlag()
    yield flag
    flag.close()


class House:
    """A workspace, a state home, and a runner of gates between them."""

    def __init__(self, directory: Path, stop: StopFlag) -> None:
        self.root = directory / "workspace"
        self.logs = directory / "state" / "gates"
        self.log = self.root / ".ralph" / LOG
        self.root.mkdir()
        self.logs.mkdir(parents=True)
        self._stop = stop

    def run(self, command: str, *, truncate_chars: int = 5000, timeout_s: float = 600.0, env: dict[str, str] | None = None) -> Verdict | None:
        environment = {"PATH": os.defpath, **(env or {})}
        runner = GateRunner(self.root, Supervisor(self._stop), environment, truncate_chars, self.logs)
        return runner.run(Gate(command=command, timeout_s=timeout_s), 1, LOG, "loop/1/gates")

    def verdict(self, command: str, *, truncate_chars: int = 5000, timeout_s: float = 600.0, env: dict[str, str] | None = None) -> Verdict:
        verdict = self.run(command, truncate_chars=truncate_chars, timeout_s=timeout_s, env=env)
        assert verdict is not None
        return verdict


@pytest.fixture
def house(tmp_path: Path, stop: StopFlag) -> House:
    return House(tmp_path, stop)


def test_exit_code_zero_is_green(house: House) -> None:
    verdict = house.verdict("echo fine")
    assert (verdict.name, verdict.result, verdict.exit_code, verdict.output) == ("echo fine", Result.PASSED, 0, "fine\n")
    assert verdict.duration_s > 0


@pytest.mark.parametrize("code", [1, 2, 42, 126, 127, 255])
def test_any_other_exit_code_is_red(house: House, code: int) -> None:
    verdict = house.verdict(f"exit {code}")
    assert (verdict.result, verdict.exit_code, verdict.reason) == (Result.FAILED, code, f"failed with exit code {code}")


def test_a_command_that_is_not_there_is_red_and_the_shell_says_why(house: House) -> None:
    verdict = house.verdict("no-such-command-anywhere")
    assert verdict.reason == "failed with exit code 127"
    assert "no-such-command-anywhere" in verdict.output


def test_a_gate_that_does_not_end_is_ended(house: House) -> None:
    verdict = house.verdict("echo begun; exec sleep 600", timeout_s=0.5)
    assert (verdict.result, verdict.reason) == (Result.FAILED, "timed out after 0.5 s")
    assert verdict.output == "begun\n"


def test_a_gate_that_is_killed_is_red(house: House) -> None:
    verdict = house.verdict("kill -KILL $$")
    assert (verdict.result, verdict.reason, verdict.exit_code) == (Result.FAILED, "was killed by signal 9", None)


def test_a_gate_that_cannot_be_run_is_never_green(tmp_path: Path, stop: StopFlag) -> None:
    runner = GateRunner(tmp_path / "gone", Supervisor(stop), {"PATH": os.defpath}, 5000, tmp_path)
    verdict = runner.run(Gate(command="true"), 1, LOG, "loop/1/gates")
    assert verdict is not None
    assert verdict.result is Result.ERRORED
    assert verdict.reason.startswith("could not be run: ")
    assert verdict.log is None


def test_a_status_that_cannot_be_known_is_never_green(house: House) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        verdict = house.verdict("true")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (verdict.result, verdict.reason) == (Result.ERRORED, "ended, and its exit status could not be obtained")


def test_a_person_who_interrupts_leaves_no_verdict(house: House, stop: StopFlag) -> None:
    fifo = house.root / "begun"
    os.mkfifo(fifo)

    def interrupt_twice() -> None:
        fifo.read_text()
        stop.request("test")
        stop.request("test")

    person = threading.Thread(target=interrupt_twice)
    person.start()
    verdict = house.run("echo > begun; exec sleep 600")
    person.join()
    assert verdict is None


def test_the_command_is_a_shell_command_with_all_its_quoting(house: House) -> None:
    (house.root / "a b").write_text("x")
    command = """test -e "a b" && echo 'it'"'"'s' "$HOME" `echo ok` $((1+1)) # comment"""
    assert house.verdict(command, env={"HOME": "/h"}).output == "it's /h ok 2\n"


def test_errors_and_output_stand_in_the_order_in_which_they_were_written(house: House) -> None:
    command = "for i in 1 2 3; do echo out $i; echo err $i >&2; done"
    assert house.verdict(command).output == "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"


def test_a_gate_runs_in_the_workspace_with_its_run_id_and_without_input(house: House) -> None:
    output = house.verdict('pwd -P; echo "$RALPH_RUN_ID"; cat').output
    assert output == f"{os.path.realpath(house.root)}\nloop/1/gates\n"


def test_all_output_is_in_the_log_and_the_verdict_has_its_beginning(house: House) -> None:
    verdict = house.verdict("printf '%s\\n' 123456789; exit 3", truncate_chars=4)
    assert verdict.output == "1234... [truncated]"
    assert verdict.log == f".ralph/{LOG}"
    assert house.log.read_bytes() == b"123456789\n"
    assert verdict.output_digest == hashlib.sha256(b"123456789\n").hexdigest()


@pytest.mark.parametrize(("chars", "shown"), [(5, "äöü\n"), (4, "äöü\n"), (3, "äöü... [truncated]"), (1, "ä... [truncated]"), (0, "... [truncated]")])
def test_characters_are_counted_and_the_mark_stands_only_where_something_was_cut(house: House, chars: int, shown: str) -> None:
    assert house.verdict("echo äöü", truncate_chars=chars).output == shown


def test_output_that_is_no_text_is_shown_all_the_same(house: House) -> None:
    assert house.verdict(r"printf '\377\000end'").output == "\N{REPLACEMENT CHARACTER}\0end"


def test_a_silent_gate_has_an_empty_log(house: House) -> None:
    verdict = house.verdict("true")
    assert verdict.output == ""
    assert house.log.read_bytes() == b""


def test_a_gate_that_runs_again_begins_a_new_log(house: House) -> None:
    house.verdict("echo first and longer")
    house.verdict("echo second")
    assert house.log.read_text() == "second\n"


def test_nothing_stays_in_the_state_home(house: House) -> None:
    house.verdict("echo fine")
    assert list(house.logs.iterdir()) == []


def test_the_failure_message_is_that_of_the_seed(house: House) -> None:
    gate = Gate(command="echo broken; exit 2", hint="Fix it.")
    feedback = gate_feedback(gate, house.verdict(gate.command))
    assert feedback.text == (
        f'Guardrail "echo broken; exit 2" failed with exit code 2.\nHint: Fix it.\nOutput file: .ralph/{LOG}\nOutput (truncated):\nbroken\n'
    )


def test_a_link_at_the_logs_place_is_replaced_and_not_followed(house: House, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    house.log.parent.mkdir()
    house.log.symlink_to(victim)
    assert house.verdict("echo mine").log == f".ralph/{LOG}"
    assert victim.read_text() == "precious"
    assert not house.log.is_symlink()
    assert house.log.read_text() == "mine\n"


def test_a_directory_at_the_logs_place_is_moved_aside_with_all_that_is_in_it(house: House) -> None:
    house.log.mkdir(parents=True)
    (house.log / "kept").write_text("x")
    assert house.verdict("echo mine").log == f".ralph/{LOG}"
    assert house.log.read_text() == "mine\n"
    assert [path.read_text() for path in house.log.parent.glob(f"{LOG}.moved-by-ralph*/kept")] == ["x"]


def test_a_fifo_at_the_logs_place_does_not_block(house: House) -> None:
    house.log.parent.mkdir()
    os.mkfifo(house.log)
    house.verdict("echo mine")
    assert house.log.read_text() == "mine\n"


def test_a_gate_that_bends_ralphs_directory_away_is_not_followed_and_its_log_stays_private(house: House, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    verdict = house.verdict(f"ln -s {elsewhere} .ralph; echo red; exit 1")
    assert verdict.reason == "failed with exit code 1"
    assert verdict.output == "red\n"
    assert list(elsewhere.iterdir()) == []
    assert verdict.log == str(house.logs / LOG)
    assert (house.logs / LOG).read_text() == "red\n"


def test_a_file_in_place_of_ralphs_directory_changes_no_verdict(house: House) -> None:
    (house.root / ".ralph").write_text("in the way")
    verdict = house.verdict("echo green")
    assert verdict.passed
    assert verdict.log == str(house.logs / LOG)
    assert (house.root / ".ralph").read_text() == "in the way"


def test_a_state_home_that_takes_no_log_changes_no_verdict(house: House) -> None:
    house.logs.rmdir()
    verdict = house.verdict("echo red; exit 1")
    assert (verdict.reason, verdict.output, verdict.log, verdict.output_digest) == ("failed with exit code 1", "", None, None)


def test_the_log_of_an_earlier_run_is_never_taken_for_this_one(house: House) -> None:
    (house.logs / LOG).write_text("old")
    (house.root / ".ralph").write_text("in the way")
    assert house.verdict("echo new").output == "new\n"


@pytest.mark.slow
def test_a_flood_of_output_is_kept_whole_and_costs_no_memory(house: House) -> None:
    megabytes = 64
    tracemalloc.start()
    try:
        verdict = house.verdict(f"yes $(printf '%01023d' 7) | head -c {megabytes * 1024 * 1024}")
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert house.log.stat().st_size == megabytes * 1024 * 1024
    with house.log.open("rb") as log:
        assert verdict.output_digest == hashlib.file_digest(log, "sha256").hexdigest()
    assert len(verdict.output) == 5000 + len("... [truncated]")
    assert peak < 24 * 1024 * 1024


class Leaky(Supervisor):
    """What a gate has started cannot be ended."""

    def supervise(self, launch: Launch, on_line: Callable[[bytes], Sign]) -> RunReport:
        return replace(super().supervise(launch, on_line), leaked="process 4711 (sleep)")


def test_a_gate_that_leaves_what_cannot_be_ended_ends_the_loop_although_it_is_green(house: House, stop: StopFlag) -> None:
    verdict = GateRunner(house.root, Leaky(stop), {"PATH": os.defpath}, 5000, house.logs).run(Gate(command="true"), 1, LOG, "loop/1/gates")
    assert verdict is not None
    assert (verdict.result, verdict.fatal) == (Result.ERRORED, True)
    assert verdict.reason == "left processes that cannot be ended: process 4711 (sleep); end them, then resume the loop"

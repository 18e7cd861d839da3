"""After a run nothing of it is left, whatever it did to get away: with the sweep that the process of a loop has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from strays import EVERYBODY, STRAYS, Den, named
from supervised import FOR_EVER, sized

pytest_plugins = ["den_fixtures"]
pytestmark = pytest.mark.slow

EXIT = "os._exit(3)"
READY = "say('ready')\nsleep()"
ALL_OF_THEM = "\n".join(STRAYS.values())


@pytest.mark.parametrize("stray", STRAYS)
def test_after_an_exit_nothing_is_left(den: Den, stray: str) -> None:
    report, _ = den.sweep(STRAYS[stray] + EXIT)
    assert den.inhabitants() == []
    assert (report["ended_by"], report["exit_code"], report["leaked"], report["alone"]) == ("exit", 3, "", True)
    assert report["strays"] >= 1


@pytest.mark.parametrize("den", EVERYBODY, indirect=True)
@pytest.mark.parametrize(("end", "ended_by"), [("exit", "exit"), ("time-out", "total_timeout"), ("stop", "stopped")])
def test_however_a_run_ends_nothing_is_left_of_many(den: Den, end: str, ended_by: str) -> None:
    report, _ = den.sweep(ALL_OF_THEM + (EXIT if end == "exit" else READY), end=end)
    assert den.inhabitants() == []
    assert (report["ended_by"], report["leaked"], report["alone"]) == (ended_by, "", True)


def test_nothing_is_left_of_a_run_whose_reader_failed(den: Den) -> None:
    report, _ = den.sweep(ALL_OF_THEM + READY, end="failure")
    assert (report, den.inhabitants()) == ({"alone": True}, [])


# --- before they are killed, they are asked ---


TIDY = """
def life():
    daemonize()
    def tidy(*_):
        time.sleep(0.05)
        open("tidy", "w").close()
        os._exit(0)
    signal.signal(signal.SIGTERM, tidy)
    is_set_up()
    if aloof: let_go()
    if stands_still: os.kill(os.getpid(), signal.SIGSTOP)
    sleep()
leave(life)
"""


@pytest.mark.parametrize("aloof", [False, True], ids=["on the pipe", "off the pipe"])  # what holds the pipe has the time in which it is drained
@pytest.mark.parametrize("stands_still", [False, True], ids=["at work", "standing still"])
@pytest.mark.parametrize("end", ["exit", "stop"])
def test_a_stray_that_obeys_may_tidy_up(den: Den, end: str, stands_still: bool, aloof: bool) -> None:
    report, _ = den.sweep(f"{stands_still = }\n{aloof = }" + TIDY + (EXIT if end == "exit" else READY), end=end)
    assert (den.path / "tidy").exists()
    assert (report["strays"], den.inhabitants()) == (1, [])


# The helper is none of our business: who was asked to end may need it for that.
TIDY_WITH_HELP = """
import subprocess
def life():
    daemonize()
    def tidy(*_):
        done = subprocess.run(["sh", "-c", "sleep 0.05; exit 7"])
        open("tidy", "w").write(str(done.returncode))
        os._exit(0)
    signal.signal(signal.SIGTERM, tidy)
    is_set_up()
    sleep()
leave(life)
"""


@pytest.mark.parametrize("end", ["exit", "stop"])
def test_what_a_stray_starts_in_order_to_tidy_up_is_let_alone(den: Den, end: str) -> None:
    den.sweep(TIDY_WITH_HELP + (EXIT if end == "exit" else READY), end=end)
    assert (den.path / "tidy").read_text() == "7"
    assert den.inhabitants() == []


# As `npm` and `sh -c` do: the one that is known goes at once, and the one that works is behind it. Also where that is in a session of its own.
BEHIND_A_WRAPPER = """
def life():
    if aloof: os.setsid()
    def tidy(*_):
        time.sleep(1)
        open("tidy", "w").close()
        say("tidied")
        os._exit(0)
    signal.signal(signal.SIGTERM, tidy)
    is_set_up()
    sleep()
leave(life)
"""


@pytest.mark.parametrize("aloof", [False, True], ids=["in its group", "in a session of its own"])
@pytest.mark.parametrize("end", ["time-out", "stop"])
def test_the_grace_holds_for_an_agent_behind_a_wrapper_that_goes_at_once(den: Den, end: str, aloof: bool) -> None:
    report, lines = den.sweep(f"{aloof = }" + BEHIND_A_WRAPPER + READY, end=end, grace_s=600)
    assert (den.path / "tidy").exists()
    assert "tidied" in lines, "its pipes are read until it is gone"
    assert (report["signal"], den.inhabitants()) == (15, [])


# The leader has the signal, and starts one more before it goes.
LATECOMER = """
def late():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    is_set_up()
    sleep()
def end(*_):
    leave(late)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
"""


# As a shell does that was asked when it had forked, and not yet become another program.
BECOMES_ANOTHER = """
def life():
    def become(*_): os.execv("/bin/sleep", ["sleep", "600"])
    signal.signal(signal.SIGTERM, become)
    is_set_up()
    sleep()
fork(life)
wait_for_it()
def end(*_): os._exit(0)
signal.signal(signal.SIGTERM, end)
"""


@pytest.mark.parametrize("agent", [LATECOMER, BECOMES_ANOTHER], ids=["a new process", "another program"])
def test_who_joins_the_group_after_it_was_asked_is_asked_as_well(den: Den, agent: str) -> None:
    report, _ = den.sweep(agent + READY, end="stop", grace_s=600)
    assert (report["ended_by"], report["exit_code"], report["strays"], den.inhabitants()) == ("stopped", 0, 1, [])


def test_the_grace_has_an_end_for_an_agent_behind_a_wrapper(den: Den) -> None:
    deaf = BEHIND_A_WRAPPER.replace("signal.signal(signal.SIGTERM, tidy)", "signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    report, _ = den.sweep("aloof = False" + deaf + READY, end="stop", grace_s=0.1)
    assert (report["ended_by"], report["leaked"], den.inhabitants()) == ("stopped", "", [])


# --- child loops ---


# Whatever is below a child loop stays below it: it is a subreaper as well.
CHILD_LOOP = """
import ctypes
def below():
    daemonize()
    say("below", os.getpid())
    is_set_up()
    sleep()
def child_loop():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    os.setpgid(0, 0)
    enlist()
    say("child", os.getpid())
    fork(below)
    sleep()
"""
UNDER = {
    "the agent": "leave(child_loop)",
    "a stray shell": """
def shell():
    os.setsid()
    say("shell", os.getpid())
    fork(child_loop)
    sleep()
leave(shell)
""",
}


@pytest.mark.parametrize("den", EVERYBODY, indirect=True)
@pytest.mark.parametrize("under", UNDER)
@pytest.mark.parametrize("end", ["exit", "stop"])
def test_a_child_loop_is_spared_with_all_that_is_below_it(den: Den, under: str, end: str) -> None:
    report, lines = den.sweep(CHILD_LOOP + UNDER[under] + ALL_OF_THEM + (EXIT if end == "exit" else READY), end=end)
    spared = named("child", lines) + named("below", lines)
    assert len(spared) == 2
    assert sorted(identity.pid for identity in den.inhabitants()) == sorted(spared)
    assert len(named("shell", lines)) == (under == "a stray shell")
    assert report["leaked"] == ""


# --- counting ---


def test_every_process_that_is_ended_is_counted(den: Den) -> None:
    report, _ = den.sweep(3 * STRAYS["a child in the group"] + 2 * STRAYS["a tree of daemons"] + EXIT)
    assert report["strays"] == 3 + 2 * 3


def test_what_ended_by_itself_is_no_stray(den: Den) -> None:
    """The daemons are dead when the agent ends, and nobody has reaped them yet."""
    passing = """
def life():
    daemonize()
    os.write(tell, b"%8d" % os.getpid())
def wait_for_end():
    try: daemon = os.pidfd_open(int(os.read(ready, 8)))
    except ProcessLookupError: return
    select.select([daemon], [], [])
for _ in range(5):
    fork(life)
    wait_for_end()
"""
    report, _ = den.sweep(passing + EXIT)
    assert (report["exit_code"], report["strays"], report["alone"]) == (3, 0, True)


# --- the dead ---


ADOPTED = """
def life():
    os.write(tell, b"%8d" % os.getpid())
    if os.fork(): os._exit(0)
    os.write(tell, b"%8d" % os.getpid())
os.waitpid(fork(life), 0)
os.read(ready, 8)
orphan = int(os.read(ready, 8))
while os.path.exists(f"/proc/{orphan}"): time.sleep(0.01)
"""


def test_adopted_dead_are_buried_while_the_run_lasts(den: Den) -> None:
    report, _ = den.sweep(ADOPTED + EXIT)
    assert (report["ended_by"], report["exit_code"]) == ("exit", 3)


BURIAL = """
import os
from pathlib import Path
from ralphloop.process.child import Child
from ralphloop.process.sweep import Sweep

orphans = [os.fork() or os._exit(0) for _ in range(3)]
leader = Child(("/bin/sh", "-c", "exit 1"), cwd=Path("/"), env={}, stdin=False)
orphans += [os.fork() or os._exit(0) for _ in range(3)]
for pid in leader.pid, *orphans: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
for _ in range(2): Sweep().reap(leader.pid)
print(leader.reap(), Sweep().end())
"""


AMONG_ITS_OWN = """
import os, signal, time
from ralphloop.process.sweep import Sweep

ready, tell = os.pipe()
if not os.fork():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(tell, b".")
    time.sleep(600)
os.read(ready, 1)
print(Sweep().end(0.05))
"""


def test_what_is_left_in_our_own_group_is_ended_and_we_are_not() -> None:
    done = subprocess.run([sys.executable, "-c", AMONG_ITS_OWN], capture_output=True, text=True, check=True, start_new_session=True)
    assert done.stdout == "Swept(strays=1, leaked='')\n"


def test_burying_the_dead_never_takes_the_exit_status_of_the_leader() -> None:
    done = subprocess.run([sys.executable, "-c", BURIAL], capture_output=True, text=True, check=True)
    assert done.stdout == "1 Swept(strays=0, leaked='')\n"


def test_many_runs_that_leave_strays_leave_no_descriptor_and_nobody(den: Den) -> None:
    agent = STRAYS["a child in the group"] + STRAYS["a tree of daemons"] + EXIT
    report, _ = den.sweep(agent, runs=sized(50, 1000))
    assert (report["strays"], report["descriptors"], report["alone"], den.inhabitants()) == (4, 0, True, [])


# --- what cannot be ended ---


# A program that becomes root, as `sudo` does.
BECOME_ROOT = f"""
def life():
    daemonize()
    os.set_inheritable(tell, True)
    say("stays", os.getpid())
    os.execv("./become", ["become", "--reuid=0", "sh", "-c", f"echo >&{{tell}}; exec sleep {FOR_EVER} > /dev/null 2>&1"])
leave(life)
"""


if os.geteuid() == 0:  # nobody else can make one

    @pytest.mark.parametrize("den", ["nobody"], indirect=True)
    def test_what_cannot_be_ended_is_named_and_keeps_nobody_waiting(den: Den) -> None:
        shutil.copy(shutil.which("setpriv") or "", den.path / "become")
        (den.path / "become").chmod(0o4755)
        report, lines = den.sweep(BECOME_ROOT + STRAYS["a daemon that ignores SIGTERM"] + EXIT, patience_s=0.2)
        (stays,) = named("stays", lines)
        assert [identity.pid for identity in den.inhabitants()] == [stays]
        assert (report["exit_code"], report["strays"], report["leaked"]) == (3, 1, f"process {stays} (sleep)")

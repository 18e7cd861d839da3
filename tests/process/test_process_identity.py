from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from supervised import FOR_EVER

from ralphloop.process import macos
from ralphloop.process.identity import identify, is_alive, own_identity


def test_this_process_knows_itself_and_is_alive() -> None:
    me = own_identity()
    assert (me.pid, identify(os.getpid()), is_alive(me)) == (os.getpid(), me, True)


def test_a_process_that_ended_is_not_alive_neither_as_a_zombie_nor_after() -> None:
    with subprocess.Popen(["sleep", FOR_EVER]) as process:
        identity = identify(process.pid)
        assert identity is not None
        assert is_alive(identity)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(identity)
        assert identify(process.pid) is None
    assert not is_alive(identity)


def test_another_process_under_the_same_number_is_another_process() -> None:
    me = own_identity()
    assert not is_alive(me._replace(started=me.started + "1"))
    assert not is_alive(me._replace(boot_id="the boot before"))


def test_a_name_made_to_confuse_changes_nothing(tmp_path: Path) -> None:
    program = tmp_path / "x) Z 1 (y"
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, FOR_EVER]) as process:
        identity = identify(process.pid)
        assert identity is not None
        assert int(identity.started) >= int(own_identity().started)
        process.kill()


def test_the_answer_of_ps_can_be_read() -> None:
    assert macos.start_time(os.getpid())
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert macos.start_time(process.pid) is None
    assert macos.start_time(process.pid) is None


def test_knowing_a_process_needs_nothing_heavy() -> None:
    code = "import sys; import ralphloop.process.identity; print({'subprocess', 'signal', 'pathlib', 'dataclasses'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"

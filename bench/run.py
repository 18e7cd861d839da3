"""Speed, measured as a user would meet it, and printed as ratios within one run: machines are shared and noisy.

Each figure stands beside its budget. Nothing here passes or fails: a person reads it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from peers import AGENT, installed, loop_of

from ralphloop.agents.claude import WORDINGS
from ralphloop.agents.claude_stream import ClaudeParser
from ralphloop.core.claims import detect_claim
from ralphloop.process.kinship import children_of

ROOT = Path(__file__).parent.parent
RALPH = Path(sys.executable).parent / "ralph"
sys.path.insert(0, str(ROOT / "tests" / "core"))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as directory:
        home = Path(directory)
        bare = measure_bare()
        show("python3 -c pass", f"{bare * 1000:.1f} ms")
        version(home, bare)
        overhead(home)
        status(home, bare)
        memory(home)
        flood(home)
        decode()
        claims()


def show(what: str, figure: str, budget: str = "") -> None:
    print(f"{what:<58} {figure:<34} {budget}", flush=True)


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "RALPH_STATE_HOME": str(home / "state"),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }


def fastest(call: Callable[[], object], rounds: int = 15) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def quiet(*command: str | Path, home: Path, cwd: Path | None = None) -> None:
    subprocess.run(command, env=environment(home), cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def measure_bare() -> float:
    return fastest(lambda: quiet(sys.executable, "-c", "pass", home=Path()))


# --- start-up ---------------------------------------------------------------------------------------------------------


def version(home: Path, bare: float) -> None:
    took = fastest(lambda: quiet(RALPH, "--version", home=home))
    show("ralph --version", f"{took * 1000:.1f} ms = {took / bare:.2f} x bare", "budget 1.5 x")


# --- one iteration ----------------------------------------------------------------------------------------------------

SETTINGS = {"limits": {"stall": 0, "calls": 0, "backoff_s": 0}, "agent": {"command": f"{AGENT} working"}}


def project(home: Path, name: str, *, git: bool) -> Path:
    workspace = home / name
    (workspace / ".ralph").mkdir(parents=True)
    (workspace / ".ralph" / "settings.json").write_text(json.dumps(SETTINGS))
    (workspace / "PRD.md").write_text("".join(f"- [ ] Task {number}\n" for number in range(20)))
    for number in range(50):
        (workspace / f"module_{number}.py").write_text("x = 1\n")
    if git:
        for arguments in (("init", "-q"), ("add", "-A"), ("-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "x")):
            quiet("git", *arguments, home=home, cwd=workspace)
    return workspace


def overhead(home: Path) -> None:
    """What one more iteration takes: beside it other programs with the same agent, and nothing but the agent."""
    loops: dict[str, Callable[[int], None]] = {}
    for name, git in (("git", True), ("plain directory", False)):
        workspace = project(home, name.split()[0], git=git)
        loops[name] = lambda times, workspace=workspace: quiet(RALPH, "run", workspace, "--new", "-m", str(times), home=home)  # type: ignore[misc]
    peers = home / "peers"
    peers.mkdir()
    for peer, command in installed(peers):
        loops[f"peer {peer.package} {peer.version}"] = loop_of(peer, command, peers)
    took = iterations_of(loops)
    spawn = fastest(lambda: [subprocess.run([AGENT, "working"], stdout=subprocess.DEVNULL, check=True) for _ in range(100)], 3) / 100
    best = min((took[name] for name in took if name.startswith("peer")), default=None)
    for name, figure in took.items():
        ratio = "no peer to be had here" if best is None else f"{figure / best:.2f} x fastest peer"
        show(
            f"start-to-start overhead, instant agent, {name}",
            f"{figure * 1000:.1f} ms = {ratio}",
            "" if "peer" in name else "budget 13-16 ms (fastest peer, when it was set)",
        )
    show("  a bare subprocess.run of the same agent", f"{spawn * 1000:.1f} ms")


def iterations_of(loops: dict[str, Callable[[int], None]]) -> dict[str, float]:
    """Seconds of one iteration of each: a long loop less a short one, so that start-up does not count; one after the other, three times."""
    few, many = 10, 210
    times: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(3):
        for name, turn in loops.items():
            times[name].append((fastest(lambda: turn(many), 1) - fastest(lambda: turn(few), 1)) / (many - few))  # noqa: B023 - called at once
    return {name: statistics.median(seconds) for name, seconds in times.items()}


# --- a million entries ------------------------------------------------------------------------------------------------


def status(home: Path, bare: float) -> None:
    took = fastest(lambda: quiet(RALPH, "status", home=home))
    show("ralph status, few entries", f"{took * 1000:.1f} ms = {took / bare:.2f} x bare")
    ledger = sqlite3.connect(home / "state" / "ledger.db")
    ((loop,),) = ledger.execute("SELECT id FROM loop LIMIT 1").fetchall()
    ((last,),) = ledger.execute("SELECT max(seq) FROM entry WHERE loop_id = ?", (loop,)).fetchall()
    rows = ((loop, seq, "StepStarted", 1, 1.0, '{"at": 1.0, "step": "judge"}') for seq in range(last + 1, last + 1_000_001))
    ledger.executemany("INSERT INTO entry (loop_id, seq, type, v, at, json) VALUES (?, ?, ?, ?, ?, ?)", rows)
    ledger.commit()
    ledger.close()
    took = fastest(lambda: quiet(RALPH, "status", home=home))
    show("ralph status, 1 000 000 entries", f"{took * 1000:.1f} ms = {took / bare:.2f} x bare", "budget 5 x")


# --- memory -----------------------------------------------------------------------------------------------------------


def proportional_kib(pid: int) -> int:
    """The proportional set size; resident size where the kernel does not tell."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except OSError:
        return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(pid)]))


@contextmanager
def running(home: Path, name: str, agent: str, iterations: int = 1) -> Iterator[subprocess.Popen[bytes]]:
    """A loop whose agent has begun: it makes a file to say so."""
    workspace = project(home, name, git=False)
    (workspace / "agent.py").write_text(agent)
    command: list[str | Path] = [
        RALPH,
        "run",
        workspace,
        "--new",
        "-m",
        str(iterations),
        "--agent-command",
        f"{sys.executable} agent.py",
        "--no-stream-agent-output",
    ]
    process = subprocess.Popen(command, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (workspace / "begun").exists() and process.poll() is None:
        time.sleep(0.01)
    yield process
    process.wait()


SECOND_RUN = """\
import pathlib, time
first = pathlib.Path("first")
if first.exists():
    pathlib.Path("begun").touch()
    time.sleep(2)
first.touch()
print("I have done what the list asks for.\\n\\n<promise>COMPLETE</promise>")
"""


def memory(home: Path) -> None:
    """In the second iteration: what the first one made the loop load is there."""
    with running(home, "memory", SECOND_RUN, iterations=2) as process:
        guardian, loop = proportional_kib(process.pid) / 1024, proportional_kib(guarded_by(process.pid)) / 1024
        figure = f"{guardian + loop:.1f} MB, {guardian:.1f} of it guardian"
        show("memory of a running loop (proportional)", figure, "budget 30 MB")


def guarded_by(guardian: int) -> int:
    """The loop below a guardian."""
    (loop,) = children_of(guardian)
    return loop


FLOOD_BYTES = 391 * 2600 * 1024
FLOOD = """\
import pathlib, os
pathlib.Path("begun").touch()
line = b"x" * 390 + b"\\n"
block = memoryview(line * 2600)
for _ in range(1024):
    rest = block
    while rest:
        rest = rest[os.write(1, rest):]
"""


def flood(home: Path) -> None:
    started, peak, first = time.perf_counter(), 0, 0
    with running(home, "flood", FLOOD) as process:
        while process.poll() is None:
            try:
                now = proportional_kib(guarded_by(process.pid))
            except (OSError, StopIteration, ValueError, subprocess.SubprocessError):
                break
            first, peak = first or now, max(peak, now)
            time.sleep(0.05)
    took = time.perf_counter() - started
    log = next((home / "state" / "loops").glob("flood-*/1/1/events.ndjson"))
    kept = log.stat().st_size
    lost = FLOOD_BYTES - kept
    figure = f"+{(peak - first) / 1024:.1f} MB, {kept / 2**20 / took:.0f} MB/s, {lost} bytes lost"
    show(f"{FLOOD_BYTES / 2**30:.2f} GiB of agent output", figure, "budget < 50 MB")


# --- parsing and claims -----------------------------------------------------------------------------------------------


def decode() -> None:
    lines = [line for path in sorted((ROOT / "tests" / "fixtures" / "claude").glob("*.ndjson")) for line in path.read_bytes().splitlines()]
    body = json.dumps("x = 1  # a line of code\n" * 120)
    lines += [f'{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":{body}}}]}}}}'.encode()] * len(lines)
    size = sum(map(len, lines))

    def parse() -> None:
        parser = ClaudeParser(WORDINGS)
        for line in lines:
            for _ in parser.feed(line):
                pass

    took = fastest(parse, 5)
    plain = fastest(lambda: [json.loads(line) for line in lines], 5)
    show("decoding Claude's stream", f"{size / took / 1e6:.0f} MB/s = {plain / took:.2f} x json.loads")


def claims() -> None:
    from claim_corpus import load_all  # noqa: PLC0415 - it lies with the tests

    for kind, wrong in (("not_claims", "taken for a claim"), ("claims", "missed")):
        messages = load_all(kind)
        errors = sum(detect_claim(message.words, message.text).claimed != (kind == "claims") for message in messages)
        show(f"claim rule, {len(messages)} messages of {kind}", f"{errors} {wrong} = {errors / len(messages):.1%}")


if __name__ == "__main__":
    main()

"""The program: `ralph`, and `rloop` for the same. Answers `--version` before anything is imported."""

import os
import sys

STARTING = ("run", "start", "demo")
"""The commands that an agent may start a loop with."""


def main() -> int:
    """Run the command line and give the exit code."""
    if sys.argv[1:] in (["--version"], ["-v"], ["version"]):
        from ralphloop import __version__

        try:
            print("ralph", __version__, flush=True)  # noqa: T201
        except BrokenPipeError:  # nobody reads it; what lies in the buffer would make Python's own exit complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    if sys.argv[1:2] and sys.argv[1] in STARTING:
        from ralphloop.cli.enlisting import enlist_early, strike_self

        enlist_early()
        try:
            return _run()
        finally:
            strike_self()
    return _run()


def _run() -> int:
    from ralphloop.cli.app import run_cli

    return run_cli(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

"""The program: `ralph`, and `rloop` for the same. Answers `--version` before anything is imported."""

import sys


def main() -> int:
    """Run the command line and give the exit code."""
    if sys.argv[1:] in (["--version"], ["-v"], ["version"]):
        from ralphloop import __version__

        print("ralph", __version__)  # noqa: T201
        return 0
    from ralphloop.cli.app import run_cli

    return run_cli(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

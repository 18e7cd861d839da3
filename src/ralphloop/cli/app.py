"""The table of commands. A command's module is imported when it is run, not before: `status` must stay quick."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from ralphloop import __version__
from ralphloop.errors import RalphError

BUG_EXIT_CODE = 70

COMMANDS = {
    "run": ("ralphloop.cli.run:command", "Run an agent on a piece of work until it is done."),
    "start": ("ralphloop.cli.start:command", "Start a loop that goes on without this terminal."),
    "stop": ("ralphloop.cli.stop:command", "End running loops."),
    "tell": ("ralphloop.cli.tell:command", "Tell a loop something: its next prompt carries it."),
    "resume": ("ralphloop.cli.resume:command", "Go on with a loop that crashed or ended."),
    "status": ("ralphloop.cli.status:command", "Show every loop."),
    "show": ("ralphloop.cli.show:command", "Show a loop's iterations: verdicts, cost, reasons, artifacts."),
    "explain": ("ralphloop.cli.explain:command", "Explain why an iteration was (not) taken for done."),
    "cost": ("ralphloop.cli.cost:command", "Show what loops cost: by loop, task, day, agent or model."),
    "agents": ("ralphloop.cli.agents:command", "Show the agents there are, and what is installed of them."),
    "bus": ("ralphloop.cli.bus:command", "Post to and read the message bus of a task folder."),
    "demo": ("ralphloop.cli.demo:command", "Watch a loop catch a lying agent; no key and no network needed."),
    "version": ("ralphloop.cli.version:command", "Print the version."),
}


class LazyGroup(click.Group):
    """A group whose help needs no command to be imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name; a usage error with the nearest one where there is none."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from ralphloop.config.wording import suggestion  # noqa: PLC0415 - only on this path

            ctx.fail(f"there is no command {args[0]!r}; {suggestion(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The table, as it stands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-v", "--version", message="ralph %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Run a coding agent again and again, each time with a fresh context, until the work is verifiably done.

    Without a command: show what `ralph run` would do here, the loops, and the commands.
    """
    if ctx.invoked_subcommand is None:
        from ralphloop.cli.overview import show_overview  # noqa: PLC0415

        show_overview(ctx)


def run_cli(arguments: list[str]) -> int:
    """Run a command line; every failure has a line of words and an exit code."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_closed_streams()
    try:
        code: Any = cli.main(arguments, prog_name="ralph", standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"ralph: {error.format_message()}{_more_help(error)}", err=True)
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except RalphError as error:
        click.echo(f"ralph: {error}", err=True)
        return error.exit_code
    except SystemExit:  # so click ends when its output breaks (a broken pipe never comes through), and after shell completion
        return _broken_pipe()
    except OSError as error:
        click.echo(f"ralph: {error}; put that right, then go on with `ralph run` or `ralph resume`", err=True)
        return RalphError.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort: a bug of ours becomes a report, never a bare traceback
        return _bug(error, arguments)
    return code if isinstance(code, int) else 0


def _open_closed_streams() -> None:
    """Fill the standard descriptors that whoever started us has closed: the next file to be opened, such as the ledger, would take their numbers."""
    import os  # noqa: PLC0415 - as below

    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115 - descriptors, open to the end
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def _more_help(error: click.ClickException) -> str:
    """Where a person who mistyped something finds what there is; the usage itself would be four lines."""
    context = getattr(error, "ctx", None)
    return f" (see `{context.command_path} --help`)" if isinstance(context, click.Context) else ""


def _bug(error: Exception, arguments: list[str]) -> int:
    from ralphloop.cli.bug import report  # noqa: PLC0415

    report(error, arguments)
    return BUG_EXIT_CODE


def _broken_pipe() -> int:
    """Somebody closed our output (`ralph status | head`): point it elsewhere, so that nothing complains at exit."""
    import os  # noqa: PLC0415

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0

"""Ralph runs a coding agent again and again until the work is verifiably done."""

__version__ = "0.1.0"

TYPE_CHECKING = False  # as `typing` has it, without importing it: `ralph --version` goes through here

if TYPE_CHECKING:
    from ralphloop.loop.function import RunContext as RunContext
    from ralphloop.loop.library import run_loop as run_loop


def __getattr__(name: str) -> object:
    """The library, imported when it is asked for: the command line answers quickly without it."""
    if name == "run_loop":
        from ralphloop.loop.library import run_loop

        return run_loop
    if name == "RunContext":
        from ralphloop.loop.function import RunContext

        return RunContext
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

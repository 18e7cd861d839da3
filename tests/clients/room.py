"""The installed `ralph` with one real client, whose model is scripted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from client import Client
from model_server import ModelServer, Script
from program import ALONE, Ended, Program, Running

LEAVE = {"nohup": "nohup", "setsid": ALONE}
"""What an agent says before a command that is to outlive it."""


class Room:
    """A program, a client on its PATH, and a model for it; each with a home of its own."""

    def __init__(self, program: Program, client: Client, bin_directory: Path) -> None:
        self.program = program
        self.client = client
        program.environ["PATH"] = f"{bin_directory}:{program.environ['PATH']}"
        self.settings()

    def settings(self, **settings: Any) -> None:
        """Write the project's settings. Claude Code refuses to skip permissions as root outside of a sandbox."""
        agent = {"env": {"IS_SANDBOX": "1"}} | settings.pop("agent", {})
        self.program.settings(agent=agent, **settings)

    def model(self, script: Script) -> ModelServer:
        """A model that plays this script for the client."""
        model = ModelServer(script)
        self.program.environ |= self.client.environ(self.program.home, model.url)
        return model

    def subscribe(self) -> None:
        """Log Claude Code in with a subscription instead of a key: only then does it know usage limits."""
        del self.program.environ["ANTHROPIC_API_KEY"]
        self.program.environ["CLAUDE_CODE_OAUTH_TOKEN"] = "dummy"

    def run(self, *arguments: str | Path) -> Ended:
        """`ralph run` with this client, to its end."""
        return self.program.run("run", "--agent", self.client.name, *arguments)

    def start(self, *arguments: str | Path, executable: str | None = None) -> Running:
        """`ralph run` with this client, in the background."""
        return self.program.start("run", "--agent", self.client.name, *arguments, executable=executable)

    def endings(self) -> list[str]:
        """How each attempt ended."""
        return [attempt["ending"] for attempt in self.program.attempts()]

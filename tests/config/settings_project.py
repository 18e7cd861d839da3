"""A project directory with settings, for the tests of config/."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ralphloop.config.layers import load_layers, merge
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import Resolved, resolve
from ralphloop.config.setting import Setting
from ralphloop.errors import ConfigError

AGENTS = ("claude", "command", "demo")
BASE = ".ralph/settings.json"
LOCAL = ".ralph/settings.local.json"


@dataclass(frozen=True)
class Project:
    root: Path

    def write(self, rel: str, text: str = "") -> Path:
        path = self.root / rel
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def settings(self, document: Any, rel: str = BASE) -> None:
        self.write(rel, document if isinstance(document, str) else json.dumps(document, indent=2))

    def load(self, environ: dict[str, str] | None = None, flags: dict[str, object] | None = None) -> dict[str, Setting]:
        return merge(load_layers(self.root, environ or {}, flags or {}))

    def values(self, environ: dict[str, str] | None = None) -> dict[str, Any]:
        return {key: setting.value for key, setting in self.load(environ).items()}

    def resolve(self, environ: dict[str, str] | None = None, **asked: Any) -> Resolved:
        request = RunRequest(workspace=self.root, **asked)
        return resolve(request, load_layers(self.root, environ or {}, request.flags()), AGENTS)

    def complaint(self, environ: dict[str, str] | None = None, **asked: Any) -> str:
        with pytest.raises(ConfigError) as caught:
            self.resolve(environ, **asked)
        return str(caught.value)

from __future__ import annotations

from pathlib import Path

import pytest
from settings_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)


@pytest.fixture
def checklist(project: Project) -> Project:
    """A project with a task list."""
    project.write("PRD.md", "- [ ] a task\n")
    return project

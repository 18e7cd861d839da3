from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from settings_project import BASE, Project

from ralphloop.core.model import Kind, WorkSpec

PRD = WorkSpec(kind=Kind.CHECKLIST, task_file="PRD.md")


def test_a_task_list_in_the_workspace_is_checklist_work(checklist: Project) -> None:
    resolved = checklist.resolve()
    assert (resolved.work, resolved.explain) == (PRD, "checklist: PRD.md is here")


@pytest.mark.parametrize(
    ("asked", "work", "explain"),
    [
        ({"prompt_text": "go on"}, WorkSpec(kind=Kind.PROMPT, prompt_text="go on"), "prompt: -p was given"),
        ({"prompt_file": "./docs/../p.md"}, WorkSpec(kind=Kind.PROMPT, prompt_file="p.md"), "prompt: --prompt-file was given"),
        ({"prompt_file": "/elsewhere/p.md"}, WorkSpec(kind=Kind.PROMPT, prompt_file="/elsewhere/p.md"), "prompt: --prompt-file was given"),
        ({"task_file": "TODO.md"}, WorkSpec(kind=Kind.CHECKLIST, task_file="TODO.md"), "checklist: --task-file was given"),
        ({"kind": "checklist"}, PRD, "checklist: --kind checklist was given"),
        ({"kind": "checklist", "task_file": "T.md"}, WorkSpec(kind=Kind.CHECKLIST, task_file="T.md"), "checklist: --task-file was given"),
        ({"kind": "Prompt", "prompt_text": "go"}, WorkSpec(kind=Kind.PROMPT, prompt_text="go"), "prompt: -p was given"),
    ],
)
def test_explicit_flags_win(checklist: Project, asked: dict[str, Any], work: WorkSpec, explain: str) -> None:
    checklist.settings({"work": {"kind": "prompt", "prompt_file": "settings.md"}})
    resolved = checklist.resolve(**asked)
    assert (resolved.work, resolved.explain) == (work, explain)


@pytest.mark.parametrize(
    ("settings", "work", "explain"),
    [
        ({"prompt_file": "p.md"}, WorkSpec(kind=Kind.PROMPT, prompt_file="p.md"), f"prompt: work.prompt_file ({BASE}:3) names p.md"),
        ({"task_file": "T.md"}, WorkSpec(kind=Kind.CHECKLIST, task_file="T.md"), f"checklist: work.task_file ({BASE}:3) names T.md"),
        ({"kind": "checklist", "prompt_file": "p.md"}, PRD, f"checklist: work.kind ({BASE}:3) says so"),
        ({"kind": "prompt", "prompt_file": "p.md"}, WorkSpec(kind=Kind.PROMPT, prompt_file="p.md"), f"prompt: work.kind ({BASE}:3) says so"),
    ],
)
def test_without_flags_the_settings_decide(checklist: Project, settings: dict[str, str], work: WorkSpec, explain: str) -> None:
    checklist.settings({"work": settings})
    resolved = checklist.resolve()
    assert (resolved.work, resolved.explain) == (work, explain)


def test_kind_prompt_takes_the_prompt_file_of_the_settings(checklist: Project) -> None:
    checklist.settings({"work": {"prompt_file": "p.md", "task_file": "T.md"}})
    assert checklist.resolve(kind="prompt").work == WorkSpec(kind=Kind.PROMPT, prompt_file="p.md")
    assert checklist.resolve(kind="checklist").work == WorkSpec(kind=Kind.CHECKLIST, task_file="T.md")


def test_the_template_is_for_checklist_work_alone(checklist: Project) -> None:
    checklist.write("docs/template.md", "do it")
    checklist.settings({"work": {"template": "docs/template.md"}})
    assert checklist.resolve().work.template == "docs/template.md"
    assert checklist.resolve(prompt_text="go").work.template is None


def test_an_absolute_path_into_the_workspace_becomes_relative_also_through_a_link(checklist: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(checklist.root)
    assert checklist.resolve(task_file=str(checklist.root / "PRD.md")).work == PRD
    assert checklist.resolve(task_file=str(tmp_path / "link" / "PRD.md")).work == PRD


def test_a_task_list_behind_a_directory_that_leads_outside_is_refused(checklist: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (checklist.root / "docs").symlink_to(tmp_path / "outside")
    assert checklist.complaint(task_file="docs/PRD.md").startswith('--task-file: "docs/PRD.md" does not lie in ')


def test_a_loop_of_links_is_no_crash(checklist: Project) -> None:
    (checklist.root / "round").symlink_to("round")
    assert checklist.resolve(task_file="round/PRD.md").work.task_file == "round/PRD.md"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prompt_text": "go", "prompt_file": "p.md"}, "-p and --prompt-file name two pieces of work; give one of them"),
        ({"prompt_text": "go", "task_file": "T.md"}, "-p and --task-file name two pieces of work; give one of them"),
        ({"prompt_file": "p.md", "task_file": "T.md"}, "--prompt-file and --task-file name two pieces of work; give one of them"),
        ({"kind": "checklist", "prompt_text": "go"}, "--kind checklist and -p contradict each other: -p is prompt work; give one of them"),
        ({"kind": "prompt", "task_file": "T.md"}, "--kind prompt and --task-file contradict each other: --task-file is checklist work; "),
        ({"kind": "prompt"}, "--kind prompt was given, and there is no prompt: give -p TEXT or --prompt-file FILE, or set work.prompt_file"),
        ({"kind": "stories"}, "command line: work.kind is stories, which is not available in this version; write prompt or checklist"),
        ({"kind": "specs"}, "command line: work.kind is specs, which is not available in this version; write prompt or checklist"),
        ({"kind": "folder"}, "command line: work.kind is folder, which is not available in this version; write prompt or checklist"),
        ({"kind": "promt"}, 'command line: work.kind is "promt"; did you mean "prompt"?'),
        ({"prompt_text": " \n"}, "-p: the prompt is empty; write what the agent should do"),
        ({"prompt_text": "\udcff"}, "-p: the prompt is not UTF-8 text; "),
        ({"task_file": "../T.md"}, '--task-file: "../T.md" does not lie in '),
        ({"task_file": ""}, '--task-file: "" does not lie in '),
    ],
)
def test_a_contradiction_is_told(checklist: Project, asked: dict[str, Any], message: str) -> None:
    assert checklist.complaint(**asked).startswith(message)


def test_two_kinds_in_the_settings_are_told_with_both_places(checklist: Project) -> None:
    checklist.settings('{"work": {\n"prompt_file": "p.md"}}')
    complaint = checklist.complaint({"RLOOP_TASK_FILE": "T.md"})
    assert complaint.startswith(f"work.prompt_file ({BASE}:2) and work.task_file (RLOOP_TASK_FILE) name two pieces of work; set work.kind")


def test_where_there_is_no_work_every_way_to_give_some_is_told(project: Project) -> None:
    complaint = project.complaint()
    assert complaint.startswith(f"no work found in {project.root}: ")
    for way in ("-p TEXT", "--prompt-file FILE", "--task-file FILE", "PRD.md", "work.prompt_file", "work.task_file"):
        assert way in complaint


def test_stories_are_mentioned_where_they_are_the_only_work(project: Project) -> None:
    project.write("ralph/tasks.json", "{}")
    assert "stories are not available in this version" in project.complaint()

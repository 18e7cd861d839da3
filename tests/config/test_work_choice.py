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


@pytest.mark.parametrize(
    ("settings", "asked", "task_dir", "explain"),
    [
        ({}, {"task_dir": "task"}, "task", "--task-dir was given"),
        ({}, {"task_dir": "docs/../task/"}, "task", "--task-dir was given"),
        ({}, {"task_dir": "."}, ".", "--task-dir was given"),
        ({}, {"kind": "folder"}, ".", "--kind folder was given"),
        ({}, {"kind": "folder", "task_dir": "task"}, "task", "--task-dir was given"),
        ({"task_dir": "task"}, {}, "task", f"work.task_dir ({BASE}:3) names task"),
        ({"task_dir": "task"}, {"task_dir": "other"}, "other", "--task-dir was given"),
        ({"task_dir": "task"}, {"kind": "folder"}, "task", "--kind folder was given"),
        ({"kind": "folder"}, {}, ".", f"work.kind ({BASE}:3) says so"),
        ({"kind": "folder", "task_dir": "task", "task_file": "T.md"}, {}, "task", f"work.kind ({BASE}:3) says so"),
    ],
)
def test_a_task_folder_is_that_of_the_command_line_then_that_of_the_settings_then_the_workspace(
    checklist: Project, settings: dict[str, str], asked: dict[str, Any], task_dir: str, explain: str
) -> None:
    for directory in ("docs", "task", "other"):
        (checklist.root / directory).mkdir()
    checklist.settings({"work": settings})
    resolved = checklist.resolve(**asked)
    assert (resolved.work, resolved.explain) == (WorkSpec(kind=Kind.FOLDER, task_dir=task_dir), f"folder: {explain}")


def test_a_task_folder_may_lie_outside_of_the_workspace_and_is_then_named_by_its_whole_real_path(checklist: Project, tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    (checklist.root / "link").symlink_to(tmp_path / "task")
    for given in (str(tmp_path / "task"), "../task", "link"):
        assert checklist.resolve(task_dir=given).work.task_dir == str(tmp_path / "task")
    assert checklist.resolve(task_dir=str(checklist.root)).work.task_dir == "."


def test_a_task_folder_does_not_make_a_task_list_of_the_workspace_its_work(checklist: Project) -> None:
    (checklist.root / "task").mkdir()
    assert checklist.resolve(task_dir="task").work.task_file is None
    assert checklist.resolve().work == PRD


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
        ({"prompt_text": "go", "task_dir": "."}, "-p and --task-dir name two pieces of work; give one of them"),
        ({"task_file": "T.md", "task_dir": "."}, "--task-file and --task-dir name two pieces of work; give one of them"),
        ({"kind": "checklist", "task_dir": "."}, "--kind checklist and --task-dir contradict each other: --task-dir is folder work; "),
        ({"kind": "folder", "prompt_text": "go"}, "--kind folder and -p contradict each other: -p is prompt work; "),
        ({"kind": "stories"}, "command line: work.kind is stories, which is not available in this version; write prompt, checklist or folder"),
        ({"kind": "specs"}, "command line: work.kind is specs, which is not available in this version; write prompt, checklist or folder"),
        ({"task_dir": "nowhere"}, '--task-dir: "nowhere" is no directory; name the directory that holds TASK.md'),
        ({"task_dir": "PRD.md"}, '--task-dir: "PRD.md" is no directory; name the directory that holds TASK.md'),
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


@pytest.mark.parametrize(
    ("settings", "first", "second"),
    [
        ('{"work": {\n"prompt_file": "p.md",\n"task_dir": "."}}', f"work.prompt_file ({BASE}:2)", f"work.task_dir ({BASE}:3)"),
        ('{"work": {\n"task_file": "T.md",\n"task_dir": "."}}', f"work.task_file ({BASE}:2)", f"work.task_dir ({BASE}:3)"),
    ],
)
def test_a_task_folder_beside_other_work_in_the_settings_is_told_with_both_places(checklist: Project, settings: str, first: str, second: str) -> None:
    checklist.settings(settings)
    assert checklist.complaint().startswith(f"{first} and {second} name two pieces of work; set work.kind to ")


def test_where_there_is_no_work_every_way_to_give_some_is_told(project: Project) -> None:
    complaint = project.complaint()
    assert complaint.startswith(f"no work found in {project.root}: ")
    for way in ("-p TEXT", "--prompt-file FILE", "--task-file FILE", "--task-dir DIR", "PRD.md", "work.prompt_file", "work.task_file"):
        assert way in complaint


def test_stories_are_mentioned_where_they_are_the_only_work(project: Project) -> None:
    project.write("ralph/tasks.json", "{}")
    assert "stories are not available in this version" in project.complaint()

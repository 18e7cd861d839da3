from __future__ import annotations

import json
from functools import reduce
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from settings_project import BASE, LOCAL, Project

from ralphloop.config.document import read_document
from ralphloop.config.json_text import read_json
from ralphloop.config.layers import Layer, explicit_layers, merge
from ralphloop.config.setting import Setting
from ralphloop.core.model import Gate

SEED_BASE = {"agent": {"command": "claude", "flags": ["--model opus"]}}
SEED_LOCAL = {"agent": {"flags": ["--verbose"]}}


def test_the_seeds_deep_merge_example(project: Project) -> None:
    project.settings(SEED_BASE)
    project.settings(SEED_LOCAL, LOCAL)
    values = project.values()
    assert values["agent.command"] == "claude"
    assert values["agent.flags"] == ("--verbose",)


def test_scalars_override_objects_merge_and_arrays_replace(project: Project) -> None:
    project.settings(
        {
            "limits": {"iterations": 5, "stall": 7},
            "agent": {"env": {"A": "1", "B": "2"}},
            "protect": ["a", "b"],
            "gates": [{"command": "x"}, {"command": "y"}],
        }
    )
    project.settings({"limits": {"iterations": 6}, "agent": {"env": {"B": "3", "C": "4"}}, "protect": ["c"], "gates": [{"command": "z"}]}, LOCAL)
    values = project.values()
    assert (values["limits.iterations"], values["limits.stall"]) == (6, 7)
    assert {key: value for key, value in values.items() if key.startswith("agent.env.")} == {
        "agent.env.A": "1",
        "agent.env.B": "3",
        "agent.env.C": "4",
    }
    assert values["protect"] == ("c",)
    assert values["gates"] == (Gate(command="z"),)


def test_an_empty_array_replaces_as_well(project: Project) -> None:
    project.settings({"gates": [{"command": "make test"}]})
    project.settings({"gates": []}, LOCAL)
    assert project.values()["gates"] == ()


def test_each_layer_overrides_the_one_below_and_is_named_as_the_origin(project: Project) -> None:
    def stall(environ: dict[str, str] | None = None, flags: dict[str, object] | None = None) -> tuple[Any, str]:
        setting = project.load(environ, flags)["limits.stall"]
        return setting.value, str(setting.origin)

    assert stall() == (5, "default")
    project.settings('{\n\n"limits": {\n"stall": 6}}')
    assert stall() == (6, f"{BASE}:4")
    project.settings('{"limits": {\n"stall": 7}}', LOCAL)
    assert stall() == (7, f"{LOCAL}:2")
    environ = {"RALPH_LIMITS__STALL": "8"}
    assert stall(environ) == (8, "RALPH_LIMITS__STALL")
    assert stall(environ, {"limits.stall": 9}) == (9, "command line")


def test_the_origin_of_a_variable_for_the_agent_is_its_own_line(project: Project) -> None:
    project.settings('{"agent": {"env": {\n"A": "1",\n"B": "2"}}}')
    project.settings('{"claude": {\n"env": {\n"C": "3"}}}', LOCAL)
    settings = project.load()
    assert [str(settings[key].origin) for key in ("agent.env.A", "agent.env.B", "agents.claude.env.C")] == [f"{BASE}:2", f"{BASE}:3", f"{LOCAL}:3"]


def test_the_two_spellings_of_one_key_override_each_other_across_files(project: Project) -> None:
    project.settings({"limits": {"iterations": 3}})
    project.settings({"maximumIterations": 4}, LOCAL)
    assert project.values()["limits.iterations"] == 4


def test_without_files_there_are_the_defaults_alone(project: Project) -> None:
    assert {str(setting.origin) for setting in project.load().values()} == {"default"}


def test_a_caller_that_says_everything_itself_gets_the_defaults_and_neither_files_nor_variables() -> None:
    settings = merge(explicit_layers({"limits.stall": 9}))
    assert (settings["limits.stall"].value, str(settings["limits.stall"].origin)) == (9, "command line")
    assert {str(setting.origin) for key, setting in settings.items() if key != "limits.stall"} == {"default"}


# --- The merge, compared with a merge of the documents themselves -----------------------------------------------------

words = st.text("abc", min_size=1, max_size=3)
tables = st.dictionaries(words, words, max_size=3)
settings_documents = st.fixed_dictionaries(
    {},
    optional={
        "agent": st.fixed_dictionaries({}, optional={"command": words, "flags": st.lists(words, max_size=3), "env": tables}),
        "agents": st.dictionaries(words, st.fixed_dictionaries({}, optional={"env": tables, "flags": st.lists(words, max_size=2)}), max_size=2),
        "limits": st.fixed_dictionaries({}, optional={"iterations": st.integers(0, 9), "minutes": st.integers(0, 9)}),
        "gates": st.lists(st.fixed_dictionaries({"command": words}), max_size=3),
        "protect": st.lists(words, max_size=3),
    },
)


def layer(document: dict[str, Any]) -> Layer:
    return Layer(source="a file", settings=read_document(read_json(json.dumps(document).encode(), "a file"), "a file"))


def deep_merge(low: Any, high: Any) -> Any:
    if not (isinstance(low, dict) and isinstance(high, dict)):
        return high
    return {key: deep_merge(low.get(key), high[key]) if key in high else low[key] for key in {**low, **high}}


def values(settings: dict[str, Setting]) -> dict[str, Any]:
    return {key: setting.value for key, setting in settings.items()}


@given(st.lists(settings_documents, min_size=1, max_size=4))
def test_to_merge_layers_is_to_deep_merge_their_documents(documents: list[dict[str, Any]]) -> None:
    merged = values(merge(map(layer, documents)))
    assert merged == values(merge([layer(reduce(deep_merge, documents))]))


@given(settings_documents, settings_documents, settings_documents)
def test_the_merge_is_associative(low: dict[str, Any], middle: dict[str, Any], high: dict[str, Any]) -> None:
    first, second, third = layer(low), layer(middle), layer(high)
    left = merge([Layer(source="", settings=merge([first, second])), third])
    right = merge([first, Layer(source="", settings=merge([second, third]))])
    assert left == right == merge([first, second, third])


@given(settings_documents, settings_documents)
def test_an_array_is_always_that_of_the_highest_layer_which_has_it(low: dict[str, Any], high: dict[str, Any]) -> None:
    merged = merge([layer(low), layer(high)])
    for key in ("gates", "protect", "agent.flags"):
        above = layer(high).settings
        assert merged.get(key) == above.get(key, layer(low).settings.get(key))

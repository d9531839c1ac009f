"""Configurations of Volcano's scheduler: what they say, and where they are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from descheduler.documents.problems import PolicyError
from descheduler.documents.source import read_document
from descheduler.placement.configuration.volcano import (
    DEFAULT_CONFIGURATION,
    PluginOption,
    VolcanoConfiguration,
    is_volcano_configuration,
    load_volcano_configuration,
)
from descheduler.placement.configuration.volcano_arguments import Arguments, ArgumentValue, VolcanoVersion
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS

GOOD = """\
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
- plugins:
  - name: drf
    enableHierarchy: true
  - name: binpack
    arguments:
      binpack.weight: 10
      binpack.resources: nvidia.com/gpu
      binpack.resources.nvidia.com/gpu: 2
configurations:
- name: preempt
  arguments:
    predicateErrorCacheEnable: false
"""


def load(text: str, version: VolcanoVersion = VolcanoVersion()) -> VolcanoConfiguration:  # noqa: B008 - a value
    return load_volcano_configuration(text, modelled=VOLCANO_PLUGINS, name="volcano-scheduler.conf", version=version)


def problems_of(text: str) -> list[str]:
    with pytest.raises(PolicyError) as raised:
        load(text)
    return [str(problem) for problem in raised.value.problems]


def test_actions_tiers_switches_and_arguments_are_read() -> None:
    found = load(GOOD)

    binpack: dict[str, ArgumentValue | Arguments] = {
        "binpack.weight": 10,
        "binpack.resources": "nvidia.com/gpu",
        "binpack.resources.nvidia.com/gpu": 2,
    }
    assert found == VolcanoConfiguration(
        actions=("enqueue", "allocate", "preempt"),
        tiers=(
            (PluginOption("priority"), PluginOption("gang", off=frozenset({"enablePreemptable"}))),
            (PluginOption("drf", is_hierarchical=True), PluginOption("binpack", arguments=Arguments(binpack))),
        ),
        action_arguments={"preempt": Arguments({"predicateErrorCacheEnable": False})},
    )


def test_the_configuration_is_found_in_its_config_map_and_places_are_those_of_the_file(tmp_path: Path) -> None:
    lines = "".join(f"    {line}\n" for line in GOOD.replace("gang", "gnag").splitlines())
    file = tmp_path / "map.yaml"
    file.write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: volcano-scheduler-configmap\ndata:\n"
        f"  volcano-scheduler.conf: |\n{lines}"
    )

    found = load_volcano_configuration(file, modelled=VOLCANO_PLUGINS)

    assert found.actions == ("enqueue", "allocate", "preempt")
    hint = "plugin 'gnag' is not a plugin of Volcano; ignored; did you mean 'gang'?"
    assert [str(warning) for warning in found.warnings] == [f"{file}:11:15: tiers[0].plugins[1].name: {hint}"]


def test_an_action_that_does_not_exist_is_refused_with_its_place() -> None:
    listed = "enqueue, allocate, backfill, preempt, reclaim, shuffle"
    assert problems_of("actions: enqueue, alocate\n") == [
        f"volcano-scheduler.conf:1:10: actions: 'alocate' is not an action of Volcano: {listed}; "
        "did you mean 'allocate'?"
    ]


def test_proportion_beside_hierarchical_drf_is_refused() -> None:
    text = "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n  - name: proportion\n"
    assert problems_of(text) == [
        "volcano-scheduler.conf:6:11: tiers[0].plugins[1].name: proportion and drf with enableHierarchy: true are not "
        "allowed in the same tier"
    ]


def test_proportion_in_another_tier_than_hierarchical_drf_is_taken() -> None:
    text = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n"
        "- plugins:\n  - name: proportion\n"
    )
    assert load(text).warnings == ()


@pytest.mark.parametrize("value", ['"7"', "7.5", "true"], ids=["text", "fraction", "boolean"])
def test_an_argument_of_the_wrong_type_counts_as_not_given(value: str) -> None:
    found = load(f"actions: allocate\ntiers:\n- plugins:\n  - name: binpack\n    arguments: {{binpack.cpu: {value}}}\n")

    assert next(iter(found.plugins)).arguments == Arguments()
    assert ["the default holds" in str(warning) for warning in found.warnings] == [True]


def test_a_quoted_boolean_is_read_since_volcano_1_11() -> None:
    text = (
        'actions: allocate\ntiers:\n- plugins:\n  - name: predicates\n    arguments: {predicate.CacheEnable: "true"}\n'
    )

    found = [load(text, VolcanoVersion(1, minor)) for minor in (10, 12)]

    assert [next(iter(each.plugins)).arguments.switch("predicate.CacheEnable", default=False) for each in found] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    "name",
    [
        "cdp",
        "extender",
        "network-topology-aware",
        "numaaware",
        "rescheduling",
        "resourcequota",
        "usage",
    ],
)
def test_a_plugin_that_is_not_modelled_is_named(name: str) -> None:
    found = load(f"actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: {name}\n")

    assert found.unmodelled == (name,)
    assert found.doubt == f"parts of Volcano that are not modelled: {name}"
    assert [each.message for each in found.warnings] == [f"plugin '{name}' is not modelled; what it decides is unknown"]


def test_task_topology_is_a_doubt_about_jobs_with_its_annotations() -> None:
    found = load("actions: allocate\ntiers:\n- plugins:\n  - name: task-topology\n")

    doubt = "parts of Volcano that are not modelled: task-topology"
    annotations = [
        {},
        {"volcano.sh/task-topology-affinity": "ps,worker"},
        {"volcano.sh/task-topology-task-order": "ps"},
    ]
    assert [found.doubt_about(each) for each in annotations] == ["", doubt, doubt]
    assert [each.message for each in found.warnings] == [
        "plugin 'task-topology' is not modelled; what it decides about jobs with an annotation of"
        " volcano.sh/task-topology-affinity, volcano.sh/task-topology-anti-affinity,"
        " volcano.sh/task-topology-task-order is unknown"
    ]


def test_arguments_in_objects_are_read_by_type() -> None:
    found = load(
        "actions: allocate\ntiers:\n- plugins:\n  - name: resource-strategy-fit\n    arguments:\n"
        "      resources: {nvidia.com/*: {type: MostAllocated, weight: two, wieght: 2}}\n"
        "      sra: [nvidia.com/gpu]\n"
        "      proportional: {enable: true, resourceProportion: {nvidia.com/gpu.cpu: 4}}\n"
    )

    (option,) = found.plugins
    rate = option.arguments.part("proportional").part("resourceProportion").number("nvidia.com/gpu.cpu", 1)
    assert option.arguments.part("resources").part("nvidia.com/*").values == {"type": "MostAllocated"}
    assert rate == 4
    assert [str(each) for each in found.warnings] == [
        "volcano-scheduler.conf:6:63: tiers[0].plugins[0].arguments.resources.nvidia.com/*.weight: expected an integer,"
        " found a string; the default holds",
        "volcano-scheduler.conf:6:76: tiers[0].plugins[0].arguments.resources.nvidia.com/*.wieght: is not read; did you"
        " mean 'weight'?",
        "volcano-scheduler.conf:7:12: tiers[0].plugins[0].arguments.sra: expected an object, found a list; the default"
        " holds",
    ]


def test_arguments_of_a_plugin_that_is_not_modelled_are_not_checked() -> None:
    found = load("actions: allocate\ntiers:\n- plugins:\n  - name: usage\n    arguments: {thresholds: {cpu: 80}}\n")

    assert [each.message for each in found.warnings] == ["plugin 'usage' is not modelled; what it decides is unknown"]


@pytest.mark.parametrize("name", sorted(VOLCANO_PLUGINS.keys() - {"nodegroup", "resource-strategy-fit", "tdm"}))
def test_a_plugin_that_was_measured_leaves_no_doubt(name: str) -> None:
    assert load(f"actions: allocate\ntiers:\n- plugins:\n  - name: {name}\n").doubt == ""


def test_a_plugin_that_was_not_measured_is_named_beside_those_that_are_not_modelled() -> None:
    found = load("actions: allocate\ntiers:\n- plugins:\n  - name: tdm\n  - name: usage\n")

    assert (found.unmodelled, found.unmeasured) == (("usage",), ("tdm",))
    assert found.doubt == (
        "parts of Volcano that are not modelled: usage; plugins of Volcano that were not measured: tdm"
    )


def test_an_action_that_is_not_modelled_is_named() -> None:
    found = load("actions: allocate, shuffle\n")

    assert found.doubt == "parts of Volcano that are not modelled: shuffle"
    assert [warning.message for warning in found.warnings] == [
        "action 'shuffle' is not modelled; what it does is unknown"
    ]


def test_another_release_than_the_measured_one_is_a_doubt() -> None:
    assert load("actions: allocate\n", VolcanoVersion(1, 12)).doubt == (
        "Volcano 1.12 differs from Volcano 1.10 (queue states and hierarchies, network topology, nominated nodes)"
    )
    assert load("actions: allocate\n").doubt == ""


def test_the_default_configuration_is_modelled_whole() -> None:
    found = load_volcano_configuration(DEFAULT_CONFIGURATION, modelled=VOLCANO_PLUGINS)

    assert (found.doubt, found.warnings) == ("", ())
    assert found.actions == ("enqueue", "allocate", "backfill")


def test_a_list_is_no_configuration() -> None:
    assert problems_of("- actions\n") == ["volcano-scheduler.conf:1:1: expected actions and tiers, found a list"]


def test_gang_actions_can_be_named_from_1_16_on() -> None:
    before, since = (set(VolcanoVersion(1, minor).actions) for minor in (15, 16))

    assert since - before == {"gangpreempt", "gangreclaim"}


@pytest.mark.parametrize("text", ["1.14", "v1.14", "1.14.2"])
def test_release_has_a_major_and_a_minor_number(text: str) -> None:
    assert VolcanoVersion.parse(text) == VolcanoVersion(1, 14)


@pytest.mark.parametrize("text", ["1", "latest", "1.14-rc", ""])
def test_what_is_no_release_is_told_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a release of Volcano, for example 1\.14$"):
        VolcanoVersion.parse(text)


@pytest.mark.parametrize("minor", [10, 14])
@pytest.mark.parametrize("value", [True, False])
def test_boolean_without_quotes_is_read_and_quoted_text_stays_text(minor: int, value: bool) -> None:
    plugins = [
        {"name": "predicates", "arguments": {"predicate.CacheEnable": value}},
        {"name": "binpack", "arguments": {"binpack.resources": "true"}},
    ]
    text = json.dumps({"actions": "allocate", "tiers": [{"plugins": plugins}]})

    found = load(text, VolcanoVersion(1, minor))

    assert [plugin.arguments for plugin in found.plugins] == [
        Arguments({"predicate.CacheEnable": value}),
        Arguments({"binpack.resources": "true"}),
    ]


@pytest.mark.parametrize(
    ("plugin", "key", "value", "read"),
    [
        pytest.param("overcommit", "overcommit-factor", 1.5, 1.5, id="a number"),
        pytest.param("overcommit", "overcommit-factor", 2, 2.0, id="an integer for a number"),
        pytest.param("overcommit", "overcommit-factor", "2", None, id="text for a number"),
        pytest.param("overcommit", "overcommit-factor", True, None, id="a boolean for a number"),
        pytest.param("binpack", "binpack.weight", 2.0, None, id="a number for an integer"),
        pytest.param("binpack", "binpack.resources", 2, None, id="an integer for text"),
        pytest.param("predicates", "predicate.CacheEnable", 1, None, id="an integer for a boolean"),
    ],
)
def test_argument_of_another_type_is_told_and_not_read(
    plugin: str, key: str, value: object, read: ArgumentValue | None
) -> None:
    tiers = [{"plugins": [{"name": plugin, "arguments": {key: value}}]}]

    found = load(json.dumps({"actions": "allocate", "tiers": tiers}))

    (option,) = found.plugins
    assert option.arguments == Arguments({} if read is None else {key: read})
    assert type(option.arguments.values.get(key)) is type(read)
    assert [each.message.endswith("the default holds") for each in found.warnings] == [True] * (read is None)


def test_plugin_that_is_none_of_volcano_leaves_no_doubt() -> None:
    found = load("actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n  - name: usage\n  - name: gang\n")

    assert found.unmodelled == ("usage",)


def test_quoted_booleans_are_read_since_the_release_after_the_measured_one() -> None:
    assert [VolcanoVersion(1, minor).reads_quoted_bools for minor in (9, 10, 11)] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        pytest.param("actions: allocate", True, id="actions"),
        pytest.param("tiers: []", True, id="tiers"),
        pytest.param("actions: allocate\napiVersion: v1\nkind: Policy", False, id="an object of Kubernetes"),
        pytest.param("profiles: []", False, id="other keys"),
        pytest.param("[actions, tiers]", False, id="a list"),
        pytest.param("actions", False, id="a word"),
    ],
)
def test_document_with_actions_or_tiers_and_no_version_is_a_configuration_of_volcano(text: str, is_one: bool) -> None:
    assert is_volcano_configuration(read_document(text, None, "scheduler configuration")) is is_one

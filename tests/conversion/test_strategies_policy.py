"""A policy with strategies becomes one with profiles that asks for the same, and lists what it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from descheduler.conversion.conversion import with_comments
from descheduler.conversion.table import convert_file
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.documents.yaml_document import parse_yaml_documents
from descheduler.policy.load import load_policy
from descheduler.report.formats.yaml_lines import yaml_lines

HEAD = "apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\n"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "from-upstream.md"


def strategy(name: str, params: str = "") -> str:
    return f"{HEAD}strategies:\n  {name}:\n    enabled: true\n    params: {{{params}}}\n"


def converted(text: str) -> dict[str, Any]:
    """The converted policy, which loads."""
    document = dict(convert_file(text, "old.yaml").document)
    load_policy(document, REGISTRY)
    return document


def only_config(text: str, name: str) -> Mapping[str, Any]:
    """The arguments of a plugin in the one profile."""
    (profile,) = converted(text)["profiles"]
    (config,) = [config for config in profile["pluginConfig"] if config["name"] == name]
    found: Mapping[str, Any] = config.get("args", {})
    return found


def notes(text: str) -> list[str]:
    return [str(note) for note in convert_file(text, "old.yaml").notes]


def test_example_of_the_how_to_is_what_becomes_of_it() -> None:
    before, after = [block.split("```")[0] for block in PAGE.read_text("utf-8").split("```yaml\n")[1:3]]

    assert converted(before) == yaml.safe_load(after)


@pytest.mark.parametrize(
    ("name", "params", "args"),
    [
        pytest.param(
            "RemoveDuplicates",
            "removeDuplicates: {excludeOwnerKinds: [Job]}, namespaces: {exclude: [a]}",
            {"excludeOwnerKinds": ["Job"], "namespaces": {"exclude": ["a"]}},
            id="RemoveDuplicates",
        ),
        pytest.param(
            "LowNodeUtilization",
            "nodeResourceUtilizationThresholds: {useDeviationThresholds: true, numberOfNodes: 3, "
            "thresholds: {cpu: 10}, targetThresholds: {cpu: 10}}, namespaces: {exclude: [kube-system]}",
            {
                "useDeviationThresholds": True,
                "numberOfNodes": 3,
                "thresholds": {"cpu": 10},
                "targetThresholds": {"cpu": 10},
                "evictableNamespaces": {"exclude": ["kube-system"]},
            },
            id="LowNodeUtilization",
        ),
        pytest.param(
            "HighNodeUtilization",
            "nodeResourceUtilizationThresholds: {thresholds: {cpu: 20}}",
            {"thresholds": {"cpu": 20}},
            id="HighNodeUtilization",
        ),
        pytest.param(
            "RemovePodsViolatingNodeAffinity",
            "nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]",
            {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
            id="RemovePodsViolatingNodeAffinity",
        ),
        pytest.param(
            "RemovePodsViolatingNodeTaints",
            "includePreferNoSchedule: true, excludedTaints: [a=b], labelSelector: {matchLabels: {a: b}}",
            {
                "includePreferNoSchedule": True,
                "excludedTaints": ["a=b"],
                "labelSelector": {"matchLabels": {"a": "b"}},
            },
            id="RemovePodsViolatingNodeTaints",
        ),
        pytest.param("RemovePodsViolatingInterPodAntiAffinity", "", {}, id="RemovePodsViolatingInterPodAntiAffinity"),
        pytest.param(
            "RemovePodsHavingTooManyRestarts",
            "podsHavingTooManyRestarts: {podRestartThreshold: 9, includingInitContainers: true}",
            {"podRestartThreshold": 9, "includingInitContainers": True},
            id="RemovePodsHavingTooManyRestarts",
        ),
        pytest.param(
            "PodLifeTime",
            "podLifeTime: {maxPodLifeTimeSeconds: 60, podStatusPhases: [Pending]}, namespaces: {include: [a]}",
            {"maxPodLifeTimeSeconds": 60, "states": ["Pending"], "namespaces": {"include": ["a"]}},
            id="PodLifeTime",
        ),
        pytest.param(
            "RemovePodsViolatingTopologySpreadConstraint",
            "includeSoftConstraints: true",
            {"constraints": ["DoNotSchedule", "ScheduleAnyway"]},
            id="RemovePodsViolatingTopologySpreadConstraint",
        ),
        pytest.param(
            "RemoveFailedPods",
            "failedPods: {reasons: [NodeAffinity], minPodLifetimeSeconds: 60, excludeOwnerKinds: [Job]}",
            {"reasons": ["NodeAffinity"], "minPodLifetimeSeconds": 60, "excludeOwnerKinds": ["Job"]},
            id="RemoveFailedPods",
        ),
    ],
)
def test_parameters_become_arguments(name: str, params: str, args: Mapping[str, object]) -> None:
    text = strategy(name, params)

    (profile,) = converted(text)["profiles"]
    assert only_config(text, name) == args
    assert list(profile["plugins"].values()) == [{"enabled": [name]}]
    assert notes(text) == []


@pytest.mark.parametrize(
    ("settings", "protections"),
    [
        pytest.param("evictLocalStoragePods: true", {"defaultDisabled": ["PodsWithLocalStorage"]}, id="local storage"),
        pytest.param("evictSystemCriticalPods: true", {"defaultDisabled": ["SystemCriticalPods"]}, id="critical pods"),
        pytest.param("evictFailedBarePods: true", {"defaultDisabled": ["FailedBarePods"]}, id="failed bare pods"),
        pytest.param("evictDaemonSetPods: true", {"defaultDisabled": ["DaemonSetPods"]}, id="pods of DaemonSets"),
        pytest.param("ignorePvcPods: true", {"extraEnabled": ["PodsWithPVC"]}, id="pods with claims"),
        pytest.param("evictLocalStoragePods: false\nignorePvcPods: false", None, id="what is off"),
    ],
)
def test_settings_of_the_evictor_become_protections(settings: str, protections: object) -> None:
    (profile,) = converted(strategy("PodLifeTime", "podLifeTime: {maxPodLifeTimeSeconds: 1}") + settings)["profiles"]

    args = [config["args"] for config in profile["pluginConfig"] if config["name"] == "DefaultEvictor"]
    assert args == ([{"podProtections": protections}] if protections else [])


def test_limits_and_node_selector_stay() -> None:
    text = strategy("RemoveDuplicates") + "nodeSelector: a=b\nmaxNoOfPodsToEvictPerNode: 1\n"

    policy = load_policy(converted(text), REGISTRY)

    assert (policy.max_evictions_per_node, policy.node_selector is None) == (1, False)


def test_strategies_that_filter_pods_otherwise_go_into_profiles_of_their_own() -> None:
    text = (
        f"{HEAD}strategies:\n"
        "  RemoveDuplicates: {enabled: true, params: {nodeFit: true}}\n"
        "  RemovePodsViolatingNodeTaints: {enabled: true, params: {thresholdPriorityClassName: high}}\n"
        "  RemovePodsViolatingInterPodAntiAffinity: {enabled: true, params: {nodeFit: true}}\n"
    )

    first, second = converted(text)["profiles"]

    assert [config["name"] for config in first["pluginConfig"]] == [
        "DefaultEvictor",
        "RemoveDuplicates",
        "RemovePodsViolatingInterPodAntiAffinity",
    ]
    assert second["pluginConfig"][0]["args"] == {"priorityThreshold": {"name": "high"}}
    assert (first["name"], second["name"]) == ("converted", "converted-2")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        pytest.param(
            f"{HEAD}strategies:\n  PodLifeTime: {{enabled: false}}\n",
            "old.yaml:4:16: strategies.PodLifeTime: is not converted: the strategy is not enabled",
            id="a strategy that is off",
        ),
        pytest.param(
            f"{HEAD}strategies: {{RemoveDuplicates: {{enabled: true, weight: 3}}}}\n",
            "old.yaml:3:56: strategies.RemoveDuplicates.weight: is not converted: weights have no effect",
            id="a weight",
        ),
        pytest.param(
            strategy("RemoveDuplicates", "labelSelector: {matchLabels: {a: b}}"),
            "old.yaml:6:29: strategies.RemoveDuplicates.params.labelSelector: is not converted: "
            "RemoveDuplicates does not read it",
            id="a parameter of other strategies",
        ),
        pytest.param(
            f"{HEAD}strategies: {{}}\nmaxPods: 1\n",
            "old.yaml:4:10: maxPods: is not converted: it has no place in a policy of this version",
            id="an unknown field",
        ),
    ],
)
def test_what_is_lost_is_listed_with_its_place(text: str, note: str) -> None:
    assert notes(text) == [note]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            f"{HEAD}strategies: {{RemoveDuplicate: {{enabled: true}}}}\n",
            "strategies.RemoveDuplicate: is not a strategy of descheduler/v1alpha1; did you mean 'RemoveDuplicates'?",
            id="an unknown strategy",
        ),
        pytest.param(f"{HEAD}strategies: [a]\n", "old.yaml:3:13: expected an object, found a list", id="a list"),
        pytest.param(
            strategy("PodLifeTime", "podLifeTime: {maxPodLifeTimeSeconds: long}"),
            "profiles[0].pluginConfig[0].args.maxPodLifeTimeSeconds",
            id="a wrong argument",
        ),
    ],
)
def test_what_is_no_such_policy_is_refused(text: str, problem: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        convert_file(text, "old.yaml")

    assert problem in str(refusal.value)


def test_policy_in_values_is_converted_with_places_of_the_file() -> None:
    text = (
        "deschedulerPolicyAPIVersion: descheduler/v1alpha1\n"
        "deschedulerPolicy:\n  strategies:\n    RemoveDuplicates: {enabled: true, weight: 1}\n"
    )

    assert converted(text)["profiles"][0]["plugins"] == {"balance": {"enabled": ["RemoveDuplicates"]}}
    assert notes(text)[0].startswith("old.yaml:4:47: ")


def test_comments_stay_above_what_they_are_about() -> None:
    text = """\
# Head,
# of two lines.
apiVersion: descheduler/v1alpha1
kind: DeschedulerPolicy
# lost with its value
profilesOld: 1
strategies:
  # restarts
  RemovePodsHavingTooManyRestarts:
    enabled: true
    params:
      podsHavingTooManyRestarts:
        # many
        podRestartThreshold: 100
"""

    conversion = convert_file(text, "old.yaml")
    written = with_comments("".join(yaml_lines(conversion.document)), text, conversion.root, conversion.origins)

    lines = written.splitlines()
    below = {line.strip(): lines[number + 1].strip() for number, line in enumerate(lines) if "#" in line}
    assert below == {
        "# Head,": "# of two lines.",
        "# of two lines.": "apiVersion: descheduler/v1alpha2",
        "# restarts": "- name: RemovePodsHavingTooManyRestarts",
        "# many": "podRestartThreshold: 100",
    }
    assert yaml.safe_load(written) == conversion.document


@pytest.mark.parametrize(
    ("params", "args"),
    [
        pytest.param("nodeFit: true", {"nodeFit": True}, id="node fit"),
        pytest.param("nodeFit: false", {}, id="no node fit"),
        pytest.param("thresholdPriority: 0", {"priorityThreshold": {"value": 0}}, id="a priority of 0"),
        pytest.param(
            "thresholdPriority: 5, thresholdPriorityClassName: high",
            {"priorityThreshold": {"value": 5}},
            id="a number before a name",
        ),
        pytest.param("thresholdPriorityClassName: ''", {}, id="no name"),
    ],
)
def test_filters_of_a_strategy_become_arguments_of_the_evictor(params: str, args: Mapping[str, object]) -> None:
    (profile,) = converted(strategy("RemoveDuplicates", params))["profiles"]

    found = [config["args"] for config in profile["pluginConfig"] if config["name"] == "DefaultEvictor"]
    assert found == ([args] if args else [])


@pytest.mark.parametrize(
    ("name", "params", "args", "lost"),
    [
        pytest.param(
            "LowNodeUtilization",
            "nodeResourceUtilizationThresholds: {thresholds: {cpu: 1}, targetThresholds: {cpu: 2}},"
            " namespaces: {include: [a]}",
            {"thresholds": {"cpu": 1}, "targetThresholds": {"cpu": 2}},
            ["params.namespaces.include: is not converted: LowNodeUtilization only takes namespaces to exclude"],
            id="namespaces of which pods leave",
        ),
        pytest.param(
            "HighNodeUtilization",
            "nodeResourceUtilizationThresholds: {thresholds: {cpu: 1}, targetThresholds: {cpu: 2}}",
            {"thresholds": {"cpu": 1}},
            [
                "params.nodeResourceUtilizationThresholds.targetThresholds: is not converted:"
                " HighNodeUtilization does not read it"
            ],
            id="a target that is not read",
        ),
        pytest.param(
            "RemovePodsViolatingTopologySpreadConstraint", "includeSoftConstraints: false", {}, [], id="hard ones alone"
        ),
        pytest.param(
            "RemoveDuplicates",
            "includeSoftConstraints: true, podLifeTime: {maxPodLifeTimeSeconds: 1}",
            {},
            [
                "params.includeSoftConstraints: is not converted: RemoveDuplicates does not read it",
                "params.podLifeTime: is not converted: RemoveDuplicates does not read it",
            ],
            id="parameters of others",
        ),
        pytest.param("RemoveDuplicates", "namespaces: null", {}, [], id="nothing"),
    ],
)
def test_parameters_that_a_strategy_does_not_read_are_listed(
    name: str, params: str, args: Mapping[str, object], lost: list[str]
) -> None:
    text = strategy(name, params)

    assert only_config(text, name) == args
    assert [note.partition(f"{name}.")[2] for note in notes(text)] == lost


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        pytest.param("apiVersion: descheduler/v1alpha1\n", "DeschedulerPolicy", id="its version"),
        pytest.param("", "DeschedulerPolicy", id="strategies and no version"),
        pytest.param("apiVersion: descheduler/v1alpha2\n", "DeschedulerConfiguration", id="another version"),
    ],
)
def test_policy_with_strategies_is_known_by_its_version_or_by_these(head: str, kind: str) -> None:
    text = f"{head}strategies: {{RemoveDuplicates: {{enabled: true}}}}\n"

    assert convert_file(text, "old.yaml").document["kind"] == kind


def test_comments_have_the_indentation_of_what_they_are_about() -> None:
    text = "a:\n    # about b,\n    # in two lines\n    b: 1\nc: 2\n"
    (root,) = parse_yaml_documents(text)

    assert with_comments("a:\n  b: 1\nc: 2\n", text, root, {}) == "a:\n  # about b,\n  # in two lines\n  b: 1\nc: 2\n"
    assert with_comments("x:\n  - b: 1\n", text, root, {("x", 0, "b"): ("a", "b")}) == (
        "x:\n  # about b,\n  # in two lines\n  - b: 1\n"
    )


def test_comment_is_written_once_where_a_value_becomes_two() -> None:
    text = "# about a\na: 1\n"
    (root,) = parse_yaml_documents(text)

    assert with_comments("x: 1\ny: 1\n", text, root, {("x",): ("a",), ("y",): ("a",)}) == "# about a\nx: 1\ny: 1\n"

"""Arguments of kube-scheduler's plugins, with their defaults."""

from __future__ import annotations

import pytest

from descheduler.model.selection.affinity import (
    Affinity,
    NodeMatch,
    NodeSelectorTerm,
    PreferredNodeTerm,
    TopologySpreadConstraint,
    match_node,
)
from descheduler.model.selection.labels import Requirement
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginArgs
from descheduler.placement.plugins.helper.scores import ShapePoint
from descheduler.placement.plugins.inter_pod_affinity.plugin import InterPodAffinityArgs
from descheduler.placement.plugins.node_affinity import NodeAffinityArgs
from descheduler.placement.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocationArgs
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitArgs, ResourceWeight
from descheduler.placement.plugins.pod_topology_spread.constraints import (
    SYSTEM_DEFAULT_CONSTRAINTS,
    PodTopologySpreadArgs,
)

from .builders import args_with, load, scheduler

CPU_AND_MEMORY = (ResourceWeight("cpu", 1), ResourceWeight("memory", 1))


@pytest.mark.parametrize(
    "args",
    [
        pytest.param("{}", id="an empty object"),
        pytest.param("null", id="null"),
        pytest.param("{scoringStrategy: null, ignoredResources: null}", id="nulls inside"),
        pytest.param(
            "{apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeResourcesFitArgs}", id="nothing but their kind"
        ),
    ],
)
def test_arguments_that_say_nothing_are_the_default_ones(args: str) -> None:
    assert args_with("NodeResourcesFit", args) == PluginArgs()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param(
            "{scoringStrategy: {type: MostAllocated}}",
            NodeResourcesFitArgs(strategy="MostAllocated", resources=CPU_AND_MEMORY),
            id="a strategy without resources scores cpu and memory",
        ),
        pytest.param(
            "{scoringStrategy: {type: LeastAllocated, resources: [{name: example.com/gpu, weight: 5}, {name: cpu}]}}",
            NodeResourcesFitArgs(resources=(ResourceWeight("example.com/gpu", 5), ResourceWeight("cpu", 1))),
            id="a resource without a weight weighs 1",
        ),
        pytest.param(
            "{scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 0}], "
            "requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}}",
            NodeResourcesFitArgs(
                strategy="RequestedToCapacityRatio",
                resources=(ResourceWeight("cpu", 1),),
                shape=(ShapePoint(0, 0), ShapePoint(100, 10)),
            ),
            id="a shape",
        ),
        pytest.param(
            "{ignoredResources: [example.com/gpu], ignoredResourceGroups: [example.org]}",
            NodeResourcesFitArgs(
                ignored_resources=frozenset({"example.com/gpu"}), ignored_resource_groups=frozenset({"example.org"})
            ),
            id="resources that are not checked",
        ),
    ],
)
def test_arguments_of_node_resources_fit(args: str, expected: NodeResourcesFitArgs) -> None:
    assert args_with("NodeResourcesFit", args) == PluginArgs.made_of(expected)


@pytest.mark.parametrize(
    ("args", "resources"),
    [
        pytest.param("{resources: []}", ("cpu", "memory"), id="none given"),
        pytest.param("{resources: [{name: memory}, {name: x.y/z, weight: 1}]}", ("memory", "x.y/z"), id="two given"),
    ],
)
def test_arguments_of_balanced_allocation(args: str, resources: tuple[str, ...]) -> None:
    read = args_with("NodeResourcesBalancedAllocation", args)

    assert read.of(NodeResourcesBalancedAllocationArgs).resources == resources


def test_added_affinity_is_read_into_the_model() -> None:
    read = args_with(
        "NodeAffinity",
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: pool, operator: In, values: [a, b]}]}, "
        "{matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]}, {}]}, "
        "preferredDuringSchedulingIgnoredDuringExecution: "
        "[{weight: 5, preference: {matchExpressions: [{key: ssd, operator: Exists}]}}, "
        "{weight: 0, preference: {matchExpressions: [{key: '', operator: Nonsense}]}}, {weight: 7}]}}",
    )

    assert read.of(NodeAffinityArgs).added_affinity == Affinity(
        has_node_affinity=True,
        node_required=(
            NodeSelectorTerm(expressions=(Requirement("pool", "In", frozenset({"a", "b"})),)),
            NodeSelectorTerm(fields=(Requirement("metadata.name", "NotIn", frozenset({"n1"})),)),
            NodeSelectorTerm(),
        ),
        node_preferred=(PreferredNodeTerm(5, NodeSelectorTerm(expressions=(Requirement("ssd", "Exists"),))),),
    )


@pytest.mark.parametrize(
    ("affinity", "match"),
    [
        pytest.param("{}", NodeMatch.MATCHES, id="no required affinity"),
        pytest.param(
            "{requiredDuringSchedulingIgnoredDuringExecution: {}}", NodeMatch.DIFFERS, id="required, without any term"
        ),
    ],
)
def test_empty_added_affinity_differs_from_none(affinity: str, match: NodeMatch) -> None:
    added = args_with("NodeAffinity", f"{{addedAffinity: {affinity}}}").of(NodeAffinityArgs).added_affinity

    assert added is not None
    assert match_node({}, added, "n1", {}) is match


def test_no_added_affinity_is_none() -> None:
    assert args_with("NodeAffinity", "{}").of(NodeAffinityArgs).added_affinity is None


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param("{}", PodTopologySpreadArgs(SYSTEM_DEFAULT_CONSTRAINTS, True), id="the system's"),
        pytest.param("{defaultingType: System}", PodTopologySpreadArgs(), id="the system's, by name"),
        pytest.param("{defaultingType: List}", PodTopologySpreadArgs((), False), id="an empty list"),
        pytest.param(
            "{defaultingType: List, defaultConstraints: "
            "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, "
            "nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore, matchLabelKeys: [pod-template-hash]}, "
            "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
            PodTopologySpreadArgs(
                (
                    TopologySpreadConstraint(
                        1,
                        "zone",
                        "DoNotSchedule",
                        match_label_keys=("pod-template-hash",),
                        node_affinity_policy="Ignore",
                        node_taints_policy="Honor",
                        min_domains=2,
                    ),
                    TopologySpreadConstraint(2, "zone", "ScheduleAnyway"),
                ),
                False,
            ),
            id="a list",
        ),
    ],
)
def test_arguments_of_pod_topology_spread(args: str, expected: PodTopologySpreadArgs) -> None:
    assert args_with("PodTopologySpread", args).of(PodTopologySpreadArgs) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param("{}", InterPodAffinityArgs(1, False), id="defaults"),
        pytest.param("{hardPodAffinityWeight: 0}", InterPodAffinityArgs(0, False), id="a weight of 0 is kept"),
        pytest.param(
            "{hardPodAffinityWeight: 100, ignorePreferredTermsOfExistingPods: true}",
            InterPodAffinityArgs(100, True),
            id="both",
        ),
    ],
)
def test_arguments_of_inter_pod_affinity(args: str, expected: InterPodAffinityArgs) -> None:
    assert args_with("InterPodAffinity", args).of(InterPodAffinityArgs) == expected


@pytest.mark.parametrize(
    ("plugin", "args"),
    [
        ("VolumeBinding", "{bindTimeoutSeconds: 0}"),
        ("DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 10}"),
        ("DynamicResources", "{filterTimeout: 0s, bindingTimeout: 10m}"),
        ("Theirs", "{anything: [goes]}"),
    ],
)
def test_arguments_without_effect_on_placement_are_accepted(plugin: str, args: str) -> None:
    assert args_with(plugin, args) == PluginArgs()


def test_each_profile_has_its_own_arguments() -> None:
    configuration = load(
        scheduler(
            """\
            profiles:
            - schedulerName: a
              pluginConfig:
              - {name: InterPodAffinity, args: {hardPodAffinityWeight: 5}}
              - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}
            - schedulerName: b
            """
        )
    )

    first, second = (profile.args for profile in configuration.profiles)
    assert first == PluginArgs.made_of(NodeResourcesFitArgs(strategy="MostAllocated"), InterPodAffinityArgs(5))
    assert second == PluginArgs()

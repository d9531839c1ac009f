"""Bad arguments of scheduler plugins: each fault gets one clear message, with the place."""

from __future__ import annotations

import pytest

from .builders import problems, with_args

ARGS = "profiles[0].pluginConfig[0].args"

ARGUMENTS = [
    pytest.param(
        "NodeResourcesFit",
        "{ignoreResources: []}",
        f":7:12: {ARGS}.ignoreResources: unknown field; did you mean 'ignoredResources'?",
        id="an unknown argument",
    ),
    pytest.param(
        "NodeResourcesFit", "[]", f":7:11: {ARGS}: expected an object, found a list", id="a list instead of arguments"
    ),
    pytest.param(
        "NodeResourcesFit",
        "{kind: NodeAffinityArgs}",
        f":7:18: {ARGS}.kind: is 'NodeAffinityArgs'; arguments of NodeResourcesFit need NodeResourcesFitArgs, "
        "or leave it out",
        id="arguments of another plugin",
    ),
    pytest.param(
        "InterPodAffinity",
        "{apiVersion: kubescheduler.config.k8s.io/v1beta3}",
        f":7:24: {ARGS}.apiVersion: is 'kubescheduler.config.k8s.io/v1beta3'; arguments of InterPodAffinity "
        "need kubescheduler.config.k8s.io/v1, or leave it out",
        id="arguments of another version",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{ignoredResources: [a b]}",
        f":7:31: {ARGS}.ignoredResources[0]: 'a b' is not the name of a resource, such as example.com/gpu",
        id="a name that no resource has",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{ignoredResourceGroups: [example.com/gpu]}",
        f":7:36: {ARGS}.ignoredResourceGroups[0]: 'example.com/gpu' is not a group of resources; "
        "write the part before the '/', such as example.com",
        id="a resource instead of a group",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{scoringStrategy: {resources: [{name: cpu}]}}",
        f":7:29: {ARGS}.scoringStrategy.type: is missing; "
        "give one of LeastAllocated, MostAllocated, RequestedToCapacityRatio",
        id="a strategy without a type",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{scoringStrategy: {type: MostAllocate}}",
        f":7:36: {ARGS}.scoringStrategy.type: 'MostAllocate' is not one of LeastAllocated, MostAllocated, "
        "RequestedToCapacityRatio; did you mean 'MostAllocated'?",
        id="an unknown strategy",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}}",
        f":7:83: {ARGS}.scoringStrategy.resources[0].weight: 101 is above 100",
        id="too heavy a resource",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{scoringStrategy: {type: RequestedToCapacityRatio}}",
        f":7:29: {ARGS}.scoringStrategy.requestedToCapacityRatio: is missing; "
        "the strategy RequestedToCapacityRatio needs a shape",
        id="a ratio without a shape",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: []}}}",
        f":7:96: {ARGS}.scoringStrategy.requestedToCapacityRatio.shape: is empty; "
        "give at least one point, such as {utilization: 0, score: 10}",
        id="an empty shape",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
        "{shape: [{utilization: 50, score: 1}, {utilization: 50, score: 2}]}}}",
        f":7:140: {ARGS}.scoringStrategy.requestedToCapacityRatio.shape[1].utilization: "
        "50 is not above 50, that of the point before; sort the points",
        id="a shape that does not ascend",
    ),
    pytest.param(
        "NodeResourcesFit",
        "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
        "{shape: [{utilization: 50, score: 11}]}}}",
        f":7:122: {ARGS}.scoringStrategy.requestedToCapacityRatio.shape[0].score: 11 is above 10",
        id="a score beyond 10",
    ),
    pytest.param(
        "NodeResourcesBalancedAllocation",
        "{resources: [{name: cpu}, {name: cpu}]}",
        f":7:44: {ARGS}.resources[1].name: 'cpu' is listed twice; keep one of them",
        id="a resource to balance twice",
    ),
    pytest.param(
        "NodeResourcesBalancedAllocation",
        "{resources: [{name: cpu, weight: 2}]}",
        f":7:44: {ARGS}.resources[0].weight: 2 is not 1; balance has no weights",
        id="a weight in balance",
    ),
    pytest.param(
        "NodeAffinity",
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: a, operator: Is}]}]}}}",
        f":7:136: {ARGS}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
        ".matchExpressions[0].operator: 'Is' is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt",
        id="an unknown operator",
    ),
    pytest.param(
        "NodeAffinity",
        "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
        "[{weight: 1, preference: {matchExpressions: [{key: a, operator: Gt, values: [b]}]}}]}}",
        f":7:122: {ARGS}.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference"
        ".matchExpressions[0]: operator Gt on key 'a' needs exactly one integer value",
        id="a preference that cannot be parsed",
    ),
    pytest.param(
        "NodeAffinity",
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}]}}}",
        f":7:155: {ARGS}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
        ".matchFields[0].values: operator In on a field needs exactly one value, not 2",
        id="two values for a field",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultingType: list}",
        f":7:28: {ARGS}.defaultingType: 'list' is not one of System, List; did you mean 'List'?",
        id="an unknown way of defaulting",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
        f":7:11: {ARGS}.defaultingType: is System, which excludes defaultConstraints; write List, or remove them",
        id="constraints beside the system's",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: "
        "[{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
        f":7:65: {ARGS}.defaultConstraints[0].maxSkew: 0 is below 1",
        id="no skew at all",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}",
        f":7:55: {ARGS}.defaultConstraints[0].topologyKey: is missing; name the label that tells domains apart",
        id="no topology",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: "
        "[{maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule}]}",
        f":7:81: {ARGS}.defaultConstraints[0].topologyKey: 'a b' is not a label key "
        "(letters, digits, '-', '_' and '.', at most 63, after an optional prefix/)",
        id="a topology that is no label",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone}]}",
        f":7:55: {ARGS}.defaultConstraints[0].whenUnsatisfiable: is missing; give one of DoNotSchedule, ScheduleAnyway",
        id="nothing said for when it cannot be met",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: "
        "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}",
        f":7:136: {ARGS}.defaultConstraints[0].labelSelector: is given, but it follows from each pod's services "
        "and owner; remove it",
        id="a selector",
    ),
    pytest.param(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: "
        "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, "
        "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
        f":7:122: {ARGS}.defaultConstraints[1]: 'zone' is constrained by an earlier DoNotSchedule too; "
        "keep one of them",
        id="two constraints of one topology",
    ),
    pytest.param(
        "InterPodAffinity",
        "{hardPodAffinityWeight: 101}",
        f":7:35: {ARGS}.hardPodAffinityWeight: 101 is above 100",
        id="too heavy an affinity",
    ),
    pytest.param(
        "VolumeBinding",
        "{bindTimeoutSeconds: -1}",
        f":7:32: {ARGS}.bindTimeoutSeconds: -1 is below 0",
        id="a negative timeout",
    ),
    pytest.param(
        "DefaultPreemption",
        "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
        f":7:41: {ARGS}.minCandidateNodesPercentage: is 0, and so is minCandidateNodesAbsolute; raise one of them",
        id="no candidates for preemption",
    ),
    pytest.param(
        "DynamicResources",
        "{filterTimeout: -5s}",
        f":7:27: {ARGS}.filterTimeout: is negative; 0s means no limit",
        id="a filter that ends before it starts",
    ),
    pytest.param(
        "DynamicResources",
        "{bindingTimeout: 500ms}",
        f":7:28: {ARGS}.bindingTimeout: is below 1s",
        id="a short binding",
    ),
    pytest.param(
        "EBSLimits",
        "{}",
        ":6:11: profiles[0].pluginConfig[0].name: plugin 'EBSLimits' was removed; take its arguments out",
        id="arguments of a plugin that is gone",
    ),
    pytest.param(
        "NodeAffinity",
        "{}\n  - name: NodeAffinity",
        ":8:11: profiles[0].pluginConfig[1].name: 'NodeAffinity' is configured twice; keep one of them",
        id="a plugin configured twice",
    ),
]


@pytest.mark.parametrize(("plugin", "args", "message"), ARGUMENTS)
def test_fault_in_arguments_is_one_message(plugin: str, args: str, message: str) -> None:
    assert problems(with_args(plugin, args)) == [f"scheduler.yaml{message}"]

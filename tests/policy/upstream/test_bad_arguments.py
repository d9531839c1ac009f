"""Bad arguments and plugin sets of a DeschedulerPolicy: each fault gets one clear message, with the place."""

from __future__ import annotations

import pytest

from tests.policy.builders import messages, upstream, with_args

THRESHOLDS = "thresholds: {cpu: 20}, targetThresholds: {cpu: 50}"

ARGUMENTS = [
    pytest.param(
        with_args("PodLifetime", "{}"),
        ":6:11: profiles[0].pluginConfig[0].name: unknown plugin 'PodLifetime'; did you mean 'PodLifeTime'?",
        id="an unknown plugin",
    ),
    pytest.param(
        with_args("MigrationController", "{}"),
        ":6:11: profiles[0].pluginConfig[0].name: unknown plugin 'MigrationController'; known are DefaultEvictor, "
        "HighNodeUtilization, LoadAware, LowNodeUtilization, MigrationPlanner, PlacementVerification, PodLifeTime, "
        "RemoveDuplicates, RemoveFailedPods, RemovePodsHavingTooManyRestarts, "
        "RemovePodsViolatingDeviceTaints, RemovePodsViolatingInterPodAntiAffinity, "
        "RemovePodsViolatingNodeAffinity, RemovePodsViolatingNodeReservation, RemovePodsViolatingNodeTaints, "
        "RemovePodsViolatingTopologySpreadConstraint, Rescheduling, RevokePodsOverElasticQuota",
        id="a plugin of the other kind",
    ),
    pytest.param(
        with_args("RemoveDuplicates", "{apiVersion: a/b/c}"),
        ":7:24: profiles[0].pluginConfig[0].args.apiVersion: 'a/b/c' is not an API version such as group/v1; "
        "leave it out",
        id="a version that is none",
    ),
    pytest.param(
        with_args("LowNodeUtilization", "{thresholds: {cpu: 20}, targetThresholds: {cpu: 120}}"),
        ":7:59: profiles[0].pluginConfig[0].args.targetThresholds.cpu: 120 is above 100 (percent)",
        id="a threshold above one hundred",
    ),
    pytest.param(
        with_args("LowNodeUtilization", "{thresholds: {nvidia.com/gpu: -1}, targetThresholds: {nvidia.com/gpu: 5}}"),
        ":7:41: profiles[0].pluginConfig[0].args.thresholds.nvidia.com/gpu: -1 is below 0 (percent)",
        id="a negative threshold of a dotted resource",
    ),
    pytest.param(
        with_args("LowNodeUtilization", "{thresholds: {cpu: 60}, targetThresholds: {cpu: 50}}"),
        ":7:30: profiles[0].pluginConfig[0].args.thresholds.cpu: 60 is above 50, its target threshold",
        id="a threshold above its target",
    ),
    pytest.param(
        with_args("LowNodeUtilization", "{thresholds: {cpu: 20%}, targetThresholds: {cpu: 50}}"),
        ":7:30: profiles[0].pluginConfig[0].args.thresholds.cpu: expected a number, found the string '20%'",
        id="a threshold with a percent sign",
    ),
    pytest.param(
        with_args("LowNodeUtilization", "{thresholds: {cpu: 1}, targetThresholds: {memory: 1}}"),
        ":7:52: profiles[0].pluginConfig[0].args.targetThresholds: must name the same resources as thresholds; "
        "different: 'cpu', 'memory'",
        id="thresholds of different resources",
    ),
    pytest.param(
        with_args("LowNodeUtilization", f"{{{THRESHOLDS}, evictableNamespaces: {{include: [a]}}}}"),
        ":7:95: profiles[0].pluginConfig[0].args.evictableNamespaces.include: including namespaces is not supported "
        "here; use exclude",
        id="namespaces to include where only excluding works",
    ),
    pytest.param(
        with_args("LowNodeUtilization", f"{{{THRESHOLDS}, metricsUtilization: {{source: Prometheus}}}}"),
        ":7:84: profiles[0].pluginConfig[0].args.metricsUtilization.prometheus.query: is empty, but source Prometheus "
        "needs it",
        id="prometheus without a query",
    ),
    pytest.param(
        with_args("HighNodeUtilization", "{thresholds: {cpu: 20}, evictionModes: [Foo]}"),
        ":7:51: profiles[0].pluginConfig[0].args.evictionModes[0]: 'Foo' is not one of OnlyThresholdingResources",
        id="an unknown eviction mode",
    ),
    pytest.param(
        with_args("RemoveFailedPods", "{minPodLifeTimeSeconds: 5}"),
        ":7:12: profiles[0].pluginConfig[0].args.minPodLifeTimeSeconds: unknown field; "
        "did you mean 'minPodLifetimeSeconds'?",
        id="an argument in the wrong case",
    ),
    pytest.param(
        with_args("RemoveFailedPods", "{namespaces: {includes: [a]}}"),
        ":7:25: profiles[0].pluginConfig[0].args.namespaces.includes: unknown field; did you mean 'include'?",
        id="an unknown field deep inside the arguments",
    ),
    pytest.param(
        with_args("RemoveFailedPods", "[]"),
        ":7:11: profiles[0].pluginConfig[0].args: expected an object, found a list",
        id="arguments as a list",
    ),
    pytest.param(
        with_args("RemoveFailedPods", "{namespaces: {include: [a], exclude: [b]}}"),
        ":7:24: profiles[0].pluginConfig[0].args.namespaces: include and exclude are both given; keep one of them",
        id="namespaces both ways",
    ),
    pytest.param(
        with_args("RemoveFailedPods", "{labelSelector: {matchExpressions: [{key: a, operator: Foo}]}}"),
        ":7:27: profiles[0].pluginConfig[0].args.labelSelector: 'Foo' is not a label selector operator "
        "(one of In, NotIn, Exists, DoesNotExist)",
        id="an unknown selector operator",
    ),
    pytest.param(
        with_args("RemoveFailedPods", "{labelSelector: {matchLabels: {a: yes}}}"),
        ":7:45: profiles[0].pluginConfig[0].args.labelSelector.matchLabels.a: expected a string, found boolean true",
        id="a label value that YAML reads as a boolean",
    ),
    pytest.param(
        with_args("PodLifeTime", "{}"),
        ":7:11: profiles[0].pluginConfig[0].args: has no criterion; "
        "give maxPodLifeTimeSeconds, states, conditions or exitCodes",
        id="nothing to select by",
    ),
    pytest.param(
        with_args("PodLifeTime", "{conditions: [{type: Ready}, {}]}"),
        ":7:40: profiles[0].pluginConfig[0].args.conditions[1]: is empty; "
        "give type, status, reason or minTimeSinceLastTransitionSeconds",
        id="an empty condition",
    ),
    pytest.param(
        with_args("RemovePodsHavingTooManyRestarts", "{}"),
        ":7:11: profiles[0].pluginConfig[0].args.podRestartThreshold: 0 is below 1 (restarts); "
        "the threshold is required",
        id="no restart threshold",
    ),
    pytest.param(
        with_args("RemovePodsHavingTooManyRestarts", "{podRestartThreshold: 3000000000}"),
        ":7:33: profiles[0].pluginConfig[0].args.podRestartThreshold: 3000000000 is above 2147483647",
        id="a threshold beyond 32 bits",
    ),
    pytest.param(
        with_args("RemovePodsViolatingNodeTaints", "{includedTaints: [a], excludedTaints: [b]}"),
        ":7:28: profiles[0].pluginConfig[0].args.includedTaints: cannot be used with excludedTaints; keep one of them",
        id="taints both ways",
    ),
    pytest.param(
        with_args("RemovePodsViolatingTopologySpreadConstraint", "{constraints: [Foo]}"),
        ":7:26: profiles[0].pluginConfig[0].args.constraints[0]: 'Foo' is not one of DoNotSchedule, ScheduleAnyway",
        id="an unknown constraint",
    ),
    pytest.param(
        with_args("DefaultEvictor", "{minPodAge: 5}"),
        ":7:23: profiles[0].pluginConfig[0].args.minPodAge: expected a duration such as 90s or 1h30m, found number 5",
        id="a duration as a number",
    ),
    pytest.param(
        with_args("DefaultEvictor", "{minPodAge: 1d}"),
        ":7:23: profiles[0].pluginConfig[0].args.minPodAge: '1d' is not a duration such as 90s, 5m or 1h30m",
        id="a duration in days",
    ),
    pytest.param(
        with_args("DefaultEvictor", "{priorityThreshold: {value: 2000000001}}"),
        ":7:39: profiles[0].pluginConfig[0].args.priorityThreshold.value: 2000000001 is above 2000000000, "
        "the highest priority threshold",
        id="a threshold above system critical",
    ),
    pytest.param(
        with_args("DefaultEvictor", "{priorityThreshold: {value: 1, name: a}}"),
        ":7:31: profiles[0].pluginConfig[0].args.priorityThreshold: value and name are both given; keep one of them",
        id="a threshold both ways",
    ),
    pytest.param(
        with_args("DefaultEvictor", "{podProtections: {extraEnabled: [PodsWithPVC, PodsWithPVC]}}"),
        ":7:57: profiles[0].pluginConfig[0].args.podProtections.extraEnabled[1]: 'PodsWithPVC' is listed twice",
        id="a protection twice",
    ),
    pytest.param(
        with_args("DefaultEvictor", "{ignorePvcPods: true, podProtections: {extraEnabled: [PodsWithPVC]}}"),
        ":7:49: profiles[0].pluginConfig[0].args.podProtections: cannot be used together with ignorePvcPods "
        "(deprecated); use podProtections for all of them",
        id="old and new protections mixed",
    ),
    pytest.param(
        '{"apiVersion": "descheduler/v1alpha2", "profiles": [{"pluginConfig": [\n'
        '{"name": "RemoveDuplicates", "args": {"excludeOwnerKinds": [], "excludeOwnerKinds": []}}]}]}',
        ":2:64: profiles[0].pluginConfig[0].args.excludeOwnerKinds: is given twice; keep one of them",
        id="an argument twice in JSON",
    ),
    pytest.param(
        with_args('"Pod\\x1b[31mLife\\nTime"', "{}"),
        ":6:11: profiles[0].pluginConfig[0].name: unknown plugin 'Pod\\x1b[31mLife\\nTime'; "
        "did you mean 'PodLifeTime'?",
        id="a name that would colour the terminal",
    ),
]

EXTENSION_POINTS = [
    pytest.param(
        upstream("profiles:\n- name: p\n  plugins:\n    balance: {enabled: [Nope]}\n"),
        ":6:25: profiles[0].plugins.balance.enabled[0]: unknown plugin 'Nope'; known are DefaultEvictor, "
        "HighNodeUtilization, LoadAware, LowNodeUtilization, MigrationPlanner, PlacementVerification, PodLifeTime, "
        "RemoveDuplicates, RemoveFailedPods, RemovePodsHavingTooManyRestarts, "
        "RemovePodsViolatingDeviceTaints, RemovePodsViolatingInterPodAntiAffinity, "
        "RemovePodsViolatingNodeAffinity, RemovePodsViolatingNodeReservation, RemovePodsViolatingNodeTaints, "
        "RemovePodsViolatingTopologySpreadConstraint, Rescheduling, RevokePodsOverElasticQuota",
        id="an unknown plugin is enabled",
    ),
    pytest.param(
        upstream(
            """\
            profiles:
            - pluginConfig: [{name: RemoveDuplicates}]
              plugins:
                deschedule: {enabled: [RemoveDuplicates]}
            """
        ),
        ":6:28: profiles[0].plugins.deschedule.enabled[0]: "
        "RemoveDuplicates is a balance plugin, not a deschedule plugin; move it to plugins.balance.enabled",
        id="a balance plugin under deschedule",
    ),
    pytest.param(
        upstream("profiles:\n- plugins:\n    balance: {enabled: [RemoveDuplicates]}\n"),
        ":5:25: profiles[0].plugins.balance.enabled[0]: plugin RemoveDuplicates has no pluginConfig entry; "
        "add '- name: RemoveDuplicates' to the profile's pluginConfig",
        id="an enabled plugin without an entry",
    ),
    pytest.param(
        with_args("DefaultEvictor", "{labelSelector: {matchExpressions: [{key: a, operator: Foo}]}}"),
        ":7:27: profiles[0].pluginConfig[0].args.labelSelector: 'Foo' is not a label selector operator "
        "(one of In, NotIn, Exists, DoesNotExist)",
        id="a selector of the evictor that does not compile",
    ),
    pytest.param(
        with_args(
            "LowNodeUtilization",
            "{thresholds: {MetricResource: 2}, targetThresholds: {cpu: 5, MetricResource: 3},"
            " metricsUtilization: {source: Prometheus, prometheus: {query: q}}}",
        ),
        ":7:63: profiles[0].pluginConfig[0].args.targetThresholds: must name the same resources as thresholds; "
        "different: 'cpu'",
        id="prometheus with another resource",
    ),
]


@pytest.mark.parametrize(("text", "message"), ARGUMENTS + EXTENSION_POINTS)
def test_bad_arguments_get_one_message_with_their_place(text: str, message: str) -> None:
    assert messages(text) == ["policy.yaml" + message]

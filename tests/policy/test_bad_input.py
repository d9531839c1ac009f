"""Bad policies: each gets one clear message, with the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.policy.load import load_policy
from descheduler.policy.problems import PolicyError
from descheduler.strategies.registry import REGISTRY

from .builders import koordinator, messages, upstream, with_args

THRESHOLDS = "thresholds: {cpu: 20}, targetThresholds: {cpu: 50}"

DOCUMENTS = [
    pytest.param("- a\n", ":1:1: expected a policy object with apiVersion and kind, found a list", id="a list"),
    pytest.param("[]\n", ":1:1: expected a policy object with apiVersion and kind, found a list", id="an empty list"),
    pytest.param("hi\n", ":1:1: expected a policy object with apiVersion and kind, found a string", id="a word"),
    pytest.param(
        "apiVersion: descheduler/v1\nkind: DeschedulerPolicy\n",
        ":1:13: apiVersion: 'descheduler/v1' is not supported, only descheduler/v1alpha2",
        id="a version that does not exist",
    ),
    pytest.param(
        "apiVersion: v1alpha2\nkind: DeschedulerPolicy\n",
        ":1:13: apiVersion: 'v1alpha2' is not supported, only descheduler/v1alpha2",
        id="a version without its group",
    ),
    pytest.param("apiVersion: 1\n", ":1:13: apiVersion: expected a string, found a number", id="a version as number"),
    pytest.param(
        "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolizy\n",
        ":2:7: kind: 'DeschedulerPolizy' is not supported, only DeschedulerPolicy and DeschedulerConfiguration; "
        "did you mean 'DeschedulerPolicy'?",
        id="a kind that does not exist",
    ),
    pytest.param(
        "kind: DeschedulerConfiguration\n",
        ":1:1: apiVersion is missing; add 'apiVersion: descheduler/v1alpha2'",
        id="a configuration without a version",
    ),
    pytest.param(
        upstream("profiles:\n\t- name: p\n"),
        ":4:1: not YAML: while scanning for the next token found character that cannot start any token; "
        "the line is indented with a tab, use spaces",
        id="a tab for indentation",
    ),
    pytest.param(
        upstream("profiles: [\n"),
        ":4:1: not YAML: while parsing a flow node did not find expected node content",
        id="a bracket that is not closed",
    ),
    pytest.param(
        upstream("a: *b\n"), ":3:4: alias *b has no anchor before it, or lies within it", id="an alias without anchor"
    ),
    pytest.param(
        upstream("a: &a [*a]\n"),
        ":3:8: alias *a has no anchor before it, or lies within it",
        id="an alias within its own anchor",
    ),
    pytest.param(upstream("? [a]\n: b\n"), ":3:3: is used as a key; keys are strings", id="a list as a key"),
    pytest.param(upstream("a: !!int x\n"), ":3:4: is tagged !!int, but is not one", id="a tag that lies"),
    pytest.param(upstream("foo: .nan\n"), ":3:6: nan is not a number Kubernetes reads", id="not a number"),
    pytest.param(upstream("foo: [-.inf]\n"), ":3:7: -inf is not a number Kubernetes reads", id="infinity"),
    pytest.param(
        upstream("a: \x07\n"), ":3:4: holds the character '\\x07', which YAML does not allow", id="a control character"
    ),
    pytest.param("a\0b", ": holds NUL characters, so it is no text; a policy is YAML or JSON", id="binary"),
    pytest.param(
        "{a: 1}",
        ":1:2: not JSON (the text begins with a brace): expected a key in double quotes, found 'a'",
        id="braces without quotes",
    ),
    pytest.param(
        '{"a": 1',
        ":1:8: not JSON (the text begins with a brace): expected ',' or '}', found the end of the text; "
        "is a bracket or brace missing?",
        id="cut off JSON",
    ),
    pytest.param(
        '{"a": 1}\n{}',
        ":2:1: not JSON (the text begins with a brace): more text after the end of the document, found '{'",
        id="two JSON documents",
    ),
    pytest.param('{"a": 1e999}', ":1:7: inf is not a number Kubernetes reads", id="a JSON number beyond all floats"),
]

OUTER_FIELDS = [
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: -1\n"), ":3:26: maxNoOfPodsToEvictTotal: -1 is below 0", id="negative limit"
    ),
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: 2.5\n"),
        ":3:26: maxNoOfPodsToEvictTotal: expected a whole number, found number 2.5",
        id="a fraction of a pod",
    ),
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: '5'\n"),
        ":3:26: maxNoOfPodsToEvictTotal: expected a whole number, found the string '5'",
        id="a limit in quotes",
    ),
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: 18446744073709551616\n"),
        ":3:26: maxNoOfPodsToEvictTotal: 18446744073709551616 is above 18446744073709551615",
        id="a limit beyond 64 bits",
    ),
    pytest.param(
        upstream("evictionFailureEventNotification: 'true'\n"),
        ":3:35: evictionFailureEventNotification: expected true or false, found the string 'true'",
        id="a boolean in quotes",
    ),
    pytest.param(upstream("profiles: {}\n"), ":3:11: profiles: expected a list, found an object", id="profiles as map"),
    pytest.param(
        upstream("profiles:\n- name: p\n  plugins:\n    deschedule:\n      enabled: [{name: PodLifeTime}]\n"),
        ":7:17: profiles[0].plugins.deschedule.enabled[0]: expected a string, found an object",
        id="enabled plugins as objects",
    ),
    pytest.param(
        upstream("nodeSelector: 'a in (b'\n"),
        ":3:15: nodeSelector: label selector 'a in (b': the list of values is not closed",
        id="a node selector that does not parse",
    ),
    pytest.param(
        upstream("compatibility: fixd\n"),
        ":3:16: compatibility: 'fixd' is not one of upstream, fixed; did you mean 'fixed'?",
        id="an unknown compatibility",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: Prometheus\n"),
        ":4:3: metricsProviders[0].prometheus: is missing, but source Prometheus needs it; give it a url",
        id="prometheus without settings",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: Prometheus\n  prometheus: {url: 'http://x:-80'}\n"),
        ":5:21: metricsProviders[0].prometheus.url: 'http://x:-80' has an invalid port ':-80' after the host",
        id="prometheus with a negative port",
    ),
    pytest.param(
        upstream(
            "metricsProviders:\n- source: Prometheus\n"
            "  prometheus: {url: 'http://x', authToken: {secretReference: {name: a}}}\n"
        ),
        ":5:62: metricsProviders[0].prometheus.authToken.secretReference: needs both a name and a namespace",
        id="a secret without namespace",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: KubernetesMetrics\n- source: KubernetesMetrics\n"),
        ":5:11: metricsProviders[1].source: 'KubernetesMetrics' is configured twice; keep one of them",
        id="a metrics source twice",
    ),
    pytest.param(
        upstream("metricsCollector: {enabled: true}\nmetricsProviders:\n- source: KubernetesMetrics\n"),
        ":5:3: metricsProviders[0]: does not go together with metricsCollector.enabled; drop the latter",
        id="a metrics provider next to the collector",
    ),
]

ARGUMENTS = [
    pytest.param(
        with_args("PodLifetime", "{}"),
        ":6:11: profiles[0].pluginConfig[0].name: unknown plugin 'PodLifetime'; did you mean 'PodLifeTime'?",
        id="an unknown plugin",
    ),
    pytest.param(
        with_args("MigrationController", "{}"),
        ":6:11: profiles[0].pluginConfig[0].name: unknown plugin 'MigrationController'; known are DefaultEvictor, "
        "HighNodeUtilization, LowNodeUtilization, PodLifeTime, RemoveDuplicates, RemoveFailedPods, "
        "RemovePodsHavingTooManyRestarts, RemovePodsViolatingInterPodAntiAffinity, RemovePodsViolatingNodeAffinity, "
        "RemovePodsViolatingNodeTaints, RemovePodsViolatingTopologySpreadConstraint",
        id="a plugin of the other kind",
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
        ":7:52: profiles[0].pluginConfig[0].args.targetThresholds: names other resources than thresholds: "
        "'cpu', 'memory' only on one side",
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
        ":7:11: profiles[0].pluginConfig[0].args: selects by nothing; "
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
        ":7:28: profiles[0].pluginConfig[0].args.includedTaints: is given next to excludedTaints; keep one of them",
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
        ":7:49: profiles[0].pluginConfig[0].args.podProtections: does not go together with ignorePvcPods (deprecated); "
        "use podProtections for all of them",
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
        "HighNodeUtilization, LowNodeUtilization, PodLifeTime, RemoveDuplicates, RemoveFailedPods, "
        "RemovePodsHavingTooManyRestarts, RemovePodsViolatingInterPodAntiAffinity, RemovePodsViolatingNodeAffinity, "
        "RemovePodsViolatingNodeTaints, RemovePodsViolatingTopologySpreadConstraint",
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
        ":6:28: profiles[0].plugins.deschedule.enabled[0]: plugin 'RemoveDuplicates' is no deschedule plugin; "
        "list it under balance",
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
        ":7:63: profiles[0].pluginConfig[0].args.targetThresholds: names other resources than thresholds: "
        "'cpu' only on one side",
        id="prometheus with another resource",
    ),
]

CONFIGURATIONS = [
    pytest.param(koordinator("foo: 1\n"), ":3:1: foo: unknown field", id="an unknown top-level field"),
    pytest.param(
        koordinator("dryRun: true\ndryRun: false\n"), ":4:1: dryRun: is given twice; keep one of them", id="a key twice"
    ),
    pytest.param(
        koordinator("nodeSelector: a=b\n"),
        ":3:15: nodeSelector: expected an object, found the string 'a=b'",
        id="a node selector as a string",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {balance: {enabled: [LowNodeUtilization]}}\n"),
        ":4:33: profiles[0].plugins.balance.enabled[0]: expected an object, found the string 'LowNodeUtilization'",
        id="enabled plugins as strings",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {evict: {disabled: [{name: '*'}]}}\n"),
        ":4:20: profiles[0].plugins.evict: no evict plugin is left; enable exactly one, such as MigrationController",
        id="no evict plugin",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {evict: {enabled: [{name: DefaultEvictor}]}}\n"),
        ":4:20: profiles[0].plugins.evict: 'MigrationController' and 'DefaultEvictor' would all evict; "
        "keep one, and disable the default with '- name: \"*\"'",
        id="two evict plugins",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {deschedule: {enabled: [{name: RemoveDuplicates}]}}\n"),
        ":4:43: profiles[0].plugins.deschedule.enabled[0].name: plugin 'RemoveDuplicates' is no deschedule plugin; "
        "list it under balance",
        id="a plugin in a set it does not implement",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {balance: {enabled: [{name: LowNodeLoad}]}}\n"),
        ":4:40: profiles[0].plugins.balance.enabled[0].name: "
        "plugin 'LowNodeLoad' of Koordinator is not run by this version; remove it",
        id="a plugin of Koordinator that is not there",
    ),
    pytest.param(
        koordinator(
            "profiles:\n- plugins: {balance: {enabled: [{name: RemoveDuplicates}, {name: RemoveDuplicates}]}}\n"
        ),
        ":4:66: profiles[0].plugins.balance.enabled[1].name: plugin 'RemoveDuplicates' is enabled twice in this set",
        id="a plugin twice in a set",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {deschedule: {enabled: [{name: PodLifeTime}]}}\n"),
        ":4:12: profiles[0].pluginConfig.PodLifeTime: selects by nothing; "
        "give maxPodLifeTimeSeconds, states, conditions or exitCodes",
        id="default arguments that are not valid",
    ),
    pytest.param(
        koordinator("profiles:\n- {name: a}\n- {name: a}\n"),
        ":5:10: profiles[1].name: 'a' is the name of an earlier profile too",
        id="two profiles of one name",
    ),
    pytest.param(
        koordinator("profiles:\n- {name: a}\n- {}\n"),
        ":5:3: profiles[1].name: is missing; name every profile when there are several",
        id="a second profile without a name",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: RemoveDuplicats}]\n"),
        ":4:25: profiles[0].pluginConfig[0].name: unknown plugin 'RemoveDuplicats'; did you mean 'RemoveDuplicates'?",
        id="arguments of an unknown plugin",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController}, {name: MigrationController}]\n"),
        ":4:54: profiles[0].pluginConfig[1].name: 'MigrationController' is configured twice; keep one of them",
        id="a plugin configured twice",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {kind: FooArgs}}]\n"),
        ":4:59: profiles[0].pluginConfig[0].args.kind: is 'FooArgs', but the arguments of MigrationController say "
        "MigrationControllerArgs, or nothing",
        id="arguments of another kind",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {evictQPS: '0'}}]\n"),
        ":4:63: profiles[0].pluginConfig[0].args.evictQPS: '0' is not a number above 0 (evictions per second)",
        id="a rate of zero",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {maxMigratingPerWorkload: '5'}}]\n"),
        ":4:78: profiles[0].pluginConfig[0].args.maxMigratingPerWorkload: "
        "'5' is neither a number nor a percentage such as '10%'",
        id="a number in quotes where a percentage may be",
    ),
    pytest.param(
        koordinator("profiles:\n- pluginConfig: [{name: MigrationController, args: {skipEvictionGates: [pvc]}}]\n"),
        ":4:73: profiles[0].pluginConfig[0].args.skipEvictionGates[0]: 'pvc' is not one of MaxUnavailablePerWorkload, "
        "MaxMigratingPerWorkload, MaxMigratingPerNode, MaxMigratingPerNamespace, MaxMigratingGlobally, "
        "ExpectedReplicas, PVC, BarePods, LocalStorage, SystemCritical, PriorityThreshold, LabelSelector, Namespaces, "
        "NodeFit",
        id="an unknown eviction gate",
    ),
    pytest.param(
        koordinator("leaderElection: {leaseDuration: 5s}\n"),
        ":3:33: leaderElection.leaseDuration: is not above renewDeadline; the lease would expire while renewed",
        id="a lease shorter than its renewal",
    ),
    pytest.param(
        koordinator("healthzBindAddress: ':health'\n"),
        ":3:21: healthzBindAddress: ':health' is no address; write host:port, such as 0.0.0.0:10251",
        id="an address without a port number",
    ),
    pytest.param(
        koordinator("clientConnection: {burst: -1}\n"), ":3:27: clientConnection.burst: -1 is below 0", id="bad burst"
    ),
]


@pytest.mark.parametrize(
    ("text", "message"), [*DOCUMENTS, *OUTER_FIELDS, *ARGUMENTS, *EXTENSION_POINTS, *CONFIGURATIONS]
)
def test_bad_policy_gets_one_message_with_its_place(text: str, message: str) -> None:
    assert messages(text) == [f"policy.yaml{message}"]


def test_problems_of_all_profiles_are_reported_together_in_document_order() -> None:
    text = upstream(
        """\
        maxNoOfPodsToEvictTotal: many
        profiles:
        - name: a
          pluginConfig:
          - name: RemoveFailedPods
            args: {foo: 1, minPodLifetimeSeconds: old}
        - name: b
          pluginConfig:
          - name: PodLifeTime
            args: {states: [Foo]}
          plugins:
            deschedule: {enabled: [Nope]}
        """
    )

    found = messages(text)

    places = [message.split(": ")[0] for message in found]
    assert places == [f"policy.yaml:{at}" for at in ("3:26", "8:12", "8:43", "12:21", "14:28")]


def test_object_gets_messages_without_line_and_column() -> None:
    document = {"apiVersion": "descheduler/v1alpha2", "maxNoOfPodsToEvictTotal": -1}

    with pytest.raises(PolicyError) as caught:
        load_policy(document, REGISTRY)

    assert str(caught.value) == "<policy>: maxNoOfPodsToEvictTotal: -1 is below 0"
    assert caught.value.problems[0].line is None


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param({"a": float("nan")}, "nan is not a number Kubernetes reads", id="not a number"),
        pytest.param({1: "a"}, "has the key 1; keys are strings", id="a number as a key"),
        pytest.param({"a": {1, 2}}, "holds a set; only what JSON knows may be in a policy", id="a set"),
        pytest.param({"a": 10**5000}, "holds a number of 16610 bits", id="a huge number"),
    ],
)
def test_object_that_json_cannot_hold_is_refused(document: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(document, REGISTRY)

    assert str(caught.value) == f"<policy>: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"a: \xff\xfe\n", "{path}:1:4: byte 0xff is not UTF-8; save the policy as UTF-8", id="latin text"),
        pytest.param(
            b"\x7fELF\0\0",
            "{path}: holds NUL bytes, so it is no text file; a policy is YAML or JSON in UTF-8",
            id="binary",
        ),
        pytest.param(b"\x1f\x8b\x08", "{path}: is compressed with gzip; unpack it first", id="gzip"),
        pytest.param(b"#" * 5_000_000, "{path}: is larger than 4 MiB; no policy needs that", id="too large a file"),
    ],
)
def test_file_that_is_no_policy_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(content)

    with pytest.raises(PolicyError) as caught:
        load_policy(path, REGISTRY)

    assert str(caught.value) == message.format(path=path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"nothing\.yaml: no such file; name the policy file to read$"):
        load_policy(tmp_path / "nothing.yaml", REGISTRY)


def test_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"is a directory; name the policy file in it$"):
        load_policy(tmp_path, REGISTRY)

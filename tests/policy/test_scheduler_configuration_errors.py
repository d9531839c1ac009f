"""Bad scheduler configurations: each fault gets one clear message, with the place; what is odd gets a warning."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.policy.problems import PolicyError, Problem
from descheduler.policy.scheduler_configuration import SchedulerConfiguration, load_scheduler_configuration
from descheduler.policy.scheduler_plugin_args_reader import CONFIGURABLE

from .scheduler_builders import problems, scheduler, warnings, with_args, with_plugins

SUPPORTED = "only kubescheduler.config.k8s.io/v1, which Kubernetes has since 1.25"
ARGS = "profiles[0].pluginConfig[0].args"

DOCUMENTS = [
    pytest.param(
        "", ": apiVersion is missing; add 'apiVersion: kubescheduler.config.k8s.io/v1'", id="an empty document"
    ),
    pytest.param(
        "[]", ":1:1: expected a KubeSchedulerConfiguration with apiVersion and kind, found a list", id="a list"
    ),
    pytest.param(
        "apiVersion: kubescheduler.config.k8s.io/v1\n",
        ":1:1: kind is missing; add 'kind: KubeSchedulerConfiguration'",
        id="no kind",
    ),
    pytest.param(
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\nold: true\n",
        f":1:13: apiVersion: 'kubescheduler.config.k8s.io/v1beta3' is not supported, {SUPPORTED}",
        id="an old version, whose fields are not looked at",
    ),
    pytest.param(
        "apiVersion: 1\nkind: KubeSchedulerConfiguration\n",
        ":1:13: apiVersion: expected a string, found a number",
        id="a number for a version",
    ),
    pytest.param(
        "apiVersion: v1\nkind: ConfigMap\n",
        ":2:7: kind: 'ConfigMap' is not supported, only KubeSchedulerConfiguration; give the document in its data",
        id="the ConfigMap around it",
    ),
    pytest.param(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfig\n",
        ":2:7: kind: 'KubeSchedulerConfig' is not supported, only KubeSchedulerConfiguration; "
        "did you mean 'KubeSchedulerConfiguration'?",
        id="a kind spelled wrongly",
    ),
    pytest.param(
        "kind: [\n",
        ":2:1: not YAML: while parsing a flow node did not find expected node content",
        id="a document that is not YAML",
    ),
    pytest.param(
        scheduler("percentageOfNodeToScore: 5\n"),
        ":3:1: percentageOfNodeToScore: unknown field; did you mean 'percentageOfNodesToScore'?",
        id="an unknown field",
    ),
    pytest.param(
        scheduler("parallelism: 1\nparallelism: 2\n"), ":4:1: parallelism: is given twice; keep one of them", id="twice"
    ),
    pytest.param(scheduler("parallelism: 0\n"), ":3:14: parallelism: 0 is below 1", id="no parallelism"),
    pytest.param(
        scheduler("percentageOfNodesToScore: 101\n"),
        ":3:27: percentageOfNodesToScore: 101 is above 100",
        id="more than all nodes",
    ),
    pytest.param(
        scheduler("profiles: [{percentageOfNodesToScore: -1}]\n"),
        ":3:39: profiles[0].percentageOfNodesToScore: -1 is below 0",
        id="fewer than no nodes",
    ),
    pytest.param(
        scheduler("podInitialBackoffSeconds: 0\n"),
        ":3:27: podInitialBackoffSeconds: 0 is below 1",
        id="no initial backoff",
    ),
    pytest.param(
        scheduler("podMaxBackoffSeconds: 5\npodInitialBackoffSeconds: 7\n"),
        ":3:23: podMaxBackoffSeconds: 5 is below podInitialBackoffSeconds, which is 7",
        id="a longest backoff below the initial one",
    ),
    pytest.param(
        scheduler("profiles: [{schedulerName: ''}]\n"),
        ":3:28: profiles[0].schedulerName: is missing; name the scheduler of every profile, as pods name it",
        id="an empty scheduler name",
    ),
    pytest.param(
        scheduler("profiles:\n- schedulerName: a\n- percentageOfNodesToScore: 5\n"),
        ":5:3: profiles[1].schedulerName: is missing; name the scheduler of every profile, as pods name it",
        id="one of several profiles without a name",
    ),
    pytest.param(
        scheduler("profiles:\n- schedulerName: a\n- schedulerName: a\n"),
        ":5:18: profiles[1].schedulerName: 'a' is the scheduler of an earlier profile too",
        id="two profiles of one name",
    ),
    pytest.param(
        scheduler(
            "profiles:\n- schedulerName: a\n- schedulerName: b\n"
            "  plugins: {queueSort: {enabled: [{name: PrioritySort}]}}\n"
        ),
        ":6:24: profiles[1].plugins.queueSort: differs from that of the first profile; all profiles share one queue",
        id="two orders of one queue",
    ),
]

PLUGINS = [
    pytest.param(
        "{filters: {}}", ":5:13: profiles[0].plugins.filters: unknown field; did you mean 'filter'?", id="point"
    ),
    pytest.param(
        "{filter: {enabled: [NodeName]}}",
        ":5:32: profiles[0].plugins.filter.enabled[0]: expected an object, found the string 'NodeName'",
        id="a name instead of an object",
    ),
    pytest.param(
        "{filter: {enabled: [{weight: 1}]}}",
        ":5:32: profiles[0].plugins.filter.enabled[0].name: is missing",
        id="no name",
    ),
    pytest.param(
        "{filter: {enabled: [{name: ImageLocality}]}}",
        ":5:39: profiles[0].plugins.filter.enabled[0].name: plugin 'ImageLocality' is no filter plugin; "
        "list it under score",
        id="a plugin that does not implement the point",
    ),
    pytest.param(
        "{permit: {enabled: [{name: TaintToleration}]}}",
        ":5:39: profiles[0].plugins.permit.enabled[0].name: plugin 'TaintToleration' is no permit plugin; "
        "list it under filter or preScore or score",
        id="a plugin that implements several others",
    ),
    pytest.param(
        "{multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}}",
        ":5:61: profiles[0].plugins.multiPoint.enabled[1].name: plugin 'NodeName' is enabled twice in this set",
        id="a plugin twice",
    ),
    pytest.param(
        "{filter: {enabled: [{name: EBSLimits}]}}",
        ":5:39: profiles[0].plugins.filter.enabled[0].name: plugin 'EBSLimits' was removed; "
        "NodeVolumeLimits, which runs by default, does its work",
        id="a plugin that is gone",
    ),
    pytest.param(
        "{score: {enabled: [{name: ImageLocality, weight: -1}]}}",
        ":5:61: profiles[0].plugins.score.enabled[0].weight: -1 is below 0",
        id="a negative weight",
    ),
    pytest.param(
        "{queueSort: {enabled: [{name: Theirs}]}}",
        ":5:24: profiles[0].plugins.queueSort: 'PrioritySort' and 'Theirs' would both sort the queue; "
        "disable all but one",
        id="two that sort the queue",
    ),
    pytest.param(
        "{bind: {disabled: [{name: DefaultBinder}]}}",
        ":5:12: profiles[0].plugins: no bind plugin is left; enable DefaultBinder",
        id="none that binds",
    ),
    pytest.param(
        "{multiPoint: {disabled: [{name: '*'}]}}",
        ":5:12: profiles[0].plugins: no queueSort and no bind plugin is left; enable PrioritySort and DefaultBinder",
        id="nothing at all",
    ),
]

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
        f":7:18: {ARGS}.kind: is 'NodeAffinityArgs', but the arguments of NodeResourcesFit say NodeResourcesFitArgs, "
        "or nothing",
        id="arguments of another plugin",
    ),
    pytest.param(
        "InterPodAffinity",
        "{apiVersion: kubescheduler.config.k8s.io/v1beta3}",
        f":7:24: {ARGS}.apiVersion: is 'kubescheduler.config.k8s.io/v1beta3', but the arguments of InterPodAffinity "
        "say kubescheduler.config.k8s.io/v1, or nothing",
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
        "write what stands before the '/', as example.com",
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
        f":7:11: {ARGS}.defaultingType: is System, which leaves no room for defaultConstraints; "
        "say List, or remove them",
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
        f":7:27: {ARGS}.filterTimeout: is negative; 0s stands for no limit",
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

EXTENDERS = [
    pytest.param(
        "[{prioritizeVerb: p}]",
        ":3:13: extenders[0].weight: 0 is not above 0, as a prioritizing extender's must be",
        id="scores without a weight",
    ),
    pytest.param(
        "[{bindVerb: b}, {bindVerb: b}]",
        ":3:12: extenders: several have a bindVerb; only one of them can bind",
        id="two that bind",
    ),
    pytest.param(
        "[{managedResources: [{name: cpu}]}]",
        ":3:40: extenders[0].managedResources[0].name: 'cpu' is not an extended resource, such as example.com/gpu",
        id="a resource that the scheduler manages",
    ),
    pytest.param(
        "[{managedResources: [{name: a/b}]}, {managedResources: [{name: a/b}]}]",
        ":3:75: extenders[1].managedResources[0].name: 'a/b' is managed twice; only one extender can manage a resource",
        id="a resource of two extenders",
    ),
    pytest.param(
        "[{httpTimeout: 5}]",
        ":3:27: extenders[0].httpTimeout: expected a duration such as 90s or 1h30m, found number 5",
        id="a timeout without a unit",
    ),
]


@pytest.mark.parametrize(("text", "message"), DOCUMENTS)
def test_fault_of_a_document_is_one_message(text: str, message: str) -> None:
    assert problems(text) == [f"scheduler.yaml{message}"]


@pytest.mark.parametrize(("plugins", "message"), PLUGINS)
def test_fault_among_plugins_is_one_message(plugins: str, message: str) -> None:
    assert problems(with_plugins(plugins)) == [f"scheduler.yaml{message}"]


@pytest.mark.parametrize(("plugin", "args", "message"), ARGUMENTS)
def test_fault_in_arguments_is_one_message(plugin: str, args: str, message: str) -> None:
    assert problems(with_args(plugin, args)) == [f"scheduler.yaml{message}"]


@pytest.mark.parametrize(("extenders", "message"), EXTENDERS)
def test_fault_of_an_extender_is_one_message(extenders: str, message: str) -> None:
    assert problems(scheduler(f"extenders: {extenders}\n")) == [f"scheduler.yaml{message}"]


def test_every_fault_is_told_in_document_order() -> None:
    text = scheduler(
        """\
        parallelism: 0
        profiles:
        - schedulerName: a
          plugins: {filter: {enabled: [{name: EBSLimits}]}}
          pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: -1}}]
        percentageOfNodesToScore: 101
        """
    )

    found = [problem.split(": ")[1] for problem in problems(text)]

    assert found == [
        "parallelism",
        "profiles[0].plugins.filter.enabled[0].name",
        "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
        "percentageOfNodesToScore",
    ]


def test_missing_file_is_named_for_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as refused:
        load_scheduler_configuration(tmp_path / "none.yaml")

    assert str(refused.value) == f"{tmp_path}/none.yaml: no such file; name the scheduler configuration file to read"


def test_text_without_a_name_is_called_what_it_is() -> None:
    with pytest.raises(PolicyError) as refused:
        load_scheduler_configuration({})

    assert str(refused.value) == (
        "<scheduler configuration>: apiVersion is missing; add 'apiVersion: kubescheduler.config.k8s.io/v1'"
    )


WARNINGS = [
    pytest.param(
        with_plugins("{filter: {enabled: [{name: NodeResourceFit}]}}"),
        ":5:39: profiles[0].plugins.filter.enabled[0].name: plugin 'NodeResourceFit' is not kube-scheduler's own; "
        "what it does is unknown; did you mean 'NodeResourcesFit'?",
        id="a plugin of others",
    ),
    pytest.param(
        with_plugins("{score: {disabled: [{name: ImageLocalty}]}}"),
        ":5:39: profiles[0].plugins.score.disabled[0].name: unknown plugin 'ImageLocalty', nothing to disable; "
        "did you mean 'ImageLocality'?",
        id="a disabled plugin that does not exist",
    ),
    pytest.param(
        with_plugins("{preFilter: {disabled: [{name: NodePorts}, {name: VolumeBinding}]}}"),
        ":5:24: profiles[0].plugins.preFilter: NodePorts, VolumeBinding would run at filter but not at preFilter; "
        "kube-scheduler then places no pod of this profile",
        id="filters that nothing prepares",
    ),
    pytest.param(
        with_plugins("{preScore: {disabled: [{name: TaintToleration}]}}"),
        ":5:23: profiles[0].plugins.preScore: TaintToleration would run at score but not at preScore; "
        "kube-scheduler then places no pod that fits more than one node",
        id="a scorer that nothing prepares",
    ),
    pytest.param(
        with_args("NodeResourceFit", "{}"),
        ":6:11: profiles[0].pluginConfig[0].name: unknown plugin 'NodeResourceFit', its arguments are ignored; "
        "did you mean 'NodeResourcesFit'?",
        id="arguments of an unknown plugin",
    ),
    pytest.param(
        with_args("NodeName", "{}"),
        ":6:5: profiles[0].pluginConfig[0]: NodeName takes no arguments; they are ignored",
        id="arguments of a plugin without any",
    ),
    pytest.param(
        scheduler(
            "profiles:\n- plugins: {multiPoint: {disabled: [{name: NodePorts}, {name: NodeAffinity}]}}\n"
            "  pluginConfig: [{name: NodeAffinity}]\n"
        ),
        ":5:18: profiles[0].pluginConfig[0]: NodeAffinity is configured, but enabled nowhere in this profile",
        id="arguments of a plugin that does not run",
    ),
    pytest.param(
        with_args("VolumeBinding", "{shape: [{utilization: 0, score: 10}]}"),
        f":7:19: {ARGS}.shape: is not looked at; "
        "kube-scheduler scores storage with the gate StorageCapacityScoring only",
        id="storage that is to be scored",
    ),
    pytest.param(
        with_args("NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {}}}"),
        f":7:78: {ARGS}.scoringStrategy.requestedToCapacityRatio: counts for the strategy RequestedToCapacityRatio "
        "only, ignored; Kubernetes 1.36 refuses it",
        id="a shape for another strategy",
    ),
    pytest.param(
        with_args(
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
            "whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: honor}]}",
        ),
        f":7:139: {ARGS}.defaultConstraints[0].nodeTaintsPolicy: 'honor' is neither Honor nor Ignore and counts as "
        "Ignore; did you mean 'Honor'?",
        id="a policy spelled wrongly",
    ),
    pytest.param(
        scheduler("extenders: [{filterVerb: f}]\n"),
        ":3:26: extenders[0].filterVerb: an extender filters nodes; whether pods fit is unknown",
        id="an extender that filters",
    ),
    pytest.param(
        scheduler("extenders: [{prioritizeVerb: p, weight: 1, managedResources: [{name: a/b}]}]\n"),
        ":3:30: extenders[0].prioritizeVerb: an extender scores nodes; "
        "which one pods that ask for its resources get is unknown",
        id="an extender that scores",
    ),
    pytest.param(
        scheduler("extenders: [{bindVerb: b}]\n"),
        ":3:24: extenders[0].bindVerb: an extender binds pods; it is taken to do as it is told",
        id="an extender that binds",
    ),
    pytest.param(
        scheduler("---\nkind: Pod\n"),
        ":3:1: another document begins here; only the first one of a file is read",
        id="a second document",
    ),
]


@pytest.mark.parametrize(("text", "message"), WARNINGS)
def test_what_is_odd_is_one_warning(text: str, message: str) -> None:
    assert warnings(text) == [f"scheduler.yaml{message}"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(scheduler(), id="no settings"),
        pytest.param(with_plugins("{filter: {disabled: [{name: '*'}]}}"), id="everything disabled"),
        pytest.param(with_plugins("{filter: {disabled: [{name: EBSLimits}]}}"), id="a removed plugin disabled"),
        pytest.param(
            scheduler("leaderElection: {leaderElect: true}\nclientConnection: {kubeconfig: /etc/scheduler.conf}\n"),
            id="settings of the process",
        ),
    ],
)
def test_what_is_ordinary_needs_no_warning(text: str) -> None:
    assert warnings(text) == []


KEYS = st.sampled_from(
    [
        *("apiVersion", "kind", "profiles", "schedulerName", "plugins", "multiPoint", "filter", "score", "enabled"),
        *("disabled", "name", "weight", "pluginConfig", "args", "scoringStrategy", "type", "shape", "resources"),
        *("addedAffinity", "defaultConstraints", "extenders", "managedResources", "requestedToCapacityRatio"),
    ]
)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "*", "NodeAffinity", "NodeResourcesFit", "5s"])
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def read(document: dict[str, object]) -> tuple[Problem, ...] | SchedulerConfiguration:
    """What is wrong with `document`, or else the configuration in it."""
    try:
        return load_scheduler_configuration(document)
    except PolicyError as error:
        return error.problems


@given(st.dictionaries(KEYS, VALUES), st.sampled_from([{}, HEADER]))
def test_any_object_loads_or_is_refused_with_problems(body: dict[str, object], header: dict[str, object]) -> None:
    result = read({**body, **header})

    assert result.profiles if isinstance(result, SchedulerConfiguration) else result


@given(st.sampled_from(sorted(CONFIGURABLE)), st.dictionaries(KEYS, VALUES))
def test_problems_of_any_arguments_are_placed_in_them(plugin: str, args: dict[str, object]) -> None:
    result = read({**HEADER, "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]})

    problems = () if isinstance(result, SchedulerConfiguration) else result
    assert all(problem.field.startswith("profiles[0].pluginConfig[0].args") for problem in problems)

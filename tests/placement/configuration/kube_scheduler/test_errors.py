"""Bad scheduler configurations: each fault gets one clear message, with the place; what is odd gets a warning."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.documents.problems import DocumentProblem, PolicyError
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    load_scheduler_configuration,
)
from descheduler.placement.plugins.table import PLUGINS

from .builders import problems, scheduler, with_plugins

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
        ":1:1: no entry of a ConfigMap holds a KubeSchedulerConfiguration or a volcano-scheduler.conf; entries: none",
        id="a ConfigMap without one",
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

PLUGIN_FAULTS = [
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
        ":5:39: profiles[0].plugins.filter.enabled[0].name: plugin 'ImageLocality' is not a filter plugin; "
        "list it under score",
        id="a plugin that does not implement the point",
    ),
    pytest.param(
        "{permit: {enabled: [{name: TaintToleration}]}}",
        ":5:39: profiles[0].plugins.permit.enabled[0].name: plugin 'TaintToleration' is not a permit plugin; "
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
        "{score: {enabled: [{name: ImageLocality, weight: 2147483648}]}}",
        ":5:61: profiles[0].plugins.score.enabled[0].weight: 2147483648 is above 2147483647",
        id="a weight beyond 32 bits",
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


@pytest.mark.parametrize(("plugins", "message"), PLUGIN_FAULTS)
def test_fault_among_plugins_is_one_message(plugins: str, message: str) -> None:
    assert problems(with_plugins(plugins)) == [f"scheduler.yaml{message}"]


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
        load_scheduler_configuration(tmp_path / "none.yaml", plugins=PLUGINS)

    assert str(refused.value) == f"{tmp_path}/none.yaml: no such file; name the scheduler configuration file to read"


def test_text_without_a_name_is_called_what_it_is() -> None:
    with pytest.raises(PolicyError) as refused:
        load_scheduler_configuration({}, plugins=PLUGINS)

    assert str(refused.value) == (
        "<scheduler configuration>: apiVersion is missing; add 'apiVersion: kubescheduler.config.k8s.io/v1'"
    )


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


def read(document: dict[str, object]) -> tuple[DocumentProblem, ...] | SchedulerConfiguration:
    """What is wrong with `document`, or else the configuration in it."""
    try:
        return load_scheduler_configuration(document, plugins=PLUGINS)
    except PolicyError as error:
        return error.problems


@pytest.mark.long
@given(st.dictionaries(KEYS, VALUES), st.sampled_from([{}, HEADER]))
def test_any_object_loads_or_is_refused_with_problems(body: dict[str, object], header: dict[str, object]) -> None:
    result = read({**body, **header})

    assert result.profiles if isinstance(result, SchedulerConfiguration) else result


@pytest.mark.long
@given(
    st.sampled_from([name for name, row in sorted(PLUGINS.items()) if row.args is not None]),
    st.dictionaries(KEYS, VALUES),
)
def test_problems_of_any_arguments_are_placed_in_them(plugin: str, args: dict[str, object]) -> None:
    result = read({**HEADER, "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]})

    problems = () if isinstance(result, SchedulerConfiguration) else result
    assert all(problem.field.startswith("profiles[0].pluginConfig[0].args") for problem in problems)

"""Scheduler configurations that load: which plugins run, in which order, with which weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
    load_scheduler_configuration,
)
from descheduler.placement.configuration.kube_scheduler.default_plugins import (
    PluginSection,
    SchedulerPluginSetSection,
    expand,
    merge_multi_point,
)
from descheduler.placement.configuration.kube_scheduler.extenders import Extender
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitArgs
from descheduler.placement.plugins.table import PLUGINS
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION

from .builders import load, profile_with, scheduler

FILTERS = (
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
)


SCORES = (
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodeResourcesFit", 1),
    ("VolumeBinding", 1),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
)


def test_default_profile_runs_the_default_plugins_in_order() -> None:
    (profile,) = DEFAULT_CONFIGURATION.profiles

    assert profile == SchedulerProfile(
        scheduler_name="default-scheduler",
        queue_sorts=("PrioritySort",),
        pre_enqueue=("SchedulingGates", "DynamicResources", "DefaultPreemption"),
        pre_filters=tuple(name for name in FILTERS if "pre_filter" in PLUGINS[name].points),
        filters=FILTERS,
        post_filters=("DynamicResources", "DefaultPreemption"),
        pre_scores=(
            "TaintToleration",
            "NodeAffinity",
            "NodeResourcesFit",
            "VolumeBinding",
            "PodTopologySpread",
            "InterPodAffinity",
            "NodeResourcesBalancedAllocation",
        ),
        scores=SCORES,
        reserves=("VolumeBinding", "DynamicResources"),
        pre_binds=("VolumeBinding", "DynamicResources"),
        binds=("DefaultBinder",),
    )
    assert SchedulerConfiguration((profile,)) == DEFAULT_CONFIGURATION


@pytest.mark.parametrize(
    ("release", "missing"),
    [
        pytest.param("1.33", {"DynamicResources", "NodeDeclaredFeatures"}, id="claims and features before 1.34"),
        pytest.param("1.35", {"NodeDeclaredFeatures"}, id="features before 1.36"),
        pytest.param("1.36", set(), id="nothing in 1.36"),
    ],
)
def test_default_plugins_follow_the_version(release: str, missing: set[str]) -> None:
    (profile,) = default_configuration(KubeVersion.parse(release), PLUGINS).profiles

    assert profile.filters == ("NodeUnschedulable", "NodeName", *(name for name in FILTERS[2:] if name not in missing))
    assert profile.scores == tuple(each for each in SCORES if each[0] not in {*missing, "VolumeBinding"})


def test_profile_is_of_the_release_that_its_scheduler_is_made_of_with_the_gates_of_the_cluster() -> None:
    cluster = KubeVersion.parse("1.37").with_gates({"GenericWorkload": True})
    own = KubeVersion.parse("1.34")

    found = [SchedulerProfile(scheduler_name="s", made_of=made_of).release(cluster) for made_of in (None, own)]

    assert found == [cluster, own.with_gates({"GenericWorkload": True})]


def test_gate_of_the_operator_brings_its_plugin() -> None:
    version = KubeVersion().with_gates({"GenericWorkload": True})

    (profile,) = default_configuration(version, PLUGINS).profiles

    assert profile.pre_enqueue[-1] == "GangScheduling"


def test_profile_is_found_by_the_scheduler_name_of_a_pod() -> None:
    configuration = load(scheduler("profiles: [{schedulerName: default-scheduler}, {schedulerName: packing}]\n"))

    assert configuration.profile_for("packing") is configuration.profiles[1]
    assert configuration.profile_for("default-scheduler") is configuration.profiles[0]
    assert configuration.profile_for("") is configuration.profiles[0]
    assert configuration.profile_for("volcano") is None


def test_single_profile_without_a_name_is_the_default_scheduler() -> None:
    configuration = load(scheduler("profiles: [{percentageOfNodesToScore: 30}]\n"))

    (profile,) = configuration.profiles
    assert (profile.scheduler_name, profile.percentage_of_nodes_to_score) == ("default-scheduler", 30)


TEXT = scheduler("profiles: [{schedulerName: own, plugins: {score: {disabled: [{name: ImageLocality}]}}}]\n")


JSON = (
    '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": '
    '[{"schedulerName": "own", "plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}}]}'
)


def test_file_text_and_object_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(TEXT)
    plain = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "own", "plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}}],
    }

    loaded = [load_scheduler_configuration(source, plugins=PLUGINS) for source in (file, TEXT, JSON, plain)]

    assert loaded[0].profiles[0].scores == SCORES[:-1]
    assert loaded[1:] == loaded[:1] * 3


@pytest.mark.parametrize(
    ("plugins", "filters"),
    [
        pytest.param("{}", FILTERS, id="nothing changes nothing"),
        pytest.param(
            "{filter: {disabled: [{name: NodePorts}]}, preFilter: {disabled: [{name: NodePorts}]}}",
            tuple(name for name in FILTERS if name != "NodePorts"),
            id="a default that is disabled does not run",
        ),
        pytest.param("{filter: {disabled: [{name: '*'}]}}", (), id="a star disables every default"),
        pytest.param(
            "{filter: {disabled: [{name: '*'}], enabled: [{name: VolumeZone}, {name: NodeName}]}}",
            ("VolumeZone", "NodeName"),
            id="what is enabled beside a star is all that runs",
        ),
        pytest.param(
            "{filter: {enabled: [{name: VolumeZone}, {name: NodeName}]}}",
            ("VolumeZone", "NodeName", *(name for name in FILTERS if name not in ("VolumeZone", "NodeName"))),
            id="defaults that are named run first",
        ),
        pytest.param(
            "{filter: {enabled: [{name: NodeName}], disabled: [{name: NodeName}]}}",
            (*(name for name in FILTERS if name != "NodeName"), "NodeName"),
            id="a default that is disabled and enabled runs last",
        ),
        pytest.param(
            "{multiPoint: {disabled: [{name: NodeName}], enabled: [{name: NodeName}]}}",
            (*(name for name in FILTERS if name != "NodeName"), "NodeName"),
            id="a default that is disabled and enabled everywhere runs last everywhere",
        ),
        pytest.param(
            "{multiPoint: {enabled: [{name: InterPodAffinity, weight: 5}]}}",
            FILTERS,
            id="a default that is enabled again keeps its place",
        ),
        pytest.param(
            "{multiPoint: {disabled: [{name: '*'}], enabled: "
            "[{name: PrioritySort}, {name: DefaultBinder}, {name: VolumeZone}, {name: NodeAffinity}]}}",
            ("VolumeZone", "NodeAffinity"),
            id="a star under multiPoint leaves what is enabled beside it",
        ),
        pytest.param(
            "{multiPoint: {disabled: [{name: NodeName}]}, filter: {enabled: [{name: NodeName}]}}",
            (*(name for name in FILTERS if name != "NodeName"), "NodeName"),
            id="an extension point outranks multiPoint",
        ),
        pytest.param(
            "{filter: {enabled: [{name: Theirs}, {name: NodeName}]}}",
            ("NodeName", *(name for name in FILTERS if name != "NodeName")),
            id="plugins of others are left out of the order",
        ),
    ],
)
def test_filters_run_in_the_order_of_kube_scheduler(plugins: str, filters: tuple[str, ...]) -> None:
    assert profile_with(plugins).filters == filters


@pytest.mark.parametrize(
    ("plugins", "scores"),
    [
        pytest.param(
            "{score: {enabled: [{name: ImageLocality, weight: 7}]}}",
            (("ImageLocality", 7), *SCORES[:-1]),
            id="a weight under score",
        ),
        pytest.param(
            "{multiPoint: {enabled: [{name: ImageLocality, weight: 7}]}}",
            (*SCORES[:-1], ("ImageLocality", 7)),
            id="a weight under multiPoint",
        ),
        pytest.param(
            "{multiPoint: {enabled: [{name: TaintToleration}]}}",
            (("TaintToleration", 1), *SCORES[1:]),
            id="a default enabled again without a weight falls back to 1",
        ),
        pytest.param(
            "{score: {enabled: [{name: TaintToleration, weight: 0}]}}",
            (("TaintToleration", 1), *SCORES[1:]),
            id="a weight of 0 stands for 1",
        ),
        pytest.param(
            "{score: {enabled: [{name: NodeAffinity, weight: 4}]}, "
            "multiPoint: {enabled: [{name: NodeAffinity, weight: 9}]}}",
            (("NodeAffinity", 4), SCORES[0], *SCORES[2:]),
            id="the weight under score outranks the one under multiPoint",
        ),
        pytest.param(
            "{score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}, {name: VolumeBinding}]}}",
            (("NodeResourcesFit", 1), ("VolumeBinding", 1)),
            id="volumes are scored",
        ),
    ],
)
def test_scorers_have_the_weights_of_kube_scheduler(plugins: str, scores: tuple[tuple[str, int], ...]) -> None:
    assert profile_with(plugins).scores == scores


def test_profile_says_which_defaults_take_no_part() -> None:
    profile = profile_with(
        "{multiPoint: {disabled: [{name: InterPodAffinity}, {name: NodePorts}]}, "
        "score: {disabled: [{name: ImageLocality}, {name: NodeAffinity}]}}"
    )

    assert profile.disabled == ("NodePorts", "InterPodAffinity", "ImageLocality")


@pytest.mark.parametrize(
    ("plugins", "unknown", "scorers"),
    [
        pytest.param("{filter: {enabled: [{name: Theirs}]}}", ("Theirs",), (), id="a filter can refuse"),
        pytest.param("{multiPoint: {enabled: [{name: Theirs}]}}", ("Theirs",), (), id="anything may be in multiPoint"),
        pytest.param("{permit: {enabled: [{name: Theirs}]}}", ("Theirs",), (), id="permission can be refused"),
        pytest.param("{score: {enabled: [{name: Theirs}]}}", ("Theirs",), ("Theirs",), id="a scorer cannot refuse"),
        pytest.param(
            "{score: {enabled: [{name: Theirs}]}, preFilter: {enabled: [{name: Theirs}, {name: Others}]}}",
            ("Theirs", "Others"),
            (),
            id="a scorer that also prepares a filter can refuse",
        ),
        pytest.param("{postBind: {enabled: [{name: Theirs}]}}", (), (), id="what comes after binding has no effect"),
    ],
)
def test_plugins_of_others_are_unknown(plugins: str, unknown: tuple[str, ...], scorers: tuple[str, ...]) -> None:
    profile = profile_with(plugins)

    assert (profile.unknown_plugins, profile.unknown_scorers) == (unknown, scorers)


def test_plugins_that_read_what_nothing_prepares_are_named() -> None:
    profile = profile_with(
        "{preFilter: {disabled: [{name: NodePorts}, {name: NodeAffinity}]}, preScore: {disabled: [{name: '*'}]}}"
    )

    assert profile.unprepared_filters == ("NodePorts",)
    assert profile.unprepared_scorers == ("TaintToleration", "PodTopologySpread", "InterPodAffinity")


def test_scheduler_of_another_project_replaces_the_queue_and_the_binder() -> None:
    profile = profile_with(
        "{queueSort: {enabled: [{name: Ours}], disabled: [{name: '*'}]}, "
        "bind: {enabled: [{name: Theirs}], disabled: [{name: '*'}]}}"
    )

    assert profile.unknown_plugins == ("Ours", "Theirs")
    assert profile.unknown_scorers == ("Ours",)


def test_extenders_are_noted_and_ignorable_ones_come_last() -> None:
    configuration = load(
        scheduler(
            """\
            extenders:
            - {urlPrefix: http://a, filterVerb: filter, preemptVerb: preempt, ignorable: true, enableHTTPS: true}
            - urlPrefix: http://b
              prioritizeVerb: prioritize
              weight: 5
              bindVerb: bind
              httpTimeout: 5s
              tlsConfig: {caFile: /ca.crt}
              managedResources: [{name: example.com/gpu, ignoredByScheduler: true}, {name: example.com/nic}]
            """
        )
    )

    second, first = configuration.extenders
    assert first == Extender("http://a", filters=True, preempts=True, weight=0, ignorable=True)
    assert second == Extender(
        "http://b",
        prioritizes=True,
        weight=5,
        binds=True,
        managed_resources=frozenset({"example.com/gpu", "example.com/nic"}),
        ignored_resources=("example.com/gpu",),
    )


def test_extender_with_resources_is_asked_only_about_pods_that_want_them() -> None:
    everywhere = Extender("http://a", filters=True)
    narrow = Extender("http://b", filters=True, managed_resources=frozenset({"example.com/gpu"}))

    assert everywhere.is_interested(["cpu"])
    assert narrow.is_interested(["cpu", "example.com/gpu"])
    assert not narrow.is_interested(["cpu"])


def test_resources_that_an_extender_takes_over_replace_the_ignored_ones_of_every_profile() -> None:
    configuration = load(
        scheduler(
            """\
            profiles:
            - schedulerName: a
              pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/nic]}}]
            - schedulerName: b
            extenders:
            - {urlPrefix: http://a, managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]}
            """
        )
    )

    expected = NodeResourcesFitArgs(ignored_resources=frozenset({"example.com/gpu"}))
    assert [profile.args.of(NodeResourcesFitArgs) for profile in configuration.profiles] == [expected, expected]


NAMES = st.sampled_from(["NodeName", "NodePorts", "VolumeZone", "ImageLocality", "Theirs", "*"])


SETS = st.builds(
    lambda enabled, disabled: SchedulerPluginSetSection(
        tuple(PluginSection(name) for name in enabled if name != "*"), tuple(PluginSection(name) for name in disabled)
    ),
    st.lists(NAMES, unique=True),
    st.lists(NAMES, unique=True),
)


@given(SETS, SETS)
def test_what_is_enabled_runs_and_nothing_runs_twice(
    own: SchedulerPluginSetSection, shared: SchedulerPluginSetSection
) -> None:
    defaults = (PluginSection("NodeName"), PluginSection("NodePorts"), PluginSection("ImageLocality", 1))

    running = expand("filter", own, merge_multi_point(defaults, shared), PLUGINS)

    assert len(running) == len(set(running))
    assert {plugin.name for plugin in own.enabled} <= set(running)
    assert set(running) <= {plugin.name for plugin in (*own.enabled, *shared.enabled, *defaults)}

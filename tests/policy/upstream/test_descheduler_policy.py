"""DeschedulerPolicy documents that load: leniency, defaults, warnings, the evictor that is always there."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.eviction.default_evictor.default_evictor import DefaultEvictorArgs
from descheduler.policy.load import load_policy
from descheduler.policy.shared_args import PriorityThreshold
from descheduler.policy.types import MetricsProvider, PluginConfig, SecretReference
from descheduler.strategies.low_node_utilization import LowNodeUtilizationArgs
from descheduler.strategies.remove_duplicates import RemoveDuplicatesArgs
from descheduler.strategies.remove_failed_pods import RemoveFailedPodsArgs
from descheduler.strategies.remove_pods_violating_topology_spread_constraint import (
    remove_pods_violating_topology_spread_constraint as topology_spread,
)
from tests.policy.builders import args_of, load, upstream, warnings, with_args

SYSTEM_CRITICAL = PriorityThreshold(value=2_000_000_000)


def test_evictor_is_prepended_to_both_filters_and_gets_arguments() -> None:
    policy = load(upstream("profiles:\n- name: p\n"))

    profile = policy.profiles[0]
    assert (profile.filter, profile.pre_eviction_filter) == (("DefaultEvictor",), ("DefaultEvictor",))
    assert profile.plugin_configs == (
        PluginConfig("DefaultEvictor", DefaultEvictorArgs(priority_threshold=SYSTEM_CRITICAL)),
    )


def test_evictor_listed_by_the_user_keeps_its_position_and_arguments() -> None:
    policy = load(
        upstream(
            """\
            profiles:
            - name: p
              pluginConfig:
              - name: RemoveDuplicates
              - name: DefaultEvictor
                args: {nodeFit: true}
              plugins:
                balance: {enabled: [RemoveDuplicates]}
                filter: {enabled: [DefaultEvictor]}
            """
        )
    )

    assert policy.profiles[0].filter == ("DefaultEvictor",)
    assert policy.profiles[0].plugin_configs == (
        PluginConfig("RemoveDuplicates", RemoveDuplicatesArgs()),
        PluginConfig("DefaultEvictor", DefaultEvictorArgs(node_fit=True, priority_threshold=SYSTEM_CRITICAL)),
    )


def test_plugin_listed_twice_runs_twice() -> None:
    policy = load(
        upstream(
            "profiles:\n- pluginConfig: [{name: RemoveDuplicates}]\n"
            "  plugins: {balance: {enabled: [RemoveDuplicates, RemoveDuplicates]}}\n"
        )
    )

    assert policy.profiles[0].balance == ("RemoveDuplicates", "RemoveDuplicates")


def test_first_of_two_entries_for_a_plugin_counts() -> None:
    policy = load(
        upstream(
            """\
            profiles:
            - name: p
              pluginConfig:
              - name: RemoveFailedPods
                args: {minPodLifetimeSeconds: 1}
              - name: RemoveFailedPods
                args: {minPodLifetimeSeconds: 2}
            """
        )
    )

    assert policy.profiles[0].args["RemoveFailedPods"] == RemoveFailedPodsArgs(min_pod_lifetime_seconds=1)
    assert (8, "RemoveFailedPods is configured twice; the first entry counts") in [
        (warning.line, warning.message) for warning in policy.warnings
    ]


@pytest.mark.parametrize("args", ["", "null", "~", "{}"])
def test_empty_arguments_are_zero_arguments_with_defaults(args: str) -> None:
    assert args_of("RemoveFailedPods", args) == RemoveFailedPodsArgs(min_pod_lifetime_seconds=3600)


def test_zero_is_not_replaced_by_a_default() -> None:
    assert args_of("RemoveFailedPods", "{minPodLifetimeSeconds: 0}") == RemoveFailedPodsArgs(min_pod_lifetime_seconds=0)


def test_topology_spread_defaults_to_hard_constraints_with_node_fit() -> None:
    assert args_of(
        "RemovePodsViolatingTopologySpreadConstraint", "{constraints: []}"
    ) == topology_spread.RemovePodsViolatingTopologySpreadConstraintArgs(
        constraints=("DoNotSchedule",), topology_balance_node_fit=True
    )


def test_whole_percentages_become_floats() -> None:
    args = args_of("LowNodeUtilization", "{thresholds: {cpu: 20}, targetThresholds: {cpu: 50.5}}")

    assert args == LowNodeUtilizationArgs(thresholds={"cpu": 20.0}, target_thresholds={"cpu": 50.5})


def test_type_of_arguments_may_be_stated_and_null_means_absent() -> None:
    args = args_of("RemoveFailedPods", "{apiVersion: foo/v1, kind: Bar, namespaces: null, minPodLifetimeSeconds: 5}")

    assert args == RemoveFailedPodsArgs(min_pod_lifetime_seconds=5)


def test_settings_of_the_document_are_read() -> None:
    policy = load(
        upstream(
            """\
            nodeSelector: pool=batch
            maxNoOfPodsToEvictPerNamespace: 2
            maxNoOfPodsToEvictTotal: 0
            gracePeriodSeconds: -1
            metricsCollector: {enabled: true}
            metricsProviders:
            - source: Prometheus
              prometheus: {url: 'prometheus:9090', authToken: {secretReference: {namespace: a, name: b}}}
            compatibility: fixed
            """
        )
    )

    assert policy.node_selector is not None
    assert policy.node_selector.matches({"pool": "batch"})
    limits = (policy.max_evictions_per_node, policy.max_evictions_per_namespace, policy.max_evictions_total)
    assert limits == (None, 2, 0)
    assert policy.grace_period_seconds == -1
    assert policy.metrics_collector_enabled
    assert policy.metrics_providers == (MetricsProvider("Prometheus", "prometheus:9090", SecretReference("a", "b")),)
    assert policy.compatibility == "fixed"


def test_missing_kind_means_a_descheduler_policy() -> None:
    policy = load("apiVersion: descheduler/v1alpha2\nmaxNoOfPodsToEvictTotal: 3\n")

    assert (policy.kind, policy.max_evictions_total) == ("DeschedulerPolicy", 3)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("APIVersion: descheduler/v1alpha2\nmaxNoOfPodsToEvictTotal: 3\n", id="in YAML"),
        pytest.param('{"maxNoOfPodsToEvictTotal": 3, "apiversion": "descheduler/v1alpha2"}', id="in JSON"),
        pytest.param("ApiVersion: wrong\napiVersion: descheduler/v1alpha2\nmaxNoOfPodsToEvictTotal: 3\n", id="twice"),
    ],
)
def test_version_counts_in_any_letter_case(text: str) -> None:
    assert load(text).max_evictions_total == 3


@pytest.mark.parametrize("text", ["kind: DeschedulerPolicy\nprofiles: [{name: p}]\n", "profiles: 5\n"])
def test_document_without_api_version_loads_empty_with_a_loud_warning(text: str) -> None:
    policy = load(text)

    assert policy.profiles == ()
    assert [str(warning) for warning in policy.warnings] == [
        "policy.yaml:1:1: apiVersion is missing, so every field is ignored and nothing runs, "
        "as in kubernetes-sigs/descheduler; add 'apiVersion: descheduler/v1alpha2'"
    ]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "null\n", "---\n"])
def test_empty_document_loads_empty_with_a_warning(text: str) -> None:
    policy = load(text)

    assert policy.profiles == ()
    assert [warning.message for warning in policy.warnings] == ["is empty, so nothing runs"]


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        pytest.param(
            upstream("maxNoOfPodsToEvictPernode: 5\n"),
            "3:1: maxNoOfPodsToEvictPernode: unknown field, ignored; did you mean 'maxNoOfPodsToEvictPerNode'?",
            id="the wrong case of a limit",
        ),
        pytest.param(
            upstream("profiles:\n- plugins: {preEvictionFilter: {enabled: [Nope]}}\n"),
            "4:32: profiles[0].plugins.preEvictionFilter: is not read, as in kubernetes-sigs/descheduler; "
            "write preevictionfilter, or set 'compatibility: fixed'",
            id="the documented spelling of the pre-eviction filter",
        ),
        pytest.param(
            upstream("profiles:\n- plugins: {filter: {disabled: [DefaultEvictor]}}\n"),
            "4:32: profiles[0].plugins.filter.disabled: has no effect in a DeschedulerPolicy, ignored",
            id="a list of disabled plugins",
        ),
        pytest.param(
            upstream("profiles:\n- plugins: {sort: {enabled: [Nope]}}\n"),
            "4:29: profiles[0].plugins.sort.enabled: has no effect in a DeschedulerPolicy, ignored",
            id="a plugin set that is never run",
        ),
        pytest.param(
            upstream("maxNoOfPodsToEvictTotal: 1\nmaxNoOfPodsToEvictTotal: 2\n"),
            "4:1: maxNoOfPodsToEvictTotal: is given twice; the last one counts",
            id="a key twice",
        ),
        pytest.param(
            upstream("---\nkind: Other\n"),
            "3:1: another document begins here; only the first one of a file is read",
            id="a second document",
        ),
        pytest.param(
            upstream("metricsProviders: [{source: prometheus}]\n"),
            "3:29: metricsProviders[0].source: unknown source 'prometheus', ignored; did you mean 'Prometheus'?",
            id="an unknown metrics source",
        ),
        pytest.param(
            upstream("profiles:\n- pluginConfig: [{name: RemoveDuplicates}]\n"),
            "4:18: profiles[0].pluginConfig[0]: RemoveDuplicates is configured but not enabled in this profile",
            id="a plugin that is configured but not enabled",
        ),
    ],
)
def test_what_the_reference_ignores_silently_is_a_warning(text: str, warning: str) -> None:
    assert warnings(text) == [f"policy.yaml:{warning}"]


def test_plugins_that_cannot_be_built_fail_at_the_profile_stage() -> None:
    with pytest.raises(PolicyError) as caught:
        load(upstream("nodeSelector: a b\n"))

    assert caught.value.stage == "profile"


def test_documents_that_do_not_load_fail_at_the_policy_stage() -> None:
    with pytest.raises(PolicyError) as caught:
        load(upstream("nodeSelector: a b\nmaxNoOfPodsToEvictTotal: -1\n"))

    assert caught.value.stage == "policy"
    assert [problem.field for problem in caught.value.problems] == ["nodeSelector", "maxNoOfPodsToEvictTotal"]


def test_prometheus_thresholds_that_cannot_be_measured_load_but_do_not_build() -> None:
    text = upstream(
        """\
        profiles:
        - pluginConfig:
          - name: LowNodeUtilization
            args:
              thresholds: {cpu: 20}
              targetThresholds: {cpu: 50}
              metricsUtilization: {source: Prometheus, prometheus: {query: up}}
          plugins:
            balance: {enabled: [LowNodeUtilization]}
        """
    )

    with pytest.raises(PolicyError) as caught:
        load(text)

    assert caught.value.stage == "profile"
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (7, "source Prometheus measures only MetricResource, not cpu"),
        (8, "source Prometheus measures only MetricResource, not cpu"),
    ]


def test_plugin_that_is_not_enabled_need_not_be_buildable() -> None:
    text = with_args(
        "LowNodeUtilization",
        "{thresholds: {cpu: 1}, targetThresholds: {cpu: 2}, "
        "metricsUtilization: {source: Prometheus, prometheus: {query: q}}}",
    )

    assert load(text).profiles[0].balance == ()


def test_policy_is_read_from_a_file_and_named_after_it(tmp_path: Path) -> None:
    path = tmp_path / "my policy.yaml"
    path.write_text(upstream("gracePeriodSeconds: 5\n"), encoding="utf-8")

    policy = load_policy(path, REGISTRY)

    assert (policy.path, policy.grace_period_seconds) == (str(path), 5)


def test_object_is_read_like_text() -> None:
    policy = load_policy({"apiVersion": "descheduler/v1alpha2", "maxNoOfPodsToEvictTotal": 2.0}, REGISTRY)

    assert policy.max_evictions_total == 2


def test_digest_does_not_depend_on_layout() -> None:
    yaml = load(upstream("# why\ngracePeriodSeconds: 5\nnodeSelector: 'a'\n"))
    json = load(
        '{"nodeSelector": "a", "gracePeriodSeconds": 5, "kind": "DeschedulerPolicy", '
        '"apiVersion": "descheduler/v1alpha2"}'
    )

    assert yaml.digest == json.digest
    assert yaml.digest != load(upstream("gracePeriodSeconds: 6\nnodeSelector: a\n")).digest


def test_anchors_and_merge_keys_are_followed() -> None:
    policy = load(
        upstream(
            """\
            common: &common {minPodAge: 1h30m, nodeFit: true}
            profiles:
            - name: p
              pluginConfig:
              - name: DefaultEvictor
                args:
                  <<: *common
                  minReplicas: 2
            """
        )
    )

    assert policy.profiles[0].args["DefaultEvictor"] == DefaultEvictorArgs(
        min_pod_age=timedelta(minutes=90), node_fit=True, min_replicas=2, priority_threshold=SYSTEM_CRITICAL
    )

"""DeschedulerConfiguration documents that load: merging, defaults and what Koordinator leaves unread."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.default_evictor.default_evictor import DefaultEvictorArgs
from descheduler.eviction.migration_controller.args import MigrationControllerArgs, MigrationObjectLimiter, default_args
from descheduler.eviction.placement_verification.placement_verification import PlacementVerificationArgs
from descheduler.eviction.placement_verification.placement_verification import default_args as verification_defaults
from descheduler.policy.koordinator.profile import KoordinatorPluginSetSection, PluginReference, merge_plugin_set
from descheduler.policy.load import load_policy
from descheduler.policy.shared_args import PriorityThreshold
from descheduler.policy.types import LeaderElection, PluginConfig, Policy
from descheduler.strategies.remove_duplicates import RemoveDuplicatesArgs
from descheduler.strategies.remove_pods_having_too_many_restarts import RemovePodsHavingTooManyRestartsArgs
from tests.policy.builders import koordinator, warnings


def load(text: str) -> Policy:
    return load_policy(text, REGISTRY, name="policy.yaml")


def migration_args(args: str) -> MigrationControllerArgs:
    policy = load(koordinator(f"profiles:\n- pluginConfig: [{{name: MigrationController, args: {args}}}]\n"))
    found = policy.profiles[0].args["MigrationController"]
    assert isinstance(found, MigrationControllerArgs)
    return found


def test_document_without_profiles_gets_the_default_one() -> None:
    policy = load(koordinator())

    (profile,) = policy.profiles
    assert profile.name == "koord-descheduler"
    assert (profile.evict, profile.filter) == (("MigrationController",),) * 2
    assert profile.pre_eviction_filter == ("MigrationController", "PlacementVerification")
    assert profile.plugin_configs == (
        PluginConfig("MigrationController", default_args(MigrationControllerArgs())),
        PluginConfig("PlacementVerification", verification_defaults(PlacementVerificationArgs())),
    )
    assert policy.compatibility == "fixed"


def test_component_settings_have_koordinators_defaults() -> None:
    policy = load(koordinator())

    assert policy.leader_election == LeaderElection(
        leader_elect=True,
        lease_duration=timedelta(seconds=15),
        renew_deadline=timedelta(seconds=10),
        retry_period=timedelta(seconds=2),
        resource_lock="leases",
        resource_name="koord-descheduler",
        resource_namespace="koordinator-system",
    )
    assert (policy.client_qps, policy.client_burst) == (50.0, 100)
    assert (policy.healthz_bind_address, policy.metrics_bind_address) == ("0.0.0.0:10251",) * 2
    assert policy.enable_contention_profiling


@pytest.mark.parametrize(
    ("written", "read"),
    [("10.0.0.1", "10.0.0.1:10251"), (":80", "0.0.0.0:80"), ("'::1'", "[::1]:10251"), ("'[::1]:80'", "[::1]:80")],
)
def test_address_is_completed(written: str, read: str) -> None:
    assert load(koordinator(f"metricsBindAddress: {written}\n")).metrics_bind_address == read


def test_announced_example_loads() -> None:
    policy = load(
        koordinator(
            """\
            deschedulingInterval: 10s
            dryRun: true
            leaderElection: {leaderElect: false}
            profiles:
            - name: koord-descheduler
              plugins:
                evict:
                  enabled: [{name: MigrationController}]
                deschedule:
                  enabled: [{name: RemovePodsHavingTooManyRestarts}]
              pluginConfig:
              - name: RemovePodsHavingTooManyRestarts
                args:
                  apiVersion: descheduler/v1alpha2
                  kind: RemovePodsHavingTooManyRestartsArgs
                  podRestartThreshold: 10
            """
        )
    )

    assert policy.dry_run
    assert policy.descheduling_interval == timedelta(seconds=10)
    assert policy.profiles[0].deschedule == ("RemovePodsHavingTooManyRestarts",)
    assert policy.profiles[0].args["RemovePodsHavingTooManyRestarts"] == RemovePodsHavingTooManyRestartsArgs(
        pod_restart_threshold=10
    )


@pytest.mark.parametrize(
    ("defaults", "enabled", "disabled", "merged"),
    [
        pytest.param("AB", "", "", "AB", id="nothing said keeps the defaults"),
        pytest.param("AB", "C", "", "ABC", id="new plugins come after the defaults"),
        pytest.param("AB", "C", "A", "BC", id="a disabled default goes"),
        pytest.param("AB", "C", "*", "C", id="a star disables every default"),
        pytest.param("AB", "CB", "", "ABC", id="an enabled default keeps its place"),
        pytest.param("AB", "BC", "", "ABC", id="wherever it is enabled"),
        pytest.param("AB", "BCB", "", "ABBC", id="of one enabled twice the last entry goes"),
        pytest.param("AB", "CA", "A", "BCA", id="a default disabled and enabled moves to its new place"),
        pytest.param("AB", "CAB", "*", "CAB", id="with a star the order is the user's"),
        pytest.param("AB", "CC", "", "ABCC", id="a plugin enabled twice is there twice"),
        pytest.param("AB", "C", "XC", "ABC", id="disabling what is no default does nothing"),
    ],
)
def test_plugin_sets_are_merged(defaults: str, enabled: str, disabled: str, merged: str) -> None:
    section = KoordinatorPluginSetSection(
        tuple(PluginReference(name) for name in enabled), tuple(PluginReference(name) for name in disabled)
    )

    assert "".join(merge_plugin_set(defaults, section)) == merged


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        pytest.param("disabled: [{name: '*'}]", ("PlacementVerification",), id="a star stands for Koordinator's"),
        pytest.param(
            "disabled: [{name: '*'}], enabled: [{name: DefaultEvictor}]",
            ("PlacementVerification", "DefaultEvictor"),
            id="replacing the defaults keeps it",
        ),
        pytest.param(
            "disabled: [{name: '*'}], enabled: [{name: DefaultEvictor}, {name: PlacementVerification}]",
            ("DefaultEvictor", "PlacementVerification"),
            id="named, it has the place that it is given",
        ),
        pytest.param("disabled: [{name: '*'}, {name: PlacementVerification}]", (), id="its name disables it"),
        pytest.param(
            "disabled: [{name: PlacementVerification}]", ("MigrationController",), id="its name disables it alone"
        ),
    ],
)
def test_placement_verification_is_disabled_by_its_name_only(section: str, expected: tuple[str, ...]) -> None:
    policy = load(koordinator(f"profiles:\n- plugins: {{filter: {{{section}}}}}\n"))

    assert policy.profiles[0].pre_eviction_filter == expected


def test_default_evictor_can_evict_and_filter_instead() -> None:
    policy = load(
        koordinator(
            """\
            profiles:
            - plugins:
                evict: {enabled: [{name: DefaultEvictor}], disabled: [{name: '*'}]}
                filter:
                  enabled: [{name: DefaultEvictor}]
                  disabled: [{name: '*'}, {name: PlacementVerification}]
            """
        )
    )

    profile = policy.profiles[0]
    assert (profile.evict, profile.filter) == (("DefaultEvictor",), ("DefaultEvictor",))
    assert profile.plugin_configs == (
        PluginConfig("DefaultEvictor", DefaultEvictorArgs(priority_threshold=PriorityThreshold(value=2_000_000_000))),
    )


def test_replacing_the_evictor_leaves_the_filter_alone() -> None:
    policy = load(
        koordinator("profiles:\n- plugins: {evict: {enabled: [{name: DefaultEvictor}], disabled: [{name: '*'}]}}\n")
    )

    assert (policy.profiles[0].evict, policy.profiles[0].filter) == (("DefaultEvictor",), ("MigrationController",))


def test_enabled_plugin_without_arguments_gets_defaults() -> None:
    policy = load(koordinator("profiles:\n- plugins: {balance: {enabled: [{name: RemoveDuplicates}]}}\n"))

    assert policy.profiles[0].args["RemoveDuplicates"] == RemoveDuplicatesArgs()


def test_node_selectors_are_objects_at_both_levels() -> None:
    policy = load(
        koordinator(
            "nodeSelector: {matchLabels: {pool: a}}\n"
            "profiles:\n- nodeSelector: {matchExpressions: [{key: gpu, operator: Exists}]}\n"
        )
    )

    assert policy.node_selector is not None
    assert policy.node_selector.matches({"pool": "a"})
    assert policy.profiles[0].node_selector is not None
    assert not policy.profiles[0].node_selector.matches({"pool": "a"})


@pytest.mark.parametrize(
    ("written", "read"), [("5", 5.0), ("2.5", 2.5), ("'10'", "10"), ("'0.5'", "0.5")], ids=["int", "float", "s", "sf"]
)
def test_eviction_rate_is_a_number_or_a_string(written: str, read: float | str) -> None:
    assert migration_args(f"{{evictQPS: {written}}}").evict_qps == read


@pytest.mark.parametrize(("written", "read"), [("2", 2), ("20%", "20%"), ("'100%'", "100%"), ("0", 0)])
def test_share_of_a_workload_is_a_number_or_a_percentage(written: str, read: int | str) -> None:
    assert migration_args(f"{{maxUnavailablePerWorkload: {written}}}").max_unavailable_per_workload == read


def test_migration_arguments_keep_what_is_given_and_complete_the_rest() -> None:
    args = migration_args(
        "{kind: MigrationControllerArgs, maxMigratingPerNode: 0, defaultJobTTL: 0s, arbitrationArgs: {}, "
        "objectLimiters: {namespace: {duration: 1m, maxMigrating: 3}}}"
    )

    assert args.max_migrating_per_node == 0
    assert args.default_job_ttl == timedelta(0)
    assert args.object_limiters == {"namespace": MigrationObjectLimiter(timedelta(minutes=1), 3)}
    assert args.arbitration_args is not None
    assert args.arbitration_args.interval == timedelta(milliseconds=500)
    assert args.scheduler_names == ("koord-scheduler",)


@pytest.mark.parametrize(
    ("body", "warning"),
    [
        pytest.param(
            "profiles:\n- pluginConfig: [{name: PodLifeTime, args: {foo: 1}}]\n",
            "4:18: profiles[0].pluginConfig[0]: PodLifeTime is configured but not enabled in this profile",
            id="arguments of an upstream plugin that is not enabled are never read",
        ),
        pytest.param(
            "profiles:\n- plugins: {balance: {disabled: [{name: RemoveDuplicats}]}}\n",
            "4:41: profiles[0].plugins.balance.disabled[0].name: "
            "unknown plugin 'RemoveDuplicats', ignored; did you mean 'RemoveDuplicates'?",
            id="an unknown plugin is disabled",
        ),
    ],
)
def test_what_koordinator_leaves_unread_is_a_warning(body: str, warning: str) -> None:
    assert warnings(koordinator(body)) == [f"policy.yaml:{warning}"]

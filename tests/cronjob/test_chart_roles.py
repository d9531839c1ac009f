"""The rights that the chart grants follow the policy."""

from __future__ import annotations

from collections.abc import Set

import pytest
import yaml

from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.cronjob.chart_values import (
    BY_METRICS,
    BY_PROMETHEUS,
    DRAINING,
    KOORDINATOR,
    PLANNING,
    PLANNING_BY_NODE_METRICS,
    UPSTREAM,
    VERIFYING,
    moving,
)
from tests.cronjob.manifests import REPOSITORY, Manifest, named, only, pod_spec
from tests.cronjob.rbac import (
    CORDONS,
    EVICT,
    JOBS,
    LIST_ALL,
    PLACEHOLDER_CLASS,
    PLACEHOLDERS,
    SURGES,
    Grant,
    granted,
    grants_of,
    job_map_grants,
    lease_grants,
    list_grants,
    memory_grants,
    token_grants,
)
from tests.cronjob.rendering import RELEASE, RELEASE_NAMESPACE, Helm
from tests.cronjob.workloads import flags

pytestmark = pytest.mark.render
ALWAYS_LISTED = {
    "Node",
    "Pod",
    "Namespace",
    "PersistentVolumeClaim",
    "PodDisruptionBudget.policy",
    "PriorityClass.scheduling.k8s.io",
}
METRICS = {"NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io"}


def needed_kinds(policy: Policy) -> Set[str]:
    """What a run of the policy cannot do without."""
    return snapshot_request(policy, Landings.UNSEEN).needed


def policy_of(manifests: list[Manifest]) -> Policy:
    """The policy in the release's ConfigMap."""
    return load_policy(only(manifests, "ConfigMap")["data"]["policy.yaml"], REGISTRY)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        pytest.param(UPSTREAM, ALWAYS_LISTED, id="the default policy of upstream's chart"),
        pytest.param(BY_METRICS, ALWAYS_LISTED | METRICS, id="usage from the metrics server"),
        pytest.param(BY_PROMETHEUS, ALWAYS_LISTED, id="usage from Prometheus"),
    ],
)
def test_cluster_roles_follow_the_policy(helm: Helm, values: str, kinds: set[str]) -> None:
    manifests = helm.template(values)

    assert granted(manifests, "ClusterRole") == list_grants(kinds) | EVICT
    assert kinds >= needed_kinds(policy_of(manifests))


def test_upstreams_values_give_upstreams_policy_with_our_total_limit(helm: Helm) -> None:
    manifests = helm.template(UPSTREAM)

    document = yaml.safe_load(only(manifests, "ConfigMap")["data"]["policy.yaml"])
    assert document["profiles"] == yaml.safe_load(UPSTREAM)["deschedulerPolicy"]["profiles"]
    assert policy_of(manifests).warnings == ()
    assert policy_of(manifests).max_evictions_total == 10
    assert only(manifests, "CronJob")["spec"]["schedule"] == "*/2 * * * *"


def test_default_policy_may_read_what_decides_about_placement(helm: Helm) -> None:
    manifests = helm.template()

    assert list_grants(needed_kinds(policy_of(manifests))) <= granted(manifests, "ClusterRole") <= LIST_ALL | EVICT


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(VERIFYING, id="by PlacementVerification"),
        pytest.param(PLANNING, id="by MigrationPlanner"),
        pytest.param(PLANNING_BY_NODE_METRICS, id="by MigrationPlanner and measured usage"),
    ],
)
def test_policy_that_verifies_placement_may_read_what_decides_about_it(helm: Helm, values: str) -> None:
    manifests = helm.template(values)

    assert list_grants(needed_kinds(policy_of(manifests))) <= granted(manifests, "ClusterRole")
    assert granted(manifests, "ClusterRole") <= LIST_ALL | EVICT


@pytest.mark.parametrize("plugin", sorted(name for name, spec in REGISTRY.items() if not spec.native))
def test_every_plugin_may_read_what_it_needs(helm: Helm, plugin: str) -> None:
    spec = REGISTRY[plugin]
    needs = spec.needs(spec.defaults(spec.args_type()))
    profiles = [{"name": "p", "pluginConfig": [{"name": plugin}], "plugins": {"balance": {"enabled": [plugin]}}}]

    manifests = helm.template(yaml.safe_dump({"deschedulerPolicy": {"profiles": profiles}}))

    assert list_grants(needs.kinds | needs.wanted_kinds) <= granted(manifests, "ClusterRole")


def test_configuration_of_koordinator_may_read_workloads_and_migration_jobs(helm: Helm) -> None:
    manifests = helm.template(KOORDINATOR)
    unmeasured = {grant for grant in LIST_ALL if grant.group != "metrics.k8s.io"}

    assert granted(manifests, "ClusterRole") == unmeasured | EVICT | JOBS
    assert list_grants(needed_kinds(policy_of(manifests))) <= unmeasured


@pytest.mark.parametrize(
    "profile", ["plan-balance-koordinator", "plan-consolidate-koordinator", "plan-make-room-koordinator"]
)
def test_profile_that_chooses_nodes_may_list_reservations_and_move_pods_by_jobs(helm: Helm, profile: str) -> None:
    document = yaml.safe_load((REPOSITORY / "config" / "profiles" / f"{profile}.yaml").read_text())
    values = {"deschedulerPolicyKind": document["kind"], "deschedulerPolicy": {"profiles": document["profiles"]}}

    manifests = helm.template(yaml.safe_dump(values))

    assert policy_of(manifests).warnings == ()
    assert granted(manifests, "ClusterRole") >= list_grants(needed_kinds(policy_of(manifests))) | EVICT | JOBS


def test_rights_over_placeholders_come_with_a_policy_that_names_them(helm: Helm) -> None:
    without, manifests = helm.template(KOORDINATOR), helm.template(moving("reservationProvider: placeholder"))

    assert granted(manifests, "ClusterRole") - granted(without, "ClusterRole") == PLACEHOLDERS
    assert granted(manifests, "Role") - granted(without, "Role") == job_map_grants() - {
        Grant("create", "", "configmaps")
    }
    assert only(manifests, "PriorityClass")["metadata"]["name"] == PLACEHOLDER_CLASS
    assert not named(without, "PriorityClass")


def test_class_of_placeholders_can_be_left_to_another_release(helm: Helm) -> None:
    values = moving("reservationProvider: placeholder") + "placeholders: {createPriorityClass: false}\n"

    manifests = helm.template(values)

    assert not named(manifests, "PriorityClass")
    assert granted(manifests, "ClusterRole") >= PLACEHOLDERS


def test_rights_for_surges_come_with_a_policy_that_asks_for_them(helm: Helm) -> None:
    placeholder = "reservationProvider: placeholder"
    without, manifests = (
        helm.template(moving(placeholder)),
        helm.template(moving(f"{placeholder}, singleReplicas: Surge")),
    )

    assert granted(manifests, "ClusterRole") - granted(without, "ClusterRole") == SURGES


def test_right_to_cordon_nodes_comes_with_a_policy_that_asks_for_it(helm: Helm) -> None:
    without, manifests = helm.template(DRAINING.replace("cordon: true", "cordon: false")), helm.template(DRAINING)

    assert granted(manifests, "ClusterRole") - granted(without, "ClusterRole") == CORDONS


@pytest.mark.parametrize(("policy", "verb"), [("Delete", "delete"), ("SoftEviction", "patch")])
@pytest.mark.parametrize("args", ["evictionPolicy: {}", "allowedEvictionPolicies: [Eviction, {}]"])
def test_way_in_which_pods_leave_comes_with_its_right(helm: Helm, args: str, policy: str, verb: str) -> None:
    without, manifests = helm.template(KOORDINATOR), helm.template(moving(args.format(policy)))

    assert granted(manifests, "ClusterRole") - granted(without, "ClusterRole") == {Grant(verb, "", "pods")}


def test_only_the_secret_that_the_policy_names_may_be_read(helm: Helm) -> None:
    manifests = helm.template(BY_PROMETHEUS)

    role = named(manifests, "Role")[f"{RELEASE}-prometheus-token"]
    binding = named(manifests, "RoleBinding")[f"{RELEASE}-prometheus-token"]
    assert grants_of([role]) == token_grants(policy_of(manifests)) == {Grant("get", "", "secrets", "token")}
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "monitoring"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": RELEASE, "namespace": RELEASE_NAMESPACE}]


@pytest.mark.parametrize(
    ("values", "place"),
    [
        pytest.param("fullnameOverride: other", (RELEASE_NAMESPACE, "other"), id="named as the release, next to it"),
        pytest.param("cmdOptions: {lease-name: own, lease-namespace: apart}", ("apart", "own"), id="as asked for"),
        pytest.param(
            "cmdOptions: {leader-elect-resource-name: own, leader-elect-resource-namespace: apart}",
            ("apart", "own"),
            id="as asked for with the flags of kubernetes-sigs/descheduler",
        ),
    ],
)
def test_role_for_the_lease_goes_with_the_flags(helm: Helm, values: str, place: tuple[str, str]) -> None:
    manifests = helm.template(values)

    found = flags(only(manifests, "CronJob"))
    roles = named(manifests, "Role").values()
    assert (found["lease_namespace"], found["lease_name"]) == place
    assert {role["metadata"]["namespace"] for role in roles} == {place[0]}
    assert grants_of(roles) == lease_grants(place[1]) | memory_grants(place[1])


def test_roles_and_account_can_be_left_to_others(helm: Helm) -> None:
    manifests = helm.template("rbac: {create: false}\nserviceAccount: {create: false, name: theirs}")

    assert sorted(manifest["kind"] for manifest in manifests) == ["ConfigMap", "CronJob"]
    assert pod_spec(only(manifests, "CronJob"))["serviceAccountName"] == "theirs"

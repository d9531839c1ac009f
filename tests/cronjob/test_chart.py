"""What helm makes of the chart, with values as users of kubernetes-sigs/descheduler's chart have them."""

from __future__ import annotations

from collections.abc import Set
from datetime import timedelta

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
    TAILORED,
    UPSTREAM,
    VERIFYING,
    moving,
)
from tests.cronjob.manifests import BASE, REPOSITORY, Manifest, named, only, pod_spec
from tests.cronjob.rbac import (
    CORDONS,
    EVICT,
    JOBS,
    LIST_ALL,
    PLACEHOLDER_CLASS,
    PLACEHOLDERS,
    SURGES,
    Grant,
    grants_of,
    job_map_grants,
    lease_grants,
    list_grants,
    memory_grants,
    token_grants,
)
from tests.cronjob.rendering import RELEASE, RELEASE_NAMESPACE, Helm, Kustomize
from tests.cronjob.workloads import container, deadline_problems, flags, pod_security_problems

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


def granted(manifests: list[Manifest], kind: str) -> set[Grant]:
    """What the release's roles of a kind allow together."""
    return grants_of(named(manifests, kind).values())


def test_chart_has_nothing_that_helm_minds(helm: Helm) -> None:
    assert "0 chart(s) failed" in helm.lint()


def test_release_holds_what_the_base_holds(helm: Helm, kustomize: Kustomize) -> None:
    """Both ways to install give objects of the same kinds, and pods that differ in names and verbosity alone."""
    release, base = helm.template(), kustomize.build(BASE)
    theirs, ours = pod_spec(only(release, "CronJob")), pod_spec(only(base, "CronJob"))

    jobs = ["ClusterRole", "ClusterRoleBinding"]  # the default policy moves no pod by a job
    assert sorted([*(m["kind"] for m in release), *jobs]) == sorted(m["kind"] for m in base)
    assert granted(release, "Role") == granted(base, "Role")
    assert theirs["containers"][0]["image"] == ours["containers"][0]["image"]
    assert theirs["containers"][0]["resources"] == ours["containers"][0]["resources"]
    same = {"verbosity": 1, "lease_namespace": None}
    assert flags(only(release, "CronJob")) | same == flags(only(base, "CronJob")) | same


def test_pod_meets_the_restricted_profile_and_its_times_nest(helm: Helm) -> None:
    cronjob = only(helm.template(), "CronJob")

    assert pod_security_problems(cronjob) == []
    assert deadline_problems(cronjob) == []
    assert cronjob["spec"]["concurrencyPolicy"] == "Forbid"
    assert cronjob["spec"]["jobTemplate"]["spec"]["backoffLimit"] == 0


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


@pytest.mark.parametrize("kind", ["ClusterRole", "Role", "PriorityClass"])
def test_dry_run_moves_nothing(helm: Helm, kind: str) -> None:
    values = moving("reservationProvider: placeholder, singleReplicas: Surge") + "cmdOptions: {dry-run: null}\n"

    assert not [
        each for each in named(helm.template(values), kind) if each.endswith(("-jobs", "-placeholder", "-surge"))
    ]


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


@pytest.mark.parametrize("value", ["null", "true", '"true"'])
def test_dry_run_gets_its_flag_and_no_right_to_evict(helm: Helm, value: str) -> None:
    manifests = helm.template(f"cmdOptions: {{dry-run: {value}}}")

    assert flags(only(manifests, "CronJob"))["dry_run"] is True
    assert not granted(manifests, "ClusterRole") & EVICT
    assert granted(manifests, "Role") == memory_grants(RELEASE)


def test_dry_run_set_to_false_evicts(helm: Helm) -> None:
    manifests = helm.template("cmdOptions: {dry-run: false}")

    assert flags(only(manifests, "CronJob"))["dry_run"] is False
    assert granted(manifests, "ClusterRole") >= EVICT


def test_image_is_named_by_its_digest_where_there_is_one(helm: Helm) -> None:
    digest = f"sha256:{64 * '0'}"

    manifests = helm.template(f"image: {{repository: registry.example/descheduler, tag: v9, digest: '{digest}'}}")

    assert container(only(manifests, "CronJob"))["image"] == f"registry.example/descheduler@{digest}"


def test_flags_may_be_left_out_altogether(helm: Helm) -> None:
    assert container(only(helm.template("cmdOptions: null"), "CronJob"))["args"] == [
        "run",
        "--policy-config-file=/policy-dir/policy.yaml",
        f"--lease-name={RELEASE}",
        f"--lease-namespace={RELEASE_NAMESPACE}",
        "--deadline=300s",
    ]


def test_flags_are_rendered_by_their_type(helm: Helm) -> None:
    values = "cmdOptions: {v: null, skip-broken-objects: null, client-connection-burst: 10000000, logging-format: json}"

    assert container(only(helm.template(values), "CronJob"))["args"] == [
        "run",
        "--policy-config-file=/policy-dir/policy.yaml",
        f"--lease-name={RELEASE}",
        f"--lease-namespace={RELEASE_NAMESPACE}",
        "--deadline=300s",
        "--client-connection-burst=10000000",
        "--logging-format=json",
        "--skip-broken-objects",
    ]


@pytest.mark.parametrize(
    ("values", "deadline"),
    [
        pytest.param("activeDeadlineSeconds: 240", timedelta(seconds=120), id="half of the Job's time"),
        pytest.param("cmdOptions: {deadline: 9m}", timedelta(minutes=9), id="the deadline that is asked for"),
        pytest.param("activeDeadlineSeconds: null", None, id="none for a Job without one"),
        pytest.param(
            "activeDeadlineSeconds: null\ncmdOptions: {deadline: 1h}",
            timedelta(hours=1),
            id="the deadline that is asked for, of a Job without one",
        ),
    ],
)
def test_deadline_goes_with_the_time_of_the_job(helm: Helm, values: str, deadline: timedelta | None) -> None:
    assert flags(only(helm.template(values), "CronJob"))["deadline"] == deadline


def test_own_values_end_up_where_they_belong(helm: Helm) -> None:
    manifests = helm.template(TAILORED)

    cronjob = only(manifests, "CronJob")
    job = cronjob["spec"]["jobTemplate"]
    pod, spec, main = job["spec"]["template"], pod_spec(cronjob), container(cronjob)
    wanted = yaml.safe_load(TAILORED)
    assert {key: cronjob["spec"][key] for key in ("schedule", "suspend", "timeZone")} == {
        key: wanted[key] for key in ("schedule", "suspend", "timeZone")
    }
    for key in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        assert cronjob["spec"][key] == wanted[key]
    for key in ("ttlSecondsAfterFinished", "activeDeadlineSeconds"):
        assert job["spec"][key] == wanted[key]
    for key in ("imagePullSecrets", "nodeSelector", "affinity", "topologySpreadConstraints", "tolerations"):
        assert spec[key] == wanted[key]
    for key in ("dnsConfig", "initContainers", "priorityClassName", "automountServiceAccountToken"):
        assert spec[key] == wanted[key]
    assert spec["securityContext"]["fsGroup"] == 1000
    assert main["securityContext"]["runAsUser"] == 1000
    assert main["image"] == "registry.example/descheduler:v9"
    assert main["imagePullPolicy"] == "Always"
    assert main["resources"] == {"requests": {"cpu": 1, "memory": "256Mi"}, "limits": {"memory": "1Gi"}}
    assert main["env"] == wanted["extraEnv"]
    assert main["volumeMounts"][1:] == wanted["extraVolumeMounts"] + wanted["extraServiceAccountVolumeMounts"]
    assert spec["volumes"][1:] == wanted["extraVolumes"] + wanted["extraServiceAccountVolumes"]
    assert cronjob["metadata"]["annotations"] == {"note": "cronjob"}
    assert job["metadata"]["annotations"] == {"note": "job"}
    assert pod["metadata"]["annotations"]["note"] == "pod"
    assert cronjob["metadata"]["labels"]["cronjob"] == "yes"
    assert job["metadata"]["labels"]["job"] == "yes"
    assert pod["metadata"]["labels"]["pod"] == "yes"
    assert only(manifests, "ServiceAccount")["metadata"]["annotations"] == {"note": "account"}
    assert only(manifests, "ServiceAccount")["automountServiceAccountToken"] is True
    assert {manifest["metadata"]["labels"]["team"] for manifest in manifests} == {"platform"}


def test_names_and_namespace_can_be_chosen(helm: Helm) -> None:
    manifests = helm.template("nameOverride: mover\nnamespaceOverride: elsewhere", release="prod")

    assert only(manifests, "CronJob")["metadata"]["name"] == "prod-mover"
    assert {m["metadata"].get("namespace") for m in manifests if not m["kind"].startswith("Cluster")} == {"elsewhere"}


def test_names_that_yaml_takes_for_something_else_stay_texts(helm: Helm) -> None:
    values = 'fullnameOverride: "123"\nserviceAccount: {name: "007"}\npriorityClassName: "a\\nhostNetwork: true"'

    manifests = helm.template(values, release="1e3")

    spec = pod_spec(only(manifests, "CronJob"))
    assert (spec["serviceAccountName"], spec["priorityClassName"]) == ("007", "a\nhostNetwork: true")
    assert "hostNetwork" not in spec
    for each in manifests:
        assert isinstance(each["metadata"]["name"], str)
        assert each["metadata"]["labels"]["app.kubernetes.io/instance"] == "1e3"


def test_name_of_the_cronjob_leaves_room_for_those_of_its_jobs(helm: Helm) -> None:
    name = only(helm.template(f"fullnameOverride: {'a' * 60}"), "CronJob")["metadata"]["name"]

    assert len(name) == 52


def test_roles_and_account_can_be_left_to_others(helm: Helm) -> None:
    manifests = helm.template("rbac: {create: false}\nserviceAccount: {create: false, name: theirs}")

    assert sorted(manifest["kind"] for manifest in manifests) == ["ConfigMap", "CronJob"]
    assert pod_spec(only(manifests, "CronJob"))["serviceAccountName"] == "theirs"


def test_policy_is_rendered_as_a_template(helm: Helm) -> None:
    values = "deschedulerPolicy: {nodeSelector: 'cluster={{ .Release.Name }}', maxNoOfPodsToEvictTotal: 10000000}"

    document = yaml.safe_load(only(helm.template(values), "ConfigMap")["data"]["policy.yaml"])

    assert document["nodeSelector"] == f"cluster={RELEASE}"
    assert document["maxNoOfPodsToEvictTotal"] == 10000000


def test_policy_may_come_from_a_configmap_of_the_users_own(helm: Helm) -> None:
    """Nothing is known of that policy, so every kind may be listed."""
    manifests = helm.template("deschedulerPolicy: null")

    assert not named(manifests, "ConfigMap")
    assert granted(manifests, "ClusterRole") == LIST_ALL | EVICT | JOBS
    assert pod_spec(only(manifests, "CronJob"))["volumes"][0]["configMap"]["name"] == RELEASE
    assert "deschedulerPolicy is empty" in helm.notes("deschedulerPolicy: null")

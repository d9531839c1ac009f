"""What helm makes of the chart, with values as users of kubernetes-sigs/descheduler's chart have them."""

from __future__ import annotations

from datetime import timedelta

import pytest
import yaml

from tests.cronjob.chart_values import TAILORED, moving
from tests.cronjob.manifests import BASE, named, only, pod_spec
from tests.cronjob.rbac import EVICT, JOBS, LIST_ALL, granted, memory_grants
from tests.cronjob.rendering import RELEASE, RELEASE_NAMESPACE, Helm, Kustomize
from tests.cronjob.workloads import container, deadline_problems, flags, pod_security_problems

pytestmark = pytest.mark.render


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


@pytest.mark.parametrize("kind", ["ClusterRole", "Role", "PriorityClass"])
def test_dry_run_moves_nothing(helm: Helm, kind: str) -> None:
    values = moving("reservationProvider: placeholder, singleReplicas: Surge") + "cmdOptions: {dry-run: null}\n"

    assert not [
        each for each in named(helm.template(values), kind) if each.endswith(("-jobs", "-placeholder", "-surge"))
    ]


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

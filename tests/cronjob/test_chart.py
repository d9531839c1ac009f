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
from tests.cronjob.manifests import BASE, Manifest, named, only, pod_spec
from tests.cronjob.rbac import EVICT, LIST_ALL, Grant, grants_of, lease_grants, list_grants, memory_grants, token_grants
from tests.cronjob.rendering import RELEASE, RELEASE_NAMESPACE, Helm, Kustomize, RenderError
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

BY_METRICS = """
deschedulerPolicy:
  metricsProviders: [{source: KubernetesMetrics}]
  profiles:
    - name: p
      pluginConfig:
        - name: LowNodeUtilization
          args:
            thresholds: {cpu: 20}
            targetThresholds: {cpu: 50}
            metricsUtilization: {source: KubernetesMetrics}
      plugins: {balance: {enabled: [LowNodeUtilization]}}
"""
BY_PROMETHEUS = """
deschedulerPolicy:
  metricsProviders:
    - source: Prometheus
      prometheus:
        url: http://prometheus.example
        authToken: {secretReference: {namespace: monitoring, name: token}}
  profiles:
    - name: p
      pluginConfig: [{name: RemovePodsViolatingNodeTaints}]
      plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
"""
KOORDINATOR = """
deschedulerPolicyKind: DeschedulerConfiguration
deschedulerPolicy:
  profiles:
    - name: p
      pluginConfig:
        - {name: RemovePodsViolatingNodeTaints}
        - {name: MigrationController, args: {}}
      plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}
"""
UPSTREAM = """
schedule: "*/2 * * * *"
imagePullSecrets:
resources: {requests: {cpu: 500m, memory: 256Mi}, limits: {cpu: 500m, memory: 256Mi}}
ports: [{containerPort: 10258, protocol: TCP}]
securityContext: {runAsUser: 1000}
podSecurityContext: {}
namespaceOverride: ""
deschedulingInterval: 5m
replicas: 1
leaderElection: {}
command: ["/bin/descheduler"]
cmdOptions: {v: 3}
deschedulerPolicyAPIVersion: descheduler/v1alpha2
deschedulerPolicy:
  profiles:
    - name: default
      pluginConfig:
        - name: DefaultEvictor
          args:
            podProtections: {defaultDisabled: [PodsWithLocalStorage], extraEnabled: [PodsWithPVC]}
        - name: RemoveDuplicates
        - name: RemovePodsHavingTooManyRestarts
          args: {podRestartThreshold: 100, includingInitContainers: true}
        - name: RemovePodsViolatingNodeAffinity
          args: {nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}
        - name: RemovePodsViolatingNodeTaints
        - name: RemovePodsViolatingInterPodAntiAffinity
        - name: RemovePodsViolatingTopologySpreadConstraint
        - name: LowNodeUtilization
          args:
            thresholds: {cpu: 20, memory: 20, pods: 20}
            targetThresholds: {cpu: 50, memory: 50, pods: 50}
      plugins:
        balance: {enabled: [RemoveDuplicates, RemovePodsViolatingTopologySpreadConstraint, LowNodeUtilization]}
        deschedule:
          enabled:
            - RemovePodsHavingTooManyRestarts
            - RemovePodsViolatingNodeTaints
            - RemovePodsViolatingNodeAffinity
            - RemovePodsViolatingInterPodAntiAffinity
serviceAccount: {create: true, name: , annotations: {}}
livenessProbe: {failureThreshold: 3}
service: {enabled: false}
serviceMonitor: {enabled: false}
"""
"""The values of kubernetes-sigs/descheduler 0.36, `charts/descheduler/values.yaml`, without what is empty there too."""

VERIFYING = """
deschedulerPolicy:
  profiles:
    - name: p
      pluginConfig:
        - {name: RemovePodsViolatingNodeTaints}
        - {name: PlacementVerification}
      plugins:
        deschedule: {enabled: [RemovePodsViolatingNodeTaints]}
        preevictionfilter: {enabled: [PlacementVerification]}
"""
TAILORED = """
image: {repository: registry.example/descheduler, tag: v9, pullPolicy: Always}
imagePullSecrets: [{name: pull}]
resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}
schedule: "*/5 * * * *"
suspend: true
timeZone: Etc/UTC
startingDeadlineSeconds: 200
successfulJobsHistoryLimit: 0
failedJobsHistoryLimit: 1
ttlSecondsAfterFinished: 3600
activeDeadlineSeconds: 1000000
cronJobAnnotations: {note: cronjob}
cronJobLabels: {cronjob: "yes"}
jobAnnotations: {note: job}
jobLabels: {job: "yes"}
podAnnotations: {note: pod}
podLabels: {pod: "yes"}
commonLabels: {team: platform}
priorityClassName: high
nodeSelector: {pool: system}
affinity: {nodeAffinity: {}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
tolerations: [{operator: Exists}]
dnsConfig: {nameservers: [10.0.0.1]}
initContainers: [{name: wait, image: wait:1}]
podSecurityContext: {fsGroup: 1000}
securityContext: {runAsUser: 1000}
serviceAccount: {annotations: {note: account}, automountServiceAccountToken: true}
automountServiceAccountToken: false
extraEnv: [{name: SSL_CERT_FILE, value: /ca/ca.crt}]
extraVolumes: [{name: ca, configMap: {name: ca}}]
extraVolumeMounts: [{name: ca, mountPath: /ca, readOnly: true}]
extraServiceAccountVolumes: [{name: token, projected: {sources: [{serviceAccountToken: {path: token}}]}}]
extraServiceAccountVolumeMounts: [{name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]
"""
FOR_A_DEPLOYMENT = """
deschedulingInterval: 5m
replicas: 2
leaderElection: {enabled: true}
ports: [{containerPort: 10258, protocol: TCP}]
livenessProbe: {failureThreshold: 3}
service: {enabled: true}
serviceMonitor: {enabled: true}
podDisruptionBudget: {enabled: true}
deploymentAnnotations: {a: b}
"""


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

    assert sorted(m["kind"] for m in release) == sorted(m["kind"] for m in base)
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


def test_policy_that_verifies_placement_may_read_what_decides_about_it(helm: Helm) -> None:
    manifests = helm.template(VERIFYING)

    assert list_grants(needed_kinds(policy_of(manifests))) <= granted(manifests, "ClusterRole")
    assert granted(manifests, "ClusterRole") <= LIST_ALL | EVICT


def test_configuration_of_koordinator_may_read_workloads_and_migration_jobs(helm: Helm) -> None:
    manifests = helm.template(KOORDINATOR)
    unmeasured = {grant for grant in LIST_ALL if grant.group not in ("metrics.k8s.io", "slo.koordinator.sh")}

    assert granted(manifests, "ClusterRole") == unmeasured | EVICT
    assert list_grants(needed_kinds(policy_of(manifests))) <= unmeasured


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
    assert granted(manifests, "ClusterRole") == LIST_ALL | EVICT
    assert pod_spec(only(manifests, "CronJob"))["volumes"][0]["configMap"]["name"] == RELEASE
    assert "deschedulerPolicy is empty" in helm.notes("deschedulerPolicy: null")


@pytest.mark.parametrize(
    ("values", "limits"),
    [
        pytest.param("", ["10", "no limit", "no limit", "300s", "on"], id="the defaults"),
        pytest.param(
            "deschedulerPolicy: {maxNoOfPodsToEvictTotal: 10000000, maxNoOfPodsToEvictPerNode: 2}",
            ["10000000", "2", "no limit", "300s", "on"],
            id="the default policy with other limits",
        ),
        pytest.param(
            "deschedulerPolicy: {maxNoOfPodsToEvictTotal: null}\nactiveDeadlineSeconds: null",
            ["no limit", "no limit", "no limit", "no limit", "on"],
            id="no limits",
        ),
        pytest.param(
            "deschedulerPolicy: {maxNoOfPodsToEvictTotal: '{{ .Values.global.most }}'}\nglobal: {most: 5}",
            ["5", "no limit", "no limit", "300s", "on"],
            id="a limit that is a template",
        ),
        pytest.param(
            UPSTREAM,
            ["10", "no limit", "no limit", "300s", "off in profile default, so replacement pods can stay pending"],
            id="upstream's values",
        ),
        pytest.param(VERIFYING, ["10", "no limit", "no limit", "300s", "on"], id="an own policy that verifies"),
        pytest.param(KOORDINATOR, ["10", "no limit", "no limit", "300s", "on"], id="a document of koord-descheduler"),
        pytest.param(
            KOORDINATOR.replace("plugins: {", "plugins: {filter: {disabled: [{name: PlacementVerification}]}, "),
            ["10", "no limit", "no limit", "300s", "off in profile p, so replacement pods can stay pending"],
            id="a document of koord-descheduler that does not verify",
        ),
    ],
)
def test_limits_in_force_are_shown_after_an_installation(helm: Helm, values: str, limits: list[str]) -> None:
    names = (
        "maxNoOfPodsToEvictTotal",
        "maxNoOfPodsToEvictPerNode",
        "maxNoOfPodsToEvictPerNamespace",
        "--deadline",
        "PlacementVerification",
    )

    shown = helm.notes(values).splitlines()

    assert [line.strip() for line in shown if line.startswith("  ") and ": " in line] == [
        f"{name}: {limit}" for name, limit in zip(names, limits, strict=True)
    ]


def test_schedule_is_shown_after_an_installation(helm: Helm) -> None:
    notes = helm.notes("schedule: '@hourly'\ntimeZone: Etc/UTC\nsuspend: true\ncmdOptions: {dry-run: null}")

    when = 'The descheduler runs at "@hourly" (Etc/UTC), once it is no longer suspended'
    assert f"{when}, and only shows what it would evict.\n" in notes
    assert 'runs at "*/15 * * * *".' in helm.notes()


def test_values_for_a_deployment_change_nothing_and_are_named(helm: Helm) -> None:
    assert helm.template(FOR_A_DEPLOYMENT) == helm.template()
    idle = [line.split()[0] for line in helm.notes(FOR_A_DEPLOYMENT).splitlines() if "without effect" in line]
    assert idle == list(yaml.safe_load(FOR_A_DEPLOYMENT))
    assert "without effect" not in helm.notes()


@pytest.mark.parametrize(
    ("values", "flags_given", "message"),
    [
        pytest.param("kind: Deployment", [], "at '/kind': value must be 'CronJob'", id="a Deployment"),
        pytest.param(
            "kind: Deployment",
            ["--skip-schema-validation"],
            "kind is Deployment, only CronJob is offered",
            id="a Deployment past the schema",
        ),
        pytest.param("fullnameOverride: Mine", [], "'Mine' does not match pattern", id="a name with a capital"),
        pytest.param("shedule: x", [], "additional properties 'shedule' not allowed", id="a misspelt key"),
        pytest.param(
            "cmdOptions: {deadline: 10m}",
            [],
            "cmdOptions.deadline is 10m, which is not below activeDeadlineSeconds (600)",
            id="a deadline that the Job does not live to see",
        ),
    ],
)
def test_chart_refuses(helm: Helm, values: str, flags_given: list[str], message: str) -> None:
    with pytest.raises(RenderError) as refusal:
        helm.template(values, *flags_given)

    assert message in str(refusal.value)

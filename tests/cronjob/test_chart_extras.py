"""What the chart installs besides the CronJob when it is asked to, and short values for flags."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
import yaml

from tests.cronjob.manifests import CHART, Manifest, only, pod_spec
from tests.cronjob.rbac import EVICT, grants_of, memory_grants
from tests.cronjob.rendering import RELEASE, RELEASE_NAMESPACE, Helm, RenderError
from tests.cronjob.workloads import container, flags

pytestmark = pytest.mark.render

MONITORING = """
prometheusRule: {create: true, namespace: monitoring, labels: {release: prometheus}}
grafanaDashboard: {create: true, annotations: {grafana_folder: Kubernetes}}
"""


def egress(manifests: list[Manifest]) -> object:
    """The rules of the release's NetworkPolicy."""
    return only(manifests, "NetworkPolicy")["spec"]["egress"]


def test_dry_run_by_its_own_value_gets_its_flag_and_no_right_to_evict(helm: Helm) -> None:
    manifests = helm.template("dryRun: true\ncmdOptions: {dry-run: false}")

    cluster_roles = [each for each in manifests if each["kind"] == "ClusterRole"]
    roles = [each for each in manifests if each["kind"] == "Role"]
    assert flags(only(manifests, "CronJob"))["dry_run"] is True
    assert not grants_of(cluster_roles) & EVICT
    assert grants_of(roles) == memory_grants(RELEASE)
    assert "and only shows what it would evict" in helm.notes("dryRun: true")


def test_pushgateway_gets_the_metrics(helm: Helm) -> None:
    args = container(only(helm.template("pushgateway: {url: 'http://push:9091'}"), "CronJob"))["args"]

    assert "--metrics-push-url=http://push:9091" in args
    assert not [each for each in container(only(helm.template(), "CronJob"))["args"] if "push" in each]


def test_further_arguments_come_last(helm: Helm) -> None:
    args = container(only(helm.template("extraArgs: [--skip-broken-objects, -o, json]"), "CronJob"))["args"]

    assert args[-3:] == ["--skip-broken-objects", "-o", "json"]


def test_host_aliases_are_those_of_the_pod(helm: Helm) -> None:
    aliases = [{"ip": "10.0.0.1", "hostnames": ["api.example"]}]

    assert pod_spec(only(helm.template(yaml.safe_dump({"hostAliases": aliases})), "CronJob"))["hostAliases"] == aliases


def test_further_objects_are_rendered_as_templates(helm: Helm) -> None:
    values = """
extraObjects:
  - {apiVersion: v1, kind: Secret, metadata: {name: "{{ .Release.Name }}-a"}}
  - |
    apiVersion: v1
    kind: Service
    metadata: {name: {{ .Release.Name }}-b}
"""

    manifests = helm.template(values)

    assert only(manifests, "Secret")["metadata"]["name"] == f"{RELEASE}-a"
    assert only(manifests, "Service")["metadata"]["name"] == f"{RELEASE}-b"


def test_network_policy_allows_the_api_server_alone(helm: Helm) -> None:
    manifests = helm.template("networkPolicy: {create: true}")

    spec = only(manifests, "NetworkPolicy")["spec"]
    labels = only(manifests, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["podSelector"]["matchLabels"].items() <= labels.items()
    assert spec.get("ingress", []) == []
    assert egress(manifests) == [{"ports": [{"port": port, "protocol": "TCP"} for port in (443, 6443)]}]


def test_network_policy_can_name_the_api_server_and_more(helm: Helm) -> None:
    values = """
networkPolicy:
  create: true
  apiServerCIDRs: [10.96.0.1/32]
  apiServerPorts: [443]
  extraEgress: [{ports: [{port: 53, protocol: UDP}]}]
pushgateway: {url: http://push}
"""

    assert egress(helm.template(values)) == [
        {"ports": [{"port": 443, "protocol": "TCP"}], "to": [{"ipBlock": {"cidr": "10.96.0.1/32"}}]},
        {"ports": [{"port": 53, "protocol": "UDP"}]},
    ]
    assert "Add Prometheus, the Pushgateway and DNS to networkPolicy.extraEgress" in helm.notes(values)


def test_alerts_and_dashboard_are_those_of_the_metrics(helm: Helm) -> None:
    manifests = helm.template(MONITORING + "deschedulerPolicy: null")

    rule, dashboard = only(manifests, "PrometheusRule"), only(manifests, "ConfigMap")
    assert rule["spec"] == yaml.safe_load((CHART / "monitoring" / "alerts.yaml").read_text())
    assert (rule["metadata"]["namespace"], rule["metadata"]["labels"]["release"]) == ("monitoring", "prometheus")
    assert dashboard["data"] == {"descheduler.json": (CHART / "monitoring" / "dashboard.json").read_text()}
    assert dashboard["metadata"]["namespace"] == RELEASE_NAMESPACE
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert dashboard["metadata"]["annotations"] == {"grafana_folder": "Kubernetes"}


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        ("schedule: '*/15 * * * *'", 3600),
        ("schedule: '*/50 * * * *'", 6000),
        ("schedule: '5 * * * *'", 7200),
        ("schedule: '0 */6 * * *'", 12 * 3600),
        ("schedule: '30 3 * * *'", 48 * 3600),
        ("schedule: '@daily'", 48 * 3600),
        ("schedule: '0 3 * * 1'", 14 * 86400),
        ("schedule: '0 3 1 * *'", 62 * 86400),
        ("kind: Deployment\ndeschedulingInterval: 5m", 3600),
        ("kind: Deployment\ndeschedulingInterval: 2h", 4 * 3600),
        ("prometheusRule: {create: true, noSuccessFor: 26h}", 26 * 3600),
    ],
)
def test_alert_about_missing_success_goes_by_the_time_between_runs(helm: Helm, values: str, seconds: int) -> None:
    both = values if "prometheusRule" in values else f"prometheusRule: {{create: true}}\n{values}"

    (rule, *_) = only(helm.template(both), "PrometheusRule")["spec"]["groups"][0]["rules"]

    assert rule["expr"] == f"time() - descheduler_last_success_timestamp_seconds > {seconds}"


def test_what_is_not_asked_for_is_not_there(helm: Helm) -> None:
    kinds = {manifest["kind"] for manifest in helm.template()}

    assert not kinds & {"NetworkPolicy", "PrometheusRule"}


def test_chart_of_the_repository_names_no_address_of_its_own() -> None:
    """A release adds those at which it is published."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert not chart.keys() & {"home", "icon", "sources"}
    assert {name.split("/")[0] for name in chart["annotations"]} == {"artifacthub.io"}
    assert all(isinstance(value, str) for value in chart["annotations"].values())
    links = yaml.safe_load(chart["annotations"]["artifacthub.io/links"])
    assert all(link.keys() == {"name", "url"} and urlsplit(link["url"]).scheme == "https" for link in links)


def test_shards_are_the_pods_of_an_indexed_job(helm: Helm) -> None:
    manifests = helm.template("{shards: 2, shardBy: rack}")

    job = only(manifests, "CronJob")["spec"]["jobTemplate"]["spec"]
    (container,) = job["template"]["spec"]["containers"]
    assert (job["completionMode"], job["completions"], job["parallelism"]) == ("Indexed", 2, 2)
    assert (job["backoffLimitPerIndex"], job.get("backoffLimit")) == (0, None)
    assert {"--shards=2", "--shard-by=rack"} <= set(container["args"])
    assert [each["name"] for each in container["env"]] == ["DESCHEDULER_SHARD_TURN"]


def test_roles_name_the_objects_of_each_shard_and_no_others(helm: Helm) -> None:
    rules = [rule for role in helm.template("{shards: 2}") if role["kind"] == "Role" for rule in role["rules"]]

    names = [set(rule["resourceNames"]) for rule in rules if "resourceNames" in rule]
    lease = {"descheduler-shard-0", "descheduler-shard-1"}
    memory, status = ({f"{name}-{what}" for name in lease} for what in ("memory", "status"))
    assert sorted(map(sorted, names)) == sorted(map(sorted, [lease, memory, status, memory]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param("{shards: 2, kind: Deployment}", "shards: a Deployment", id="a Deployment"),
        pytest.param("{shardBy: rack}", "shardBy: needs shards", id="a label alone"),
    ],
)
def test_shards_that_cannot_be_are_refused(helm: Helm, values: str, message: str) -> None:
    with pytest.raises(RenderError, match=message):
        helm.template(values)

"""A DeschedulerPolicy becomes a DeschedulerConfiguration that selects the same pods and proves landings."""

from __future__ import annotations

from pathlib import Path

import pytest

from descheduler import evaluate
from descheduler.conversion.table import convert_file
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.load import load_policy
from tests.builders import NOW, node_object, pod_object

HEAD = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n"
TAINTS = """\
profiles:
- pluginConfig:
  - name: DefaultEvictor
    args: {nodeFit: true}
  - name: RemovePodsViolatingNodeTaints
    args: {includePreferNoSchedule: true}
  plugins:
    deschedule: {enabled: [RemovePodsViolatingNodeTaints]}
"""
LOAD_AWARE = """\
profiles:
- name: volcano
  pluginConfig:
  - name: LoadAware
    args:
      metrics: {type: prometheus, address: null}
      thresholds: {cpu: 30}
      targetThresholds: {cpu: 80}
  plugins:
    balance: {enabled: [LoadAware]}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "policy.yaml"
    file.write_text(text)
    return file


def test_converted_policy_evicts_the_same_pods_if_they_can_be_scheduled(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + "maxNoOfPodsToEvictTotal: 2\n" + TAINTS)
    nodes = [node_object("old", taints=["gone:PreferNoSchedule"]), node_object("new", cpu="2")]
    pods = [pod_object(f"p{number}", node="old", cpu="1500m", owners=["ReplicaSet/r"]) for number in range(2)]

    before = evaluate(file, [*nodes, *pods], now=NOW)
    after = evaluate(dict(convert_file(file).document), [*nodes, *pods], now=NOW)

    assert [each.name for each in before.evictions] == ["p0", "p1"]
    assert [each.name for each in after.evictions] == ["p0"]


def test_settings_are_kept_or_listed(tmp_path: Path) -> None:
    settings = "nodeSelector: pool in (a, b),!old\nmaxNoOfPodsToEvictPerNode: 3\ngracePeriodSeconds: 5\n"

    conversion = convert_file(written(tmp_path, HEAD + settings + TAINTS))

    policy = load_policy(conversion.document, REGISTRY)
    assert policy.node_selector == load_policy(HEAD + settings + TAINTS, REGISTRY).node_selector
    assert (policy.max_evictions_per_node, policy.profiles[0].evict) == (3, ("DefaultEvictor",))
    assert policy.profiles[0].name == "profile-1"
    assert [(note.field, note.line) for note in conversion.notes] == [
        ("kind", 2),
        ("kind", 2),
        ("gracePeriodSeconds", 5),
    ]


def test_load_aware_gets_the_address_of_the_policy(tmp_path: Path) -> None:
    providers = "metricsProviders: [{source: Prometheus, prometheus: {url: 'http://prometheus:9090'}}]\n"

    conversion = convert_file(written(tmp_path, HEAD + providers + LOAD_AWARE))

    policy = load_policy(conversion.document, REGISTRY)
    (address,) = (REGISTRY[name].samples_address(policy.profiles[0].args[name]) for name in policy.profiles[0].balance)
    assert address == "http://prometheus:9090"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(HEAD + "nodeSelector: age > 5\n" + TAINTS, "nodeSelector: compares labels", id="comparison"),
        pytest.param(HEAD + TAINTS.replace("nodeFit: true", "nodeFit: 7"), "nodeFit", id="a policy that is invalid"),
        pytest.param(HEAD.replace("v1alpha2", "v1alpha3"), "is not a DeschedulerPolicy or", id="an old version"),
    ],
)
def test_what_cannot_be_converted_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        convert_file(written(tmp_path, text))


def test_rescheduling_gets_the_address_of_the_policy_too(tmp_path: Path) -> None:
    providers = "metricsProviders: [{source: Prometheus, prometheus: {url: 'http://prometheus:9090'}}]\n"
    text = (HEAD + providers + LOAD_AWARE.replace("LoadAware", "Rescheduling")).splitlines(keepends=True)
    text = [line for line in text if "hresholds" not in line]

    conversion = convert_file(written(tmp_path, "".join(text)))

    policy = load_policy(conversion.document, REGISTRY)
    (address,) = (REGISTRY[name].samples_address(policy.profiles[0].args[name]) for name in policy.profiles[0].balance)
    assert address == "http://prometheus:9090"


@pytest.mark.parametrize("metrics", ["", "metrics: {type: prometheus, address: 'http://own:9090'}"])
def test_own_address_and_other_arguments_stay(tmp_path: Path, metrics: str) -> None:
    providers = "metricsProviders: [{source: Prometheus, prometheus: {url: 'http://prometheus:9090'}}]\n"
    text = LOAD_AWARE.replace("metrics: {type: prometheus, address: null}", metrics or "numberOfNodes: 0")

    document = convert_file(written(tmp_path, HEAD + providers + text)).document

    before, after = (
        load_policy(each, REGISTRY).profiles[0].args["LoadAware"] for each in (HEAD + providers + text, document)
    )
    assert after == before


def test_filters_are_those_of_the_policy_beside_the_proof_of_landings(tmp_path: Path) -> None:
    proof = "  - name: PlacementVerification\n  - name: RemovePods"
    verified = TAINTS.replace("  - name: RemovePods", proof) + (
        "    preevictionfilter: {enabled: [PlacementVerification]}\n"
    )

    profiles = convert_file(written(tmp_path, HEAD + verified)).document["profiles"]

    assert isinstance(profiles, list)
    filters = {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}]}
    assert (profiles[0]["plugins"]["filter"], profiles[0]["plugins"]["evict"]) == (filters, filters)


def test_notes_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    settings = "metricsProviders: []\nevictionFailureEventNotification: true\ngracePeriodSeconds: 5\n"

    conversion = convert_file(written(tmp_path, HEAD + settings + TAINTS))

    assert [note.line for note in conversion.notes] == [2, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("name", "shown"),
    [pytest.param("old.yaml", "old.yaml", id="by its name"), pytest.param(None, "policy.yaml", id="by its path")],
)
def test_file_of_no_known_form_is_named(tmp_path: Path, name: str | None, shown: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        convert_file(written(tmp_path, "kind: Pod\n"), name)

    assert f"{shown}: is not a DeschedulerPolicy or DeschedulerConfiguration or volcano-scheduler.conf" in str(
        refusal.value
    )


@pytest.mark.parametrize(
    ("providers", "expected"),
    [
        pytest.param("[{source: KubernetesMetrics}]", "", id="no Prometheus"),
        pytest.param("[]", "", id="none"),
        pytest.param(
            "[{source: KubernetesMetrics}, {source: Prometheus, prometheus: {url: 'http://p:9090'}}]",
            "http://p:9090",
            id="one of two",
        ),
    ],
)
def test_address_is_that_of_the_provider_prometheus(tmp_path: Path, providers: str, expected: str) -> None:
    text = f"{HEAD}metricsProviders: {providers}\n{LOAD_AWARE}"

    profiles = convert_file(written(tmp_path, text)).document["profiles"]

    assert isinstance(profiles, list)
    metrics = profiles[0]["pluginConfig"][0]["args"]["metrics"]
    assert metrics == {"type": "prometheus", **({"address": expected} if expected else {})}


def test_custom_metrics_are_read_from_the_metrics_server_instead(tmp_path: Path) -> None:
    text = HEAD + LOAD_AWARE.replace("type: prometheus,", "type: prometheus_adaptor,")

    notes = convert_file(written(tmp_path, text)).notes

    assert [note.message for note in notes][-1] == "custom metrics are not read; the metrics server is asked"

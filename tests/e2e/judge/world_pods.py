"""The bound pods of a generated world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from random import Random

from tests.e2e.judge.features import Feature
from tests.e2e.judge.vocabulary import (
    APPS,
    EXTENDED,
    HOST_ADDRESSES,
    HOST_PORTS,
    HOSTNAME,
    NAMESPACES,
    POOL,
    RACK,
    TIERS,
    ZONE,
    chance,
    label_selector,
    namespace_scope,
    workload_labels,
)
from tests.e2e.kube_api import Object

_DELETED_AT = "2026-01-01T01:00:00Z"


@dataclass(frozen=True, slots=True)
class ClaimUse:
    """A claim that a bound pod holds, and the nodes where that pod may be."""

    namespace: str
    claim: str
    nodes: Sequence[str]


def generate_pods(
    rng: Random, nodes: Sequence[Object], claims: Iterable[ClaimUse], features: Set[Feature]
) -> list[Object]:
    """Some four pods a node, of a dozen workloads; pods that hold claims, and guards that keep others away, on top."""
    names = [node["metadata"]["name"] for node in nodes]
    workloads = [_workload(rng, features) for _ in range(12)]
    pods = []
    for index in range(len(nodes) * 4):
        pods.append(_pod(rng, f"p{index:03d}", rng.choice(workloads), _preferred_node(rng, nodes)))
    pods += [_holder(rng, number, use) for number, use in enumerate(claims)]
    if Feature.SYMMETRY in features:
        pods += [_guard(rng, number, rng.choice(names)) for number in range(max(4, len(nodes) // 4))]
    return _within_slots(pods, nodes)


def _preferred_node(rng: Random, nodes: Sequence[Object]) -> str:
    """Mostly a node of the first two that were drawn from the untainted pool, so that pools differ in load."""
    node = rng.choice(nodes)
    if node["metadata"]["labels"][POOL] != "general" and chance(rng, 0.4):
        node = rng.choice(nodes)
    name: str = node["metadata"]["name"]
    return name


def _workload(rng: Random, features: Set[Feature]) -> Object:
    container: Object = {"name": "main", "image": "registry.test/small:1", "resources": _requests(rng, features)}
    if Feature.PORTS in features and chance(rng, 0.4):
        container["ports"] = [_port(rng)]
    spec: Object = {"containers": [container]}
    if Feature.SYMMETRY in features and chance(rng, 0.3):
        spec["affinity"] = _affinity(rng)
    return {"metadata": {"namespace": rng.choice(tuple(NAMESPACES)), "labels": workload_labels(rng)}, "spec": spec}


def _requests(rng: Random, features: Set[Feature]) -> Object:
    if chance(rng, 0.1):
        return {}
    requests = {"cpu": rng.choice(("50m", "100m", "250m", "600m")), "memory": rng.choice(("64Mi", "256Mi", "900Mi"))}
    if Feature.EXTENDED in features and chance(rng, 0.15):
        extended = {rng.choice(EXTENDED): "1"}
        return {"requests": {**requests, **extended}, "limits": extended}
    return {"requests": requests}


def _port(rng: Random) -> Object:
    port = rng.choice(HOST_PORTS)
    address = rng.choice(HOST_ADDRESSES)
    protocol = "UDP" if port == 5353 else "TCP"
    return {
        "containerPort": port,
        "hostPort": port,
        "protocol": protocol,
        **({"hostIP": address} if address else {}),
    }


def _affinity(rng: Random) -> Object:
    """Preferences only: they score the candidate, while guards refuse it."""
    kind = rng.choice(("podAffinity", "podAntiAffinity"))
    term = {"labelSelector": label_selector(rng), "topologyKey": rng.choice((HOSTNAME, ZONE)), **namespace_scope(rng)}
    return {
        kind: {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": rng.randint(1, 100), "podAffinityTerm": term}
            ]
        }
    }


def _guard(rng: Random, number: int, node: str) -> Object:
    """A pod that does not want pods of one app in its place."""
    selector: Object = {"matchLabels": {"app": rng.choice(APPS), "tier": rng.choice(TIERS)}}
    if chance(rng, 0.3):
        selector = {"matchExpressions": [{"key": "guarded", "operator": "Exists"}]}
    term = {"labelSelector": selector, "topologyKey": rng.choice((HOSTNAME, ZONE, RACK)), **namespace_scope(rng)}
    workload = {
        "metadata": {"namespace": rng.choice(tuple(NAMESPACES)), "labels": {"app": "guard"}},
        "spec": {
            "containers": [{"name": "main", "image": "registry.test/small:1"}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        },
    }
    return _pod(rng, f"guard-{number}", workload, node)


def _holder(rng: Random, number: int, use: ClaimUse) -> Object:
    workload = {
        "metadata": {"namespace": use.namespace, "labels": {"app": "holder"}},
        "spec": {
            "containers": [{"name": "main", "image": "registry.test/small:1"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": use.claim}}],
        },
    }
    return _pod(rng, f"holder-{number}", workload, rng.choice(use.nodes))


def _pod(rng: Random, name: str, workload: Object, node: str) -> Object:
    metadata = {"name": name, **workload["metadata"]}
    phase = "Running"
    if chance(rng, 0.05):
        phase = rng.choice(("Succeeded", "Failed"))
    elif chance(rng, 0.05):
        metadata |= {"deletionTimestamp": _DELETED_AT, "deletionGracePeriodSeconds": 3600}
    return {"metadata": metadata, "spec": {**workload["spec"], "nodeName": node}, "status": {"phase": phase}}


def _within_slots(pods: Sequence[Object], nodes: Sequence[Object]) -> list[Object]:
    """The pods without those above one less than a node's number of pods: a node should be able to take a candidate."""
    slots = {node["metadata"]["name"]: int(node["status"]["allocatable"]["pods"]) - 1 for node in nodes}
    kept = []
    for pod in reversed(pods):  # guards and holders were made last and matter most
        slots[pod["spec"]["nodeName"]] -= 1
        if slots[pod["spec"]["nodeName"]] >= 0:
            kept.append(pod)
    return kept[::-1]

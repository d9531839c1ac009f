"""Checks of single calculations about pods, nodes and protections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from descheduler.eviction.default_evictor.default_evictor import DefaultEvictorArgs, effective_protections
from descheduler.eviction.default_evictor.protections import check_critical_priority, check_daemon_set
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import preferred_weight
from descheduler.model.selection.labels import parse_selector
from descheduler.model.selection.taints import Taint, Toleration
from descheduler.strategies.remove_pods_violating_node_affinity import PreferredNodes
from descheduler.strategies.shared.anti_affinity_conflicts import AntiAffinityConflicts
from descheduler.strategies.shared.pods import sort_low_to_high, sort_oldest_first
from tests.builders import decode_node, decode_pod, make_view

Vector = Mapping[str, Any]

WITHOUT_COUNTERPART = {
    "nodeSelectorsEqual": "equal node selectors are recognised by hashing their frozen values",
    "tolerationsEqual": "equal tolerations are recognised by hashing their frozen values",
    "uniqueSortNodeSelectorRequirements": "requirements are only compared whole; nothing needs them sorted",
    "uniqueSortNodeSelectorTerms": "terms are only compared whole; nothing needs them sorted",
    "uniqueSortTolerations": "tolerations are only compared whole; nothing needs them sorted",
}
"""Functions that this design does not have, each with the reason."""


def check_calc(vector: Vector) -> str | None:
    """One calculation; an order among full ties is not compared."""
    got = _CALCULATIONS[vector["function"]](vector["input"])
    want = vector["expect"]["result"]
    return None if got == want else f"{vector['function']}: expected {want}, got {got}"


def _effective_protections(given: Vector) -> list[str]:
    return list(effective_protections(msgspec.convert(given["args"], DefaultEvictorArgs)))


def _ready_nodes(given: Vector) -> list[str]:
    view = make_view([decode_node(node) for node in given["nodes"]])
    return [node.name for node in view.ready_nodes(parse_selector(given["nodeSelector"]))]


def _tolerates(given: Vector) -> bool:
    toleration, taint = given["toleration"], given["taint"]
    return Toleration(
        toleration.get("key", ""),
        toleration.get("operator", ""),
        toleration.get("value", ""),
        toleration.get("effect", ""),
    ).tolerates(Taint(taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")))


def _preferred_weight(given: Vector) -> int:
    pod, node = _pod(given), decode_node(given["node"])
    return preferred_weight(pod.spec.affinity, node.name, node.labels)


def _best_preferred_weight(given: Vector) -> int:
    pod = _pod(given)
    nodes = [decode_node(node) for node in given["nodes"]]
    return PreferredNodes(nodes).best_weight(pod.spec.affinity) if pod.spec.affinity is not None else 0


def _violates_anti_affinity(given: Vector) -> bool:
    nodes = [decode_node(node) for node in given["nodes"]]
    pods = [decode_pod(pod) for pod in given["pods"]]
    listed = {node.name: [pod for pod in pods if pod.node_name == node.name] for node in nodes}
    return AntiAffinityConflicts(nodes, listed, spares_namesakes=True).find(_pod(given)) is not None


def _pod(given: Vector) -> Pod:
    return decode_pod(given["pod"])


def _sorted_keys(given: Vector, sort: Callable[[list[Pod]], list[Pod]]) -> list[str]:
    return [pod.key for pod in sort([decode_pod(pod) for pod in given["pods"]])]


_CALCULATIONS: Mapping[str, Callable[[Vector], object]] = {
    "effectivePodProtections": _effective_protections,
    "isCriticalPriorityPod": lambda given: check_critical_priority(_pod(given)) is not None,
    "isDaemonSetPod": lambda given: check_daemon_set(_pod(given)) is not None,
    "isDaemonsetPod": lambda given: check_daemon_set(_pod(given)) is not None,
    "isMirrorPod": lambda given: _pod(given).is_mirror,
    "isNodeReady": lambda given: decode_node(given["node"]).is_ready,
    "isNodeUnschedulable": lambda given: decode_node(given["node"]).unschedulable,
    "isPodWithLocalStorage": lambda given: _pod(given).spec.has_local_storage,
    "isStaticPod": lambda given: _pod(given).is_static,
    "readyNodes": _ready_nodes,
    "toleratesTaint": _tolerates,
    "preferredNodeAffinityWeight": _preferred_weight,
    "bestPreferredNodeAffinityWeight": _best_preferred_weight,
    "sortPodsByAge": lambda given: _sorted_keys(given, sort_oldest_first),
    "sortPodsByPriorityLowToHigh": lambda given: _sorted_keys(given, sort_low_to_high),
    "violatesInterPodAntiAffinity": _violates_anti_affinity,
}

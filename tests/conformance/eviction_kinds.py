"""Checks of the evictor: who may be evicted, where pods fit, and single requests under limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from descheduler import EvictionAnswer
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.limits import RunLimits
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.default_evictor.default_evictor import DefaultEvictor, DefaultEvictorArgs
from descheduler.eviction.handle import Handle
from descheduler.eviction.node_fit import NodeFit
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit, Verdict
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from descheduler.policy.priority_thresholds import resolve_priority_thresholds
from tests.builders import decode_node, decode_pod, make_view
from tests.eviction.evictors import ask, make_setting

Vector = Mapping[str, Any]

_UNVALIDATED: Registry = {
    name: replace(spec, validate=lambda _: (), construction_problems=lambda _: ()) for name, spec in REGISTRY.items()
}
"""Some cases build the plugin straight from arguments that no policy may hold."""
_LIMIT_TEXTS = {
    EvictionLimit.NODE: "maximum number of evicted pods per node reached",
    EvictionLimit.NAMESPACE: "maximum number of evicted pods per namespace reached",
    EvictionLimit.TOTAL: "maximum number of evicted pods per a descheduling cycle reached",
}


def check_filter(vector: Vector) -> str | None:
    """DefaultEvictor's filter on one pod; or both of its filters on every pod of the cluster."""
    plugin, pods = _evictor_plugin(vector)
    if "pod" in vector:
        return _different_answer(vector, plugin.filter(pods[vector["pod"]]))
    expect = vector["expect"]
    accepted = [key for key, pod in pods.items() if plugin.filter(pod).is_accepted]
    accepted_now = [key for key, pod in pods.items() if plugin.pre_eviction_filter(pod).is_accepted]
    return _different_keys("filter", expect["filter_accepts"], accepted) or _different_keys(
        "pre-eviction filter", expect["preevictionfilter_accepts"], accepted_now
    )


def check_pre_eviction_filter(vector: Vector) -> str | None:
    """DefaultEvictor's pre-eviction filter on one pod."""
    plugin, pods = _evictor_plugin(vector)
    return _different_answer(vector, plugin.pre_eviction_filter(pods[vector["pod"]]))


def check_nodefit(vector: Vector) -> str | None:
    """Where pods fit, asked node by node and for many nodes at a time."""
    # Pods may lack a name here, which no snapshot lets pass.
    view = make_view(map(decode_node, vector["nodes"]), map(decode_pod, vector["pods"]))
    return _check_fits(vector, view) if "function" in vector else _check_reasons(vector, view)


def check_evict(vector: Vector) -> str | None:
    """One request: its answer and the counters after it."""
    policy = load_policy(vector["policy"], REGISTRY)
    pod = decode_pod(vector["pod"])
    limits = RunLimits(policy.max_evictions_per_node, policy.max_evictions_per_namespace, policy.max_evictions_total)
    responses = vector.get("eviction_responses") or {}
    answers = {key: EvictionAnswer(response["code"], response["message"]) for key, response in responses.items()}
    setting = make_setting(ClusterView(Snapshot(pods=(pod,)), moves_take_effect=False), limits, answers=answers)

    verdict = ask(setting.evictor, pod)

    counters = setting.counters
    got = {
        "result": _result_text(verdict),
        "total_evicted": counters.total,
        "node_evicted": counters.per_node[pod.node_name],
    }
    want = {name: vector["expect"][name] for name in got}
    return None if got == want else f"expected {want}, got {got}"


def _evictor_plugin(vector: Vector) -> tuple[DefaultEvictor, dict[str, Pod]]:
    registry = _UNVALIDATED if vector.get("policy_loads") is False else REGISTRY
    snapshot = _snapshot(vector)
    values = {name: priority.value for name, priority in snapshot.priority_classes.items()}
    policy = resolve_priority_thresholds(load_policy(vector["policy"], registry), values)
    view = ClusterView(snapshot, moves_take_effect=False)
    now = datetime.fromisoformat(vector["now"])
    handle = Handle(policy, view, NodeFit(view), now)
    args = policy.profiles[0].args["DefaultEvictor"]
    assert isinstance(args, DefaultEvictorArgs)
    return DefaultEvictor(args, handle), {pod.key: pod for pod in snapshot.pods}


def _snapshot(vector: Vector) -> Snapshot:
    others = [*vector.get("cluster_only_nodes", ()), *(vector.get("objects") or ())]
    return snapshot_from_objects([*vector["nodes"], *vector["pods"], *others])


def _check_fits(vector: Vector, view: ClusterView) -> str | None:
    fit, nodes, pod = NodeFit(view), view.snapshot.nodes, decode_pod(vector["candidate"])
    match vector["function"]:
        case "PodFitsAnyOtherNode":
            reasons = [None if fit.fits_any_other(pod, fit.node_set(nodes)) else "no other node fits"]
        case "PodFitsAnyNode":
            reasons = [None if fit.fits_any(pod, fit.node_set(nodes)) else "no node fits"]
        case _:
            reasons = [fit.obstacle(pod, node) for node in nodes]
    expect = vector["expect"]
    if (reasons == [None]) is not expect["fits"]:
        return f"expected fits {expect['fits']}, got {reasons}"
    if "reasons" in expect and not expect["fits"] and reasons[0] not in expect["reasons"]:
        return f"expected one of {expect['reasons']}, got {reasons[0]!r}"
    return None


def _check_reasons(vector: Vector, view: ClusterView) -> str | None:
    fit = NodeFit(view)
    pods = {pod.key: pod for pod in view.snapshot.pods}
    for name, by_node in vector["expect"]["reasons"].items():
        pod = pods[name]
        for node_name, reasons in by_node.items():
            node = view.nodes[node_name]
            reason = fit.obstacle(pod, node)
            if (reason is None) != (reasons is None) or (reasons is not None and reason not in reasons):
                return f"{name} on {node_name}: expected {reasons}, got {reason!r}"
            if fit.fits_any(pod, fit.node_set([node])) != (reasons is None):
                return f"{name} on {node_name}: the answer for many nodes differs from {reasons}"
    return None


def _different_answer(vector: Vector, verdict: Verdict) -> str | None:
    if verdict.is_accepted is vector["expect"]["result"]:
        return None
    return f"{vector['pod']}: expected {vector['expect']['result']}, got {verdict}"


def _different_keys(what: str, want: Sequence[str], got: Sequence[str]) -> str | None:
    if sorted(want) == sorted(got):
        return None
    return f"{what}: missing {sorted(set(want) - set(got))}, too many {sorted(set(got) - set(want))}"


def _result_text(verdict: Verdict) -> str:
    if verdict.reason is None:
        return "evicted"
    return verdict.message if verdict.limit is None else _LIMIT_TEXTS[verdict.limit]

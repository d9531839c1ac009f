"""Checks of whole cycles, and of single plugins called directly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from descheduler import EvictionAnswer, evaluate
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.evaluation import EvaluatedRefusal, Evaluation, evaluation_of
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry

Vector = Mapping[str, Any]

_UNVALIDATED: Registry = {
    name: msgspec.structs.replace(spec, validate=lambda _: (), construction_problems=lambda _: ())
    for name, spec in REGISTRY.items()
}
"""Some cases build a plugin straight from arguments that no policy may hold."""


def check_cycle(vector: Vector) -> str | None:
    """One whole cycle through the public `evaluate`."""
    return _difference(vector, _evaluate(vector))


def check_plugin(vector: Vector) -> str | None:
    """One plugin, handed exactly the nodes of the vector."""
    registry = _UNVALIDATED if vector.get("policy_loads") is False else REGISTRY
    policy = load_policy(vector["policy"], registry)
    snapshot = snapshot_from_objects([*vector["nodes"], *_others(vector)])
    snapshot = replace(snapshot, node_samples=vector.get("prometheus") or {})
    by_name = {node.name: node for node in snapshot.nodes}
    decisions = decide(
        policy,
        snapshot,
        now=_now(vector),
        setting=RunSetting(
            feature_gates=vector.get("feature_gates") or {},
            registry=registry,
            processed_nodes=[by_name[node["metadata"]["name"]] for node in vector["nodes"]],
        ),
        this_round=Round(answers=_answers(vector)),
    )
    return _difference(vector, evaluation_of(decisions))


def _evaluate(vector: Vector) -> Evaluation:
    return evaluate(
        vector["policy"],
        [*vector["nodes"], *_others(vector)],
        _now(vector),
        eviction_answers=_answers(vector),
        node_samples=vector.get("prometheus"),
        feature_gates=vector.get("feature_gates"),
    )


def _others(vector: Vector) -> list[Mapping[str, Any]]:
    return [*vector.get("cluster_only_nodes", ()), *vector["pods"], *(vector.get("objects") or ())]


def _now(vector: Vector) -> datetime:
    return datetime.fromisoformat(vector["now"])


def _answers(vector: Vector) -> dict[str, EvictionAnswer]:
    responses = vector.get("eviction_responses") or {}
    return {key: EvictionAnswer(answer["code"], answer["message"]) for key, answer in responses.items()}


def _difference(vector: Vector, result: Evaluation) -> str | None:
    """The first way in which `result` departs from the vector's expectation, or None."""
    expect = vector["expect"]
    evicted = [f"{eviction.namespace}/{eviction.name}" for eviction in result.evictions]
    if bool(expect["errors"]) != bool(result.failures):
        return f"errors: expected {expect['errors']}, got {[failure.message for failure in result.failures]}"
    if expect["deterministic"]:
        difference = _different_evictions(expect, evicted) or _different_strategies(expect, result)
    else:
        difference = _different_counts(vector, result, evicted)
    return difference or _different_background(expect, result, evicted) or _different_refusals(expect, result)


def _different_evictions(expect: Vector, evicted: Sequence[str]) -> str | None:
    expected: Counter[str] = Counter(expect["evicted"])
    if expected != Counter(evicted):
        missing = sorted((expected - Counter(evicted)).elements())
        extra = sorted((Counter(evicted) - expected).elements())
        return f"evicted: missing {missing}, too many {extra}"
    if expect["order_stable"] and list(expect["evicted"]) != list(evicted):
        return f"order: expected {expect['evicted']}, got {list(evicted)}"
    return None


def _different_strategies(expect: Vector, result: Evaluation) -> str | None:
    for member, name_of in (
        ("by_strategy", lambda e: e.plugin),
        ("by_profile_strategy", lambda e: f"{e.profile}/{e.plugin}"),
    ):
        if member not in expect:
            continue
        got: dict[str, list[str]] = {}
        for eviction in result.evictions:
            got.setdefault(name_of(eviction), []).append(f"{eviction.namespace}/{eviction.name}")
        want = {name: sorted(pods) for name, pods in expect[member].items() if pods}
        if want != {name: sorted(pods) for name, pods in got.items()}:
            return f"{member}: expected {want}, got {got}"
    return None


def _different_counts(vector: Vector, result: Evaluation, evicted: Sequence[str]) -> str | None:
    expect = vector["expect"]
    if "evicted_count" in expect and len(evicted) != expect["evicted_count"]:
        return f"evicted {len(evicted)}, expected {expect['evicted_count']}"
    counts = expect.get("evicted_count_in")
    if counts and not min(counts) <= len(evicted) <= max(counts):
        return f"evicted {len(evicted)}, expected {min(counts)} to {max(counts)}"
    if "per_node" in expect:
        got = Counter(eviction.node for eviction in result.evictions)
        if got != Counter(expect["per_node"]):
            return f"per node: expected {expect['per_node']}, got {dict(got)}"
    return _different_groups(vector, evicted) if "groups" in expect else None


def _different_groups(vector: Vector, evicted: Sequence[str]) -> str | None:
    pods = {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod for pod in vector["pods"]}
    got = Counter(_group(pods[key]) for key in evicted)
    want = Counter({_group_key(group): group["count"] for group in vector["expect"]["groups"]})
    return None if got == want else f"groups: expected {want}, got {got}"


def _group(pod: Mapping[str, Any]) -> tuple[str, str, str]:
    owners = pod["metadata"].get("ownerReferences") or [{}]
    first = owners[0]
    owner = f"{first['kind']}/{first['name']}" if first else ""
    return pod["spec"].get("nodeName", ""), pod["metadata"]["namespace"], owner


def _group_key(group: Mapping[str, Any]) -> tuple[str, str, str]:
    return group["node"], group["namespace"], group["owner"]


def _different_background(expect: Vector, result: Evaluation, evicted: Sequence[str]) -> str | None:
    if "background" in expect:
        got = sorted(f"{eviction.namespace}/{eviction.name}" for eviction in result.background)
        if got != sorted(expect["background"]):
            return f"background: expected {expect['background']}, got {got}"
    if "background_requests" in expect and result.num_background != expect["background_requests"]:
        return f"background requests: expected {expect['background_requests']}, got {result.num_background}"
    sums = expect.get("evicted_plus_background_in")
    if sums and len(evicted) + len(result.background) not in sums:
        return f"evicted and background: expected {sums}, got {len(evicted)} and {len(result.background)}"
    return None


def _different_refusals(expect: Vector, result: Evaluation) -> str | None:
    refused = [(f"{r.namespace}/{r.name}", _upstream_error(r)) for r in result.refusals if r.is_attempt]
    if "refused" in expect:
        want = Counter((entry["pod"], _bare(entry["error"])) for entry in expect["refused"])
        if want != Counter(refused):
            return f"refused: expected {sorted(want.elements())}, got {sorted(refused)}"
    if "refused_count" in expect and len(refused) != expect["refused_count"]:
        return f"refused {len(refused)}, expected {expect['refused_count']}"
    return None


_UPSTREAM_ERRORS = {
    "maxNoOfPodsToEvictPerNode": "maximum number of evicted pods per node reached",
    "maxNoOfPodsToEvictPerNamespace": "maximum number of evicted pods per namespace reached",
    "maxNoOfPodsToEvictTotal": "maximum number of evicted pods per a descheduling cycle reached",
    "AlreadyRequested": "already-requested",
}


_WRAPPING = re.compile(r'error when evicting pod \(ignoring\) "[^"]*": |pod not found when evicting "[^"]*": ')


def _bare(error: str) -> str:
    """The reference's error without the words it wraps around the API's message."""
    return _WRAPPING.sub("", error, count=1)


def _upstream_error(refusal: EvaluatedRefusal) -> str:
    """The text that the reference gives where ours is a code with a sentence of its own."""
    return _UPSTREAM_ERRORS.get(refusal.limit or refusal.code, refusal.message)

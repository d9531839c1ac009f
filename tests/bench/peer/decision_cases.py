"""The clusters and policies over which the decisions of both programs are compared."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.bench.policies import STRATEGIES, policy_of
from tests.e2e.cluster_fill import generated
from tests.e2e.kube_api import Object
from tests.worlds.generate import GENERATED_AT

# Thresholds for clusters of 20 pods a node, and bounds that keep a run to a few hundred evictions.
_ARGS: dict[str, dict[str, Any]] = {
    "RemoveDuplicates": {"namespaces": {"include": [f"team-{number:02d}" for number in range(6)]}},
    "LowNodeUtilization": {
        "thresholds": {"cpu": 20, "memory": 20, "pods": 15},
        "targetThresholds": {"cpu": 60, "memory": 60, "pods": 45},
    },
    "HighNodeUtilization": {"thresholds": {"cpu": 10, "memory": 10, "pods": 8}},
}
_LIFE_TIME_SECONDS = 20 * 86400
_QUIET_SECONDS = 900
_UNLIMITED = 1_000_000
_PODS_PER_NODE = 20
_CRITICAL = 2_000_000_000
_BUDGET = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
_PEERS = ("RemovePodsViolatingNodeTaints", "RemoveFailedPods", "RemovePodsHavingTooManyRestarts", "PodLifeTime")


@dataclass(frozen=True, slots=True)
class DecisionCase:
    """One cluster under one policy. Where evictions are refused, a budget in each namespace allows none.

    Ranked pods have a priority of their own each, which leaves upstream no choice among equals: its order of those is
    random, and decides not only whom it evicts but, as pods differ in size, how many. `per_node` is the policy's limit
    of evictions on each node, None without one.
    """

    number: int
    plugins: tuple[str, ...]
    num_nodes: int
    node_fit: bool
    is_refused: bool
    is_ranked: bool = False
    per_node: int | None = None

    def __str__(self) -> str:
        fit = "nodeFit on" if self.node_fit else "nodeFit off"
        answer = "refused" if self.is_refused else "allowed"
        rank = ", ranked" if self.is_ranked else ""
        limit = "" if self.per_node is None else f", {self.per_node} a node"
        return f"{'+'.join(self.plugins)}, {self.num_nodes} nodes, {fit}, {answer}{rank}{limit}"

    def policy(self, objects: Iterable[Object], now: datetime) -> dict[str, Any]:
        """The policy for runs within some minutes of `now` over `objects`."""
        document = policy_of(list(self.plugins), node_fit=self.node_fit)
        args = _ARGS | {"PodLifeTime": {"maxPodLifeTimeSeconds": _life_time_seconds(objects, now)}}
        for config in document["profiles"][0]["pluginConfig"]:
            config["args"] = args.get(config["name"], config["args"])
        if self.per_node is not None:
            document["maxNoOfPodsToEvictPerNode"] = self.per_node
        # There is no kubelet to end pods, so that they go at once or never.
        return document | {"gracePeriodSeconds": 0}

    def objects(self) -> Iterator[Object]:
        """The cluster: some workloads crowd a few nodes, so that spreading plugins find work too."""
        rng = random.Random(self.number)
        num_pods = _PODS_PER_NODE * self.num_nodes
        ranks = rng.sample(range(num_pods), num_pods)
        crowded: list[str] = []
        namespaces: set[str] = set()
        for obj in generated(nodes=self.num_nodes, pods=num_pods, seed=self.number):
            match obj["kind"]:
                case "Node" if len(crowded) < self.num_nodes // 10 and not obj["spec"]["taints"]:
                    crowded.append(obj["metadata"]["name"])
                case "Pod":
                    namespaces.add(obj["metadata"]["namespace"])
                    if _is_picky(obj) and rng.random() < 0.3:
                        obj["spec"]["nodeName"] = rng.choice(crowded)
                    if self.is_ranked and obj["spec"]["priority"] < _CRITICAL:
                        obj["spec"].pop("priorityClassName", None)
                        obj["spec"]["priority"] = ranks.pop()
                case "PodDisruptionBudget":
                    if self.is_refused:
                        continue
                    _settle(obj)
            yield obj
        if self.is_refused:
            yield from (_nothing_allowed(namespace) for namespace in sorted(namespaces))


def make_cases() -> list[DecisionCase]:
    """Every plugin in three clusters, and a few policies with several plugins or a limit: 34 in all."""
    cases: list[DecisionCase] = []
    for plugin in STRATEGIES:
        for variant in range(3):
            number = len(cases) + 1
            num_nodes = 50 + number * 53 % 100 if variant < 2 else 150 + number * 31 % 150
            case = DecisionCase(
                number, (plugin,), num_nodes, node_fit=variant > 0, is_refused=variant == 2, is_ranked=variant > 0
            )
            cases.append(case)
    for refused in (False, True):
        cases.append(DecisionCase(len(cases) + 1, _PEERS, 60, node_fit=False, is_refused=refused))
    for plugin in ("RemoveFailedPods", "RemovePodsViolatingNodeTaints"):
        cases.append(DecisionCase(len(cases) + 1, (plugin,), 60, node_fit=False, is_refused=False, per_node=1))
    return cases


def _life_time_seconds(objects: Iterable[Object], now: datetime) -> int:
    """A life time that no pod reaches in the minutes after `now`, so that every run sees the same pods as too old."""
    stamps = (datetime.fromisoformat(obj["metadata"]["creationTimestamp"]) for obj in objects if obj["kind"] == "Pod")
    ages = sorted({int((now - stamp).total_seconds()) for stamp in stamps})
    wanted = int((now - GENERATED_AT).total_seconds()) + _LIFE_TIME_SECONDS
    older = [age for age, next_age in pairwise(ages) if age < wanted and next_age - age > 2 * _QUIET_SECONDS]
    # The youngest pod above the gap is the oldest that stays; it reaches this age only after all runs.
    return older[-1] + _QUIET_SECONDS


def _is_picky(pod: Object) -> bool:
    spec = pod["spec"]
    is_spread = "topologySpreadConstraints" in spec or "podAntiAffinity" in spec.get("affinity", {})
    return is_spread and "nodeName" in spec


def _settle(budget: Object) -> None:
    """Lets the budget allow all or nothing, as whom a partial one refuses depends on the order of requests.

    Its status becomes current: the API server asks clients of a stale one to wait ten seconds, again and again.
    """
    status = budget["status"]
    budget["metadata"]["generation"] = status["observedGeneration"]
    status["disruptionsAllowed"] = _UNLIMITED if status["disruptionsAllowed"] else 0


def _nothing_allowed(namespace: str) -> Object:
    # Below what is wanted, a budget keeps pods that are not ready as well.
    status = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 2}
    metadata = {"name": "nothing", "namespace": namespace, "generation": 1}
    spec = {"maxUnavailable": 0, "selector": {}}
    return deepcopy(_BUDGET) | {"metadata": metadata, "spec": spec, "status": status | {"expectedPods": 1}}

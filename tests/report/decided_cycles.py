"""Cycles whose decisions the report's tests look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from descheduler.cycle.deciding.beyond_limits import with_beyond
from descheduler.cycle.deciding.decide import decide, decide_again
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan
from tests.builders import NOW, make_node, make_pod, make_snapshot

OLD = ("old-1", "old-2", "old-3")
"""Names of the pods that are too old for the policy."""


def pod_life_time_policy(
    profiles: Sequence[str] = ("main",), *, balance: Sequence[str] = (), **top_level: object
) -> Mapping[str, object]:
    """A policy whose profiles each evict pods after a minute, and run the plugins `balance` without arguments."""
    plugin_config = [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}, *({"name": n} for n in balance)]
    plugins = {"deschedule": {"enabled": ["PodLifeTime"]}, "balance": {"enabled": list(balance)}}
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [{"name": name, "pluginConfig": plugin_config, "plugins": plugins} for name in profiles],
        **top_level,
    }


def make_test_plan(pods: Iterable[Pod] | None = None, **world: Any) -> Plan:
    """The plan of `make_test_decisions`."""
    return make_plan(make_test_decisions(pods, **world))


def make_test_decisions(
    pods: Iterable[Pod] | None = None,
    *,
    nodes: Iterable[Node] | None = None,
    policy: Mapping[str, object] | None = None,
    **facts: Any,
) -> Decisions:
    """`pod_life_time_policy` decides for nodes `a` and `b` and the pods `OLD` on `a`; facts are of the snapshot."""
    if pods is None:
        pods = [make_pod(name, cpu="500m", memory="1Gi") for name in OLD]
    nodes = [make_node("a"), make_node("b")] if nodes is None else nodes
    facts = {"source": "dump.json", "taken_at": NOW - timedelta(seconds=90), **facts}
    loaded = load_policy(policy or pod_life_time_policy(), REGISTRY, name="policy.yaml")
    snapshot = make_snapshot(nodes, pods, **facts)
    return with_beyond(decide(loaded, snapshot, now=NOW), decide_again(snapshot, now=NOW))

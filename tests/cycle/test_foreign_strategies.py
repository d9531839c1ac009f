"""Strategies that are not of this program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from descheduler.report.plan.making import make_plan
from tests.builders import NOW, make_node, make_pod, make_snapshot


class EvictsEverything:
    """A strategy that tells nothing of what it saw."""

    def __init__(self, _: msgspec.Struct, handle: StrategyHandle) -> None:
        self._handle = handle

    def deschedule(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            for pod in self._handle.view.pods_on(node.name):
                self._handle.evictor.request(pod, "because")


def test_strategy_without_facts_runs_and_has_none_in_the_plan() -> None:
    foreign = replace(REGISTRY["PodLifeTime"], name="EvictsEverything", factory=EvictsEverything)
    registry: Registry = {**REGISTRY, "EvictsEverything": foreign}
    profile: Mapping[str, object] = {
        "name": "p",
        "pluginConfig": [{"name": "EvictsEverything", "args": {"states": ["Running"]}}],
        "plugins": {"deschedule": {"enabled": ["EvictsEverything"]}},
    }
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    snapshot = make_snapshot([make_node("a"), make_node("b")], [make_pod("p")])

    plan = make_plan(decide(load_policy(document, registry), snapshot, now=NOW, setting=RunSetting(registry=registry)))

    (figures,) = plan.plugins
    assert (figures.evicted, figures.facts) == (1, None)

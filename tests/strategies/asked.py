"""A plugin after its run over a small cluster, which can be asked about pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from descheduler.policy.types import Compatibility
from tests.builders import NOW, Object, make_snapshot
from tests.strategies.runs import policy_with


class Asked:
    """The plugin `name`, which has run as in `run_plugin`."""

    def __init__(
        self,
        name: str,
        nodes: Sequence[Node],
        pods: Iterable[Pod],
        *,
        args: Object | None = None,
        evictor: Object | None = None,
        policy: Object | None = None,
        compatibility: Compatibility = "fixed",
        processed: Sequence[Node] | None = None,
        prior_moves: Sequence[Move] = (),
        **others: Any,
    ) -> None:
        built: list[Any] = []

        def build(given: Any, handle: StrategyHandle) -> object:
            built.append(REGISTRY[name].factory(given, handle))
            return built[-1]

        registry = {**REGISTRY, name: replace(REGISTRY[name], factory=build)}
        document = {**policy_with(name, args=args, evictor=evictor), **(policy or {})}
        self._snapshot = make_snapshot(nodes, pods, **others)
        self.decisions = decide(
            replace(load_policy(document, registry), compatibility=compatibility),
            self._snapshot,
            now=NOW,
            setting=RunSetting(registry=registry, processed_nodes=nodes if processed is None else processed),
            this_round=Round(prior_moves=prior_moves),
        )
        self._strategy = built[-1]

    @property
    def evicted(self) -> list[str]:
        """Names of the pods whose eviction was granted, in order."""
        return [move.pod.name for move in self.decisions.moves]

    def why_not(self, pod: Pod) -> str:
        """Why the plugin does not select `pod`."""
        found: str = self._strategy.why_not(pod)
        return found

    def selects_again(self, pod: Pod, node: str, *, also_gone: Iterable[Pod] = (), **facts: Any) -> str:
        """Why the plugin would select the replacement of `pod` on `node`, once `pod` and others are gone.

        `facts` are fields in which the replacement differs from the pod.
        """
        after = ClusterView(self._snapshot, moves_take_effect=True)
        for gone in (pod, *also_gone):
            after.book_eviction(gone)
        found: str = self._strategy.selects_again(
            pod, replace(pod, name=f"{pod.name}+", uid="", node_name=node, **facts), after
        )
        return found

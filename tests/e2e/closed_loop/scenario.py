"""A scenario: a cluster in which evicting blindly does harm, and the policy that both programs run on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.e2e.closed_loop.holes import Hole
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object

_VERIFICATION = "PlacementVerification"


@dataclass(frozen=True, slots=True)
class Strategy:
    """A plugin that chooses pods, with its arguments and its extension point."""

    plugin: str
    args: Mapping[str, Any]
    point: str = "deschedule"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One cluster and policy. `name` is a sentence; `build` leaves an empty cluster as the programs shall find it.

    `num_landing` of the pods that the strategy wants gone find a place elsewhere, and are to be evicted. Without a
    `hole` the harm is of another kind than those known of `nodeFit`.
    """

    name: str
    hole: Hole | None
    strategy: Strategy
    build: Callable[[Cluster], None]
    num_landing: int = 0
    node_fit: bool = True

    def __str__(self) -> str:
        return self.name

    def policy(self, *, verified: bool) -> Object:
        """The DeschedulerPolicy; `verified` adds the proof that replacements land, which only this program has."""
        configs: list[Object] = [
            {"name": "DefaultEvictor", "args": {"nodeFit": self.node_fit}},
            {"name": self.strategy.plugin, "args": dict(self.strategy.args)},
        ]
        plugins: Object = {self.strategy.point: {"enabled": [self.strategy.plugin]}}
        if verified:
            configs.append({"name": _VERIFICATION, "args": {"onReturnToSource": "refuse"}})
            plugins["preevictionfilter"] = {"enabled": [_VERIFICATION]}
        return {
            "apiVersion": "descheduler/v1alpha2",
            "kind": "DeschedulerPolicy",
            "profiles": [{"name": "loop", "pluginConfig": configs, "plugins": plugins}],
        }

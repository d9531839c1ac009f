"""The policies that both programs run, and in which mode."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench.policies import STRATEGIES, policy_of
from tests.worlds.generate import GENERATED_AT

_BELOW_EVERY_PRIORITY = -1_000_000_000
_LIFE_TIME_SECONDS = 30 * 86400


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison. Without `evicts` no pod may be evicted, so both programs read and judge the whole cluster.

    Where they do evict it is a dry run, so that every run finds the same cluster.
    """

    title: str
    evicts: bool
    node_fit: bool

    def write_policy(self, folder: Path, now: datetime) -> Path:
        """Writes the policy, for a run at `now`, below `folder`; every strategy of the upstream program is in it."""
        document = policy_of(list(STRATEGIES), node_fit=self.node_fit)
        configs: list[dict[str, Any]] = document["profiles"][0]["pluginConfig"]
        by_name = {config["name"]: config["args"] for config in configs}
        # Generated pods are as old as their cluster, and upstream knows no other clock than the present.
        age = int((now - GENERATED_AT).total_seconds())
        by_name["PodLifeTime"] = {"maxPodLifeTimeSeconds": max(0, age) + _LIFE_TIME_SECONDS}
        if not self.evicts:
            by_name["DefaultEvictor"] = {
                **by_name["DefaultEvictor"],
                "priorityThreshold": {"value": _BELOW_EVERY_PRIORITY},
            }
        document["profiles"][0]["pluginConfig"] = [{"name": name, "args": args} for name, args in by_name.items()]
        file = folder / "policy.json"
        file.write_text(json.dumps(document))
        return file


CASES = (
    Case("live, nothing evictable, nodeFit on", evicts=False, node_fit=True),
    Case("dry run, evicting, nodeFit off", evicts=True, node_fit=False),
    Case("dry run, evicting, nodeFit on", evicts=True, node_fit=True),
)

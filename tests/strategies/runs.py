"""Runs of one plugin over a small cluster: processed nodes in the given order, everything evictable unless said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.run_memory import NO_MEMORY, RunMemory
from descheduler.plan.search_watch import UNWATCHED, SearchWatch
from descheduler.policy.load import load_policy
from descheduler.policy.types import Compatibility
from tests.builders import NOW, Object, make_snapshot


def policy_with(name: str, *, args: Object | None = None, evictor: Object | None = None, profile: str = "p") -> Object:
    """A document that runs one plugin beside DefaultEvictor: a DeschedulerPolicy, or where that does not know the
    plugin, a DeschedulerConfiguration without PlacementVerification."""
    configs = [{"name": "DefaultEvictor", "args": evictor or {}}, {"name": name, "args": args or {}}]
    (point,) = REGISTRY[name].extension_points
    plugins: Object = {point: {"enabled": [name]}}
    kind = "DeschedulerPolicy"
    if REGISTRY[name].native:
        kind = "DeschedulerConfiguration"
        only_default = {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}]}
        verified = [*only_default["disabled"], {"name": "PlacementVerification"}]
        plugins = {
            point: {"enabled": [{"name": name}]},
            "evict": only_default,
            "filter": {**only_default, "disabled": verified},
        }
    profiles = [{"name": profile, "pluginConfig": configs, "plugins": plugins}]
    return {"apiVersion": "descheduler/v1alpha2", "kind": kind, "profiles": profiles}


def run_plugin(
    name: str,
    nodes: Sequence[Node],
    pods: Iterable[Pod],
    *,
    args: Object | None = None,
    evictor: Object | None = None,
    policy: Object | None = None,
    compatibility: Compatibility = "upstream",
    processed: Sequence[Node] | None = None,
    prior_moves: Sequence[Move] = (),
    memory: RunMemory = NO_MEMORY,
    search: SearchWatch = UNWATCHED,
    **others: Any,
) -> Decisions:
    """What the plugin decides. `evictor` are arguments of DefaultEvictor, `policy` further top-level settings.

    `processed` are the nodes that the plugin is handed, all by default, `prior_moves` what earlier rounds of the run
    have evicted, `memory` what earlier runs have left, `search` may end a search; others are fields of `Snapshot`.
    """
    document = {**policy_with(name, args=args, evictor=evictor), **(policy or {})}
    return decide(
        replace(load_policy(document, REGISTRY), compatibility=compatibility),
        make_snapshot(nodes, pods, **others),
        now=NOW,
        setting=RunSetting(processed_nodes=nodes if processed is None else processed, memory=memory, search=search),
        this_round=Round(prior_moves=prior_moves),
    )


def moved(pods: Sequence[Pod], *names: str, plugin: str) -> list[Move]:
    """The moves of the pods of these names, made for `plugin` of the only profile."""
    return [Move(pod, "p", plugin) for pod in pods if pod.name in names]


def evicted(decisions: Decisions) -> list[str]:
    """Names of the pods whose eviction was granted, in order, one for each request."""
    return [booked.pod.name for booked in decisions.moves]


def refused(decisions: Decisions) -> dict[str, str]:
    """Name of every candidate that stays → the code of its reason."""
    return {r.pod.name: str(r.verdict.reason and r.verdict.reason.value) for r in decisions.refusals}

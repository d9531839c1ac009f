"""How a strategy that goes node by node reacts to refusals; such plugins of kubernetes-sigs/descheduler all do so."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit

__all__ = ["evict_from_node"]


def evict_from_node(evictor: PluginEvictor, victims: Iterable[Pod], reason_of: Callable[[Pod], str]) -> bool:
    """Asks for the eviction of `victims`, all of one node, in order; returns whether the strategy goes on after it.

    The node's limit ends the node, the run's limit ends the strategy, and any other refusal only concerns its pod.
    """
    for pod in victims:
        verdict = evictor.request(pod, reason_of(pod))
        if verdict.limit is EvictionLimit.TOTAL:
            return False
        if verdict.limit is EvictionLimit.NODE:
            return True
    return True

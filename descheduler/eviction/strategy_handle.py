"""What a strategy gets to work with: the cluster, and the evictor that speaks in its name."""

from __future__ import annotations

from descheduler.eviction.handle import Handle
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.plan.run_memory import NOTHING_REMEMBERED, PluginMemory
from descheduler.plan.search_watch import UNWATCHED, SearchWatch

__all__ = ["StrategyHandle"]


class StrategyHandle(Handle, frozen=True):
    """The cycle as a strategy sees it.

    `memory` is what the strategy left in the run before, `search` looks on at one that searches.
    """

    evictor: PluginEvictor
    memory: PluginMemory = NOTHING_REMEMBERED
    search: SearchWatch = UNWATCHED

"""What a strategy gets to work with: the cluster, and the evictor that speaks in its name."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.eviction.handle import Handle
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.plan.run_memory import NOTHING_REMEMBERED, PluginMemory
from descheduler.plan.search_watch import UNWATCHED, SearchWatch


def _build_none(name: str, _handle: StrategyHandle) -> object:
    raise KeyError(name)


class StrategyHandle(Handle, frozen=True):
    """The cycle as a strategy sees it.

    `memory` is what the strategy left in the run before, `search` looks on at one that searches. `build_used` builds
    one of the strategies that this one runs by itself (see `Profile.used`), by name and for the handle that it is
    given. Raises KeyError for any other.
    """

    evictor: PluginEvictor
    memory: PluginMemory = NOTHING_REMEMBERED
    search: SearchWatch = UNWATCHED
    build_used: Callable[[str, StrategyHandle], object] = _build_none

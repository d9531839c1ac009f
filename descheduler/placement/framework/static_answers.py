"""What the plugins of a scheduler say of placement classes for good: kept, so that it is asked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from descheduler.placement.framework.extension_points import FilterPlugin, PreFilterResult, ReasonBits
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle

_MOST_CELLS = 5_000_000
"""Nodes times distinct columns of static answers that are kept, at most four bytes each."""
_LEAST_COLUMNS = 64
_MOST_CLASSES = 20_000
"""Placement classes whose static answers are kept, a kilobyte each beside the columns, which most of them share."""
CellType = TypeVar("CellType", bound=np.generic)


class Asked(NamedTuple):
    """A plugin that has a say on a placement class: the `result` of its PreFilter, None where that has to be asked, and
    what it has `against` nodes, None for nothing and where that has to be asked."""

    name: str
    plugin: FilterPlugin
    result: PreFilterResult | None = None
    against: ReasonBits | None = None


class StaticAnswers(NamedTuple):
    """What is known of one placement class for good: the plugins that have a say on it, in running order, and the nodes
    that no static plugin refuses."""

    asked: tuple[Asked, ...]
    is_open: BoolMask


class KeptAnswers:
    """The answers of `plugins`, in running order, by placement class. Those `only_before` have no filter.

    Only so many are kept that memory stays bounded.
    """

    def __init__(self, plugins: Mapping[str, FilterPlugin], *, only_before: AbstractSet[str], num_nodes: int) -> None:
        self._plugins = plugins
        self._only_before = only_before
        self._num_nodes = num_nodes
        self._by_class: dict[PlacementClass, StaticAnswers] = {}
        self._columns = _SharedColumns()
        self._open: dict[tuple[int, ...], BoolMask] = {}
        self._most_columns = max(_LEAST_COLUMNS, _MOST_CELLS // max(1, num_nodes))

    def of(self, cycle: Cycle) -> StaticAnswers:
        """Those for the cycle's placement class."""
        return self._by_class.get(cycle.pod) or self._new(cycle)

    def drop(self, pod: PlacementClass, idle: Sequence[Asked]) -> None:
        """Notes that some plugins have no say on `pod` after all."""
        names = {each.name for each in idle}
        answers = self._by_class[pod]
        self._by_class[pod] = answers._replace(asked=tuple([each for each in answers.asked if each.name not in names]))

    def _new(self, cycle: Cycle) -> StaticAnswers:
        if len(self._by_class) >= _MOST_CLASSES or self._columns.number >= self._most_columns:
            self._by_class.clear()  # pods with claims of their own are a class each
            self._open.clear()
            self._columns = _SharedColumns()
        asked = [self._asked(name, plugin, cycle) for name, plugin in self._plugins.items()]
        concerned = tuple([each for each in asked if each is not None])
        answers = self._by_class[cycle.pod] = StaticAnswers(concerned, self._open_to(concerned))
        return answers

    def _asked(self, name: str, plugin: FilterPlugin, cycle: Cycle) -> Asked | None:
        """What `plugin` says of a placement class for good; None when it is nothing."""
        if not plugin.is_static:
            return Asked(name, plugin)
        result = plugin.pre_filter(cycle)
        if result.nodes is not None:
            result = replace(result, nodes=self._columns.shared(result.nodes))
        against = None
        if result.obstacle is None and not result.is_skipped and name not in self._only_before:
            against = plugin.filter(cycle)
        if against is None:
            return Asked(name, plugin, result) if result.obstacle is not None or result.nodes is not None else None
        return Asked(name, plugin, result, self._columns.shared(against))

    def _open_to(self, asked: tuple[Asked, ...]) -> BoolMask:
        """The nodes that none of the static plugins refuses."""
        refused = [each.against for each in asked if each.against is not None]
        key = tuple([id(each) for each in refused])
        known = self._open.get(key)
        if known is None:
            known = np.ones(self._num_nodes, dtype=bool)
            for against in refused:
                known &= against == 0
            self._open[key] = known
        return known


class _SharedColumns:
    """One column for each content, which all classes share of which the same is said."""

    def __init__(self) -> None:
        self._alike: dict[tuple[str, int, int, int], list[NDArray[Any]]] = {}
        self._ids: set[int] = set()

    @property
    def number(self) -> int:
        return len(self._ids)

    def shared(self, column: NDArray[CellType]) -> NDArray[CellType]:
        """The one column with the content of `column`."""
        if not len(column) or id(column) in self._ids:
            return column
        # Few columns differ in these marks only, and comparing takes a fraction of the time of a strong hash.
        marks = column.dtype.char, int(np.count_nonzero(column)), int(column.argmax()), int(column.argmin())
        alike = self._alike.setdefault(marks, [])
        known = next((each for each in alike if bool((each == column).all())), None)
        if known is None:
            self._ids.add(id(column))
            alike.append(column)
            known = column
        return known

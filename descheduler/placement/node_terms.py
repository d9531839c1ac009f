"""Node selectors, node affinity terms and their requirements as masks over all nodes.

A requirement is one comparison of a label column, so a term costs microseconds where matching it node by node costs
milliseconds. What matches is as in `k8s.io/component-helpers/scheduling/corev1/nodeaffinity` (1.36): a term that
names no condition, or cannot be parsed, matches no node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from descheduler.model.affinity import NodeSelectorTerm
from descheduler.model.labels import Requirement
from descheduler.placement.framework import BoolMask
from descheduler.placement.node_table import LabelColumn, NodeTable

__all__ = ["NodeTerms"]


class NodeTerms:
    """Answers over the nodes of `table`, in its order. Masks are new with each call; only label values are cached."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._value_ids: dict[str, Mapping[str, int]] = {}

    def selected(self, node_selector: Mapping[str, str], required: Iterable[NodeSelectorTerm] | None) -> BoolMask:
        """Nodes that carry every label of `node_selector` and match a term of `required`, unless that is None."""
        mask = self._all(True) if required is None else self.any_of(required)
        for key, value in node_selector.items():
            mask &= self._has_value(self._table.label(key), key, (value,))
        return mask

    def any_of(self, terms: Iterable[NodeSelectorTerm]) -> BoolMask:
        """Nodes that match at least one of `terms`."""
        mask = self._all(False)
        for term in terms:
            mask |= self.term(term)
        return mask

    def term(self, term: NodeSelectorTerm) -> BoolMask:
        """Nodes that meet every condition of `term`."""
        if term.is_empty or term.error:
            return self._all(False)
        mask = self._all(True)
        for requirement in term.expressions:
            mask &= self._meets(requirement)
        for requirement in term.fields:
            mask &= self._is_named(requirement)
        return mask

    def named(self, names: Iterable[str]) -> BoolMask:
        """The nodes of these names."""
        mask = self._all(False)
        mask[[self._table.index[name] for name in names if name in self._table.index]] = True
        return mask

    def _all(self, value: bool) -> BoolMask:
        return np.full(len(self._table), value)

    def _is_named(self, requirement: Requirement) -> BoolMask:
        mask = self.named(requirement.values)
        return ~mask if requirement.operator == "NotIn" else mask

    def _meets(self, requirement: Requirement) -> BoolMask:
        column = self._table.label(requirement.key)
        match requirement.operator:
            case "Exists":
                return column.ids >= 0
            case "DoesNotExist":
                return column.ids < 0
            case "In":
                return self._has_value(column, requirement.key, requirement.values)
            case "NotIn":
                return ~self._has_value(column, requirement.key, requirement.values)
            case _:
                return _compared(column, requirement)

    def _has_value(self, column: LabelColumn, key: str, values: Iterable[str]) -> BoolMask:
        ids = self._value_ids.get(key)
        if ids is None:
            ids = self._value_ids[key] = {value: index for index, value in enumerate(column.values)}
        mask = self._all(False)
        for value in values:
            wanted = ids.get(value)
            if wanted is not None:
                mask |= column.ids == wanted
        return mask


def _compared(column: LabelColumn, requirement: Requirement) -> BoolMask:
    """`Gt` and `Lt`, asked once for each distinct value; the last entry stands for nodes without the label."""
    answers = [requirement.matches({requirement.key: value}) for value in column.values]
    by_id: NDArray[np.bool_] = np.array([*answers, False], dtype=bool)
    return by_id[column.ids]

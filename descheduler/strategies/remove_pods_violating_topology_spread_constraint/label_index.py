"""Pods grouped by equal labels, so that a selector is asked about groups and not about pods."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.shadow.tally.label_columns import LabelColumns

__all__ = ["LabelIndex"]


class LabelIndex:
    """`pods` in the order given. Equal labels are one object in a snapshot, so identity groups them."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self.all_pods = tuple(pods)
        groups: dict[int, int] = {}
        self._group_of = np.array(
            [groups.setdefault(id(pod.labels), len(groups)) for pod in self.all_pods], dtype=np.intp
        )
        labels = {id(pod.labels): pod.labels for pod in self.all_pods}
        self._labels = LabelColumns(labels[identity] for identity in groups)

    def places(self, selector: LabelSelector) -> NDArray[np.intp]:
        """The places in the listing of the pods that `selector` selects, ascending."""
        return np.flatnonzero(self._labels.selected(selector)[self._group_of])

    def pods(self, selector: LabelSelector) -> list[Pod]:
        """The pods that `selector` selects, in listing order."""
        return [self.all_pods[place] for place in self.places(selector)]

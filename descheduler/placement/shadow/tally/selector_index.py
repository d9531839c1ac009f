"""Which of many selectors match one label set, without asking them one by one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from descheduler.model.selection.labels import NOTHING, LabelSelector

__all__ = ["SelectorIndex"]

_NEVER = -1
"""As a number of conditions that no label set can meet."""


class SelectorIndex:
    """Selectors by number, from 0 in the order added. They must hold structured operators alone, without `Gt`, `Lt`.

    Every condition is filed under the labels that meet it, or fail it. Labels then find the conditions that they meet,
    and a selector matches when all of its own are among them and none is failed.
    """

    def __init__(self) -> None:
        self._num_needed: list[int] = []
        self._meets: dict[tuple[str, str | None], list[int]] = {}
        self._fails: dict[tuple[str, str | None], list[int]] = {}
        self._needed = np.empty(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self._num_needed)

    def add(self, selector: LabelSelector | None) -> None:
        """Files one more selector; None matches nothing."""
        selector = selector or NOTHING
        number, num_needed = len(self), 0
        for requirement in selector.requirements:
            is_needed = requirement.operator in ("In", "Exists")
            num_needed += is_needed
            filed = self._meets if is_needed else self._fails
            values = requirement.values if requirement.operator in ("In", "NotIn") else (None,)
            for value in values:
                filed.setdefault((requirement.key, value), []).append(number)
        self._num_needed.append(_NEVER if selector.nothing else num_needed)

    def matching(self, labels: Mapping[str, str]) -> NDArray[np.bool_]:
        """The selectors that match `labels`."""
        if len(self._needed) < len(self):
            self._needed = np.array(self._num_needed, dtype=np.intp)
        met = np.bincount(_filed(self._meets, labels), minlength=len(self))
        matching: NDArray[np.bool_] = met == self._needed
        matching[_filed(self._fails, labels)] = False
        return matching


def _filed(filed: Mapping[tuple[str, str | None], list[int]], labels: Mapping[str, str]) -> NDArray[np.intp]:
    """What is filed under the labels or under their keys."""
    found: list[int] = []
    for key, value in labels.items():
        found += filed.get((key, value), ())
        found += filed.get((key, None), ())
    return np.array(found, dtype=np.intp)

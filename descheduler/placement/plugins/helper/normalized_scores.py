"""Raw scores that no move changes, and what they are normalised to: that hangs on the highest of the feasible nodes."""

from __future__ import annotations

from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.plugins.helper.score_arithmetic import Ints, highest_of, normalize
from descheduler.placement.shadow.node_masks import BoolMask

__all__ = ["NormalizedScores"]

_MOST_KEPT = 8


class NormalizedScores:
    """`raw` is by node. Scores are kept for some of the values that were the highest."""

    __slots__ = ("_best", "_is_reversed", "_kept", "_raw", "_top")

    def __init__(self, raw: Ints, *, is_reversed: bool = False) -> None:
        self._raw = raw
        self._is_reversed = is_reversed
        self._best = int(raw.argmax()) if len(raw) else 0
        self._top = max(0, int(raw[self._best])) if len(raw) else 0
        self._kept: dict[int, Scores] = {}

    def among(self, feasible: BoolMask) -> Scores:
        """The scores when the pod goes to one of the `feasible` nodes."""
        # Mostly a node that has the most may be taken, and nothing has to be compared.
        highest = self._top if not self._top or feasible[self._best] else highest_of(self._raw, feasible)
        known = self._kept.get(highest)
        if known is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            final = normalize(self._raw, highest, is_reversed=self._is_reversed)
            level = int(final[0]) if not self._top and len(final) else None
            known = self._kept[highest] = Scores(final, lambda: self._raw, level)
        return known

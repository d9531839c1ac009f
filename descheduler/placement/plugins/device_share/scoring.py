"""How full a device, or a node by all of its devices, is once a pod is there: 0 to 100.

Source: `pkg/scheduler/plugins/deviceshare/scoring.go` (koordinator 1.8).
"""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.model.koordinator.devices import Amounts
from descheduler.placement.plugins.device_share.args import DeviceShareArgs
from descheduler.placement.plugins.device_share.device_state import DeviceAmounts
from descheduler.placement.plugins.helper.scores import MAX_SCORE

__all__ = ["DeviceScorer"]


class DeviceScorer:
    """Scores by the strategy and the weights of `args`."""

    def __init__(self, args: DeviceShareArgs) -> None:
        self._weights = args.weights
        self._is_most = args.strategy == "MostAllocated"

    def device(self, request: Amounts, total: Amounts, free: Amounts) -> int:
        """The mean over the resources that there are, by weight, cut."""
        score = weights = 0
        for name, weight in self._weights.items():
            whole = total.get(name, 0)
            if whole:
                score += weight * self._rating(request.get(name, 0), whole, free.get(name, 0))
                weights += weight
        return score // weights if weights else 0

    def node(self, request: Amounts, total: DeviceAmounts, free: DeviceAmounts) -> int:
        """The same of all devices of one type together."""
        names = self._weights
        return self.device(request, _sums(names, total.values()), _sums(names, free.values()))

    def _rating(self, asked: int, whole: int, free: int) -> int:
        taken = whole - free + asked if whole >= free else whole
        if self._is_most:
            return min(taken, whole) * MAX_SCORE // whole
        return 0 if taken > whole else (whole - taken) * MAX_SCORE // whole


def _sums(names: Iterable[str], amounts: Iterable[Amounts]) -> Amounts:
    found = dict.fromkeys(names, 0)
    for each in amounts:
        for name in found:
            found[name] += each.get(name, 0)
    return found

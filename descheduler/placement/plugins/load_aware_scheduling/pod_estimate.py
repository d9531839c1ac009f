"""What a pod is taken to use before it is measured: koordinator-sh/koordinator 1.8
(`pkg/scheduler/plugins/loadaware/estimator/default_estimator.go`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from descheduler.model.koordinator.batch_resources import BATCH_NAMES, MID_NAMES
from descheduler.model.koordinator.classes import KoordinatorPriority, priority_class
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, ceil_amount, pod_limits
from descheduler.placement.plugins.load_aware_scheduling.args import LoadAwareSchedulingArgs

__all__ = ["FACTORS_ANNOTATION", "PodEstimates", "units"]

FACTORS_ANNOTATION = "scheduling.koordinator.sh/load-estimated-scaling-factors"
"""Factors of a pod's own, as JSON."""
_UNASKED = {CPU: 250, MEMORY: 200 * 2**20}
"""What a pod is taken to use that asks for none."""
_NAMES: Mapping[KoordinatorPriority, Mapping[str, str]] = {
    KoordinatorPriority.BATCH: BATCH_NAMES,
    KoordinatorPriority.MID: MID_NAMES,
}
"""What cpu and memory are called in the requests of pods of a class."""
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_decode_factors = msgspec.json.Decoder(dict[str, _Int64]).decode
_MOST = 2**53
"""What somebody states beyond this is as good as this: sums and percentages of such amounts fit int64."""


def units(name: str, nano: int) -> int:
    """A quantity in thousandths of cpu, or in whole units of anything else, rounded up; 2^53 at most."""
    return min(_MOST, ceil_amount(name, nano))


class PodEstimates:
    """Estimates by `resources`, each made once for pods that are alike in what it hangs on."""

    def __init__(self, args: LoadAwareSchedulingArgs, resources: tuple[str, ...]) -> None:
        self._factors = dict(args.factors)
        self._customizes = args.customizes
        self._resources = resources
        self._known: dict[tuple[int, KoordinatorPriority, str], tuple[Pod, tuple[int, ...]]] = {}

    def of(self, pod: Pod) -> tuple[int, ...]:
        """In the order of the resources, 0 of one without a factor."""
        own = pod.annotations.get(FACTORS_ANNOTATION, "") if self._customizes else ""
        key = id(pod.spec), priority_class(pod), own
        known = self._known.get(key)
        if known is None:
            # The pod is kept as well: the identity of its spec stands for it only as long as it lives.
            known = self._known[key] = pod, self._estimate(pod, key[1], own)
        return known[1]

    def _estimate(self, pod: Pod, priority: KoordinatorPriority, own: str) -> tuple[int, ...]:
        spec, factors = pod.spec, self._factors
        if own:
            factors = {**factors, **_own_factors(own)}
        limits = pod_limits(spec.containers, spec.init_containers, overhead=spec.overhead)
        names = _NAMES.get(priority, {})
        return tuple(
            [
                _estimated(names.get(name, name), name, spec.requests, limits, factors[name]) if name in factors else 0
                for name in self._resources
            ]
        )


def _own_factors(text: str) -> Mapping[str, int]:
    try:
        return _decode_factors(text)
    except (ValueError, RecursionError):  # the scheduler passes over it, too
        return {}


def _estimated(asked: str, name: str, requests: Mapping[str, int], limits: Mapping[str, int], factor: int) -> int:
    """The larger of request and limit of `asked`, which stands for `name`, by `factor`, and no more than the limit."""
    limit = units(asked, limits.get(asked, 0))
    amount = max(limit, units(asked, requests.get(asked, 0)))
    if not amount:
        return _UNASKED.get(name, 0) if asked in (name, BATCH_NAMES.get(name)) else 0
    # As float64, half away from zero, as the scheduler does it.
    estimated = max(-_MOST, min(_MOST, int(float(amount) * float(factor) / 100 + 0.5)))
    return min(estimated, limit) if limit > 0 else estimated

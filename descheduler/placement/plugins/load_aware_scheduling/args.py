"""Arguments of `LoadAwareScheduling`, and what a pod is taken to use before it is measured.

Rules are those of koordinator-sh/koordinator 1.8 (`pkg/scheduler/apis/config/v1/defaults.go`, for what is refused
`pkg/scheduler/apis/config/validation/validation_pluginargs.go`, for estimates
`pkg/scheduler/plugins/loadaware/estimator/default_estimator.go`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, NamedTuple

import msgspec

from descheduler.model.koordinator.batch_resources import BATCH_NAMES, MID_NAMES
from descheduler.model.koordinator.classes import KoordinatorPriority, priority_class
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, ceil_amount, pod_limits
from descheduler.model.text.duration import parse_duration
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.policy.shared_args import Args, WithoutEffect

Amounts = tuple[tuple[str, int], ...]
"""Whole numbers by resource, in name order."""
AGGREGATES = ("avg", "p50", "p90", "p95", "p99")
"""The kinds of aggregated usage that koordlet reports."""
_WEIGHTS = {CPU: 1, MEMORY: 1}
_THRESHOLDS = {CPU: 65, MEMORY: 95}
_FACTORS = {CPU: 85, MEMORY: 70}
_MOST = 100


class Percentile(NamedTuple):
    """Which aggregated usage is looked at; of duration 0 that of the longest one."""

    kind: str
    duration: timedelta = timedelta(0)


class UsageLimits(NamedTuple):
    """Percent of usage above which a node takes no pod, 0 for no limit.

    `prod` counts for pods of class prod where there is any; for all others `whole`, which is compared with `percentile`
    of the usage where that is not None.
    """

    whole: Amounts = tuple(_THRESHOLDS.items())
    prod: Amounts = ()
    percentile: Percentile | None = None

    @property
    def are_any(self) -> bool:
        """Whether some node may be refused by them."""
        return any(percent for _, percent in (*self.whole, *self.prod))


class LoadAwareSchedulingArgs(msgspec.Struct, frozen=True):
    """The arguments that decide. `limits` are those of nodes without an annotation of their own.

    A NodeMetric as old as `expiration` does not count for the score, and for the limits where it `expires`; then
    `refuses_expired` says that its node takes no pod. The score is the mean of what is left of each resource, by
    `weights`, and by `dominant_weight` of the least of them. `scored` is what it reads instead of the usage as it is;
    with `scores_prod` that of prod pods alone decides about prod pods. `counts_system` adds the system to it. Pods are
    estimated by `factors`, for some seconds after they were scheduled or initialized even if they were measured; with
    `customizes` annotations of pods count before these.
    """

    limits: UsageLimits = UsageLimits()
    expires: bool = True
    refuses_expired: bool = True
    expiration: timedelta = timedelta(seconds=180)
    weights: Amounts = tuple(_WEIGHTS.items())
    dominant_weight: int = 0
    scored: Percentile | None = None
    scores_prod: bool = False
    counts_system: bool = False
    factors: Amounts = tuple(_FACTORS.items())
    seconds_after_scheduled: int | None = None
    seconds_after_initialized: int | None = None
    customizes: bool = False
    supported: tuple[str, ...] = ()


class AggregatedSection(Args, frozen=True):
    """`aggregated` of `LoadAwareSchedulingArgs`: thresholds and scores by percentiles of usage."""

    usage_thresholds: Mapping[str, int] = {}
    """Percent of that usage above which a node takes no pod; they replace `usageThresholds`."""
    usage_aggregation_type: str = ""
    """`avg`, `p50`, `p90`, `p95` or `p99`; without it the thresholds do not count."""
    usage_aggregated_duration: str = "0s"
    """The time that the percentile is taken over; by default the longest that koordlet reports."""
    score_aggregation_type: str = ""
    """The same for the score; without it the score reads the usage as it is."""
    score_aggregated_duration: str = "0s"
    """The time that the percentile of the score is taken over."""


class LoadAwareSchedulingSection(Args, frozen=True):
    """`LoadAwareSchedulingArgs` of koord-scheduler 1.8."""

    filter_expired_node_metrics: bool | None = None
    """Whether thresholds leave NodeMetrics out that are too old, yes by default."""
    node_metric_expiration_seconds: int | None = None
    """A NodeMetric this old does not count, 180 by default."""
    enable_schedule_when_node_metrics_expired: bool | None = None
    """Whether a node with thresholds takes pods while its NodeMetric is too old, no by default."""
    resource_weights: Mapping[str, int] = {}
    """What is scored, each with a weight of 1 to 100; cpu and memory alike by default."""
    dominant_resource_weight: int = 0
    """The weight of the resource of which the least is left, 0 to 100."""
    usage_thresholds: Mapping[str, int] = {}
    """Percent of usage above which a node takes no pod; cpu 65 and memory 95 when empty, 0 for no limit."""
    prod_usage_thresholds: Mapping[str, int] = {}
    """The same for pods of class prod, compared with the usage of such pods."""
    prod_usage_include_sys: bool = False
    """Whether the usage of the system counts with that of prod pods."""
    score_according_prod_usage: bool | None = None
    """Whether pods of class prod are scored by the usage of such pods, no by default."""
    estimator: WithoutEffect[str] = ""
    estimated_scaling_factors: Mapping[str, int] = {}
    """Percent of its request or limit that a pod is taken to use until it is measured; cpu 85, memory 70 by default."""
    estimated_seconds_after_pod_scheduled: int | None = None
    """How long after it was scheduled a pod is estimated although it is measured."""
    estimated_seconds_after_initialized: int | None = None
    """The same after its init containers have ended, which counts before the other."""
    allow_customize_estimation: bool = False
    """Whether annotations of a pod may change how it is estimated."""
    aggregated: AggregatedSection = AggregatedSection()
    """Thresholds and scores by percentiles of usage."""
    supported_resources: tuple[str, ...] = ()
    """Resources beside those of the other arguments that annotations of nodes set thresholds for."""


def _read(block: ArgsBlock, section: LoadAwareSchedulingSection) -> LoadAwareSchedulingArgs:
    weights = dict(section.resource_weights) or _WEIGHTS
    factors = _FACTORS | dict(section.estimated_scaling_factors)
    _check(block, section)
    for name in weights.keys() - factors.keys():
        block.fail(("estimatedScalingFactors",), f"has no {name}, which resourceWeights names")
    aggregated = section.aggregated
    of_filter = _percentile(block, "usage", aggregated.usage_aggregation_type, aggregated.usage_aggregated_duration)
    scored = _percentile(block, "score", aggregated.score_aggregation_type, aggregated.score_aggregated_duration)
    is_aggregated = of_filter is not None and bool(aggregated.usage_thresholds)
    whole = aggregated.usage_thresholds if is_aggregated else section.usage_thresholds or _THRESHOLDS
    expiration = section.node_metric_expiration_seconds
    return LoadAwareSchedulingArgs(
        limits=UsageLimits(
            _sorted(whole), _sorted(section.prod_usage_thresholds), of_filter if is_aggregated else None
        ),
        expires=section.filter_expired_node_metrics is not False,
        refuses_expired=section.enable_schedule_when_node_metrics_expired is not True,
        expiration=timedelta(seconds=180 if expiration is None else expiration),
        weights=_sorted(weights),
        dominant_weight=section.dominant_resource_weight,
        scored=scored,
        scores_prod=section.score_according_prod_usage is True,
        counts_system=section.prod_usage_include_sys,
        factors=_sorted(factors),
        seconds_after_scheduled=section.estimated_seconds_after_pod_scheduled,
        seconds_after_initialized=section.estimated_seconds_after_initialized,
        customizes=section.allow_customize_estimation,
        supported=section.supported_resources,
    )


def _check(block: ArgsBlock, section: LoadAwareSchedulingSection) -> None:
    expiration = section.node_metric_expiration_seconds
    if expiration is not None and not 0 < expiration < 2**31:
        block.fail(("nodeMetricExpirationSeconds",), f"is {expiration}; give a whole number of seconds from 1 on")
    _check_range(block, (), {"dominantResourceWeight": section.dominant_resource_weight}, 0)
    _check_range(block, ("resourceWeights",), section.resource_weights, 1)
    _check_range(block, ("usageThresholds",), section.usage_thresholds, 0)
    _check_range(block, ("prodUsageThresholds",), section.prod_usage_thresholds, 0)
    _check_range(block, ("aggregated", "usageThresholds"), section.aggregated.usage_thresholds, 0)
    _check_range(block, ("estimatedScalingFactors",), section.estimated_scaling_factors, 1)


def _check_range(block: ArgsBlock, path: tuple[str, ...], numbers: Mapping[str, int], least: int) -> None:
    for name, number in numbers.items():
        if not least <= number <= _MOST:
            block.fail((*path, name), f"{number} is not between {least} and {_MOST}")


def _percentile(block: ArgsBlock, what: str, kind: str, duration: str) -> Percentile | None:
    if kind:
        block.choose(("aggregated", f"{what}AggregationType"), kind, AGGREGATES)
    try:
        found = Percentile(kind, parse_duration(duration))
    except ValueError as error:
        block.fail(("aggregated", f"{what}AggregatedDuration"), str(error))
        return None
    if found.duration < timedelta(0):
        block.fail(("aggregated", f"{what}AggregatedDuration"), f"{duration} is below 0")
    return found if kind else None


def _sorted(numbers: Mapping[str, int]) -> Amounts:
    return tuple(sorted(numbers.items()))


ARGS = ArgsKind(LoadAwareSchedulingSection, _read, LoadAwareSchedulingArgs)


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
_LARGEST_AMOUNT = 2**53
"""What somebody states beyond this is as good as this: sums and percentages of such amounts fit int64."""


def units(name: str, nano: int) -> int:
    """A quantity in thousandths of cpu, or in whole units of anything else, rounded up; 2^53 at most."""
    return min(_LARGEST_AMOUNT, ceil_amount(name, nano))


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
    estimated = max(-_LARGEST_AMOUNT, min(_LARGEST_AMOUNT, int(float(amount) * float(factor) / 100 + 0.5)))
    return min(estimated, limit) if limit > 0 else estimated

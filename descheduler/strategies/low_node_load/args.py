"""Arguments of LowNodeLoad."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

import msgspec

from descheduler.model.requests import CPU, MEMORY
from descheduler.policy.shared_args import Args, Int32, Int64, LabelSelectorArg, Namespaces
from descheduler.strategies.shared.koordinator import PodSelector

UInt32 = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]

_DEFAULT_ABNORMALITIES, _DEFAULT_NORMALITIES = 5, 3
_DEFAULT_TIMEOUT = timedelta(minutes=1)
_DEFAULT_CACHE_TIMEOUT = timedelta(minutes=5)


class LoadAnomalyCondition(Args, frozen=True):
    """When an overutilized node counts as abnormal, which is when its pods are evicted."""

    timeout: timedelta | None = None
    """How long a node counts as abnormal; 1 minute when unset."""
    consecutive_abnormalities: UInt32 = 0
    """A node is abnormal once it was overutilized in more runs than this; 1 acts in the first."""
    consecutive_normalities: UInt32 = 0
    """An abnormal node is normal again after more normal marks in a row than this."""


class LowNodeLoadNodePool(Args, frozen=True):
    """One entry of `nodePools`. Thresholds, weights and condition that are unset are those of the plugin."""

    name: str = ""
    """Name of the pool."""
    node_selector: LabelSelectorArg | None = None
    """Nodes of the pool; all nodes when unset."""
    use_deviation_thresholds: bool = False
    """Whether the thresholds of the pool are distances from its average usage."""
    high_thresholds: Mapping[str, float] | None = None
    """A node above any of these is overutilized."""
    low_thresholds: Mapping[str, float] | None = None
    """A node at or below all of these is underutilized."""
    prod_high_thresholds: Mapping[str, float] | None = None
    """A node whose prod pods are above any of these is overutilized by them."""
    prod_low_thresholds: Mapping[str, float] | None = None
    """A node whose prod pods are at or below all of these can take more prod pods."""
    resource_weights: Mapping[str, Int64] | None = None
    """Weights of resources in the order of nodes and pods."""
    anomaly_condition: LoadAnomalyCondition | None = None
    """When an overutilized node of the pool counts as abnormal."""


class LowNodeLoadArgs(Args, frozen=True):
    """Arguments of LowNodeLoad. Thresholds are percent of allocatable by resource.

    Source: koordinator-sh/koordinator 1.8 `pkg/descheduler/apis/config/v1alpha2/types_loadaware.go`.
    """

    paused: bool = False
    """Whether the plugin does nothing."""
    dry_run: bool = False
    """Whether the plugin selects pods and evicts none."""
    number_of_nodes: Int32 = 0
    """The plugin acts only when more nodes than this are underutilized."""
    node_metric_expiration_seconds: Int64 = 180
    """A NodeMetric that is older counts as missing, and its node is left alone."""
    evictable_namespaces: Namespaces | None = None
    """Only pods of these namespaces are evicted; `include` or `exclude`."""
    node_selector: LabelSelectorArg | None = None
    """Nodes of the first pool, which has the settings of this level; all nodes when unset."""
    pod_selectors: tuple[PodSelector, ...] = ()
    """Only pods with the labels of one of these are evicted; all pods when empty."""
    node_fit: bool = True
    """Whether an underutilized node must fit a pod: selector, affinity, taints, requests, and its measured usage."""
    use_deviation_thresholds: bool = False
    """Whether the thresholds are distances from the average usage."""
    high_thresholds: Mapping[str, float] | None = None
    """A node above any of these is overutilized."""
    low_thresholds: Mapping[str, float] | None = None
    """A node at or below all of these is underutilized. A resource that is not named here has no effect."""
    prod_high_thresholds: Mapping[str, float] | None = None
    """A node whose prod pods are above any of these is overutilized by them."""
    prod_low_thresholds: Mapping[str, float] | None = None
    """A node whose prod pods are at or below all of these can take more prod pods."""
    resource_weights: Mapping[str, Int64] | None = None
    """Weights of resources in the order of nodes and pods; 1 for cpu, memory and those of the thresholds."""
    anomaly_condition: LoadAnomalyCondition | None = None
    """When an overutilized node counts as abnormal; more than 5 runs in a row when unset."""
    detector_cache_timeout: timedelta | None = None
    """How long it is remembered that a node was overutilized; 5 minutes when unset, and at least until the next run."""
    node_pools: tuple[LowNodeLoadNodePool, ...] = ()
    """Further pools of nodes. A node that was overutilized in an earlier pool is not in a later one."""


def default_args(args: LowNodeLoadArgs) -> LowNodeLoadArgs:
    """`args` with every unset field that has a default filled in; the pools keep what they leave unset.

    Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/apis/config/v1alpha2/defaults.go`: of the two counts of a
    condition one alone is filled in, and validation finds the other.
    """
    return msgspec.structs.replace(
        args,
        anomaly_condition=_condition(args.anomaly_condition),
        detector_cache_timeout=_DEFAULT_CACHE_TIMEOUT
        if args.detector_cache_timeout is None
        else args.detector_cache_timeout,
        resource_weights=_weights(args),
    )


def _condition(given: LoadAnomalyCondition | None) -> LoadAnomalyCondition:
    if given is None:
        return LoadAnomalyCondition(_DEFAULT_TIMEOUT, _DEFAULT_ABNORMALITIES, _DEFAULT_NORMALITIES)
    if not given.consecutive_abnormalities:
        return msgspec.structs.replace(given, consecutive_abnormalities=_DEFAULT_ABNORMALITIES)
    if not given.consecutive_normalities:
        return msgspec.structs.replace(given, consecutive_normalities=_DEFAULT_NORMALITIES)
    return given


def _weights(args: LowNodeLoadArgs) -> Mapping[str, int]:
    given = args.resource_weights or {}
    names = dict.fromkeys((CPU, MEMORY, *(args.low_thresholds or {}), *(args.high_thresholds or {})))
    return {**given, **{name: 1 for name in names if given.get(name, 0) <= 0}}

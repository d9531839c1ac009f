"""Plugins of kube- and koord-scheduler that have no part in where a pod fits, or whose decisions are not modelled.

Those without a part are not asked. Which pods the others decide about is told by `framework.koordinator_features` and
by their arguments; to any other pod they are nothing. Points and arguments of koord-scheduler's are those of
koordinator-sh/koordinator 1.8 (`pkg/scheduler/plugins`, `pkg/scheduler/apis/config/v1/types.go`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, Percent
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.policy.shared_args import Args, WithoutEffect

__all__ = [
    "DEFAULT_BINDER",
    "DEFAULT_PREEMPTION",
    "DEFAULT_PRE_BIND",
    "GANG_SCHEDULING",
    "LOAD_AWARE_SCHEDULING",
    "POD_GROUP_PODS_COUNT",
    "PRIORITY_SORT",
    "SCHEDULING_HINT",
    "TOPOLOGY_PLACEMENT_GENERATOR",
]

_NO_PART = "It does not affect on which nodes a pod fits, so it is not modelled."


class DefaultPreemptionSection(Args, frozen=True):
    """`DefaultPreemptionArgs`."""

    min_candidate_nodes_percentage: Percent | None = None
    """0 to 100, 10 by default; without effect here."""
    min_candidate_nodes_absolute: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | None = None
    """100 by default; without effect here."""


def _read_default_preemption(block: ArgsBlock, section: DefaultPreemptionSection) -> None:
    if section.min_candidate_nodes_percentage == section.min_candidate_nodes_absolute == 0:
        block.fail(("minCandidateNodesPercentage",), "is 0, and so is minCandidateNodesAbsolute; raise one of them")


DEFAULT_PREEMPTION = SchedulingPlugin(
    points=frozenset({"pre_enqueue", "post_filter"}),
    by_default=ByDefault(),
    args=ArgsKind(DefaultPreemptionSection, _read_default_preemption),
    interactions=own_node,
    preempts=True,
    about=About(
        check=f"Evicts pods of lower priority for a pod that fits on no node. {_NO_PART}",
    ),
)
DEFAULT_BINDER = SchedulingPlugin(
    points=frozenset({"bind"}),
    by_default=ByDefault(),
    interactions=own_node,
    about=About(
        check=f"Writes the chosen node to the API server. {_NO_PART}",
    ),
)
PRIORITY_SORT = SchedulingPlugin(
    points=frozenset({"queue_sort"}),
    by_default=ByDefault(),
    interactions=own_node,
    about=About(
        check="Sorts the queue: higher priority first, then longer waiting time. The prediction follows this order.",
    ),
)
GANG_SCHEDULING = SchedulingPlugin(
    points=frozenset({"pre_enqueue", "permit"}),
    by_default=ByDefault(gate="GangScheduling"),
    interactions=own_node,
    about=About(
        check="Pods of a pod group wait for each other. Off by default; for such pods the prediction is unknown.",
    ),
)
POD_GROUP_PODS_COUNT = SchedulingPlugin(
    points=frozenset({"placement_score"}),
    interactions=own_node,
    about=About(
        check=f"Scores placements of whole pod groups, off by default. {_NO_PART}",
    ),
)
TOPOLOGY_PLACEMENT_GENERATOR = SchedulingPlugin(
    points=frozenset({"placement_generate"}),
    interactions=own_node,
    about=About(
        check=f"Proposes placements of whole pod groups, off by default. {_NO_PART}",
    ),
)


class AggregatedSection(Args, frozen=True):
    """`aggregated` of `LoadAwareSchedulingArgs`: thresholds and scores by percentiles of usage."""

    usage_thresholds: Mapping[str, int] = {}
    """Percent of usage above which a node takes no pod; not modelled."""
    usage_aggregation_type: WithoutEffect[str] = ""
    usage_aggregated_duration: WithoutEffect[str] = ""
    score_aggregation_type: WithoutEffect[str] = ""
    score_aggregated_duration: WithoutEffect[str] = ""


class LoadAwareSchedulingSection(Args, frozen=True):
    """`LoadAwareSchedulingArgs` of koord-scheduler 1.8."""

    filter_expired_node_metrics: WithoutEffect[bool | None] = None
    node_metric_expiration_seconds: WithoutEffect[int | None] = None
    enable_schedule_when_node_metrics_expired: WithoutEffect[bool | None] = None
    resource_weights: Mapping[str, int] = {}
    """Without effect here: scores by load are not modelled."""
    dominant_resource_weight: WithoutEffect[int] = 0
    usage_thresholds: Mapping[str, int] = {}
    """Percent of usage above which a node takes no pod; cpu 65 and memory 95 when empty, 0 for no limit. Such limits
    are not modelled."""
    prod_usage_thresholds: Mapping[str, int] = {}
    """The same for pods of production; not modelled."""
    prod_usage_include_sys: WithoutEffect[bool] = False
    score_according_prod_usage: WithoutEffect[bool | None] = None
    estimator: WithoutEffect[str] = ""
    estimated_scaling_factors: WithoutEffect[Mapping[str, int]] = msgspec.field(default_factory=dict)
    estimated_seconds_after_pod_scheduled: WithoutEffect[int | None] = None
    estimated_seconds_after_initialized: WithoutEffect[int | None] = None
    allow_customize_estimation: WithoutEffect[bool] = False
    aggregated: AggregatedSection = AggregatedSection()
    """Thresholds and scores by percentiles of usage; not modelled."""
    supported_resources: WithoutEffect[tuple[str, ...]] = ()


class LoadAwareSchedulingArgs(msgspec.Struct, frozen=True):
    """The arguments that decide; without any, Koordinator limits the usage of nodes."""

    limits_usage: bool = True


class SchedulingHintSection(Args, frozen=True):
    """`SchedulingHintArgs` of koord-scheduler 1.8."""

    max_hint_nodes: WithoutEffect[int | None] = None


def _limits_usage(section: LoadAwareSchedulingSection) -> bool:
    """Whether some limit of usage is in effect (`SetDefaults_LoadAwareSchedulingArgs`)."""
    whole = section.usage_thresholds or {"cpu": 65, "memory": 95}
    others = section.prod_usage_thresholds, section.aggregated.usage_thresholds
    return any(any(limits.values()) for limits in (whole, *others))


def _read_load_aware(block: ArgsBlock, section: LoadAwareSchedulingSection) -> LoadAwareSchedulingArgs | None:
    if not _limits_usage(section):
        return LoadAwareSchedulingArgs(limits_usage=False)
    block.warn(("usageThresholds",), "limits of measured usage are not modelled: every landing is `likely` at best")
    return None


def _doubt_of_usage(profile: SchedulerProfile) -> str:
    """Which nodes are above a limit hangs on what is measured when the pod is placed."""
    is_limiting = profile.args.of(LoadAwareSchedulingArgs).limits_usage
    return "limits of measured usage are not modelled" if is_limiting else ""


def _read_nothing(block: ArgsBlock, section: Args) -> None:
    del block, section


LOAD_AWARE_SCHEDULING = SchedulingPlugin(
    points=frozenset({"pre_filter", "filter", "score", "reserve"}),
    args=ArgsKind(LoadAwareSchedulingSection, _read_load_aware, LoadAwareSchedulingArgs),
    interactions=own_node,
    is_modelled=False,
    doubt=_doubt_of_usage,
    about=About(
        check="Nodes above a limit of measured usage take no pod, the others are preferred by less usage."
        " Not modelled; Koordinator's manifest sets no limit.",
    ),
)
SCHEDULING_HINT = SchedulingPlugin(
    points=frozenset({"pre_filter"}),
    args=ArgsKind(SchedulingHintSection, _read_nothing),
    interactions=own_node,
    is_modelled=False,
    about=About(check="Tries the nodes first that another program names for a pod. Not modelled."),
)
DEFAULT_PRE_BIND = SchedulingPlugin(
    points=frozenset({"pre_bind"}),
    interactions=own_node,
    about=About(check="Writes what other plugins chose to the API server. It has no part in where a pod fits."),
)

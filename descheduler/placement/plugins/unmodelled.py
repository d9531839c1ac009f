"""Plugins of kube- and koord-scheduler that have no part in where a pod fits, or whose decisions are not modelled.

Those without a part are not asked. Which pods the others decide about is told by `framework.koordinator_features` and
by their arguments; to any other pod they are nothing. Points and arguments of koord-scheduler's are those of
koordinator-sh/koordinator 1.8 (`pkg/scheduler/plugins`, `pkg/scheduler/apis/config/v1/types.go`).
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, ByDefault, Percent
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.policy.shared_args import Args, WithoutEffect

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


class SchedulingHintSection(Args, frozen=True):
    """`SchedulingHintArgs` of koord-scheduler 1.8."""

    max_hint_nodes: WithoutEffect[int | None] = None


SCHEDULING_HINT = SchedulingPlugin(
    points=frozenset({"pre_filter"}),
    args=ArgsKind(SchedulingHintSection, lambda block, section: None),
    interactions=own_node,
    is_modelled=False,
    about=About(check="Tries the nodes first that another program names for a pod. Not modelled."),
)
DEFAULT_PRE_BIND = SchedulingPlugin(
    points=frozenset({"pre_bind"}),
    interactions=own_node,
    about=About(check="Writes what other plugins chose to the API server. It has no part in where a pod fits."),
)

"""What runs as `Coscheduling`."""

from __future__ import annotations

from descheduler.model.koordinator.gang_settings import GANG_ANNOTATIONS
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, by_requests
from descheduler.placement.plugins.coscheduling.plugin import Coscheduling
from descheduler.policy.shared_args import Args, WithoutEffect

__all__ = ["ROW"]


class _CoschedulingArgsSection(Args, frozen=True):
    """`CoschedulingArgs`."""

    default_timeout: str | None = None
    """How long pods wait for others of their gang, `600s` by default; without effect here."""
    controller_workers: WithoutEffect[int | None] = None
    skip_check_schedule_cycle: WithoutEffect[bool | None] = None
    enable_preemption: bool | None = None
    """Whether a gang evicts pods of lower priority, off by default; without effect here."""
    aware_network_topology: bool | None = None
    """Whether gangs are kept in one part of the network, off by default; not modelled."""
    permit_waiting_time_seconds: int | None = None
    """The argument of kubernetes-sigs/scheduler-plugins, whose plugin has the same name; without effect here."""
    pod_group_backoff_seconds: int | None = None
    """The same."""


def _read(block: ArgsBlock, section: _CoschedulingArgsSection) -> None:
    """Nothing of it is in use."""
    del block, section


ROW = SchedulingPlugin(
    plugin=Coscheduling,
    # Releases before 1.6 sort the queue as well, as do those of kubernetes-sigs/scheduler-plugins under this name.
    points=frozenset(
        {"pre_enqueue", "queue_sort", "pre_filter", "post_filter", "pre_score", "score"}
        | {"reserve", "permit", "pre_bind", "post_bind"}
    ),
    args=ArgsKind(_CoschedulingArgsSection, _read),
    # What pods of a group do for each other they do as a unit; it is not on this or that node that they are refused.
    interactions=by_requests,
    reads_annotations=GANG_ANNOTATIONS,
    reads_kinds=frozenset({"PodGroup.scheduling.sigs.k8s.io"}),
    about=About(
        check="The pods of a gang, and of all gangs of its group, are bound together: at least minMember of each.",
        reasons=(
            "gangGroup [<gangs>] basic check: memberGangs [<gangs>] child pod not collect enough, current gang: <gang>",
            'GangGroup "<gangs>" gets rejected: too few pods of gang <gang> (<number> of <minMember>) can be scheduled'
            " together",
        ),
    ),
)

"""What runs as `Coscheduling`."""

from __future__ import annotations

from descheduler.model.koordinator.gang_settings import GANG_ANNOTATIONS
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, by_requests
from descheduler.placement.plugins.coscheduling.args import ARGS
from descheduler.placement.plugins.coscheduling.plugin import Coscheduling

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=Coscheduling,
    # Releases before 1.6 sort the queue as well, as do those of kubernetes-sigs/scheduler-plugins under this name.
    points=frozenset(
        {"pre_enqueue", "queue_sort", "pre_filter", "post_filter", "pre_score", "score"}
        | {"reserve", "permit", "pre_bind", "post_bind"}
    ),
    args=ARGS,
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

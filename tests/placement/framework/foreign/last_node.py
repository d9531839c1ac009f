"""LastNode: a scheduler of another kind, which looks at room alone and takes the last node that has it."""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduler_model import DoubtOf
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.row import SchedulerRow
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

NAME = "last-node"
_PROFILE = SchedulerProfile(
    scheduler_name=NAME, pre_filters=("NodeResourcesFit",), filters=("NodeResourcesFit", "NodeUnschedulable")
)


class LastNode(Scheduler):
    """Places pods as nobody else does; of those that ask for nothing it cannot be told where they go."""

    def __init__(self, cluster: ShadowCluster, _configuration: object) -> None:
        super().__init__(cluster, _PROFILE, plugins=PLUGINS)

    def doubt(self, pod: Pod, about: DoubtOf = DoubtOf.LANDING) -> str:
        """Says so of pods that ask for nothing."""
        return "" if about is not DoubtOf.LANDING or pod.spec.requests else "it asks for nothing"

    def choose(self, evaluation: PodEvaluation) -> Choice | None:
        """The last node."""
        if not len(evaluation.nodes):
            return None
        last = int(evaluation.nodes[-1])
        return Choice(last, 0, (last,), None, is_sampled=False)


ROW = SchedulerRow(name=NAME, model=LastNode)

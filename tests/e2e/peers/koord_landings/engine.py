"""What the product says of pods that do not exist yet, out of the live cluster and its scheduler's configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cycle.reading import read_cluster
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.kube.client import connect
from descheduler.kube.discovery import discover_version
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.framework.attempt import Attempt, Picker, first_of_ties, place
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.framework.matched_reservations import allocations_of
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.placement.framework.scheduler_model import SchedulerModel, Unit
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.e2e.kube_api import Object

Taken = Mapping[str, Sequence[str]]
"""What a pod has by name: minors by type of device, and its Reservation."""


class Said(NamedTuple):
    """What is said of one pod: a node with all that is as likely and what is taken there, or why there is none."""

    verdict: LandingVerdict
    node: str = ""
    ties: Sequence[str] = ()
    taken: Taken = MappingProxyType({})
    why: str = ""
    is_queued: bool = True


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is said of pods that come together, over the cluster as it was."""

    cluster: ShadowCluster
    scheduler: SchedulerModel
    pods: Sequence[Pod]
    doubts: Sequence[str]

    def said(self, nodes: Sequence[str] = ()) -> list[Said]:
        """Of each pod, in order. With `nodes`, one for a pod, they are taken in that order where scores are equal: so
        ties that the scheduler broke are followed."""
        left = list(nodes)

        def pick(evaluation: PodEvaluation, choice: Choice) -> int:
            index = self.cluster.table.index
            found = next((name for name in left if index[name] in choice.ties), None)
            if found is None:
                return first_of_ties(evaluation, choice)
            left.remove(found)
            return index[found]

        with self.cluster.what_if():
            attempts = self._attempts(pick)
            return [self._said(attempt, doubt) for attempt, doubt in zip(attempts, self.doubts, strict=True)]

    def scores(self, node: str) -> str:
        """What each plugin gives to `node` for the first pod, empty where it is not feasible."""
        evaluation = self.scheduler.evaluate(self.pods[0])
        place = self.cluster.table.index[node]
        if not evaluation.feasible[place]:
            return ""
        table = evaluation.scores()
        column = table.nodes.tolist().index(place)
        parts = [f"{name} {given.final[column]}" for name, given in table.by_plugin.items()]
        return f"{table.totals[column]}: {', '.join(parts)}"

    def _attempts(self, pick: Picker) -> list[Attempt]:
        if not self.scheduler.unit_of(self.pods[0]):
            return [place(self.scheduler.evaluate(pod), pick) for pod in self.pods]
        attempts: list[Attempt] = []
        while len(attempts) < len(self.pods):
            unit = Unit(tuple(self.pods[len(attempts) :]))
            attempts += self.scheduler.try_place(unit, pick).attempts
        return attempts

    def _said(self, attempt: Attempt, doubt: str) -> Said:
        evaluation, placement = attempt.evaluation, attempt.placement
        if placement is None:
            is_unknown = ObstacleCounts(evaluation).is_undecided
            verdict = LandingVerdict.UNKNOWN if is_unknown else LandingVerdict.NO
            return Said(verdict, why=_why(evaluation), is_queued=evaluation.is_queued)
        names = self.cluster.table.names
        taken: dict[str, list[str]] = {}
        for each in allocations_of(placement.placed):
            taken.setdefault(each.kind, []).append(each.name)
        return Said(
            _verdict(doubt or placement.cause, placement.conditions),
            names[placement.node],
            [names[tie] for tie in placement.choice.ties],
            taken,
            doubt or placement.cause or "; ".join(placement.conditions),
        )


class Engine:
    """The product over the cluster of `kubeconfig`, whose scheduler runs the configuration in `scheduler_file`."""

    def __init__(self, kubeconfig: Path, scheduler_file: Path) -> None:
        self._client = connect(str(kubeconfig), qps=500.0, burst=500)
        self._git_version = discover_version(self._client)
        self._request = snapshot_request(None, Landings.ASSESSED)
        version = KubeVersion.parse(self._git_version)
        self._configuration = load_scheduler_configuration(scheduler_file, version=version, plugins=PLUGINS)

    def forecast(self, pods: Sequence[Object]) -> Forecast:
        """What becomes of `pods`, in the form in which they will be stored, in the cluster as it is now."""
        snapshot = read_cluster(
            self._client, None, self._request, taken_at=datetime.now(UTC), git_version=self._git_version
        )
        cluster = shadow_cluster_of(snapshot, PLUGINS, snapshot.kube_version)
        schedulers = Schedulers(cluster, self._configuration, plugins=PLUGINS)
        found = {pod.name: pod for pod in snapshot_from_objects(pods, self._request).pods}
        decoded = [found[pod["metadata"]["name"]] for pod in pods]
        doubts = [schedulers.doubt(pod) for pod in decoded]
        return Forecast(cluster, schedulers.scheduler_of(decoded[0]), decoded, doubts)


def _verdict(cause: str, conditions: Sequence[str]) -> LandingVerdict:
    if cause:
        return LandingVerdict.LIKELY
    return LandingVerdict.LANDS_IF if conditions else LandingVerdict.LANDS


def _why(evaluation: PodEvaluation) -> str:
    if evaluation.refusals:
        return "; ".join(reason for refusal in evaluation.refusals for reason in refusal.reasons)
    return "" if evaluation.fits else ObstacleCounts(evaluation).sentence()

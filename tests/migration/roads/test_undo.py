"""Jobs whose pod stays are ended, and their room is given back, whoever else changes them meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.faults.faults import Answer
from tests.living.api.server import Call
from tests.living.builders import budget, deployment, living_cluster
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage
from tests.migration.roads.playing import Play
from tests.migration.roads.test_jobs import left_over

JOBS = "podmigrationjobs.scheduling.koordinator.sh"


class Meddler(Passage):
    """Somebody else changes the job right before each of the first `times` ends that are written of it."""

    def __init__(self, cluster: LivingCluster, edit: Callable[[dict[str, Any]], object], times: int) -> None:
        self._cluster = cluster
        self._edit = edit
        self.left = times

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """As the server answers."""
        body = call.request.body or b""
        if self.left and call.request.method == "PATCH" and (b'"Failed"' in body or b'"Aborted"' in body):
            self.left -= 1
            name = call.request.path.split("/")[-2]
            with self._cluster.store.acting("rival"):
                self._cluster.store.edit(JOBS, name, "", self._edit)
        return carry_out()


def relabel(job: dict[str, Any]) -> None:
    labels = job["metadata"].setdefault("labels", {})
    labels["seen"] = str(int(labels.get("seen", "0")) + 1)


def protected() -> LivingCluster:
    """A pod that its budget never lets go."""
    web = deployment("web", 3, on=["n1", "n1"], scheduler="koord-scheduler")
    return living_cluster(4, [web], [budget("web", minAvailable=3)])


@pytest.mark.parametrize("times", [1, 3])
def test_a_job_that_somebody_changes_is_ended_all_the_same(times: int) -> None:
    cluster = protected()
    meddler = Meddler(cluster, relabel, times)

    (outcome,) = Play(cluster).through(meddler).evict(cluster.pods("web")[0])

    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.BUDGET)
    (job,) = Play(cluster).jobs()
    assert (job.phase, job.reason, job.labels["seen"]) == ("Failed", "ForbiddenMigratePod", str(times))
    assert left_over(cluster) == []


def test_a_job_that_keeps_changing_is_left_without_room_and_fails_once_it_rests() -> None:
    cluster = protected()

    (outcome,) = Play(cluster).through(Meddler(cluster, relabel, 7)).evict(cluster.pods("web")[0])

    assert outcome.kind is OutcomeKind.REFUSED
    assert [job.phase for job in Play(cluster).jobs()] == ["Failed"]
    assert left_over(cluster) == []


def test_a_job_that_somebody_else_has_ended_stays_as_that_left_it() -> None:
    cluster = protected()
    meddler = Meddler(cluster, lambda job: job["status"].update(phase="Succeeded", message="by hand"), 1)

    Play(cluster).through(meddler).evict(cluster.pods("web")[0])

    assert [(job.phase, job.message) for job in Play(cluster).jobs()] == [("Succeeded", "by hand")]

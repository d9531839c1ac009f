"""An API server that turns evictions away, while they are made by jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import OutcomeCode
from tests.faults.faults import Answer
from tests.living.api.server import Call
from tests.living.builders import deployment, living_cluster
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage
from tests.migration.roads.playing import Play


@dataclass
class Busy(Passage):
    """The API server turns evictions away until then, and says when to come back."""

    cluster: LivingCluster
    until: float

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """429 in plain text, as priority and fairness answers, or what the server answers."""
        if call.request.path.endswith("/eviction") and self.cluster.clock.monotonic() < self.until:
            return Answer(429, b"Too many requests, please try again later.", (("Retry-After", "7"),), "text/plain")
        return carry_out()


class Refusal(Passage):
    """Whoever admits evictions refuses each, and says to come back later than a run can wait."""

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """429 with a Status."""
        if not call.request.path.endswith("/eviction"):
            return carry_out()
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 429, "reason": "TooManyRequests"}
        body = json.dumps({**status, "message": "drained elsewhere"}).encode()
        return Answer(429, body, (("Retry-After", "600"),), "application/json")


def busy(seconds: float, *apps: str, settings: DispatchSettings | None = None) -> Play:
    """Jobs for a pod of each of `apps`, on a cluster that is busy for so long."""
    workloads = [deployment(app, 1, on=["n1"], scheduler="koord-scheduler") for app in apps]
    cluster = living_cluster(3, workloads)
    play = Play(cluster, settings=settings or DispatchSettings(qps=100.0, burst=100))
    return play.through(Busy(cluster, cluster.clock.monotonic() + seconds))


def evict(play: Play) -> list[OutcomeCode]:
    return [outcome.code for outcome in play.evict(*play.cluster.pods())]


def times(play: Play) -> list[float]:
    """When evictions were asked for, in seconds after the first."""
    calls = play.cluster.api.sent("POST", "/eviction")
    return [call.at - calls[0].at for call in calls]


def test_no_eviction_starts_before_the_time_that_an_overloaded_server_told() -> None:
    play = busy(20, "a", "b", "c", settings=DispatchSettings(qps=100.0, burst=100, max_in_flight=1))

    codes = evict(play)

    assert codes == [OutcomeCode.DONE] * 3
    turned_away = [at for at in times(play) if at < 20]
    assert all(later - earlier >= 7 for earlier, later in pairwise(turned_away))


def test_api_server_that_stays_overloaded_ends_the_run_and_undoes_its_jobs() -> None:
    play = busy(10_000, "a", "b", settings=DispatchSettings(qps=100.0, burst=100, longest_outage_seconds=30.0))
    began = play.cluster.clock.monotonic()

    codes = evict(play)

    assert codes == [OutcomeCode.OVERLOADED] * 2
    assert play.cluster.clock.monotonic() - began < 60
    assert {job.phase for job in play.jobs()} == {"Aborted"}
    assert play.cluster.all("reservations.scheduling.koordinator.sh") == []
    assert play.cluster.nodes_of("a") == ["n1"]


def test_eviction_that_is_to_be_asked_for_later_than_the_run_can_wait_is_given_up() -> None:
    play = busy(0, "a").through(Refusal())

    codes = evict(play)

    assert codes == [OutcomeCode.THROTTLED]
    assert len(times(play)) == 1
    assert {job.phase for job in play.jobs()} == {"Failed"}

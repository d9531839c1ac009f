"""A job whose record another client deletes ends at once, with its room given back and a reason, whenever that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from descheduler.migration.job.surge import Surge
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from tests.faults.faults import Act, Fault
from tests.living.api.server import Call
from tests.living.builders import LOWEST, TAINTED, budget, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay
from tests.living.observing.leftovers import leftovers
from tests.living.store import Object
from tests.migration.roads.playing import Play
from tests.series import Part, parts

pytestmark = pytest.mark.long

JOBS = "podmigrationjobs.scheduling.koordinator.sh"
_AT_ONCE_SECONDS = 4.0
"""The longest wait between two looks at a job, and the calls that give its room back."""
_ENDED = ("Succeeded", "Failed", "Aborted")


@dataclass(frozen=True)
class Way:
    """How a run holds room and where it keeps its jobs; the pod takes long to stop, so that its job lives long."""

    provider: str
    keeps_objects: bool
    mode: str = "ReservationFirst"
    surge: Surge | None = None

    @property
    def record(self) -> str:
        """The kind of object that another client deletes."""
        return "PodMigrationJob" if self.keeps_objects else "ConfigMap"


WAYS = {
    "reservations": Way("koordinator", keeps_objects=True),
    "placeholders": Way("placeholder", keeps_objects=True),
    "placeholders and ConfigMaps": Way("placeholder", keeps_objects=False),
    "directly": Way("none", keeps_objects=True, mode="EvictDirectly"),
    "directly and ConfigMaps": Way("none", keeps_objects=False, mode="EvictDirectly"),
    "surges": Way("koordinator", keeps_objects=True, surge=Surge(is_required=True)),
}


def world(way: Way) -> LivingCluster:
    scheduler = "koord-scheduler" if way.provider == "koordinator" else "default-scheduler"
    web = deployment("web", 1, on=["n1"], scheduler=scheduler, grace_seconds=60)
    return living_cluster([TAINTED, node("n2"), node("n3")], [web], [LOWEST], stop_seconds=30.0)


def records(cluster: LivingCluster) -> list[Object]:
    """What holds a job that has not ended."""
    maps = [found for found in cluster.all("configmaps") if "job.json" in (found.get("data") or {})]
    open_maps = [found for found in maps if not any(f'"{phase}"' in found["data"]["job.json"] for phase in _ENDED)]
    jobs = [found for found in cluster.all(JOBS) if (found.get("status") or {}).get("phase") not in _ENDED]
    return [*open_maps, *jobs]


@dataclass
class Deletion:
    """Another client, who deletes all jobs right before the call of this number."""

    cluster: LivingCluster
    number: int
    deleted_at: float | None = None
    num_calls: int = field(default=0, init=False)

    def __call__(self, call: Call) -> AnyFault | None:
        """Lets the call pass."""
        self.num_calls += 1
        if self.num_calls == self.number:
            for found in records(self.cluster):
                self.cluster.remove(found)
                self.deleted_at = self.cluster.clock.monotonic()
        return None


def run(way: Way, number: int) -> tuple[LivingCluster, Deletion, Outcome]:
    cluster = world(way)
    deletion = Deletion(cluster, number)
    play = Play(cluster, way.provider, way.keeps_objects, way.mode, surge=way.surge)
    (outcome,) = play.through(FaultyWay(cluster.api, deletion)).evict(*cluster.pods("web"))
    return cluster, deletion, outcome


def faults(way: Way, number: int) -> list[str]:
    """What is wrong at the end of a run whose job is deleted at its call `number`, a sentence each."""
    cluster, deletion, outcome = run(way, number)
    if deletion.deleted_at is None:
        return []
    found = [f"{text}" for _, text in leftovers(cluster.store)]
    seconds = cluster.clock.monotonic() - deletion.deleted_at
    if seconds > _AT_ONCE_SECONDS:
        found.append(f"the run ended {seconds:.1f} s later")
    if f"another client deleted the {way.record}" not in outcome.message:
        found.append(f"{outcome.code}: {outcome.message!r}")
    was_evicted = any(call.code == 201 for call in cluster.api.sent("POST", "/eviction"))
    if way.surge is None and was_evicted != outcome.kind.uses_limits:
        found.append(f"{'evicted' if was_evicted else 'not evicted'}, and reported as {outcome.kind}")
    return [f"call {number}: {text}" for text in found]


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("part", parts(2))
def test_job_that_another_client_deletes_ends_at_once_and_leaves_nothing(part: Part, way: Way) -> None:
    _, whole, _ = run(way, 0)

    assert [text for number in part.of(range(1, whole.num_calls + 1)) for text in faults(way, number)] == []


@dataclass
class Moment:
    """Another client, who deletes all jobs that have not ended once `has_come`, `seconds` later."""

    cluster: LivingCluster
    has_come: Callable[[], bool]
    seconds: float = 1.0
    deleted_at: float = float("inf")
    due: float | None = None

    def __call__(self) -> None:
        """Looks, from time to time."""
        now = self.cluster.clock.monotonic()
        if self.due is None and self.has_come():
            self.due = now + self.seconds
        if self.due is not None and self.due <= now < self.deleted_at:
            for found in records(self.cluster):
                self.cluster.remove(found)
            self.deleted_at = now

    @property
    def seconds_since(self) -> float:
        """Seconds since then."""
        return self.cluster.clock.monotonic() - self.deleted_at


def evictions(cluster: LivingCluster) -> int:
    """How often one was asked for."""
    return len(cluster.api.sent("POST", "/eviction"))


def test_job_that_is_deleted_while_its_pod_waits_for_the_pace_gives_its_room_back() -> None:
    workloads = [deployment(name, 1, on=["n1"]) for name in ("web", "api")]
    cluster = living_cluster([TAINTED, node("n2"), node("n3")], workloads, [LOWEST])
    play = Play(cluster, "placeholder", settings=DispatchSettings(qps=0.01, burst=1))
    moment = Moment(cluster, lambda: evictions(cluster) == 1, seconds=20.0)
    play.halted = moment

    first, second = play.evict(*cluster.pods(node="n1"))

    assert [first.code, second.code] == [OutcomeCode.DONE, OutcomeCode.JOB_DELETED]
    assert (evictions(cluster), [text for _, text in leftovers(cluster.store)]) == (1, [])
    assert moment.seconds_since < _AT_ONCE_SECONDS


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        pytest.param(None, OutcomeCode.JOB_DELETED, id="a budget refuses the eviction"),
        pytest.param(Fault(Act.NEVER, 504), OutcomeCode.OUTCOME_UNKNOWN, id="the eviction has no clear answer"),
    ],
)
def test_job_that_is_deleted_between_two_evictions_of_its_pod_gives_its_room_back(
    fault: Fault | None, code: OutcomeCode
) -> None:
    cluster = world(WAYS["placeholders"])
    cluster.add(budget("web", minAvailable=1))
    way = FaultyWay(cluster.api, lambda call: fault if call.request.path.endswith("/eviction") else None)
    play = Play(cluster, "placeholder").through(way)
    moment = Moment(cluster, lambda: evictions(cluster) > 0, seconds=9.0)
    play.halted = moment

    (outcome,) = play.evict(*cluster.pods("web"))

    assert outcome.code is code
    assert "another client deleted the PodMigrationJob" in outcome.message
    assert [text for _, text in leftovers(cluster.store)] == []
    assert moment.seconds_since < _AT_ONCE_SECONDS


def test_job_that_is_deleted_right_before_its_run_is_stopped_gives_its_room_back() -> None:
    cluster = world(WAYS["placeholders"])
    play = Play(cluster, "placeholder")
    moment = Moment(cluster, lambda: evictions(cluster) > 0, seconds=5.0)
    stopped = OutcomeCode.STOPPED, "the run was interrupted"

    def halted() -> tuple[OutcomeCode, str] | None:
        moment()
        return stopped if moment.seconds_since >= 0 else None

    play.halted = halted
    (outcome,) = play.evict(*cluster.pods("web"))

    assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, OutcomeCode.NOT_REPLACED)
    assert outcome.message == "another client deleted the PodMigrationJob"
    assert [text for _, text in leftovers(cluster.store)] == []


def test_job_that_another_client_ends_gives_its_room_back() -> None:
    cluster = world(WAYS["placeholders"])
    play = Play(cluster, "placeholder")

    def end_jobs() -> None:
        for found in cluster.all(JOBS) if evictions(cluster) else ():
            cluster.store.edit(JOBS, found["metadata"]["name"], "", lambda job: job["status"].update(phase="Aborted"))

    play.halted = end_jobs
    (outcome,) = play.evict(*cluster.pods("web"))

    assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, OutcomeCode.NOT_REPLACED)
    assert [text for _, text in leftovers(cluster.store)] == []

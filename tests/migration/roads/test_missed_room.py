"""Replacements that do not use the room that is held for them: it is told, the room is given back, the job ends."""

from __future__ import annotations

from datetime import timedelta

from descheduler.migration.roads.adoption import adopted_task
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.living.builders import LOWEST, TAINTED, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play
from tests.migration.roads.test_jobs import left_over, ready, users_job

KOORD = "koord-scheduler"
RESERVATIONS = "reservations.scheduling.koordinator.sh"
WAY_OUT = "in the configuration of koord-scheduler, enable the plugin Reservation under plugins.reserve"


def as_shipped() -> LivingCluster:
    """koord-scheduler with the configuration of its manifest, and a pod that is to leave its node."""
    web = deployment("web", 1, on=["n1"], scheduler=KOORD)
    return living_cluster([TAINTED, node("n2")], [web], has_reserve_line=False)


class TestReservationThatTheSchedulerDoesNotNote:
    def test_it_is_deleted_and_the_outcome_says_what_to_change(self) -> None:
        cluster = as_shipped()

        (outcome,) = Play(cluster).evict(*cluster.pods("web"))

        assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, OutcomeCode.RESERVATION_UNUSED)
        assert (outcome.landed_on, cluster.nodes_of("web")) == ("n2", ["n2"])
        assert outcome.message.endswith(WAY_OUT)
        assert left_over(cluster) == []

    def test_the_job_succeeds_and_tells_that_its_pod_is_not_bound_to_the_reservation(self) -> None:
        cluster = as_shipped()
        play = Play(cluster)

        play.evict(*cluster.pods("web"))

        (job,) = play.jobs()
        assert (job.phase, job.condition) == ("Succeeded", "Complete")
        assert job.message.endswith(WAY_OUT)
        assert {known.type for known in job.conditions if not known.is_true} == {"PodBoundReservation"}

    def test_it_does_not_hold_room_until_the_replacement_is_ready(self) -> None:
        cluster = as_shipped()
        play = Play(cluster)
        held: list[int] = []

        def look() -> None:
            if cluster.pods("web", node="n2") and not ready(cluster, "web"):
                held.append(len(cluster.all(RESERVATIONS)))

        play.halted = look
        play.evict(*cluster.pods("web"))

        assert held[-1] == 0

    def test_the_job_of_a_user_tells_it_too(self) -> None:
        cluster = as_shipped()
        play = Play(cluster)
        cluster.add(users_job(cluster.pods("web")[0]["metadata"]["name"], ttl="5m"))

        play.run([adopted_task(job) for job in play.jobs()])

        (job,) = play.jobs()
        assert job.phase == "Succeeded"
        assert job.message.endswith(WAY_OUT)
        assert left_over(cluster) == []


class TestReservationThatAnotherPodUses:
    """A pod of the same workload that is older than the eviction, and has come for no pod."""

    def test_the_replacement_is_told_from_it(self) -> None:
        cluster, play = scaled_up(node("n1"), node("n2"), node("n3"))

        (outcome,) = play.evict(*cluster.pods("web"))

        (job,) = play.jobs()
        assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, OutcomeCode.ROOM_TAKEN)
        assert (job.phase, job.reason) == ("Failed", "ForbiddenMigratePod")
        assert job.replacement is not None
        replacement = cluster.get("pods", job.replacement.name, "shop")
        assert replacement is not None
        assert outcome.landed_on == replacement["spec"]["nodeName"]
        assert "scheduling.koordinator.sh/reservation-allocated" not in replacement["metadata"].get("annotations", {})
        assert left_over(cluster) == []

    def test_it_is_no_success_while_the_replacement_is_pending(self) -> None:
        cluster, play = scaled_up(TAINTED, node("n2", cpu="1500m"))

        (outcome,) = play.evict(*cluster.pods("web"))

        (job,) = play.jobs()
        assert (outcome.code, outcome.landed_on) == (OutcomeCode.NOT_REPLACED, "")
        assert (job.phase, job.reason) == ("Failed", "Timeout")


def scaled_up(*nodes: dict[str, object]) -> tuple[LivingCluster, Play]:
    """A workload that gets another pod once room is held, whom the scheduler sees to right before the eviction."""
    cluster = living_cluster(nodes, [deployment("web", 1, on=["n1"], scheduler=KOORD, cpu="1")])
    passage = FaultyWay(cluster.api)

    def scale() -> None:
        if any(each["status"]["phase"] == "Available" for each in cluster.all(RESERVATIONS)) and passage.num_calls:
            cluster.pause_scheduling()
            with cluster.store.acting("user"):
                cluster.store.edit("deployments.apps", "web", "shop", lambda found: found["spec"].update(replicas=2))
            cluster.clock.sleep(3)
            play.halted = lambda: None

    def schedule() -> None:
        cluster.pause_scheduling(is_paused=False)
        cluster.clock.sleep(2)

    passage.before("POST", "/eviction", schedule)
    play = Play(cluster, halted=scale).through(passage)
    return cluster, play


class TestPlaceholder:
    def test_a_replacement_on_another_node_is_told(self) -> None:
        nodes = [TAINTED, node("n2"), node("n3")]
        cluster = living_cluster(nodes, [deployment("web", 1, on=["n1"])], [LOWEST])
        play = Play(cluster, provider="placeholder", keeps_objects=False)

        (outcome,) = play.evict(*cluster.pods("web"))

        (job,) = play.jobs()
        assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, OutcomeCode.MISSED_ROOM)
        assert f"on node {outcome.landed_on}, not on {job.node_name} (placeholder)" in outcome.message
        assert job.phase == "Succeeded"
        assert left_over(cluster) == []

    def test_a_replacement_back_on_the_node_that_the_pod_left_is_told(self) -> None:
        cluster = living_cluster(
            [node("n1"), node("n2", cpu="1")], [deployment("web", 1, on=["n1"], cpu="1")], [LOWEST]
        )
        play = Play(cluster, provider="placeholder", keeps_objects=False)

        (outcome,) = play.evict(*cluster.pods("web"))

        assert (outcome.code, outcome.landed_on) == (OutcomeCode.MISSED_ROOM, "n1")
        assert outcome.message.endswith("the pod was evicted from that node")

    def test_it_is_deleted_before_the_replacement_is_ready(self) -> None:
        cluster = living_cluster([TAINTED, node("n2")], [deployment("web", 1, on=["n1"])], [LOWEST])
        play = Play(cluster, provider="placeholder", keeps_objects=False)
        held: list[list[str]] = []

        def look() -> None:
            if cluster.pods("web", node="n2") and not ready(cluster, "web"):
                held.append(left_over(cluster))

        play.halted = look
        play.evict(*cluster.pods("web"))

        assert held[-1] == []


class TestClocks:
    def test_a_clock_that_is_ahead_of_the_servers_does_not_lose_the_replacement(self) -> None:
        cluster = living_cluster([TAINTED, node("n2")], [deployment("web", 1, on=["n1"])], [LOWEST])
        play = Play(cluster, provider="placeholder", keeps_objects=False, clock_is_ahead=timedelta(seconds=40))

        (outcome,) = play.evict(*cluster.pods("web"))

        assert outcome.code is OutcomeCode.DONE

    def test_one_that_is_behind_does_not_either(self) -> None:
        cluster = living_cluster([TAINTED, node("n2")], [deployment("web", 1, on=["n1"], scheduler=KOORD)])

        (outcome,) = Play(cluster, clock_is_ahead=timedelta(seconds=-40)).evict(*cluster.pods("web"))

        assert outcome.code is OutcomeCode.DONE

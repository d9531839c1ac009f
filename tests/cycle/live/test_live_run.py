"""What live runs do beside plain evictions: their own jobs, those of earlier runs and of users, guards and cordons."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.plan.outcome import OutcomeCode
from descheduler.plan.recent_moves import RECENT_MOVES_KEY, RecentMoves
from descheduler.plan.run_memory import RunMemory
from descheduler.transport.errors import ExchangeError
from tests.cycle.live.runs import FAST, JOBS, TAINTED, WITH_LEASE, crowded, evicted, run, taint_policy
from tests.living.api.server import Call
from tests.living.builders import budget, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay, Killed, Kind
from tests.migration.roads.whole_runs import WAYS, policy_of, watch_of
from tests.policy.builders import koordinator, upstream

KOORD: dict[str, Any] = {"scheduler": "koord-scheduler", "grace_seconds": 1}
BY_JOBS = WAYS["reservations"]
DIRECTLY = WAYS["directly"]


def users_job(cluster: LivingCluster, app: str) -> None:
    """A job of a user for the pod of an app."""
    (found,) = cluster.pods(app)
    reference = {"namespace": "shop", "name": found["metadata"]["name"]}
    head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "PodMigrationJob"}
    spec = {"podRef": reference, "mode": "EvictDirectly", "ttl": "2m"}
    cluster.add({**head, "metadata": {"name": f"move-{app}"}, "spec": spec})


def koord_cluster(*apps: str, on: str = "n1") -> LivingCluster:
    """Pods of koord-scheduler on a node, which has a taint where it is n1."""
    places = {"web": [on, "n3"]}
    workloads = [deployment(app, len(at := places.get(app, [on])), on=at, **KOORD) for app in apps]
    return living_cluster([TAINTED, node("n2"), node("n3")], workloads)


def num_reads(cluster: LivingCluster) -> int:
    """How often all pods were read."""
    return len([call for call in cluster.api.sent("GET", "/api/v1/pods") if not call.request.query])


def jobs_by(cluster: LivingCluster) -> list[tuple[str, str]]:
    """Phase and mode of the jobs that are there."""
    return [(job["status"]["phase"], job["spec"]["mode"]) for job in cluster.all(JOBS)]


def test_evictions_are_carried_out_by_jobs_where_reservations_hold_room() -> None:
    cluster = koord_cluster("web")

    result = run(cluster, policy_of(BY_JOBS), WITH_LEASE)

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE]
    assert jobs_by(cluster) == [("Succeeded", "ReservationFirst")]
    assert [note for note in result.decisions.notes if "Reservation" in note]


def test_run_takes_up_what_a_killed_one_has_left() -> None:
    cluster = koord_cluster("web")
    way = FaultyWay(cluster.api)
    way.before("POST", "/eviction", lambda: way_ends(way))
    with pytest.raises(Killed):
        run(cluster, policy_of(BY_JOBS), WITH_LEASE, passage=way)
    cluster.clock.sleep(1000.0)  # its Lease has expired

    result = run(cluster, policy_of(BY_JOBS), WITH_LEASE)

    assert "undid 1 migration of which an earlier run had evicted no pod" in result.decisions.notes
    (kept,) = statuses(cluster)
    assert kept["takenUp"]["undone"] == 1


def way_ends(way: FaultyWay) -> None:
    """The program is gone."""
    way.is_dead = True
    raise Killed


def statuses(cluster: LivingCluster) -> list[dict[str, Any]]:
    """The runs of which the status tells."""
    kept = cluster.get("configmaps", "d-status", "kube-system")
    return [] if kept is None else list(json.loads(kept["data"]["status.json"])["runs"])


def test_jobs_of_users_are_carried_out_and_the_cluster_read_again() -> None:
    cluster = koord_cluster("web", "api")
    users_job(cluster, "api")

    result = run(cluster, policy_of(DIRECTLY), WITH_LEASE)

    assert "started 1 PodMigrationJob of users; 1 succeeded" in result.decisions.notes
    assert [move.pod.name.partition("-")[0] for move in result.evicted_for_users] == ["api"]
    assert [outcome.eviction.users_job for outcome in result.for_users] == ["move-api"]
    assert [outcome.eviction.name.partition("-")[0] for outcome in result.outcomes] == ["web"]
    assert statuses(cluster)[0]["takenUp"]["ofUsers"] == 1
    assert num_reads(cluster) == 2


def test_cluster_is_read_once_where_users_ask_for_nothing() -> None:
    cluster = koord_cluster("web")

    result = run(cluster, policy_of(DIRECTLY), WITH_LEASE)

    assert num_reads(cluster) == 1
    assert (result.for_users, result.evicted_for_users) == ((), ())


def test_dry_run_says_that_jobs_of_users_are_left_out() -> None:
    cluster = koord_cluster("web", "api")
    users_job(cluster, "api")

    result = run(cluster, policy_of(DIRECTLY), replace(WITH_LEASE, dry_run=True))

    assert [
        note for note in result.decisions.notes if note.startswith("1 PodMigrationJob of users is not in this plan")
    ]
    assert jobs_phases(cluster) == [""]


def jobs_phases(cluster: LivingCluster) -> list[str]:
    return [job.get("status", {}).get("phase", "") for job in cluster.all(JOBS)]


def second_read_fails(cluster: LivingCluster) -> FaultyWay:
    """A way on which pods can be listed once."""

    def choose(call: Call) -> AnyFault | None:
        is_list = call.request.path == "/api/v1/pods" and not call.request.query
        return Kind.NO_CONNECTION if is_list and num_reads(cluster) > 1 else None

    return FaultyWay(cluster.api, choose)


def test_failure_after_evictions_for_users_is_reported_with_them() -> None:
    cluster = koord_cluster("web", "api")
    users_job(cluster, "api")

    result = run(cluster, policy_of(DIRECTLY), WITH_LEASE, passage=second_read_fails(cluster))

    assert [outcome.code for outcome in result.for_users] == [OutcomeCode.DONE]
    assert len(result.evicted_for_users) == 1
    assert (result.outcomes, result.decisions.moves) == ((), ())
    assert "no connection" in result.guard.lower()
    assert statuses(cluster)[0]["stoppedBy"] == result.guard


def test_failure_without_evictions_for_users_is_an_error() -> None:
    cluster = koord_cluster("web")
    way = FaultyWay(cluster.api, lambda call: Kind.NO_CONNECTION if call.request.path == "/api/v1/pods" else None)

    with pytest.raises(ExchangeError):
        run(cluster, policy_of(DIRECTLY), WITH_LEASE, passage=way)


REMEMBERING = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig:
      - name: MigrationController
        args: {defaultJobMode: EvictDirectly, skipCheckExpectedReplicas: true, moveHistory: {window: 1h}}
      plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}
    """
)


def test_moves_are_remembered_from_one_run_to_the_next() -> None:
    cluster = koord_cluster("web")
    cluster.clock.sleep(1000)

    result = run(cluster, REMEMBERING, WITH_LEASE)

    kept = cluster.get("configmaps", "d-memory", "kube-system")
    assert kept is not None
    (move,) = RecentMoves.decoded(RunMemory.decoded(kept["data"]["memory.json"]).of(RECENT_MOVES_KEY).note).moves
    assert (move.workload.name, move.source, move.outcome) == ("web", "n1", "done")
    assert result.decisions.now <= move.at <= cluster.clock.now()
    assert [code.value for code in {outcome.code for outcome in result.outcomes}] == ["done"]


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        pytest.param(REMEMBERING, FAST, id="without a Lease"),
        pytest.param(REMEMBERING, replace(WITH_LEASE, dry_run=True), id="in a dry run"),
        pytest.param(taint_policy(), WITH_LEASE, id="where nothing remembers"),
    ],
)
def test_nothing_is_remembered(policy: str, options: Any) -> None:
    cluster = koord_cluster("web")

    run(cluster, policy, options)

    assert cluster.get("configmaps", "d-memory", "kube-system") is None


def draining(cordon: str) -> str:
    """A policy that drains node n2, which is cordoned first where it says so."""
    return upstream(
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig:\n"
        "  - {name: DefaultEvictor, args: {nodeFit: false}}\n"
        "  - name: MigrationPlanner\n"
        f"    args: {{objectives: [{{drainNodes: {{nodes: [n2], cordon: {cordon}}}}}], workLimit: 1}}\n"
        "  plugins: {balance: {enabled: [MigrationPlanner]}}\n"
    )


def to_drain() -> LivingCluster:
    """A pod on node n2, and room elsewhere."""
    return living_cluster(3, [deployment("web", on=["n2"], grace_seconds=1)])


@pytest.mark.parametrize("cordon", ["true", "false"])
def test_nodes_are_cordoned_before_they_are_drained_where_the_policy_says_so(cordon: str) -> None:
    cluster = to_drain()

    result = run(cluster, draining(cordon), WITH_LEASE)

    found = cluster.get("nodes", "n2")
    assert found is not None
    assert evicted(cluster) == ["web"]
    assert bool(found["spec"].get("unschedulable")) is (cordon == "true")
    assert bool(cluster.api.sent("PATCH", "/nodes/n2")) is (cordon == "true")
    assert [(goal.before, goal.reached) for goal in result.goals] == [(1, 0)]


def test_cordon_of_a_killed_run_ends_with_the_next_that_cannot_drain_the_node() -> None:
    cluster = to_drain()
    way = FaultyWay(cluster.api)
    way.before("POST", "/eviction", lambda: way_ends(way))
    with pytest.raises(Killed):
        run(cluster, draining("true"), WITH_LEASE, passage=way)
    cluster.add(budget("web", minAvailable=1))
    cluster.clock.sleep(1000.0)  # the Lease of the killed run has expired

    result = run(cluster, draining("true"), WITH_LEASE)

    found = cluster.get("nodes", "n2")
    assert found is not None
    assert not found["spec"].get("unschedulable")
    assert [
        note
        for note in result.decisions.notes
        if note == "uncordoned 1 node (cordon: true): n2, which could not be drained"
    ]


def lease_events(cluster: LivingCluster) -> list[tuple[str, str, str]]:
    """Type, reason and note of the Events on the Lease."""
    written = [call.request.document() for call in cluster.api.sent("POST", "/events")]
    return [(e["type"], e["reason"], e["note"]) for e in written if e["regarding"]["kind"] == "Lease"]


def test_goal_that_is_reached_is_told_on_the_lease() -> None:
    cluster = to_drain()

    run(cluster, draining("false"), WITH_LEASE)

    ((kind, reason, _),) = lease_events(cluster)
    assert (kind, reason) == ("Normal", "PlanCarriedOut")


def test_goal_of_a_run_without_a_lease_is_told_by_the_run_alone() -> None:
    cluster = to_drain()

    result = run(cluster, draining("false"), FAST)

    assert len(result.goals) == 1
    assert lease_events(cluster) == []


def test_goal_that_is_not_reached_is_a_warning_with_the_figures_of_what_was_done() -> None:
    workloads = [deployment(app, on=["n2"], grace_seconds=1) for app in ("web", "api")]
    cluster = living_cluster(3, workloads)

    result = run(cluster, draining("true"), replace(WITH_LEASE, qps=0.001, burst=1), watch=watch_of(cluster, 60.0))

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE, OutcomeCode.DEADLINE]
    assert [(goal.before, goal.reached) for goal in result.goals] == [(1, 1)]
    ((kind, reason, _),) = lease_events(cluster)
    assert (kind, reason) == ("Warning", "PlanNotCarriedOut")


def guarded_policy(**guards: object) -> str:
    """A policy that stops a run at what its guards find."""
    return policy_of(DIRECTLY, guards=json.dumps({"interval": "1s", **guards}))


def test_guard_stops_a_run_and_is_named() -> None:
    cluster = koord_cluster("web", "api", "db")
    way = FaultyWay(cluster.api)
    way.before("POST", "/eviction", lambda: cluster.set_ready("n3", is_ready=False))

    result = run(cluster, guarded_policy(maxNotReadyNodes=0), replace(WITH_LEASE, qps=0.05, burst=1), passage=way)

    assert OutcomeCode.GUARD in {outcome.code for outcome in result.outcomes}
    assert "NotReady" in result.guard


@pytest.mark.parametrize("num_missing", [1, 2])
def test_events_that_cannot_be_written_are_counted(num_missing: int) -> None:
    cluster = crowded("web")
    met: list[int] = []

    def choose(call: Call) -> AnyFault | None:
        if not call.request.path.endswith("/events") or len(met) == num_missing:
            return None
        met.append(call.number)
        return Kind.NO_CONNECTION

    result = run(cluster, passage=FaultyWay(cluster.api, choose))

    (note,) = [note for note in result.decisions.notes if "events" in note]
    assert note.startswith(f"{num_missing} of 2 events could not be written: ")
    assert "no connection" in note


def test_budget_keeps_a_pod_of_a_run() -> None:
    cluster = crowded("web", "api", others=[budget("web", minAvailable=1)])

    result = run(cluster)

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE]
    assert evicted(cluster) == ["api"]

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import jsonschema
import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.plan.decisions import Decisions
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.formats.json_text import json_text
from descheduler.report.published_schema import published_schema
from descheduler.report.simulation_document import Simulation
from descheduler.simulation.closed_loop import run_cycles
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.builders import NOW, Object, container_status, node_object, pod_object
from tests.placement.workloads import cluster_of
from tests.simulation.loops import FIVE_MINUTES, balancing, crowded, drained, evicting, policy_of, resting, simulated
from tests.strategies.runs import policy_with

CONFIG = Path(__file__).parents[2] / "config"


def bouncing() -> list[Object]:
    """Pods on a node that has to be emptied, for which the scheduler finds no other node."""
    nodes = [node_object("a", cpu="8", taints=["drain=soon:PreferNoSchedule"]), node_object("b", cpu="1")]
    return [*nodes, pod_object("p", node="a", cpu="2"), pod_object("other", node="b", cpu="500m")]


def one_by_one() -> Policy:
    """The policy `evicting` with a limit of one eviction a run."""
    document = policy_with("RemovePodsHavingTooManyRestarts", args={"podRestartThreshold": 1})
    return load_policy({**document, "maxNoOfPodsToEvictTotal": 1}, REGISTRY)


def simulation_of(*policies: Policy) -> Simulation:
    """These policies on `crowded`."""
    snapshot = cluster_of(*crowded())
    return simulate([Start(policy, snapshot) for policy in policies], now=NOW, options=SimulationOptions())


class TestEndings:
    """How a simulation ends."""

    def test_policy_converges_when_nothing_is_evicted_any_more(self) -> None:
        found = simulated(balancing(), *crowded())

        assert found.ending == "converges"
        assert found.cycles[-1].after.nodes_over_target == 0
        assert found.evictions == sum(cycle.evictions for cycle in found.cycles) == 2
        assert found.sentence == "converges after 1 cycle: 2 evictions, 0 pods pending, 0 nodes over target"

    def test_policy_without_anything_to_do_has_no_cycle(self) -> None:
        found = simulated(evicting(), pod_object("fine"))

        assert (found.ending, found.cycles) == ("converges", ())
        assert found.sentence == "nothing is evicted, 0 pods pending"

    def test_pod_that_returns_to_its_node_repeats(self) -> None:
        found = simulated(policy_of("RemovePodsViolatingNodeTaints", includePreferNoSchedule=True), *bouncing())

        assert found.ending == "repeats"
        assert [cycle.evictions for cycle in found.cycles] == [1, 1]
        (repeated,) = found.back_and_forth
        assert (repeated.workload, repeated.nodes) == ("ReplicaSet default/web", ("a",))
        assert found.sentence == (
            "does not converge: from cycle 2 on, pods of ReplicaSet default/web are evicted from a and scheduled onto"
            " the same node again; 2 evictions in 2 cycles, 0 pods pending; enable PlacementVerification with"
            " requireGain: true, which blocks evictions that gain nothing"
        )

    def test_policy_that_still_evicts_after_the_last_cycle_is_unfinished(self) -> None:
        pods = [pod_object(f"p{n}", containers=[container_status(restarts=5)]) for n in range(5)]

        found = simulated(one_by_one(), *pods, cycles=3)

        assert (found.ending, len(found.cycles), found.evictions) == ("unfinished", 3, 3)
        assert found.sentence == (
            "has not converged after 3 cycles: 3 evictions, 0 pods pending; most evictions: ReplicaSet default/web (3)"
        )

    def test_quiet_cycle_is_not_the_end_while_a_workload_rests(self) -> None:
        found = simulated(resting("10m"), *drained())

        assert [cycle.evictions for cycle in found.cycles] == [1, 0, 1]
        assert found.ending == "converges"

    def test_workload_that_rests_for_longer_than_is_simulated_waits(self) -> None:
        found = simulated(resting("10h"), *drained(), cycles=3)

        assert (found.ending, found.waiting) == ("waits", {"Cooldown": 1})
        assert found.sentence == (
            "nothing is evicted after cycle 1, but 1 pod is not evicted yet (Cooldown 1): 1 eviction, 0 pods pending"
        )

    def test_time_between_cycles_counts(self) -> None:
        found = simulated(resting("10m"), *drained(), every=timedelta(minutes=11))

        assert [cycle.evictions for cycle in found.cycles] == [1, 1]


def test_pods_get_older_from_cycle_to_cycle() -> None:
    pods = [pod_object("old", age=3 * 3600), pod_object("younger", age=1.5 * 3600)]

    found = simulated(policy_of("PodLifeTime", maxPodLifeTimeSeconds=7200), *pods, every=timedelta(hours=1))

    assert [[move.name for move in cycle.moves] for cycle in found.cycles][:2] == [["old"], ["younger"]]


def test_move_names_pod_workload_and_nodes() -> None:
    found = simulated(evicting(), *crowded(num_pods=0), pod_object("old", containers=[container_status(restarts=5)]))

    (move,) = found.cycles[0].moves
    assert (move.name, move.workload, move.from_node, move.replacement) == (
        "old",
        "ReplicaSet default/web",
        "a",
        "scheduled",
    )
    assert move.to_node in ("a", "b", "c")


def test_figures_are_of_requests() -> None:
    before = simulated(balancing(), *crowded()).before

    assert (before.pods, before.pending, before.nodes_over_target) == (4, 0, 1)
    assert (before.cpu.highest_percent, before.cpu.highest_node) == (100.0, "a")
    assert before.cpu.deviation_percent == pytest.approx(47.1)


def test_plugin_that_fails_in_every_cycle_is_named_once() -> None:
    unmeasured = {"source": "KubernetesMetrics"}
    halves = {"thresholds": {"cpu": 33}, "targetThresholds": {"cpu": 50}}

    found = simulated(policy_of("LowNodeUtilization", metricsUtilization=unmeasured, **halves), *crowded())

    assert [(each.cycle, each.plugin) for each in found.failures] == [(1, "LowNodeUtilization")]


def test_two_policies_are_compared_on_the_same_cluster() -> None:
    simulation = simulation_of(balancing(), evicting())

    differences = {each.figure: (each.first, each.second) for each in simulation.differences}
    assert differences["evictions"] == (2, 0)
    assert differences["cycles"] == (1, 0)
    assert "pods pending" not in differences


def test_policy_does_not_differ_from_itself() -> None:
    assert simulation_of(balancing(), balancing()).differences == ()


def test_same_input_gives_the_same_document() -> None:
    assert json_text(simulation_of(balancing())) == json_text(simulation_of(balancing()))


def test_document_obeys_its_schema() -> None:
    document = json.loads(json_text(simulation_of(balancing(), evicting())))

    jsonschema.validate(document, json.loads(published_schema("simulation")))


def test_pods_that_are_evicted_one_by_one_do_not_go_back_and_forth() -> None:
    """Each cycle finds as many pods on the same nodes, until none is left that has restarted."""
    pods = [pod_object(f"p{n}", containers=[container_status(restarts=5)]) for n in range(5)]

    found = simulated(one_by_one(), *pods)

    assert (found.ending, found.evictions) == ("converges", 5)


@pytest.mark.long
@pytest.mark.parametrize("sample", ["shop", "load", "koordinator"])
@pytest.mark.parametrize("profile", ["balance-load", "low-node-load", "node-reservation", "rotate-long-running"])
def test_another_run_after_the_last_cycle_evicts_nothing_where_a_policy_converges(profile: str, sample: str) -> None:
    policy = load_policy(CONFIG / "profiles" / f"{profile}.yaml", REGISTRY)
    snapshot = read_dump([CONFIG / "samples" / f"{sample}.jsonl.gz"], snapshot_request(policy, Landings.EXPLAINED))

    def decide_on(found: Snapshot, at: datetime, memory: RunMemory) -> Decisions:
        return decide(
            policy, found, now=at, setting=RunSetting(memory=memory), this_round=Round(most_assessed=len(found.pods))
        )

    course = run_cycles(snapshot, decide_on, now=NOW, memory=RunMemory(), every=FIVE_MINUTES, most=10)

    last = course.runs[-1]
    again = decide(policy, last.snapshot, now=last.now + FIVE_MINUTES, setting=RunSetting(memory=last.memory))
    assert (not again.leaving) == (course.ending == "converges")

"""Which CPUs pods get, and when there are enough."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from descheduler.placement.plugins.node_numa_resource.choosing import CpuChoice, choose_cpus
from descheduler.placement.plugins.node_numa_resource.cpu_cache import FULL_CORES, SPREAD, CpuMap, cpu_map
from tests.placement.plugins.node_numa_resource.worlds import CpuCase, random_case
from tests.worlds.node_topologies import cpu_layout, make_topology


def machine(**layout: int) -> CpuMap:
    found = cpu_map(make_topology("a", cpus=cpu_layout(**layout)).cpus)
    assert found is not None
    return found


def chosen(
    cpus: CpuMap, number: int, policy: str = FULL_CORES, *, without: tuple[int, ...] = (), fills: bool = False
) -> list[int]:
    found = choose_cpus(cpus, cpus.cpus - set(without), (), CpuChoice(number, policy, fills=fills))
    return [] if found is None else sorted(found)


def test_whole_cores_are_taken_in_one_numa_node() -> None:
    assert chosen(machine(numa_nodes=2), 4, without=(0,)) == [8, 9, 10, 11]


def test_full_numa_nodes_come_first_where_that_is_wanted() -> None:
    assert chosen(machine(numa_nodes=2), 4, without=(0,), fills=True) == [2, 3, 4, 5]


def test_one_cpu_of_each_core_is_taken_to_spread() -> None:
    assert chosen(machine(), 3, SPREAD) == [0, 2, 4]


def test_parts_of_cores_are_taken_when_whole_ones_run_out() -> None:
    assert chosen(machine(cores=3), 4, without=(2, 5)) == [0, 1, 3, 4]


def test_too_few_are_free() -> None:
    assert chosen(machine(cores=1), 2, without=(0,)) == []


@pytest.mark.parametrize(("required", "expected"), [(FULL_CORES, {2, 3}), (SPREAD, {1, 2, 4}), ("", {1, 2, 3, 4})])
def test_cpus_that_a_required_policy_can_use(required: str, expected: set[int]) -> None:
    assert machine().usable(frozenset({1, 2, 3, 4}), required) == expected


@pytest.mark.parametrize("seed", range(300))
def test_a_required_policy_is_met_exactly_where_some_set_of_free_cpus_meets_it(seed: int) -> None:
    """Brute force over all sets of free CPUs, on machines whose cores all have as many."""
    random = Random(seed)
    case = random_case(random, most_cores=2)
    cpus, number = case.map, case.choice.number
    is_even = all(len(core) == cpus.per_core for core in cpus.by_core(cpus.cpus).values())
    if not is_even or len(case.free) > 10 or (case.choice.policy == FULL_CORES and number % cpus.per_core):
        return

    found = choose_cpus(cpus, cpus.usable(case.free, case.choice.policy), case.held, case.choice)

    possible = any(_meets(cpus, set(some), case.choice.policy) for some in combinations(case.free, number))
    assert (found is not None) == possible
    if found is not None:
        assert len(found) == number
        assert found <= case.free
        assert _meets(cpus, set(found), case.choice.policy)


def _meets(cpus: CpuMap, some: set[int], policy: str) -> bool:
    cores = list(cpus.by_core(some).values())
    return all(len(core) == (cpus.per_core if policy == FULL_CORES else 1) for core in cores)


@pytest.mark.parametrize("seed", range(200))
def test_preferred_policies_are_met_as_far_as_can_be_and_never_refuse(seed: int) -> None:
    case = random_case(Random(seed))

    found = choose_cpus(case.map, case.free, case.held, case.choice)

    assert (found is None) == (case.choice.number > len(case.free))
    assert found is None or (found <= case.free and len(found) >= case.choice.number)


def test_cpus_are_those_that_koordinator_chooses() -> None:
    """Recorded from `takePreferredCPUs` of koordinator 1.8.0: a line a world, by its seed; `-` where it refuses."""
    recorded = Path(__file__).with_name("chosen_by_koordinator.txt").read_text("utf-8").splitlines()

    assert [_choice_in(random_case(Random(seed), most_cores=6)) for seed in range(len(recorded))] == recorded


def _choice_in(case: CpuCase) -> str:
    free = case.map.usable(case.free, case.choice.policy if case.required else "")
    found = choose_cpus(case.map, free, case.held, case.choice)
    return "-" if found is None else ",".join(map(str, sorted(found)))

"""When a policy repeats itself, and which workloads go back and forth then."""

from __future__ import annotations

import pytest

from descheduler.report.simulation_document import BackAndForth, SimulatedMove
from descheduler.simulation.endings import Found, back_and_forth, found_by, repeated_from
from tests.builders import container_status, node_object, pod_object
from tests.simulation.loops import carry_out, decided, evicting


def found(number: int, *, evicts: bool = True) -> Found:
    return Found(number, number, {}, {("web", "a"): 1} if evicts else {})


@pytest.mark.parametrize(
    ("cycles", "expected"),
    [
        pytest.param([found(3)], None, id="one cycle"),
        pytest.param([found(3), found(2)], None, id="another cluster"),
        pytest.param([found(3), found(2), found(2)], 2, id="the cycle before"),
        pytest.param([found(2), found(3), found(2)], 1, id="an earlier cycle"),
        pytest.param([found(2), found(2), found(2)], 2, id="the latest of several"),
        pytest.param([found(2, evicts=False), found(2, evicts=False)], None, id="nothing is evicted"),
    ],
)
def test_cycle_that_is_repeated(cycles: list[Found], expected: int | None) -> None:
    assert repeated_from(cycles) == expected


def move(workload: str, source: str, target: str | None) -> SimulatedMove:
    return SimulatedMove("default", "p", workload, source, target, "scheduled", "p", "A")


def test_workloads_that_come_back_to_their_nodes_are_named_with_the_most_evictions_first() -> None:
    cycles = [
        [move("web", "a", "b"), move("api", "a", "a"), move("gone", "a", None), move("db", "c", "d")],
        [move("web", "b", "a"), move("web", "a", "a")],
    ]

    assert back_and_forth(cycles, 4) == (
        BackAndForth("web", ("a", "b"), 4, 3, 1),
        BackAndForth("api", ("a",), 4, 1, 1),
    )


def test_pods_of_the_start_are_told_from_those_that_came_since() -> None:
    restarted = [container_status(restarts=5)]
    objects = [node_object("a"), node_object("b"), pod_object("old", containers=restarted), pod_object("young")]
    before = decided(evicting(), *objects)
    originals = frozenset(pod.uid for pod in before.snapshot.pods)
    after = carry_out(evicting(), *objects)

    first = found_by(before, originals)

    assert (first.num_originals, first.num_bound, dict(first.replacements)) == (2, 2, {})
    assert dict(first.evicted) == {("default-old", "a"): 1}
    assert sum(pod.uid in originals for pod in after.snapshot.pods) == 1

"""What a reader of a simulation is told: the time line, the evictions, and the commands for more."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.report.pictures.simulation_review import PolicyReview, simulation_review
from descheduler.report.simulation_document import SimulatedFailure, SimulatedPolicy
from tests.builders import NOW
from tests.report.pictures.builders import cluster, cycle, simulated_move, simulated_policy, simulation


def review_of(policy: SimulatedPolicy) -> PolicyReview:
    (found,) = simulation_review(simulation(policy)).policies
    return found


def test_verdict_of_one_policy_is_its_sentence_and_of_two_names_both() -> None:
    policies = [simulated_policy(cycle(1), path=path, sentence=f"{path} ends; 1 cycle") for path in ("a", "b")]

    assert simulation_review(simulation(policies[0])).verdict == ["a ends", "1 cycle"]
    assert simulation_review(simulation(*policies)).verdict == [
        "Two policies compared",
        "a: a ends; 1 cycle",
        "b: b ends; 1 cycle",
    ]


def test_identity_names_policies_cluster_and_times() -> None:
    identity = simulation_review(simulation(simulated_policy(cycle(1)))).identity

    assert identity["Policy"] == "policy.yaml (digest 0123456789ab)"
    assert identity["Cluster"] == "dump.json: 2 nodes, 10 pods"
    assert (identity["First cycle at"], identity["Time between cycles"]) == ("2026-06-30 12:00:00 UTC", "10m0s")


def test_each_figure_has_its_values_and_how_it_began_and_ended() -> None:
    after = cluster(pending=3, over=1, cpu=80, memory=30)
    policy = simulated_policy(
        cycle(1, evictions=1500, after=cluster(pending=1, over=2)),
        cycle(2, evictions=2, after=after),
        before=cluster(over=4),
    )

    series = {each.title: (each.change, each.values) for each in review_of(policy).series}

    assert series == {
        "Evictions": ("1,502 in all", [0, 1500, 2]),
        "Pods pending": ("0 → 3", [0, 1, 3]),
        "Nodes over target": ("4 → 1", [4, 2, 1]),
        "Highest CPU requests of a node": ("50% → 80%", [50, 50, 80]),
        "Standard deviation of CPU requests": ("5% → 5%", [5, 5, 5]),
        "Highest memory requests of a node": ("20% → 30%", [20, 20, 30]),
        "Standard deviation of memory requests": ("2.5% → 2.5%", [2.5, 2.5, 2.5]),
    }


def test_nodes_over_target_are_left_out_where_a_cycle_does_not_tell_them() -> None:
    policy = simulated_policy(cycle(1, after=cluster(over=None)), before=cluster(over=0))

    assert "Nodes over target" not in [each.title for each in review_of(policy).series]
    assert "Nodes over target" in [
        each.title
        for each in review_of(simulated_policy(cycle(1, after=cluster(over=0)), before=cluster(over=0))).series
    ]


def test_bars_are_as_high_as_their_share_of_the_highest_value() -> None:
    policy = simulated_policy(cycle(1, evictions=4), cycle(2, evictions=1))

    evictions, pending, *_ = review_of(policy).series

    assert [(bar.x, bar.height, bar.words) for bar in evictions.bars] == [
        (0.0, 0.0, "0 at the start"),
        (48.0, 44.0, "4 after cycle 1"),
        (96.0, 11.0, "1 after cycle 2"),
    ]
    assert [bar.height for bar in pending.bars] == [0.0, 0.0, 0.0]


def test_bars_of_shares_are_as_high_as_the_share_up_to_the_whole() -> None:
    policy = simulated_policy(cycle(1, after=cluster(cpu=130)), before=cluster(cpu=50))

    cpu = next(each for each in review_of(policy).series if each.title.startswith("Highest CPU"))

    assert [(bar.height, bar.level, bar.words) for bar in cpu.bars] == [
        (22.0, 4, "50% at the start"),
        (44.0, 8, "130% after cycle 1"),
    ]


@pytest.mark.parametrize(
    ("number", "width", "ticks"),
    [
        pytest.param(1, 96.0, [(20.64, "start"), (68.64, "1")], id="one"),
        pytest.param(2, 144.0, [(20.64, "start"), (68.64, "1"), (116.64, "2")], id="two"),
        pytest.param(39, 640.0, [(6.88, "start"), (38.88, "2"), (70.88, "4")], id="every second one"),
    ],
)
def test_time_line_has_room_for_its_numbers(number: int, width: float, ticks: list[tuple[float, str]]) -> None:
    policy = review_of(simulated_policy(*(cycle(each + 1) for each in range(number))))

    assert policy.width == width
    assert list(policy.ticks[:3]) == ticks


@pytest.mark.parametrize(
    ("number", "cycles", "listed", "more"),
    [
        pytest.param(200, 1, 200, 0, id="all"),
        pytest.param(201, 1, 200, 1, id="one more"),
        pytest.param(80, 40, 75, 5, id="each cycle has its part"),
    ],
)
def test_moves_of_a_cycle_are_listed_up_to_a_number(number: int, cycles: int, listed: int, more: int) -> None:
    moves = [simulated_move(f"p{each}") for each in range(number)]

    found = review_of(simulated_policy(*(cycle(each + 1, *moves) for each in range(cycles)))).cycles

    assert {(len(each.moves), each.num_more) for each in found} == {(listed, more)}
    assert found[0].title == f"Cycle 1: {number} evictions"


def test_cycles_in_which_nothing_happens_are_not_listed() -> None:
    policy = simulated_policy(cycle(1), cycle(2, goals=("2 nodes emptied",)), cycle(3, simulated_move("p")))

    assert [each.title for each in review_of(policy).cycles] == ["Cycle 2: 0 evictions", "Cycle 3: 1 eviction"]


def test_failures_say_in_which_cycle() -> None:
    failure = SimulatedFailure(cycle=2, profile="main", plugin="P", message="boom")

    assert review_of(simulated_policy(cycle(1), failures=(failure,))).failures == ["main/P in cycle 2: boom"]


@pytest.mark.parametrize(
    ("source", "now", "flags"),
    [
        pytest.param("dump.json", NOW, " --snapshot dump.json", id="a dump"),
        pytest.param(
            "dump.json", NOW + timedelta(hours=1), " --snapshot dump.json --now 2026-06-30T13:00:00Z", id="later"
        ),
        pytest.param("https://10.0.0.1:6443", NOW, "", id="a cluster"),
    ],
)
def test_commands_are_about_the_same_source(source: str, now: object, flags: str) -> None:
    policies = [simulated_policy(cycle(1), cycle(2), path="a.yaml"), simulated_policy(cycle(1), path="b c.yaml")]

    commands = simulation_review(simulation(*policies, source=source, now=now)).commands

    steps = "--cycles 2 --every 10m0s"
    assert commands == {
        "Simulate again": f"descheduler simulate --policy-config-file a.yaml --compare 'b c.yaml'{flags} {steps}",
        "Plan the first cycle": f"descheduler plan --policy-config-file a.yaml{flags} --out plan.json",
    }


def test_simulation_of_several_dumps_names_no_command() -> None:
    assert simulation_review(simulation(simulated_policy(cycle(1)), source="a.json, b.json")).commands == {}

"""What is left out of the page of a large cluster, and where that begins."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.report.formats.render import render
from descheduler.report.plan.document import Plan
from descheduler.report.plan.workloads import PlannedWorkload
from tests.builders import make_node, make_pod
from tests.report.decided_cycles import make_test_plan
from tests.report.pictures.builders import (
    cycle,
    figures,
    group,
    node,
    simulated_move,
    simulated_policy,
    simulation,
)
from tests.report.pictures.test_page import Page, page_of

PLAN = make_test_plan([make_pod("old")])


@pytest.mark.parametrize(("number", "shown"), [(8, 8), (9, 8), (0, 0)])
def test_equally_good_nodes_of_a_pod_are_named_up_to_a_number(number: int, shown: int) -> None:
    (move,) = PLAN.moves
    assert move.landing is not None
    landing = replace(move.landing, nodes=tuple(f"n{each}" for each in range(number)))

    document = json.loads(page_of(replace(PLAN, moves=(replace(move, landing=landing),))).document)

    assert len(document["moves"][0]["landing"]["nodes"]) == shown


def test_pod_whose_landing_was_not_looked_up_is_embedded_as_it_is() -> None:
    (move,) = PLAN.moves

    document = json.loads(page_of(replace(PLAN, moves=(replace(move, landing=None),))).document)

    assert document["moves"][0]["landing"] is None


@pytest.mark.parametrize(("number", "named"), [(1500, True), (1501, False)])
def test_nodes_that_change_have_names_up_to_a_number(number: int, named: bool) -> None:
    nodes = [node(f"node-{each}", 50, 25) for each in range(number)]

    text = page_of(replace(PLAN, figures=figures(nodes, [group(num_nodes=number)]))).text

    assert ("node-7: 50% → 25%" in text) is named
    assert ("The bars have no names" in text) is not named


def workload(name: str, number: int) -> PlannedWorkload:
    """A workload that loses so many pods, which are all one."""
    pods = (PLAN.moves[0].pod,) * number
    return replace(PLAN.workloads[0], name=name, pods=pods, moved=number)


@pytest.mark.parametrize(
    ("numbers", "lists"),
    [((1000, 500), [1000, 500]), ((1000, 501, 1), [1000, 0, 0]), ((1501,), [0])],
    ids=["as many as may be", "one too many", "one that is too large"],
)
def test_pods_of_the_first_workloads_are_named(numbers: tuple[int, ...], lists: list[int]) -> None:
    workloads = tuple(workload(f"w{place}", number) for place, number in enumerate(numbers))

    page = page_of(replace(PLAN, workloads=workloads))

    assert page.text.count("from a to") == sum(lists)
    assert ("Pods are named for the first workloads alone" in page.text) is (0 in lists)


@pytest.mark.parametrize(
    ("number", "more"), [(1000, ""), (1001, "1 more workload is not listed"), (1002, "2 more workloads are not listed")]
)
def test_workloads_are_listed_up_to_a_number(number: int, more: str) -> None:
    text = page_of(replace(PLAN, workloads=tuple(workload(f"w{each}", 0) for each in range(number)))).text

    assert ("not listed" in text) is bool(more)
    assert more in text


def test_first_resource_is_the_one_that_moves_and_the_others_are_by_name() -> None:
    def order(plan: Plan) -> list[str]:
        text = page_of(plan).text
        return sorted(("cpu", "gpu", "memory"), key=lambda name: text.index(f"by their share of {name}"))

    gpus = {"nvidia.com/gpu": "8"}
    nodes = [make_node(name, allocatable=gpus) for name in "ab"]
    train = make_test_plan([make_pod("train", requests={"nvidia.com/gpu": "4"})], nodes=nodes)
    web = make_test_plan([make_pod("web", cpu="2")], nodes=nodes)

    assert order(train) == ["gpu", "cpu", "memory"]
    assert order(web) == ["cpu", "gpu", "memory"]


def embedded_moves(*numbers: int, policies: int = 1) -> list[list[int]]:
    """How many moves of each cycle the page holds, where they had so many; of each of so many equal policies."""
    move = simulated_move("p")
    policy: Any = simulated_policy(*(cycle(place, *[move] * number) for place, number in enumerate(numbers, start=1)))

    page = Page("".join(render(simulation(*[policy] * policies), "html")))

    document = json.loads(page.document)
    assert ("evictions of later cycles are left out" in page.text) is (
        [[len(each["moves"]) for each in found["cycles"]] for found in document["policies"]]
        != [list(numbers)] * policies
    )
    return [[len(each["moves"]) for each in found["cycles"]] for found in document["policies"]]


def test_moves_of_a_simulation_are_embedded_up_to_a_number_of_all_its_policies() -> None:
    assert embedded_moves(3000, 5000) == [[3000, 5000]]
    assert embedded_moves(3000, 5001, 1) == [[3000, 0, 0]]
    assert embedded_moves(3000, 1000, policies=2) == [[3000, 1000]] * 2
    assert embedded_moves(3000, 1001, policies=2) == [[3000, 0]] * 2

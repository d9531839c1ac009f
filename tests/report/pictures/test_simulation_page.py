"""Pages and Markdown of simulations: the time line, every cycle, and names that are no more than text."""

from __future__ import annotations

import json
from datetime import timedelta

import msgspec
import pytest

from descheduler.report.formats.render import render
from descheduler.report.pictures.simulation_review import simulation_review
from descheduler.report.simulation_document import Simulation
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.builders import NOW
from tests.placement.workloads import cluster_of
from tests.report.pictures.test_page import HOSTILE, Page
from tests.simulation.loops import balancing, crowded, drained, evicting, resting


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    """Two evictions with an hour between them."""
    start = Start(resting("1h"), cluster_of(*drained()))
    return simulate([start], now=NOW, options=SimulationOptions(20, timedelta(minutes=10)))


@pytest.fixture(scope="module")
def compared() -> Simulation:
    snapshot = cluster_of(*crowded())
    starts = [Start(balancing(), snapshot), Start(evicting(), snapshot)]
    return simulate(starts, now=NOW, options=SimulationOptions())


def page_of(simulation: Simulation) -> Page:
    return Page("".join(render(simulation, "html")))


def hostile(simulation: Simulation, text: str) -> Simulation:
    """`simulation` in which moves, the policy, sentences and warnings have `text` in their names."""
    policy = simulation.policies[0]
    cycles = tuple(
        msgspec.structs.replace(
            cycle,
            goals=(text,),
            moves=tuple(msgspec.structs.replace(move, name=text, from_node=text, to_node=text) for move in cycle.moves),
        )
        for cycle in policy.cycles
    )
    identity = msgspec.structs.replace(policy.policy, path=text)
    changed = msgspec.structs.replace(policy, policy=identity, sentence=text, warnings=(text,), cycles=cycles)
    return msgspec.structs.replace(simulation, policies=(changed,))


def test_time_line_has_a_bar_for_the_start_and_each_cycle(simulation: Simulation) -> None:
    [policy] = simulation_review(simulation).policies

    assert {len(series.bars) for series in policy.series} == {len(simulation.policies[0].cycles) + 1}
    assert [series.title for series in policy.series][:2] == ["Evictions", "Pods pending"]
    assert policy.series[0].values[1] == simulation.policies[0].cycles[0].evictions


@pytest.mark.parametrize("output", ["html", "markdown"])
def test_every_eviction_and_the_verdict_are_shown(simulation: Simulation, output: str) -> None:
    text = "".join(render(simulation, "html" if output == "html" else "markdown"))

    assert simulation.policies[0].sentence.split("; ")[0] in text
    assert all(move.name in text for cycle in simulation.policies[0].cycles for move in cycle.moves)
    assert "descheduler simulate --policy-config-file" in text


def test_page_holds_the_simulation_as_json(simulation: Simulation) -> None:
    document = msgspec.json.decode(page_of(simulation).document.encode(), type=Simulation)

    assert document == simulation


def test_compared_policies_are_both_shown_with_their_differences(compared: Simulation) -> None:
    text = page_of(compared).text

    assert all(policy.sentence.split("; ")[0] in text for policy in compared.policies)
    assert all(difference.figure in text for difference in compared.differences)
    assert "--compare" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_names_are_text_alone(simulation: Simulation, text: str) -> None:
    page, plain = page_of(hostile(simulation, text)), page_of(simulation)

    assert page.elements.count(("script", {"type": "application/json", "id": "simulation"})) == 1
    assert page.names() == plain.names()
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


@pytest.mark.parametrize("text", HOSTILE)
def test_names_end_no_line_and_no_block_of_markdown(simulation: Simulation, text: str) -> None:
    lines = "".join(render(hostile(simulation, text), "markdown")).splitlines()

    fences = [number for number, line in enumerate(lines) if line.startswith("```")]
    assert len(fences) == 4
    assert not any("<script" in line or "<img" in line for line in lines[: fences[2]])


def test_page_needs_nothing_but_itself(simulation: Simulation) -> None:
    page = page_of(simulation)

    assert page.names() & {"link", "img", "iframe", "object", "embed", "form", "base"} == set()
    assert not any(
        name in ("src", "href") and not str(value).startswith("#")
        for _, a in page.elements
        for name, value in a.items()
    )


def test_late_moves_are_left_out_of_a_large_page(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("descheduler.report.pictures.page._MOST_MOVES", 1)

    page = page_of(simulation)

    moves = [len(cycle["moves"]) for cycle in json.loads(page.document)["policies"][0]["cycles"]]
    assert sum(moves) == 1
    assert "evictions of later cycles are left out" in page.text


def test_page_of_a_large_cluster_is_no_larger_than_five_megabytes(simulation: Simulation) -> None:
    """100 cycles that each evict a pod of every one of 5,000 nodes, with names as long as in a cloud."""
    policy = simulation.policies[0]
    move = policy.cycles[0].moves[0]
    node = "ip-10-113-{:03}-{:03}.eu-central-1.compute.internal"
    moves = tuple(
        msgspec.structs.replace(
            move,
            namespace=f"team-{number % 200:03}",
            name=f"recommendation-service-7c9f6d5b8d-{number:05}",
            from_node=node.format(number // 250, number % 250),
            to_node=node.format(number % 250, number // 250),
        )
        for number in range(5000)
    )
    cycles = tuple(
        msgspec.structs.replace(policy.cycles[0], cycle=number, moves=moves, evictions=len(moves))
        for number in range(1, 101)
    )
    large = msgspec.structs.replace(simulation, policies=(msgspec.structs.replace(policy, cycles=cycles),))

    assert len("".join(render(large, "html"))) < 5_000_000

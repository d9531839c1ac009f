from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.node import Node
from descheduler.report.plan.figures import Amounts, Balance, NodeFigures, PodChange, make_figures, shares_of, step_of
from tests.builders import make_node, make_pod, make_snapshot


def amounts(pods: int, cpu_milli: int, memory_bytes: int = 0, gpu_milli: int = 0) -> Amounts:
    return Amounts(pods=pods, cpu_milli=cpu_milli, memory_bytes=memory_bytes, gpu_milli=gpu_milli)


def test_a_node_that_loses_a_pod_shows_what_was_and_what_stays() -> None:
    leaving = make_pod("leaving", node="a", cpu="500m", memory="1Ki")
    staying = make_pod("staying", node="a", cpu="250m", memory="2Ki")
    snapshot = make_snapshot([make_node("a", cpu="4", memory="1Mi", pods="10")], [leaving, staying])

    figures = make_figures(snapshot, [PodChange(leaving)])

    assert figures.nodes == (
        NodeFigures(
            name="a",
            zone="",
            pool="",
            before=amounts(2, 750, 3072),
            after=amounts(1, 250, 2048),
            allocatable=amounts(10, 4000, 2**20),
        ),
    )


def test_a_node_that_loses_nothing_is_only_in_the_total() -> None:
    leaving = make_pod("leaving", node="a", cpu="1")
    other = make_pod("other", node="b", cpu="2")
    snapshot = make_snapshot([make_node("a"), make_node("b")], [leaving, other])

    figures = make_figures(snapshot, [PodChange(leaving)])

    assert [node.name for node in figures.nodes] == ["a"]
    assert figures.total.num_nodes == 2
    assert figures.total.before == amounts(2, 3000, 0)
    assert figures.total.displaced == amounts(1, 1000, 0)


def test_a_finished_pod_occupies_nothing() -> None:
    failed = make_pod("failed", node="a", cpu="1", phase="Failed")
    snapshot = make_snapshot([make_node("a")], [failed])

    figures = make_figures(snapshot, [PodChange(failed)])

    assert figures.nodes[0].before == amounts(0, 0, 0)
    assert figures.nodes[0].after == amounts(0, 0, 0)


def test_fractions_of_a_milli_core_round_up_once_for_the_sum() -> None:
    pods = [make_pod(f"p{index}", node="a", cpu="400u") for index in range(3)]
    snapshot = make_snapshot([make_node("a")], pods)

    figures = make_figures(snapshot, [])

    assert figures.total.before.cpu_milli == 2


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5000), st.booleans()), max_size=12))
def test_what_leaves_is_the_difference_between_before_and_after(world: list[tuple[str, int, bool]]) -> None:
    pods = [make_pod(f"p{index}", node=node, cpu=f"{cpu}m") for index, (node, cpu, _) in enumerate(world)]
    leaving = [pod for pod, (_, _, leaves) in zip(pods, world, strict=True) if leaves]
    snapshot = make_snapshot([make_node(name) for name in "abc"], pods)

    total = make_figures(snapshot, map(PodChange, leaving)).total

    assert total.before.pods == total.after.pods + total.displaced.pods
    assert total.before.cpu_milli == total.after.cpu_milli + total.displaced.cpu_milli


def test_a_node_that_receives_a_pod_shows_it() -> None:
    leaving, comes = make_pod("web-1", node="a", cpu="1"), make_pod("web-2", node="", cpu="2")
    snapshot = make_snapshot([make_node("a"), make_node("b")], [leaving])

    figures = make_figures(snapshot, [PodChange(leaving, comes, "b")])

    assert {node.name: (node.before.cpu_milli, node.after.cpu_milli) for node in figures.nodes} == {
        "a": (1000, 0),
        "b": (0, 2000),
    }
    assert figures.total.landing == amounts(1, 2000)


def test_a_pending_pod_that_lands_is_no_pod_that_leaves() -> None:
    pending = make_pod("waits", node="", cpu="2")
    snapshot = make_snapshot([make_node("a")], [pending])

    figures = make_figures(snapshot, [PodChange(None, pending, "a")])

    assert figures.total.displaced == amounts(0, 0)
    assert figures.nodes[0].after == amounts(1, 2000)


def test_a_pod_that_lands_nowhere_changes_no_other_node() -> None:
    leaving, comes = make_pod("web-1", node="a", cpu="1"), make_pod("web-2", node="", cpu="2")
    snapshot = make_snapshot([make_node("a"), make_node("b")], [leaving])

    assert [node.name for node in make_figures(snapshot, [PodChange(leaving, comes)]).nodes] == ["a"]


def test_nodes_are_grouped_by_zone_and_pool() -> None:
    def node(name: str, zone: str, pool: str) -> Node:
        return make_node(
            name, labels={"topology.kubernetes.io/zone": zone, "karpenter.sh/nodepool": pool}, cpu="10", memory="10Gi"
        )

    leaving = make_pod("p", node="a", cpu="1")
    full = make_pod("full", node="b", cpu="9.9")
    snapshot = make_snapshot([node("a", "z1", "web"), node("b", "z1", "web"), node("c", "z2", "")], [leaving, full])

    groups = make_figures(snapshot, [PodChange(leaving)]).groups

    assert [(group.zone, group.pool, group.num_nodes) for group in groups] == [("z1", "web", 2), ("z2", "", 1)]
    assert groups[0].unchanged["cpu"] == (*[0] * 19, 1, 0)
    assert (groups[0].before.cpu_milli, groups[0].after.cpu_milli) == (10_900, 9_900)


def test_balance_is_mean_and_deviation_of_the_shares() -> None:
    leaving = make_pod("p", node="a", cpu="4")
    snapshot = make_snapshot([make_node(name, cpu="10", memory="1Gi") for name in "ab"], [leaving])

    cpu, memory = make_figures(snapshot, [PodChange(leaving, leaving, "b")]).balance

    assert cpu == Balance(
        resource="cpu", mean_before=20.0, deviation_before=20.0, mean_after=20.0, deviation_after=20.0
    )
    assert memory.mean_before == 0


@pytest.mark.parametrize(
    ("node", "pod"),
    [
        pytest.param({"nvidia.com/gpu": "4"}, {"nvidia.com/gpu": "2"}, id="whole GPUs"),
        pytest.param({"koordinator.sh/gpu": "400"}, {"koordinator.sh/gpu": "200"}, id="percent"),
        pytest.param({"nvidia.com/gpu": "4", "koordinator.sh/gpu": "400"}, {"koordinator.sh/gpu": "200"}, id="both"),
        pytest.param({"koordinator.sh/gpu": "400"}, {"koordinator.sh/gpu-core": "200"}, id="cores"),
    ],
)
def test_gpus_are_counted_whoever_names_them(node: dict[str, str], pod: dict[str, str]) -> None:
    running = make_pod("p", node="a", requests=pod)
    snapshot = make_snapshot([make_node("a", allocatable=node)], [running])

    total = make_figures(snapshot, []).total

    assert (total.before.gpu_milli, total.allocatable.gpu_milli) == (2000, 4000)


@pytest.mark.parametrize(
    ("node", "gpus"),
    [
        pytest.param({"koordinator.sh/gpu": "50"}, 500, id="half of one"),
        pytest.param({"koordinator.sh/gpu": "0", "koordinator.sh/gpu-core": "100"}, 1000, id="none of the first"),
        pytest.param({"nvidia.com/gpu": "1", "amd.com/gpu": "2", "dcu.com/gpu": "3"}, 6000, id="of several makers"),
    ],
)
def test_gpus_of_a_node_are_added_up(node: dict[str, str], gpus: int) -> None:
    snapshot = make_snapshot([make_node("a", allocatable=node)])

    assert make_figures(snapshot, []).total.allocatable.gpu_milli == gpus


def test_gpus_of_pods_count_where_the_node_has_some() -> None:
    pods = [make_pod(f"p-{node}", node=node, requests={"nvidia.com/gpu": "1"}) for node in "ab"]
    snapshot = make_snapshot([make_node("a", allocatable={"nvidia.com/gpu": "1"}), make_node("b")], pods)

    assert make_figures(snapshot, []).total.before.gpu_milli == 1000


def test_requests_are_rounded_up_and_allocatable_is_rounded_down() -> None:
    pod = make_pod("p", node="a", cpu="1001u", memory="1500m")
    snapshot = make_snapshot([make_node("a", cpu="2001u", memory="2500m", pods="1500m")], [pod])

    total = make_figures(snapshot, []).total

    assert total.before == amounts(1, 2, 2)
    assert (total.allocatable.pods, total.allocatable.cpu_milli, total.allocatable.memory_bytes) == (1, 2, 2)


def test_total_after_is_what_stays_without_the_pods_that_come() -> None:
    leaving = make_pod("web-1", node="a", cpu="1", memory="1Ki")
    snapshot = make_snapshot([make_node("a"), make_node("b")], [leaving, make_pod("other", node="b", cpu="2")])

    total = make_figures(snapshot, [PodChange(leaving, leaving, "b")]).total

    assert (total.before, total.after) == (amounts(2, 3000, 1024), amounts(1, 2000))
    assert total.displaced == total.landing == amounts(1, 1000, 1024)


@pytest.mark.parametrize(
    ("labels", "zone"),
    [
        ({"topology.kubernetes.io/zone": "new", "failure-domain.beta.kubernetes.io/zone": "old"}, "new"),
        ({"failure-domain.beta.kubernetes.io/zone": "old"}, "old"),
        ({"topology.kubernetes.io/zone": "", "failure-domain.beta.kubernetes.io/zone": "old"}, "old"),
        ({}, ""),
    ],
)
def test_zone_is_that_of_the_first_label_with_a_value(labels: dict[str, str], zone: str) -> None:
    (group,) = make_figures(make_snapshot([make_node("a", labels=labels)]), []).groups

    assert group.zone == zone


@pytest.mark.parametrize(("percent", "step"), [(0, 0), (4.99, 0), (5, 1), (99.9, 19), (100, 20), (104, 20), (900, 20)])
def test_steps_are_of_five_percent_up_to_the_last(percent: float, step: int) -> None:
    assert step_of(percent) == step


def test_shares_are_of_the_resources_that_there_are() -> None:
    assert shares_of(amounts(1, 500, 300), amounts(110, 2000, 0, 1000)) == {"cpu": 25.0, "gpu": 0.0}


def test_deviation_tells_how_unequal_the_shares_are_before_and_after() -> None:
    pods = [make_pod(name, node="a", cpu="4") for name in ("p", "q")]
    snapshot = make_snapshot([make_node(name, cpu="10") for name in "ab"], pods)

    (cpu, *_) = make_figures(snapshot, [PodChange(pods[0], pods[0], "b")]).balance

    assert (cpu.mean_before, cpu.deviation_before, cpu.mean_after, cpu.deviation_after) == (40.0, 40.0, 40.0, 0.0)

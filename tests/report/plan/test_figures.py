from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from descheduler.report.plan.figures import Amounts, NodeFigures, make_figures
from tests.builders import make_node, make_pod, make_snapshot


def amounts(pods: int, cpu_milli: int, memory_bytes: int) -> Amounts:
    return Amounts(pods=pods, cpu_milli=cpu_milli, memory_bytes=memory_bytes)


def test_a_node_that_loses_a_pod_shows_what_was_and_what_stays() -> None:
    leaving = make_pod("leaving", node="a", cpu="500m", memory="1Ki")
    staying = make_pod("staying", node="a", cpu="250m", memory="2Ki")
    snapshot = make_snapshot([make_node("a", cpu="4", memory="1Mi", pods="10")], [leaving, staying])

    figures = make_figures(snapshot, [leaving])

    assert figures.nodes == (
        NodeFigures(
            name="a", before=amounts(2, 750, 3072), after=amounts(1, 250, 2048), allocatable=amounts(10, 4000, 2**20)
        ),
    )


def test_a_node_that_loses_nothing_is_only_in_the_total() -> None:
    leaving = make_pod("leaving", node="a", cpu="1")
    other = make_pod("other", node="b", cpu="2")
    snapshot = make_snapshot([make_node("a"), make_node("b")], [leaving, other])

    figures = make_figures(snapshot, [leaving])

    assert [node.name for node in figures.nodes] == ["a"]
    assert figures.total.num_nodes == 2
    assert figures.total.before == amounts(2, 3000, 0)
    assert figures.total.displaced == amounts(1, 1000, 0)


def test_a_finished_pod_occupies_nothing() -> None:
    failed = make_pod("failed", node="a", cpu="1", phase="Failed")
    snapshot = make_snapshot([make_node("a")], [failed])

    figures = make_figures(snapshot, [failed])

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

    total = make_figures(snapshot, leaving).total

    assert total.before.pods == total.after.pods + total.displaced.pods
    assert total.before.cpu_milli == total.after.cpu_milli + total.displaced.cpu_milli

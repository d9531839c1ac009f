from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.pod import Pod
from descheduler.report.plan.figures import Figures, PodChange, make_figures
from descheduler.report.plan.strips import Cell, block, histogram, main_resource, node_cells, strip_lines
from tests.builders import make_node, make_pod, make_snapshot


def figures(shares: dict[str, int], moves: dict[str, str] | None = None) -> Figures:
    """Nodes of ten cores, with one pod each that requests so many percent; `moves` says where the pods of nodes go."""
    pods: dict[str, Pod] = {
        name: make_pod(f"p-{name}", node=name, cpu=f"{share * 100}m") for name, share in shares.items() if share
    }
    snapshot = make_snapshot([make_node(name, cpu="10", memory="1Gi") for name in shares], pods.values())
    return make_figures(snapshot, [PodChange(pods[old], pods[old], new) for old, new in (moves or {}).items()])


def test_nodes_keep_their_place_before_and_after() -> None:
    found = figures({"a": 80, "b": 40, "c": 0}, {"a": "c"})

    assert node_cells(found, found.groups[0], "cpu") == [
        Cell(80.0, 0.0, "a"),
        Cell(42.5, 42.5),  # of nodes that do not change the step alone is known
        Cell(0.0, 80.0, "c"),
    ]


def test_strip_shows_each_node_where_there_is_room() -> None:
    assert strip_lines(figures({"a": 99, "b": 40, "c": 0}, {"a": "c"}), 80) == ("█▄·", "·▄█")


def test_strip_has_one_character_for_several_nodes_where_there_is_not() -> None:
    before, after = strip_lines(figures({f"n{number}": 50 for number in range(100)}), 30)

    assert (len(before), set(before)) == (25, {"▅"})
    assert before == after


def test_strip_of_no_nodes_is_empty() -> None:
    assert strip_lines(figures({}), 80) == ("", "")


def test_gpus_are_shown_first_where_they_move() -> None:
    pod = make_pod("train", node="a", requests={"nvidia.com/gpu": "1"})
    snapshot = make_snapshot([make_node(name, allocatable={"nvidia.com/gpu": "8"}) for name in "ab"], [pod])

    assert main_resource(make_figures(snapshot, [PodChange(pod, pod, "b")])) == "gpu"
    assert main_resource(make_figures(snapshot, [])) == "cpu"


def test_gpus_are_not_shown_first_where_few_of_them_move_among_many_cpus() -> None:
    pods = [
        make_pod("train", node="a", cpu="7", requests={"nvidia.com/gpu": "1"}),
        make_pod("web", node="a", cpu="8"),
    ]
    nodes = [make_node(name, cpu="32", allocatable={"nvidia.com/gpu": "8"}) for name in "ab"]
    moves = [PodChange(pod, pod, "b") for pod in pods]

    assert main_resource(make_figures(make_snapshot(nodes, pods), moves)) == "cpu"


@pytest.mark.parametrize(
    ("share", "step"), [(0, 0), (4, 0), (5, 1), (99, 19), (100, 20), (130, 20)], ids=lambda each: f"{each}"
)
def test_shares_are_counted_in_steps_of_five_percent(share: int, step: int) -> None:
    before, _ = histogram(figures({"a": share}), "cpu")

    assert [number for number, count in enumerate(before) if count] == [step]


@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=9))
def test_every_node_is_in_the_histogram_once_before_and_once_after(world: list[tuple[int, bool]]) -> None:
    shares = {f"n{number}": share for number, (share, _) in enumerate(world)}
    moves = {f"n{number}": "n0" for number, (share, leaves) in enumerate(world) if leaves and share and number}

    before, after = histogram(figures(shares, moves), "cpu")

    assert sum(before) == sum(after) == len(shares)


@pytest.mark.parametrize(
    ("percent", "shown"),
    [(0, "·"), (0.1, "▁"), (12.4, "▁"), (12.5, "▂"), (50, "▅"), (87.4, "▇"), (87.5, "█"), (100, "█"), (250, "█")],
)
def test_character_is_as_high_as_the_share(percent: float, shown: str) -> None:
    assert block(percent) == shown


def test_nodes_that_do_not_change_are_drawn_in_the_middle_of_their_step_and_full_ones_as_full() -> None:
    found = figures({"a": 100, "b": 96, "c": 0, "d": 130})

    assert [cell.before for cell in node_cells(found, found.groups[0], "cpu")] == [100.0, 100.0, 97.5, 2.5]


def test_nodes_of_a_group_alone_are_in_its_cells() -> None:
    zones = {"a": "z1", "b": "z1", "c": "z2"}
    nodes = [make_node(name, labels={"topology.kubernetes.io/zone": zone}) for name, zone in zones.items()]
    pod = make_pod("p", node="a", cpu="1")
    found = make_figures(make_snapshot(nodes, [pod]), [PodChange(pod, pod, "c")])

    cells = {group.zone: [cell.name for cell in node_cells(found, group, "cpu")] for group in found.groups}

    assert cells == {"z1": ["a", ""], "z2": ["c"]}


def test_fullest_nodes_come_first_those_that_stay_full_before_others_and_equal_ones_by_name() -> None:
    shares = {"a": 40, "b": 80, "c": 80, "d": 80}

    found = figures(shares, {"d": "a", "b": "b", "c": "c"})

    assert [cell.name for cell in node_cells(found, found.groups[0], "cpu")] == ["b", "c", "d", "a"]


@pytest.mark.parametrize(
    ("width", "strip"),
    [(0, ("", "")), (1, ("▅", "▅")), (2, ("▇·", "▃█")), (3, ("█▅·", "·▅█"))],
    ids=lambda each: f"{each}" if isinstance(each, int) else "",
)
def test_characters_are_the_average_of_their_nodes(width: int, strip: tuple[str, str]) -> None:
    found = figures({"a": 100, "b": 50, "c": 0}, {"a": "c", "b": "b"})

    assert strip_lines(found, width) == strip


def test_resource_is_what_moves_most_of_what_there_is() -> None:
    def plan(cpu: str, gpus: str) -> Figures:
        pod = make_pod("train", node="a", cpu=cpu, requests={"nvidia.com/gpu": gpus})
        nodes = [make_node(name, cpu="10", allocatable={"nvidia.com/gpu": "10"}) for name in "ab"]
        return make_figures(make_snapshot(nodes, [pod]), [PodChange(pod, pod, "b")])

    assert [main_resource(plan(*amounts)) for amounts in (("1", "1"), ("2", "1"), ("1", "2"))] == ["gpu", "cpu", "gpu"]


def test_pods_that_come_count_as_much_as_those_that_leave() -> None:
    waits = make_pod("train", node="", cpu="1", requests={"nvidia.com/gpu": "8"})
    leaves = make_pod("web", node="a", cpu="2")
    nodes = [make_node(name, cpu="16", allocatable={"nvidia.com/gpu": "8"}) for name in "ab"]

    found = make_figures(make_snapshot(nodes, [waits, leaves]), [PodChange(None, waits, "a"), PodChange(leaves)])

    assert main_resource(found) == "gpu"


def test_memory_is_shown_where_there_is_no_cpu_and_cpu_where_nothing_is_known() -> None:
    nodes = [make_node("a", cpu=None, memory="1Gi")]

    assert main_resource(make_figures(make_snapshot(nodes, []), [])) == "memory"
    assert main_resource(make_figures(make_snapshot([], []), [])) == "cpu"


def test_histogram_counts_nodes_that_change_where_they_are_before_and_after() -> None:
    before, after = histogram(figures({"a": 50, "b": 0, "c": 50}, {"a": "b"}), "cpu")

    assert (before[0], before[10], sum(before)) == (1, 2, 3)
    assert (after[0], after[10], sum(after)) == (1, 2, 3)
    assert histogram(figures({"a": 50}), "gpu")[0] == [0] * 21

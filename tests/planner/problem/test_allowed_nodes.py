"""Which nodes are open to pods, in which order that is asked, and where the time for it is over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from descheduler.planner.problem.allowed_nodes import AllowedNodes, AskingOrder, OpenRows
from tests.builders import Object, make_node, make_pod, make_snapshot, required_anti_affinity

ZONE = "topology.kubernetes.io/zone"
NODES = [make_node(name, cpu="4", labels={"name": name, ZONE: zone}) for name, zone in zip("abc", "xxy", strict=True)]


class Asked:
    """What comes of asking about pods of a cluster of three nodes."""

    def __init__(
        self,
        pods: Sequence[Pod],
        *,
        staying: Sequence[str] = (),
        order: Mapping[str, float] | None = None,
        most: float = math.inf,
        **facts: Any,
    ) -> None:
        asking = AskingOrder(
            order=lambda node: (order or {}).get(node, 0.0),
            may_go_on=lambda number: number < most,
            **{"by_whole_nodes": False, "looks_at_devices": True, **facts},
        )
        openings = LandingProver(make_snapshot(NODES, pods)).openings()
        self._allowed = AllowedNodes(openings, np.array([openings.place_of(name) for name in "abc"]), asking)
        placed = [pod for pod in pods if pod.node_name]
        self.rows = self._allowed.asked(placed, [pod for pod in placed if pod.name not in staying])

    def open_to(self, pod: Pod) -> str:
        """The names of the nodes that are open to it; `-` for none for certain."""
        rows = self.rows.rows_of[pod]
        return "-" if rows is None else "".join(np.array(list("abc"))[self._allowed.allowed[rows.now]].tolist())

    @property
    def allowed(self) -> AllowedNodes:
        """With the rows that are known."""
        return self._allowed


def on(node: str, name: str, **facts: Any) -> Pod:
    return make_pod(name, node=node, cpu="1", **facts)


def test_pods_share_the_row_of_the_same_nodes() -> None:
    pods = [
        on("a", "p"),
        on("b", "q"),
        on("a", "r", node_selector={"name": "c"}),
        on("a", "s", node_selector={"x": "y"}),
    ]

    found = Asked(pods)

    assert [found.open_to(pod) for pod in pods] == ["abc", "abc", "c", ""]
    assert found.rows.rows_of[pods[0]] == found.rows.rows_of[pods[1]] != found.rows.rows_of[pods[2]]
    assert not found.allowed.allowed[0].any()
    assert not found.allowed.ever_allowed[0].any()
    assert (list(found.rows.unasked), list(found.rows.unreplaced)) == ([], [])


def test_pods_of_the_least_nodes_are_asked_about_first_until_the_time_is_over() -> None:
    pods = [on("a", "p", node_selector={"name": "b"}), on("b", "q", node_selector={"name": "c"}), on("c", "r")]

    found = Asked(pods, order={"a": 2.0, "b": 1.0, "c": 3.0}, most=1)

    assert [pod.name for pod in found.rows.unasked] == ["p", "r"]
    assert [found.open_to(pod) for pod in pods] == ["abc", "c", "abc"]


def test_pods_of_nodes_that_no_plan_is_about_are_not_asked_about() -> None:
    pods = [on("a", "p", node_selector={"name": "b"}), on("b", "q", node_selector={"name": "c"})]

    found = Asked(pods, order={"a": math.inf})

    assert [found.open_to(pod) for pod in pods] == ["abc", "c"]
    assert list(found.rows.unasked) == []


@pytest.mark.parametrize(("by_whole_nodes", "opened"), [(True, "abc"), (False, "b")])
def test_where_pods_leave_all_together_none_is_asked_about_beside_one_that_stays(
    by_whole_nodes: bool, opened: str
) -> None:
    pods = [on("a", "p", node_selector={"name": "b"}), on("a", "stays"), on("b", "q", node_selector={"name": "c"})]

    found = Asked(pods, staying=["stays"], by_whole_nodes=by_whole_nodes)

    assert [found.open_to(pod) for pod in (pods[0], pods[2])] == [opened, "c"]
    assert pods[1] not in found.rows.rows_of


def apart(node: str, name: str, key: str, **facts: Any) -> Pod:
    labels = {"app": "web"}
    return on(node, name, labels=labels, affinity=required_anti_affinity(labels, key=key), **facts)


def test_nodes_are_open_from_which_pods_of_the_same_kind_may_leave() -> None:
    """What stays on node c keeps that closed; pods of another namespace are of another kind."""
    pods = [
        apart("a", "p", "kubernetes.io/hostname"),
        apart("b", "q", "kubernetes.io/hostname"),
        apart("c", "stays", "kubernetes.io/hostname"),
    ]
    assert [Asked(pods, staying=["stays"]).open_to(pod) for pod in pods[:2]] == ["ab", "ab"]


@pytest.mark.parametrize(
    ("key", "holds_first", "opened"),
    [
        pytest.param("kubernetes.io/hostname", False, "ab", id="on hosts"),
        pytest.param("kubernetes.io/hostname", True, "ab", id="on hosts, while room is held"),
        pytest.param(ZONE, False, "abc", id="in zones"),
        pytest.param(ZONE, True, "c", id="in zones, while room is held"),
    ],
)
def test_a_pod_keeps_its_own_zone_closed_while_room_is_held_for_its_replacement(
    key: str, holds_first: bool, opened: str
) -> None:
    """Pod p is on node a of zone x. Node c of zone y has a pod of its kind, which stays where hosts count."""
    stays = key != ZONE
    pods = [apart("a", "p", key), apart("b", "q", key)] if stays else [apart("a", "p", key), apart("c", "q", key)]
    pods += [apart("c", "stays", key)] if stays else []

    found = Asked(pods, staying=["stays"], holds_first=holds_first)

    assert found.open_to(pods[0]) == opened


def near(node: str, name: str, app: str, **facts: Any) -> Pod:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    affinity: Object = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return on(node, name, labels={"app": app}, affinity=affinity, **facts)


def test_a_pod_that_is_to_be_near_its_own_kind_and_is_alone_may_go_anywhere() -> None:
    alone, pair = near("a", "alone", "x"), [near("b", name, "y") for name in ("p", "q")]

    found = Asked([alone, *pair])

    assert found.open_to(alone) == "abc"
    assert found.open_to(pair[0]) == "b"


def test_where_room_is_held_such_a_pod_is_near_itself() -> None:
    alone = near("a", "alone", "x")

    assert Asked([alone], holds_first=True).open_to(alone) == "a"


def test_a_pending_pod_has_rows_of_its_own() -> None:
    waits = make_pod("waits", node="", phase="Pending", cpu="1", node_selector={"name": "c"})
    hopeless = make_pod(
        "hopeless", node="", phase="Pending", cpu="1", spec={"schedulerName": ""}, node_selector={"x": "y"}
    )
    found = Asked([on("a", "p"), waits, hopeless])

    rows = found.allowed.rows_of_pending(waits, [waits])

    assert isinstance(rows, OpenRows)
    assert found.allowed.allowed[rows.now].tolist() == [False, False, True]

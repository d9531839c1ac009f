"""What is asked of the evictor for moves that hang together, and what is said where not all of them are granted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.moves import identity_of
from descheduler.planner.moves.move_waves import MoveWaves
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.search.asking import Asking, Leaving, MovesTogether
from tests.builders import Object, make_budget, make_node, make_pod, owner
from tests.planner.objective_over import Asked, objective_over
from tests.planner.runs import verified

NODES = [make_node(name, cpu="10", labels={"name": name}) for name in "abc"]
BALANCE: Object = {"targetThresholds": {"cpu": 70}}
IDLE = Workload("ReplicaSet", "default", "idle", "idle", 0)


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


PODS = [pod("p", "3"), pod("q", "4"), pod("r", "2"), pod("b", "6", "b"), pod("c", "1", "c")]
"""9 of 10 cores of node a are requested, 6 of node b and 1 of node c. The target is 7."""


def balance(pods: Sequence[Pod] = PODS, **others: Any) -> Asked:
    asked = objective_over("balanceUtilization", NODES, pods, args=BALANCE, **others)
    asked.objective.stated_over(asked.cluster)
    return asked


def asking(asked: Asked, *, most: int | None = None, disposable: str = "", drained: Sequence[str] = ()) -> Asking:
    closed = ClosedNodes((DrainNodesArgs(tuple(drained)),), asked.handle, NODES)
    return Asking(
        asked.objective, asked.handle.evictor, asked.cluster, most, lambda each: each.name in disposable, closed
    )


def together(asked: Asked, **moves: str) -> MovesTogether:
    """Pods that leave for other nodes, which the scheduler chooses."""
    return MovesTogether([asked.move(name, node) for name, node in moves.items()], asked.cluster, None)


@pytest.mark.parametrize(
    ("name", "facts", "reason", "text"),
    [
        pytest.param("p", {}, None, "", id="a node with room"),
        pytest.param(
            "q",
            {"node_selector": {"name": "b"}},
            Reason.OTHER_LANDING,
            "the replacement pod would be scheduled onto b, and bring it over its target of cpu 70%",
            id="a node that it harms",
        ),
        pytest.param(
            "q",
            {"node_selector": {"name": "a"}},
            Reason.RETURNS_TO_SOURCE,
            "the replacement pod would be scheduled onto a again; 1/3 nodes are available for the replacement pod:",
            id="its own node alone",
        ),
    ],
)
def test_a_replacement_lands_where_it_does_no_harm(name: str, facts: Object, reason: Reason | None, text: str) -> None:
    pods = [pod(each.name, "4", **facts) if each.name == name == "q" else each for each in PODS]
    asked = balance(pods)

    verdict = asking(asked).ask(Leaving(asked.pod(name)))

    assert (verdict.reason, verdict.message[: len(text)]) == (reason, text)


@pytest.mark.parametrize(
    ("facts", "disposable", "reason"),
    [
        pytest.param({}, "", Reason.NO_LANDING, id="it needs a node"),
        pytest.param({"labels": {"tier": "batch"}}, "p", None, id="it is disposable"),
        pytest.param({"owners": [owner("ReplicaSet/idle", uid="idle")]}, "", None, id="none is created for it"),
    ],
)
def test_a_pod_without_a_node_leaves_where_none_is_needed(
    facts: Object, disposable: str, reason: Reason | None
) -> None:
    """By its labels the pod may go to node b alone, which is full."""
    policy = verified({"objectives": [{"balanceUtilization": BALANCE}]}, packs=False)
    policy["profiles"][0]["pluginConfig"][2]["args"] = {"disposablePods": {"matchLabels": {"tier": "batch"}}}
    pods = [pod("p", "6", node_selector={"name": "b"}, **facts), pod("q", "4"), pod("full", "10", "b")]
    asked = balance(pods, workloads={"idle": IDLE}, policy=policy)

    assert asking(asked, disposable=disposable).ask(Leaving(asked.pod("p"))).reason is reason


def test_a_pod_without_a_node_stays_also_where_no_landing_is_verified() -> None:
    policy = verified({"objectives": [{"balanceUtilization": BALANCE}]}, packs=False)
    policy["profiles"][0]["plugins"]["preevictionfilter"] = {"enabled": []}
    pods = [
        pod("p", "6", node_selector={"name": "b"}),
        pod("q", "4"),
        pod("full", "10", "b"),
        pod("lost", "1", scheduler="x"),
    ]
    asked = balance(pods, policy=policy)
    ask = asking(asked)

    without, unknown = (ask.ask(Leaving(asked.pod(name))) for name in ("p", "lost"))

    assert without.reason is Reason.NO_LANDING
    assert (unknown.reason, unknown.message) == (Reason.NO_LANDING, "scheduler x is not modelled")
    assert ask.ask(Leaving(asked.pod("q"))).is_accepted


def test_a_disposable_pod_does_no_harm_either() -> None:
    """Its replacement would bring node b over its target."""
    asked = balance([*PODS[:1], pod("q", "4", node_selector={"name": "b"}), *PODS[2:]])

    verdict = asking(asked, disposable="q").ask(Leaving(asked.pod("q")))

    assert verdict.reason is Reason.OTHER_LANDING


def test_no_replacement_comes_to_a_node_that_is_to_be_drained() -> None:
    asked = balance()

    verdict = asking(asked, drained="c").ask(Leaving(asked.pod("p")))

    assert verdict.message == "the replacement pod would be scheduled onto c, which is to be drained"
    assert asking(asked, drained="b").ask(Leaving(asked.pod("p"))).is_accepted


@pytest.mark.parametrize(("most", "granted"), [(None, True), (2, True), (1, False)])
def test_a_group_leaves_whole_within_the_limit_of_the_planner(most: int | None, granted: bool) -> None:
    asked = balance(PODS[:4])

    pods = asking(asked, most=most).ask_whole(together(asked, p="c", r="c"), MoveWaves(asked.cluster, 1))

    assert [each.name for each in pods] == (["p", "r"] if granted else [])
    assert asked.objective.figure() == (0 if granted else 1)


def test_of_a_group_the_first_that_is_refused_is_told() -> None:
    """Without pod q, which its budget keeps, pod p leaves."""
    guard = make_budget("guard", {"app": "q"}, disruptions_allowed=0)
    asked = balance([PODS[0], pod("q", "4", labels={"app": "q"}), *PODS[2:]], budgets=(guard,))
    ask = asking(asked)

    with asked.handle.evictor.what_if():
        refused = ask.against(together(asked, p="c", q="c"))
        assert list(refused) == [identity_of(asked.pod("q"))]
        assert not asked.handle.evictor.has_booked(asked.pod("p"))
        assert ask.against(together(asked, p="c")) == {}
        assert asked.handle.evictor.has_booked(asked.pod("p"))


def test_of_a_bundle_each_pod_is_told_why_it_stays_and_companions_are_those_of_the_last_to_blame() -> None:
    guard = make_budget("guard", {"app": "q"}, disruptions_allowed=0)
    pods = [pod("p", "2"), pod("q", "1", labels={"app": "q"}), PODS[3]]
    asked = objective_over("consolidateNodes", NODES, pods, packs=True, budgets=(guard,))
    asked.objective.stated_over(asked.cluster)
    ask, (p, q) = asking(asked), (identity_of(asked.pod(name)) for name in "pq")

    refused = ask.against(together(asked, p="b", q="b"))

    assert refused[q].startswith("PodDisruptionBudget default/guard")
    assert refused[p] == f"it would leave only together with pod default/q, which has to stay: {refused[q]}"
    assert ask.companions == {p}
    assert ask.against(together(asked, q="b")) == {q: refused[q]}
    assert ask.companions == {p}


def test_a_bundle_that_gains_nothing_is_refused_as_a_whole() -> None:
    """A pending pod takes the room that node b leaves."""
    waits = pod("waits", "8", "", phase="Pending", priority=100)
    asked = objective_over(
        "consolidateNodes", NODES, [pod("p", "7"), pod("s", "3", "b"), pod("full", "9", "c"), waits], packs=True
    )
    asked.objective.stated_over(asked.cluster)
    ask = asking(asked)

    refused = ask.against(together(asked, s="a"))

    assert list(refused.values()) == ["pending pods would be scheduled onto b after the evictions"]
    assert ask.companions == set()


def test_the_size_of_a_pod_is_its_share_of_the_largest_node() -> None:
    nodes = [make_node("a", cpu="10", memory="4Gi"), make_node("b", cpu="20", memory="1Gi")]
    pods = [pod("cores", "5"), pod("both", "2", memory="2Gi"), pod("none", "0")]
    asked = objective_over("balanceUtilization", nodes, pods, args=BALANCE)
    ask = asking(asked)

    sizes = [ask.size_of(each) for each in pods]

    assert sizes[:2] == [0.25, 0.5]
    assert sizes[2] < 0.05

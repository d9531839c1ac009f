"""Which pods count as replacements after a run, which evicted pod each stands for, and how long they are awaited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.observing import Observer
from descheduler.model.pod import Owner
from descheduler.placement.prover import LandingProver
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.supervision import RunStopped
from descheduler.transport.errors import TransportError
from tests.builders import make_node, make_pod, make_snapshot, pod_object
from tests.living.cluster import LivingCluster
from tests.migration.stand_ins import Clock, make_eviction

KNOWN = frozenset({"old"})
WEB = Owner("ReplicaSet", "web", "replicaset-web", "apps/v1", controller=True)
NODES = [make_node("n1"), make_node("n2"), make_node("n3")]


def evicted(name: str = "web-0", *, node: str = "", ties: tuple[str, ...] = (), **facts: Any) -> Outcome:
    """A pod of ReplicaSet web that has left; its replacement is expected on this node, or on one of those."""
    eviction = replace(make_eviction(name), controller=facts.pop("controller", WEB), labels={"app": "web"})
    if node:
        landing = LandingProver(make_snapshot(NODES)).consider(make_pod(name))
        eviction = replace(eviction, landing=replace(landing, node=node, ties=ties))
    return replace(Outcome(eviction, OutcomeKind.EVICTED, OutcomeCode.DONE, ""), **facts)


def new(name: str, node: str = "n2", **facts: Any) -> dict[str, Any]:
    """A ready pod of ReplicaSet web that was not there before."""
    uid = facts.pop("uid", name)
    return pod_object(name, namespace="shop", uid=uid, node=node, **{"labels": {"app": "web"}, **facts})


class Watching:
    """The time of a run, on a clock of its own; `on_look` is called before each look."""

    def __init__(self, on_look: Callable[[], None] = lambda: None) -> None:
        self._clock = Clock()
        self._on_look = on_look
        self.looks: list[float] = []
        self.told: list[str] = []

    def clock(self) -> float:
        """The time in seconds."""
        return self._clock.now()

    def sleep(self, seconds: float) -> None:
        """Passes the time."""
        self._clock.sleep(seconds)

    def tell(self, text: str) -> None:
        """Keeps it."""
        self.told.append(text)

    def call(self, doing: str, work: Callable[[], Any]) -> Any:
        """Does it."""
        self.looks.append(self._clock.now())
        self._on_look()
        return work()


def observed(
    outcomes: Sequence[Outcome], *pods: dict[str, Any], seconds: float = 0.0, watching: Watching | None = None
) -> tuple[list[str], str]:
    """Where replacements were seen ready, "" for none, and what went wrong."""
    objects = ObjectCalls(LivingCluster(pods, acts=False).client())
    observer = Observer(outcomes, KNOWN, objects)
    why = observer.watch(seconds, cast(Any, watching or Watching()))
    return [outcome.landed_on for outcome in observer.outcomes], why


def test_outcome_names_no_node_before_its_replacement_was_seen() -> None:
    outcome = evicted()

    assert Observer((outcome,), frozenset(), cast(Any, None)).outcomes == (outcome,)


@pytest.mark.parametrize(
    ("pod", "node"),
    [
        pytest.param(new("web-9"), "n2", id="it is ready"),
        pytest.param(new("web-9", ready=False), "", id="it is not ready"),
        pytest.param(new("web-9", uid="old"), "", id="it was there before"),
        pytest.param(new("web-9", deleted=1), "", id="it is being deleted"),
        pytest.param(new("web-9", owners=["ReplicaSet/api"]), "", id="it is of another workload"),
        pytest.param(new("web-9", labels={"app": "api"}), "", id="it has other labels"),
    ],
)
def test_replacement_is_a_new_ready_pod_of_the_workload(pod: dict[str, Any], node: str) -> None:
    assert observed([evicted()], pod) == ([node], "")


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(replace(evicted(), kind=OutcomeKind.REFUSED), id="it was not evicted"),
        pytest.param(replace(evicted(), kind=OutcomeKind.BACKGROUND), id="it was handed over"),
        pytest.param(evicted(controller=None), id="it has no controller"),
    ],
)
def test_nothing_comes_in_place_of_such_a_pod(outcome: Outcome) -> None:
    watching = Watching()

    assert observed([outcome], new("web-9"), seconds=60.0, watching=watching) == ([""], "")
    assert watching.looks == []


def test_replacement_that_a_job_has_seen_is_not_looked_for() -> None:
    assert observed([evicted(landed_on="n3")], new("web-9")) == (["n3"], "")


def test_replacements_are_matched_by_name_and_then_by_the_expected_nodes() -> None:
    outcomes = [
        evicted("a", node="n3"),
        evicted("b", node="n1", ties=("n1", "n2")),
        evicted("web-9", node="n3"),
        evicted("d"),
    ]
    pods = [new("w", "n1"), new("x", "n3"), new("y", "n2"), new("web-9", "n1")]

    nodes, _ = observed(outcomes, *pods)

    assert nodes == ["n3", "n1", "n1", "n2"]


def test_replacement_on_one_of_several_nodes_of_equal_score_was_expected_there() -> None:
    anywhere, tied = evicted("a"), evicted("b", node="n1", ties=("n1", "n2"))

    assert observed([anywhere, tied], new("w", "n3"), new("x", "n2"))[0] == ["n3", "n2"]


def test_replacements_are_looked_for_ever_more_rarely_until_the_time_is_over() -> None:
    watching = Watching()

    observed([evicted("a"), evicted("b")], new("web-9"), seconds=100.0, watching=watching)

    assert watching.looks == [5.0, 15.0, 35.0, 65.0, 95.0, 100.0]
    assert watching.told[:2] == [
        "waiting for replacement pods to be ready: 2 missing (--observe)",
        "waiting for replacement pods to be ready: 1 missing (--observe)",
    ]


def test_watch_ends_when_all_are_there_and_looks_at_least_once() -> None:
    found, nothing = Watching(), Watching()

    observed([evicted()], new("web-9"), seconds=100.0, watching=found)
    observed([evicted()], seconds=0.0, watching=nothing)

    assert (found.looks, nothing.looks) == ([5.0], [0.0])


@pytest.mark.parametrize(
    ("error", "why"),
    [
        pytest.param(RunStopped("over"), "", id="the time of the run is over"),
        pytest.param(TransportError("lost"), "where replacement pods are ready is not known: lost", id="no answer"),
    ],
)
def test_watch_that_cannot_go_on_says_why(error: Exception, why: str) -> None:
    def fail() -> None:
        raise error

    assert observed([evicted()], new("web-9"), seconds=9.0, watching=Watching(fail)) == ([""], why)


def test_workload_whose_replacements_are_there_is_not_looked_at_again() -> None:
    api = Owner("ReplicaSet", "api", "replicaset-api", "apps/v1", controller=True)
    watching = Watching()

    observed([evicted("web-0"), evicted("api-0", controller=api)], new("web-9"), seconds=15.0, watching=watching)

    assert watching.looks == [5.0, 5.0, 15.0]

"""Rows of scheduling plugins that are not of this program: which are admitted, and what their functions may do."""

from __future__ import annotations

from typing import Any, cast

import pytest

from descheduler.placement.framework.foreign.rows import admit_row
from descheduler.placement.framework.interactions import CAUTIOUS, OWN_NODE
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.policy.plugin_faults import Origin, WrongAnswer, collected_faults
from tests.builders import make_pod, make_snapshot
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION

PROFILE = DEFAULT_CONFIGURATION.profiles[0]
ORIGIN = Origin("Mine", "acme")
FAULT = "plugin Mine (package acme) failed: KeyError"


def fail(*given: object) -> Any:
    raise KeyError(given)


class Permitting:
    """Lets all pods be bound."""

    name = "Mine"

    def permit(self, cycle: object, node: int) -> None:
        """Never keeps any back."""


class Scoring:
    """Gives no scores."""

    name = "Mine"

    def score(self, cycle: object, feasible: object) -> None:
        """None."""


def row(**facts: Any) -> SchedulingPlugin:
    """A row that permits, unless it says otherwise."""
    return SchedulingPlugin(**{"plugin": Permitting, "points": frozenset({"permit"}), **facts})


def admitted(**facts: Any) -> SchedulingPlugin:
    """The same as it is used."""
    return admit_row(row(**facts), ORIGIN)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        pytest.param({"points": frozenset()}, "its row names no extension point", id="no point"),
        pytest.param({"points": frozenset({"score"})}, "its row names score, and has no score", id="no score"),
        pytest.param({"plugin": None}, "its row names permit, and has no plugin", id="no plugin"),
        pytest.param(
            {"points": frozenset({"score"}), "score": Permitting},
            "its row names score; class Permitting has name, permit",
            id="a class that does not score",
        ),
        pytest.param({"about": "text"}, "about of its row is str, not About", id="a text about it"),
        pytest.param({"about": About(check=cast(Any, 5))}, "about.check is int, not text", id="a number about it"),
        pytest.param(
            {"reads_annotations": (5,)}, "an annotation or a kind that its row reads is int, not text", id="a number"
        ),
    ],
)
def test_row_that_makes_no_sense_is_refused(facts: Any, message: str) -> None:
    with pytest.raises(WrongAnswer) as raised:
        admitted(**facts)

    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({}, id="a class with the method of its point"),
        pytest.param({"plugin": lambda cluster, profile: object()}, id="a function, which is not looked into"),
        pytest.param({"points": frozenset({"score"}), "plugin": None, "score": Scoring}, id="a class that scores"),
        pytest.param({"plugin": None, "is_modelled": False}, id="nothing, where it is not modelled"),
        pytest.param({"points": frozenset({"post_filter"}), "plugin": None}, id="a point that needs no class"),
    ],
)
def test_row_that_makes_sense_is_admitted(facts: Any) -> None:
    assert admitted(**facts).points == row(**facts).points


def test_row_of_a_package_is_asked_nothing_for_planners_and_owners() -> None:
    found = admitted(
        unread=fail, prefers=fail, parts=fail, renews=fail, about=About("checks it", "prefers it", ("no",))
    )

    assert (found.unread, found.prefers, found.parts, found.renews) == (None, None, None, None)
    assert found.about == About("checks it", "prefers it", ("no",))
    assert (found.explain, found.explain_shortage, found.marks, found.queues) == (None, None, None, None)


def test_functions_of_a_row_that_work_are_asked() -> None:
    pods = [make_pod("waits", node="")]
    found = admitted(
        doubt=lambda profile: "it is in doubt",
        marks=lambda snapshot: lambda pod: pod.name[0],
        queues=lambda snapshot: iter(pods),
        explain=lambda refused, obstacle: iter(["because"]),
        explain_shortage=lambda refused, short: iter(["held back"]),
        interactions=own_node,
    )
    refused, obstacle, snapshot = cast(Any, None), Obstacle("Mine", Code.ERROR, ()), make_snapshot()

    assert found.doubt(PROFILE) == "it is in doubt"
    assert found.marks is not None
    mark = found.marks(snapshot)
    assert mark is not None
    assert mark(make_pod("pod")) == "p"
    assert found.queues is not None
    assert list(found.queues(snapshot)) == pods
    assert found.explain is not None
    assert list(found.explain(refused, obstacle)) == ["because"]
    assert found.explain_shortage is not None
    assert list(found.explain_shortage(refused, frozenset())) == ["held back"]
    assert found.interactions(PROFILE) is OWN_NODE
    assert admitted(marks=lambda snapshot: None).marks is not None


def test_functions_of_a_row_that_fail_answer_with_all_caution() -> None:
    with collected_faults() as faults:
        found = admitted(doubt=fail, marks=fail, queues=fail, explain=fail, explain_shortage=fail, interactions=fail)
        refused, obstacle, snapshot = cast(Any, None), Obstacle("Mine", Code.ERROR, ()), make_snapshot()

        assert found.doubt(PROFILE).startswith(FAULT)
        assert found.marks is not None
        mark = found.marks(snapshot)
        assert mark is not None
        assert [mark(make_pod("pod", uid=uid)) for uid in ("u1", "u2", "")] == ["u1", "u2", "default/pod"]
        assert found.queues is not None
        assert list(found.queues(snapshot)) == []
        assert found.explain is not None
        assert [each.startswith(FAULT) for each in found.explain(refused, obstacle)] == [True]
        assert found.explain_shortage is not None
        assert [each.startswith(FAULT) for each in found.explain_shortage(refused, frozenset())] == [True]
        assert found.interactions(PROFILE) is CAUTIOUS

    assert len(faults) >= 1


def test_mark_that_fails_or_cannot_be_compared_tells_every_pod_from_others() -> None:
    pods = [make_pod("pod", uid=uid) for uid in ("u1", "u2")]
    for mark in (fail, lambda pod: [pod.name]):
        with collected_faults():
            marks = admitted(marks=lambda snapshot, mark=mark: mark).marks
            assert marks is not None
            told = marks(make_snapshot())

            assert told is not None
            assert [told(pod) for pod in pods] == ["u1", "u2"]


@pytest.mark.parametrize("queued", [pytest.param(["a pod"], id="texts"), pytest.param(5, id="a number")])
def test_what_is_no_pod_is_not_queued(queued: object) -> None:
    with collected_faults() as faults:
        queues = admitted(queues=lambda snapshot: queued).queues
        assert queues is not None

        assert list(queues(make_snapshot())) == []

    assert len(faults) == 1

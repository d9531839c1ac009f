"""Scheduling plugins that are not of this program and fail: what they would say is unknown from then on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from descheduler.cycle.foreign.specs import guarded_spec
from descheduler.cycle.plugins import REGISTRY
from descheduler.placement.framework.extension_points import PASS, PreFilterResult, Scores
from descheduler.placement.framework.foreign.rows import admit_row, guarded_row
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.policy.plugin_faults import Origin, WrongAnswer, collected_faults
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.framework.foreign.worlds import configured

Answers = Mapping[str, Callable[..., object]]


def leave(*given: object) -> object:
    raise SystemExit(len(given))


class Faulty:
    """Has nothing against anything, but for the `answers` of a test."""

    name = "Faulty"
    is_static = False
    answers: ClassVar[Answers] = {}

    def __init__(self, cluster: object, profile: object) -> None:
        """Reads neither."""

    def _answer(self, hook: str, usual: object, *given: object) -> Any:
        return self.answers[hook](*given) if hook in self.answers else usual

    def pre_filter(self, cycle: Any) -> Any:
        return self._answer("pre_filter", PASS, cycle)

    def filter(self, cycle: Any) -> Any:
        return self._answer("filter", None, cycle)

    def obstacle(self, cycle: Any, node: int, bits: int) -> Any:
        return self._answer("obstacle", Obstacle(self.name, Code.UNRESOLVABLE, ("no",)), cycle, node, bits)

    def score(self, cycle: Any, feasible: Any) -> Any:
        return self._answer("score", None, cycle, feasible)

    def permit(self, cycle: Any, node: int) -> Any:
        return self._answer("permit", None, cycle, node)

    def pre_bind(self, cycle: Any, node: int) -> Any:
        return self._answer("pre_bind", (), cycle, node)

    def patch(self, cycle: Any, node: int, takings: object) -> Any:
        return self._answer("patch", {}, cycle, node, takings)


POINTS = frozenset({"pre_filter", "filter", "permit", "pre_bind", "score"})


def landing(answers: Answers) -> tuple[Landing, list[str]]:
    """Where a pod of a cordoned node lands, and the faults on the way."""

    class Asked(Faulty):
        pass

    Asked.answers = answers
    row = SchedulingPlugin(plugin=Asked, score=Asked, points=POINTS)
    table = {**PLUGINS, "Faulty": row}
    nodes = [make_node("old", unschedulable=True), make_node("b"), make_node("c")]
    pod = make_pod("web", node="old", cpu="1")
    with collected_faults() as faults:
        prover = LandingProver(
            make_snapshot(nodes, [pod]), configuration=configured(names=["Faulty"], table=table), plugins=table
        )
        found = prover.book(pod)
    return found, [str(fault).partition(" at ")[0] for fault in faults]


FLOATS = np.full(3, np.nan)


@pytest.mark.parametrize(
    ("hook", "answer", "fault"),
    [
        pytest.param("pre_filter", leave, "SystemExit", id="pre_filter that leaves"),
        pytest.param("pre_filter", lambda _: None, "pre_filter() is NoneType, not PreFilterResult", id="no result"),
        pytest.param(
            "pre_filter",
            lambda _: PreFilterResult(nodes=np.ones(2, dtype=bool)),
            "the nodes of pre_filter() has the shape (2,); there are 3 nodes",
            id="too few nodes",
        ),
        pytest.param("filter", leave, "SystemExit", id="filter that leaves"),
        pytest.param(
            "filter",
            lambda _: np.zeros(7, dtype=np.uint32),
            "filter() has the shape (7,); there are 3 nodes",
            id="too many",
        ),
        pytest.param("filter", lambda _: FLOATS, "filter() is an array of float64, not of reason bits", id="no bits"),
        pytest.param("filter", lambda _: [0, 0, 0], "filter() is list, not ndarray", id="a list"),
    ],
)
def test_plugin_that_fails_before_the_node_is_chosen_leaves_the_landing_likely(
    hook: str, answer: Callable[..., object], fault: str
) -> None:
    found, faults = landing({hook: answer})

    assert faults == [f"plugin Faulty failed: {fault}"]
    assert found.verdict is LandingVerdict.LIKELY
    assert found.cause.startswith(f"plugin Faulty failed: {fault}")


@pytest.mark.parametrize(
    ("hook", "answer", "fault"),
    [
        pytest.param("permit", leave, "SystemExit", id="permit that leaves"),
        pytest.param("permit", lambda *_: "no", "permit() is str, not Obstacle", id="a text"),
        pytest.param("pre_bind", lambda *_: "no", "pre_bind() is str, not a list", id="one sentence"),
        pytest.param("pre_bind", lambda *_: iter(int, 1), "pre_bind() has more than 100 entries", id="no end"),
        pytest.param("patch", lambda *_: {"a": 1}, "an annotation of patch() is int, not text", id="a number"),
    ],
)
def test_plugin_that_fails_after_that_is_a_condition_of_the_landing(
    hook: str, answer: Callable[..., object], fault: str
) -> None:
    found, faults = landing({hook: answer})

    assert faults == [f"plugin Faulty failed: {fault}"]
    assert found.verdict is LandingVerdict.LANDS_IF
    assert any(condition.startswith(f"plugin Faulty failed: {fault}") for condition in found.conditions)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        pytest.param(leave, "SystemExit", id="that leaves"),
        pytest.param(
            lambda *_: Scores(cast(Any, FLOATS)), "score() gives nan, which is not between 0 and 100", id="nan"
        ),
        pytest.param(
            lambda *_: Scores(np.full(3, 250)), "score() gives 250, which is not between 0 and 100", id="too high"
        ),
        pytest.param(lambda *_: Scores(np.zeros(2, dtype=np.int64)), "score() has the shape (2,)", id="too few"),
    ],
)
def test_scores_that_make_no_sense_leave_the_node_open(answer: Callable[..., object], fault: str) -> None:
    found, faults = landing({"score": answer})

    assert len(faults) == 1
    assert faults[0].startswith(f"plugin Faulty failed: {fault}")
    assert found.ties == ("b", "c")
    assert found.is_open


def test_node_that_is_refused_without_words_may_take_the_pod() -> None:
    found, faults = landing({"filter": lambda _: np.ones(3, dtype=np.uint32), "obstacle": leave})

    assert faults == ["plugin Faulty failed: SystemExit"]
    assert found.verdict is LandingVerdict.LIKELY


def test_plugin_of_the_program_has_no_guard() -> None:
    for name, row in PLUGINS.items():
        assert guarded_row(name, row) is row
    for spec in REGISTRY.values():
        assert guarded_spec(spec) is spec


@pytest.mark.parametrize(
    ("points", "members", "fault"),
    [
        pytest.param(
            {"permit"}, {"permits": leave}, "its row names permit (permit); class Misspelt has permits", id="it"
        ),
        pytest.param(
            {"reserve"},
            {},
            "its row names reserve (ledger); class Misspelt has no methods",
            id="no ledger",
        ),
        pytest.param(
            {"permitt"}, {"permit": leave}, "its row names permitt; known are preEnqueue", id="an unknown point"
        ),
        pytest.param(
            {"filter"},
            {"filter": leave, "pre_filter": leave},
            "its row names filter (pre_filter, filter, obstacle, is_static); class Misspelt has",
            id="a filter without words",
        ),
    ],
)
def test_row_that_names_points_which_its_class_does_not_have_is_refused(
    points: set[str], members: dict[str, object], fault: str
) -> None:
    row = SchedulingPlugin(plugin=type("Misspelt", (), members), points=frozenset(points))

    with pytest.raises(WrongAnswer, match=re.escape(fault)):
        admit_row(row, Origin("Misspelt", "acme-plugins"))


def test_ledger_that_is_set_on_building_counts() -> None:
    class Keeping:
        name = "Keeping"

        def __init__(self, cluster: Any, profile: object) -> None:
            self.ledger = cluster.ledger(profile)

    row = SchedulingPlugin(plugin=cast(Any, Keeping), points=frozenset({"reserve"}))

    assert admit_row(row, Origin("Keeping", "acme-plugins")).points == row.points


def test_row_without_a_plugin_is_refused() -> None:
    with pytest.raises(WrongAnswer, match="its row names filter, and has no plugin"):
        admit_row(SchedulingPlugin(points=frozenset({"filter"})), Origin("Empty"))

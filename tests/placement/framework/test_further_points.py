"""Extension points that few plugins have: scores in a range, nodes that may open, bindings that fail, and more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.framework.extension_points import PASS, Conclusion, PreFilterResult, ScoreRange, Scores
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduler_model import Unit
from descheduler.placement.framework.scheduling_plugin import Compares, SchedulingPlugin
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.clusters import HOSTNAME
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION

PROFILE = DEFAULT_CONFIGURATION.profiles[0]
WAITING = make_pod("pod", node="")
REFUSED = Obstacle("Mine", Code.UNSCHEDULABLE, ("no",))


class Mine:
    """Has nothing against anything; subclasses do."""

    name = "Mine"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: object) -> None:
        """Reads neither."""

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Passes on."""
        return PASS

    def filter(self, cycle: Cycle) -> Any:
        """Closes no node."""
        return None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The words."""
        return REFUSED


def scheduler(
    kind: type[Mine], *, number: int = 3, compares: Compares | None = None, filters_last: bool = False, **nodes: Any
) -> Scheduler:
    """kube-scheduler with the plugin at every point that it has, over so many nodes; it filters before all others.

    It is taken for one of this program: plugins of others are not asked at all of these points.
    """
    kind = type(kind.__name__, (kind,), {"__module__": "descheduler.mine"})
    points = {
        "pre_filters": ("Mine", *PROFILE.pre_filters),
        "filters": (*PROFILE.filters, "Mine") if filters_last else ("Mine", *PROFILE.filters),
        "post_filters": ("Mine",) if hasattr(kind, "may_preempt") else PROFILE.post_filters,
        "pre_binds": ("Mine",) if hasattr(kind, "pre_bind") else (),
        "pre_enqueue": ("Mine",) if hasattr(kind, "pre_enqueue") else (),
        "permits": ("Mine",) if hasattr(kind, "permit") else (),
        "scores": (("Mine", 2),) if hasattr(kind, "score") else (),
    }
    row: Any = SchedulingPlugin(
        plugin=kind,
        score=kind if hasattr(kind, "score") else None,  # type: ignore[arg-type] # the same
        points=frozenset({"filter"}),
        compares=compares,
    )
    made = [make_node(f"n{place}", **nodes) for place in range(number)]
    cluster = ShadowCluster(make_snapshot(made))
    return Scheduler(cluster, replace(PROFILE, **points), plugins={**PLUGINS, "Mine": row})


def ranged(given: Sequence[int], most: dict[int, int]) -> type[Mine]:
    """Scores of which some may be higher."""

    class Ranged(Mine):
        def score(self, cycle: Cycle, feasible: Any) -> Scores:
            return Scores(np.array(given))

        def ranges(self, cycle: Cycle) -> ScoreRange | None:
            nodes = np.array(list(most), dtype=np.intp)
            least = np.array([given[node] for node in most], dtype=np.int64)
            return ScoreRange(nodes, least, np.array(list(most.values()), dtype=np.int64)) if most else None

    return Ranged


@pytest.mark.parametrize(
    ("given", "most", "expected"),
    [
        pytest.param([10, 50, 20], {}, Choice(1, 100, (1,), 60, is_sampled=False), id="no ranges"),
        pytest.param(
            [10, 50, 20], {0: 40}, Choice(1, 100, (1,), 20, is_sampled=False), id="one that stays below the best"
        ),
        pytest.param(
            [10, 50, 20],
            {0: 50},
            Choice(1, 100, (1, 0), 60, is_sampled=False, is_open=True),
            id="one that may be as good",
        ),
        pytest.param(
            [10, 50, 20], {1: 90}, Choice(1, 100, (1,), 60, is_sampled=False), id="the best, which may be better"
        ),
    ],
)
def test_scores_in_a_range_leave_the_choice_open(given: list[int], most: dict[int, int], expected: Choice) -> None:
    """The plugin has the weight 2."""
    assert scheduler(ranged(given, most)).evaluate(WAITING).choose() == expected


@pytest.mark.parametrize(
    ("scores", "is_unknown", "ties"),
    [
        pytest.param([10, 50, 20], True, (1, 0), id="what it gives may be anything"),
        pytest.param([10, 50, 20], False, (1,), id="it knows all"),
        pytest.param(None, True, (0, 1, 2), id="it gives nothing"),
    ],
)
def test_scores_are_in_doubt_where_a_plugin_gives_some_and_does_not_know_them(
    scores: list[int] | None, is_unknown: bool, ties: tuple[int, ...]
) -> None:
    class Unsure(Mine):
        def score(self, cycle: Cycle, feasible: Any) -> Scores | None:
            return None if scores is None else Scores(np.array(scores))

        def unknown(self, cycle: Cycle) -> Any:
            return np.array([True, False, False]) if is_unknown else None

    choice = scheduler(Unsure).evaluate(WAITING).choose()

    assert choice is not None
    assert (choice.ties, choice.is_open) == (ties, len(ties) == 2)


class Opening(Mine):
    """Closes the first two nodes, of which the first may open."""

    def filter(self, cycle: Cycle) -> Any:
        return np.array([1, 1, 0], dtype=np.uint32)

    def may_open(self, cycle: Cycle) -> Any:
        return np.array([True, False, False])


@pytest.mark.parametrize(
    ("compared", "expected"), [([], [False, False, True]), ([Compares.PARTS], [True, False, True])]
)
def test_node_that_may_open_is_open_but_for_what_is_compared(compared: list[Compares], expected: list[bool]) -> None:
    made = scheduler(Opening, compares=Compares.PARTS)

    found = made.open_but_for(made.evaluate(WAITING), frozenset(compared))

    assert found is not None
    assert found.tolist() == expected
    assert made.compares(Compares.PARTS)


def unbound(*failing: int) -> type[Mine]:
    class Unbound(Mine):
        def pre_bind(self, cycle: Cycle, node: int) -> tuple[str, ...]:
            return ()

        def why_unbound(self, cycle: Cycle, node: int) -> Obstacle | None:
            return REFUSED if node in failing else None

    return Unbound


@pytest.mark.parametrize(
    ("failing", "fits"), [((), True), ((0, 2), True), ((0, 1, 2), False)], ids=["nowhere", "somewhere", "everywhere"]
)
def test_pod_that_is_never_bound_is_refused(failing: tuple[int, ...], fits: bool) -> None:
    made = scheduler(unbound(*failing))

    assert made.evaluate(WAITING).fits
    found = made.evaluate_binding(WAITING)
    assert (found.fits, found.refusals) == (fits, () if fits else (REFUSED,))


def concluding(conclusion: Conclusion | None) -> type[Mine]:
    class Concluding(Mine):
        def filter(self, cycle: Cycle) -> Any:
            return np.array([1, 0, 0], dtype=np.uint32)

        def conclude(self, cycle: Cycle, reached: Any, *, is_sampled: bool) -> Conclusion | None:
            return conclusion

    return Concluding


DOUBT = Obstacle("Mine", Code.UNDECIDED, ("it is unknown",))


@pytest.mark.parametrize(
    ("conclusion", "feasible", "undecided", "has_brief"),
    [
        pytest.param(None, [False, True, True], (), False, id="nothing more"),
        pytest.param(Conclusion(doubt=DOUBT), [False, True, True], (DOUBT,), False, id="a doubt"),
        pytest.param(Conclusion(ending_bit=2), [False, False, False], (), False, id="the end of the attempt"),
        pytest.param(Conclusion(is_brief=True), [False, True, True], (), True, id="a state of seconds"),
    ],
)
def test_filter_may_end_the_attempt_or_leave_it_in_doubt(
    conclusion: Conclusion | None, feasible: list[bool], undecided: tuple[Obstacle, ...], has_brief: bool
) -> None:
    found = scheduler(concluding(conclusion)).evaluate(WAITING)

    assert (found.feasible.tolist(), found.undecided, found.has_brief) == (feasible, undecided, has_brief)


@pytest.mark.parametrize(
    ("filters_last", "num_nodes_to_find", "reached", "is_sampled"),
    [
        pytest.param(False, 1, [True, True, True], True, id="first, and one node is enough"),
        pytest.param(False, 2, [True, True, True], False, id="first, and both that are left are needed"),
        pytest.param(True, 2, [True, False, True], False, id="behind a filter that refuses a node"),
    ],
)
def test_filter_concludes_from_the_nodes_that_none_before_it_refuses(
    filters_last: bool, num_nodes_to_find: int, reached: list[bool], is_sampled: bool
) -> None:
    """Two nodes pass all filters in the first two cases: NodeAffinity and the plugin refuse one of them each."""
    told: list[tuple[list[bool], bool]] = []

    class Noting(Mine):
        def filter(self, cycle: Cycle) -> Any:
            return np.array([0, 1, 0], dtype=np.uint32)

        def conclude(self, cycle: Cycle, reached: Any, *, is_sampled: bool) -> None:
            told.append((reached.tolist(), is_sampled))

    made = scheduler(Noting, filters_last=filters_last)
    made.num_nodes_to_find = num_nodes_to_find

    found = made.evaluate(make_pod("pod", node="", affinity=not_on("n1")))

    assert found.feasible.tolist() == [True, False, True]
    assert told == [(reached, is_sampled)]


def not_on(node: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": "NotIn", "values": [node]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


class Gated(Mine):
    """Keeps every pod out of the queue."""

    def pre_enqueue(self, cycle: Cycle) -> Obstacle | None:
        return REFUSED


def test_pod_that_is_not_queued_is_not_asked_about_further() -> None:
    found = scheduler(Gated).evaluate(WAITING)

    assert (found.is_queued, found.refusals, found.fits) == (False, (REFUSED,), False)


class Early(Mine):
    """Refuses before nodes are looked at, or cannot tell."""

    code = Code.UNSCHEDULABLE

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        return PreFilterResult(Obstacle("Mine", self.code, ("no",)))


class Unsure(Early):
    """The same, which cannot tell."""

    code = Code.UNDECIDED


def test_refusal_before_nodes_are_looked_at_ends_the_attempt_and_a_doubt_does_not() -> None:
    refused, unsure = (scheduler(kind).evaluate(WAITING) for kind in (Early, Unsure))

    assert ([each.plugin for each in refused.refusals], refused.fits, refused.cause) == (["Mine"], False, "")
    assert (unsure.refusals, unsure.fits, unsure.cause) == ((), True, "no (Mine)")


class Waiting(Mine):
    """Holds pods back that carry the label `waits`, in a unit with their like."""

    def permit(self, cycle: Cycle, node: int) -> Obstacle | None:
        return REFUSED if "waits" in cycle.pod.pod.labels else None

    def unit_of(self, pod: Pod) -> str:
        return pod.labels.get("waits", "")

    def holds_back(self, pods: Sequence[Pod]) -> Obstacle | None:
        return REFUSED if len(pods) < 2 else None


def test_pods_that_wait_for_each_other_share_a_unit() -> None:
    made, waits = scheduler(Waiting), make_pod("w", node="", labels={"waits": "u"})

    assert [made.unit_of(pod) for pod in (waits, WAITING)] == ["u", ""]
    assert [made.held_back(pods) for pods in ([waits], [waits, waits])] == [(REFUSED,), ()]
    found: PodEvaluation = made.evaluate(waits)
    assert made.permits(found.cycle, 0) == (REFUSED,)
    assert found.conditions(0) == ("no",)
    assert made.evaluate(WAITING).conditions(0) == ()


def test_pods_of_a_unit_that_is_not_bound_are_told_what_keeps_each_of_them() -> None:
    """One that fits waits for its unit, the other one for a node; none of them stays."""
    made, labels = scheduler(Waiting, cpu="2"), {"waits": "u"}
    large, small = (make_pod(name, node="", cpu=cpu, labels=labels) for name, cpu in (("large", "3"), ("small", "1")))

    found = made.try_place(Unit((large, small)))

    assert [attempt.placement for attempt in found.attempts] == [None, None]
    assert [attempt.evaluation.refusals for attempt in found.attempts] == [(), (REFUSED,)]
    assert not made.cluster.table.requested.any()


class Preempting(Early):
    """Evicts pods of the label `low` for a pod that it refuses."""

    def may_preempt(self, pod: Pod, other: Pod) -> bool:
        return "low" in other.labels


@pytest.mark.parametrize(("kind", "expected"), [(Preempting, [True, False]), (Early, [False, False])])
def test_pods_are_evicted_for_a_refusal_that_its_plugin_says_preemption_changes(
    kind: type[Mine], expected: list[bool]
) -> None:
    refused = scheduler(kind).evaluate(WAITING)

    assert [refused.may_preempt(make_pod("other", labels=labels)) for labels in ({"low": ""}, {})] == expected

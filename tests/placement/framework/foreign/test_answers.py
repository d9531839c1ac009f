"""Which answers of scheduling plugins of others make sense, and what is said of those that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.extension_points import PreFilterResult, Scores
from descheduler.placement.framework.foreign import answers
from descheduler.placement.framework.foreign.answers import Trouble, guarded_interactions, guarded_ledger
from descheduler.placement.framework.interactions import CAUTIOUS, OWN_NODE
from descheduler.placement.framework.matched_reservations import Allocation
from descheduler.placement.framework.obstacle import Code, Obstacle, Said
from descheduler.placement.shadow.node_table import CPU_ROW
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.views import SeenPod
from descheduler.policy.plugin_faults import Origin, WrongAnswer, collected_faults
from tests.builders import make_node, make_pod, make_snapshot

POD = make_pod("pod", node="")


def cycle() -> Cycle:
    """Of a pod over three nodes."""
    cluster = ShadowCluster(make_snapshot([make_node(name) for name in "abc"]))
    return Cycle(cluster.placement_class(POD), cluster)


def refusal(ask: Callable[[], object]) -> str:
    """What is wrong with an answer."""
    with pytest.raises(WrongAnswer) as raised:
        ask()
    return str(raised.value)


@pytest.mark.parametrize(
    "bits",
    [
        np.array([0, 1, 2], dtype=np.uint32),
        np.array([0, 1, 2], dtype=np.int64),
        np.array([0, 1, 2], dtype=np.uint8),
    ],
)
def test_reason_bits_are_whole_numbers_of_any_width(bits: Any) -> None:
    found = answers.checked_bits(bits, cycle())

    assert found is not None
    assert (found.dtype.name, found.tolist()) == ("uint32", [0, 1, 2])
    assert answers.checked_bits(None, cycle()) is None


def test_bits_may_be_truths_and_may_not_be_negative() -> None:
    found = answers.checked_bits(np.array([True, False, True]), cycle())

    assert found is not None
    assert found.tolist() == [1, 0, 1]
    assert refusal(lambda: answers.checked_bits(np.array([0, -1, 0]), cycle())) == "filter() has negative reason bits"


FEASIBLE = np.array([True, True, False])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([0, 100, 50], [0, 100, 50], id="both ends of the range"),
        pytest.param([0, 100, -7], [0, 100, -7], id="a node that is not feasible does not count"),
        pytest.param([0.9, 99.9, np.nan], [0, 99, 0], id="numbers are cut"),
    ],
)
def test_scores_are_between_0_and_100_where_they_count(scores: Any, expected: list[int]) -> None:
    found = answers.checked_scores(Scores(np.array(scores)), cycle(), FEASIBLE)

    assert found is not None
    assert found.final.tolist() == expected
    assert answers.checked_scores(None, cycle(), FEASIBLE) is None


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        pytest.param(Scores(np.array([0, 101, 0])), "score() gives 101, which is not between 0 and 100", id="above"),
        pytest.param(Scores(np.array([-1, 0, 0])), "score() gives -1, which is not between 0 and 100", id="below"),
        pytest.param(
            Scores(cast(Any, np.array(["a", "b", "c"]))), "score() is an array of <U1, not of numbers", id="texts"
        ),
        pytest.param(
            Scores(np.zeros(3, dtype=np.int64), level=101),
            "score() gives 101, which is not between 0 and 100",
            id="a level above",
        ),
        pytest.param(
            Scores(np.zeros(3, dtype=np.int64), level=cast(Any, "high")), "the level of score() is str, not int", id="x"
        ),
        pytest.param(cast(Any, [1, 2, 3]), "score() is list, not Scores", id="a list"),
    ],
)
def test_scores_that_make_no_sense_are_told(scores: Scores, message: str) -> None:
    assert refusal(lambda: answers.checked_scores(scores, cycle(), FEASIBLE)) == message


def test_mask_has_a_truth_for_each_node() -> None:
    assert answers.checked_mask(FEASIBLE, cycle(), "it").tolist() == [True, True, False]
    assert refusal(lambda: answers.checked_mask(np.ones(3), cycle(), "it")) == "it is an array of float64, not of bool"
    assert refusal(lambda: answers.checked_mask(np.ones((3, 1), dtype=bool), cycle(), "it")).startswith(
        "it has the shape (3, 1)"
    )


class _Fact(NamedTuple):
    """A fact without words for sentences."""

    reason: str = "no"
    short: object = None


def test_obstacle_is_that_of_the_plugin() -> None:
    obstacle = Obstacle("Mine", Code.UNSCHEDULABLE, ("no",))

    assert answers.checked_obstacle(None, "Mine", "it") is None
    assert answers.checked_obstacle(obstacle, "Mine", "it") is obstacle
    assert answers.checked_obstacle(obstacle, "Other", "it") == Obstacle("Other", Code.UNSCHEDULABLE, ("no",))


@pytest.mark.parametrize(
    ("obstacle", "message"),
    [
        pytest.param("no", "it is str, not Obstacle", id="a text"),
        pytest.param(Obstacle("Mine", cast(Any, "U"), ("no",)), "the code of it is str, not Code", id="no code"),
        pytest.param(
            Obstacle("Mine", Code.ERROR, cast(Any, (5,))), "a reason of it is int, not text", id="a number as reason"
        ),
        pytest.param(
            Obstacle("Mine", Code.ERROR, ("no",), (Said("a", "a"), Said("b", "b"))),
            "it has 2 facts and 1 reasons",
            id="more facts than reasons",
        ),
        pytest.param(
            Obstacle("Mine", Code.ERROR, ("no",), cast(Any, (_Fact(),))),
            "a fact of it is NoneType, not text",
            id="a fact without words",
        ),
    ],
)
def test_obstacle_that_makes_no_sense_is_told(obstacle: object, message: str) -> None:
    assert refusal(lambda: answers.checked_obstacle(obstacle, "Mine", "it")) == message


def test_result_before_nodes_are_looked_at_names_the_plugin() -> None:
    given = PreFilterResult(obstacle=Obstacle("Other", Code.UNRESOLVABLE, ("no",)))

    found = answers.checked_pre_filter(given, "Mine", cycle())

    assert found.obstacle == Obstacle("Mine", Code.UNRESOLVABLE, ("no",))
    plain = PreFilterResult(nodes=FEASIBLE)
    assert answers.checked_pre_filter(plain, "Mine", cycle()) is plain


def test_cycle_names_nodes_that_there_are() -> None:
    for node in (0, 2):
        asked = cycle()
        asked.seen = (SeenPod(POD, node),)
        answers.checked_cycle(asked)
    for node in (-1, 3):
        asked = cycle()
        asked.seen = (SeenPod(POD, node),)
        assert refusal(lambda: answers.checked_cycle(asked)) == f"the cycle names node {node}; there are 3 nodes"  # noqa: B023


def test_credit_of_a_cycle_has_an_amount_for_each_node() -> None:
    asked = cycle()
    asked.credit[CPU_ROW] = np.zeros(2, dtype=np.int64)

    assert refusal(lambda: answers.checked_cycle(asked)).startswith("the credit of the cycle has the shape (2,)")


@pytest.mark.parametrize(("number", "is_refused"), [(100, False), (101, True)])
def test_plugin_writes_a_hundred_annotations_at_most(number: int, is_refused: bool) -> None:
    written = {f"k{each}": "v" for each in range(number)}

    if is_refused:
        assert refusal(lambda: answers.checked_patch(written)) == "patch() writes more than 100 annotations"
    else:
        assert answers.checked_patch(written) == written


class _Ledger:
    """Takes whatever it is told to, or fails at `fails`."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.there: list[object] = []

    def _may_fail(self, at: str) -> None:
        if self.fails == at:
            raise KeyError(at)

    def reserve(self, cycle: Cycle, node: int) -> object:
        self._may_fail("reserve")
        return node

    def restore(self, taken: object) -> None:
        self._may_fail("restore")
        self.there.append(taken)

    def release(self, taken: object) -> None:
        self._may_fail("release")
        self.there.remove(taken)

    def fingerprint(self) -> object:
        self._may_fail("fingerprint")
        return list(self.there)

    def allocations(self, taken: Any) -> Any:
        self._may_fail("allocations")
        return (Allocation("Mine", "gpu", str(taken)),)


FAULT = "plugin Mine failed: KeyError"


def trouble() -> Trouble:
    return Trouble(Origin("Mine"))


def test_ledger_that_works_is_as_it_is() -> None:
    ledger: Any = guarded_ledger(_Ledger(), trouble())

    taken = ledger.reserve(cycle(), 2)
    ledger.restore(taken)

    assert (taken, ledger.fingerprint(), ledger.allocations(taken)) == (2, "[2]", (Allocation("Mine", "gpu", "2"),))
    ledger.release(taken)
    assert ledger.fingerprint() == "[]"


def test_ledger_that_fails_takes_nothing_more_and_says_so_in_the_landing() -> None:
    asked, failing = cycle(), trouble()
    with collected_faults() as faults:
        ledger: Any = guarded_ledger(_Ledger("reserve"), failing)

        assert ledger.reserve(asked, 2) is None
        assert [note.partition(" at ")[0] for note in asked.notes] == [FAULT]
        ledger.inner.fails = ""
        assert ledger.reserve(asked, 2) is None

    assert (len(faults), ledger.allocations(2)) == (1, ())


@pytest.mark.parametrize("hook", ["restore", "release", "fingerprint", "allocations"])
def test_fault_of_a_ledger_ends_nothing(hook: str) -> None:
    with collected_faults() as faults:
        ledger: Any = guarded_ledger(_Ledger(hook), trouble())

        ledger.restore(1)
        ledger.fingerprint()
        ledger.allocations(1)
        ledger.release(1)

    assert [str(fault).partition(" at ")[0] for fault in faults] == [FAULT]


class _Says:
    """Interactions that give one answer to everything, or fail."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def can_be_helped(self, pod: Pod) -> Any:
        if self.answer == "fails":
            raise KeyError
        return self.answer

    is_local = is_felt_widely = can_be_helped

    def interact(self, first: Pod, second: Pod) -> Any:
        return self.can_be_helped(first)


@pytest.mark.parametrize("answer", [True, False])
def test_interactions_of_a_plugin_are_asked(answer: bool) -> None:
    found = guarded_interactions(_Says(answer), trouble())

    assert [found.can_be_helped(POD), found.is_local(POD), found.is_felt_widely(POD)] == [answer] * 3
    assert found.interact(POD, POD) is answer


def test_interactions_that_fail_are_the_most_cautious() -> None:
    with collected_faults():
        found = guarded_interactions(_Says("fails"), trouble())

        answered = [found.can_be_helped(POD), found.is_local(POD), found.is_felt_widely(POD), found.interact(POD, POD)]

    cautious = [CAUTIOUS.can_be_helped(POD), CAUTIOUS.is_local(POD), CAUTIOUS.is_felt_widely(POD)]
    assert answered == [*cautious, CAUTIOUS.interact(POD, POD)]
    assert guarded_interactions(OWN_NODE, trouble()) is OWN_NODE

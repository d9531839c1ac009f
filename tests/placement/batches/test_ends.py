"""What may come of a replacement beside others is looked for as far as evaluations pay for it."""

from __future__ import annotations

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.shadow.shadow_cluster import Company
from descheduler.placement.volcano.scheduler import VolcanoScheduler
from tests.placement.volcano.worlds import group, node, owned, pods, prover_of

_MOST_OF_ONE = 300
_CLOSED = {**node("old"), "spec": {"unschedulable": True}}


def _num_evaluations(monkeypatch: pytest.MonkeyPatch, cost: int) -> tuple[int, int]:
    """Evaluations for the last of five replacements that all get any of four nodes, and the ends that were found."""
    jobs = [
        each
        for name, cpu in zip("abcde", "12345", strict=True)
        for each in (group(name, phase="Running"), *owned(pods(name, 1, on="old", cpu=cpu), name))
    ]
    prover, pod = prover_of(_CLOSED, [node(f"n{number}") for number in range(4)], jobs)
    *others, last = pod.values()
    for other in others:
        prover.book(other)
    prover.consider(last)
    num_asked, evaluate = 0, VolcanoScheduler.evaluate

    def counted(self: VolcanoScheduler, pod: Pod, company: Company | None = None) -> PodEvaluation:
        nonlocal num_asked
        num_asked += 1
        return evaluate(self, pod, company)

    with monkeypatch.context() as patched:
        patched.setattr(VolcanoScheduler, "evaluation_cost", cost)
        patched.setattr(VolcanoScheduler, "evaluate", counted)
        ends = list(prover.ends(last))
    return num_asked, len(ends)


@pytest.mark.long
def test_schedulers_whose_evaluations_cost_more_are_asked_less(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {cost: _num_evaluations(monkeypatch, cost) for cost in (1, 4, 30)}

    assert all(num_asked * cost < _MOST_OF_ONE + cost for cost, (num_asked, _) in asked.items())
    num_asked, num_found = zip(*asked.values(), strict=True)
    assert num_asked[0] > num_asked[1] > num_asked[2]
    assert num_found[0] > num_found[1] > num_found[2] > 1


def test_nothing_but_the_prediction_is_found_where_one_evaluation_is_all_that_is_paid_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _num_evaluations(monkeypatch, _MOST_OF_ONE) == (1, 1)


def test_an_evaluation_of_volcano_opens_a_cycle_and_counts_as_several() -> None:
    assert VolcanoScheduler.evaluation_cost == 4

"""The budget index answers like asking every budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.cluster.snapshot import BudgetIndex
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Owner
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from tests.builders import make_pod, make_snapshot, owner

_keys = st.sampled_from(["app", "tier", "zone"])
_values = st.sampled_from(["x", "y", "z"])
_requirements = st.builds(
    Requirement,
    _keys,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.frozensets(_values, min_size=1),
)
_selectors = st.just(NOTHING) | st.builds(LabelSelector, st.lists(_requirements, max_size=3).map(tuple))


@pytest.mark.long
@given(st.lists(_selectors, max_size=8), st.dictionaries(_keys, _values))
def test_covering_budgets_are_those_that_match_in_the_given_order(
    selectors: list[LabelSelector], labels: dict[str, str]
) -> None:
    budgets = [DisruptionBudget("shop", f"b{i}", selector) for i, selector in enumerate(selectors)]

    covering = BudgetIndex(budgets).covering(labels)

    assert covering == tuple(budget for budget in budgets if budget.selector.matches(labels))


def test_pods_are_found_by_their_node_and_by_their_controller() -> None:
    pods = [
        make_pod("a", node="n", owners=["Job/j"]),
        make_pod("b", node="", owners=["Job/j", owner("X/x", controller=False)]),
        make_pod("c", node="n", owners=()),
    ]
    snapshot = make_snapshot(pods=pods)

    a, b, c = snapshot.pods
    assert snapshot.pods_by_node == {"n": (a, c)}
    assert snapshot.pods_by_controller == {"job-j": (a, b)}
    assert snapshot.pods_by_owner == {"job-j": 2, "x-x": 1}


def test_workloads_are_found_by_who_controls_them() -> None:
    def workload(name: str, *owners: Owner) -> Workload:
        return Workload("ReplicaSet", "shop", name, name, 1, owners)

    owned = workload("a", Owner("Deployment", "d", "d", "", True))
    named = workload("b", Owner("Deployment", "d", "d", "", False))
    snapshot = make_snapshot(workloads={each.uid: each for each in (owned, named)})

    assert snapshot.workloads_by_controller == {"d": [owned]}
    assert snapshot.workloads_by_name["ReplicaSet", "shop", "b"] is named


def test_budget_with_an_invalid_selector_covers_no_pod() -> None:
    everything = LabelSelector(())
    fine = DisruptionBudget("default", "a", everything)
    broken = DisruptionBudget("default", "b", everything, selector_error="odd")
    elsewhere = DisruptionBudget("other", "c", everything)

    snapshot = make_snapshot(budgets=(fine, broken, elsewhere))

    assert snapshot.budgets_of(make_pod("p")) == (fine,)
    assert snapshot.budgets_of(make_pod("p", namespace="none")) == ()

"""The budget index answers like asking every budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.cluster.snapshot import BudgetIndex
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement

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

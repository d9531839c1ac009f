"""Trees of quotas: who is whose parent, and what pods with huge requests are charged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT, QuotaTree
from tests.placement.plugins.elastic_quota.quotas import make_quota


def parents_of(named: list[int]) -> list[int]:
    """By the definition: from each quota upwards, and the step that leads back to one passed on the way is not made."""
    parents = [each if each < len(named) else NO_PARENT for each in named]
    for start in range(len(parents)):
        seen, each = {start}, start
        while parents[each] != NO_PARENT:
            if parents[each] in seen:
                parents[each] = NO_PARENT
                break
            each = parents[each]
            seen.add(each)
    return parents


@given(st.lists(st.integers(0, 12), max_size=10))
def test_loops_of_parents_are_opened_where_they_are_closed(named: list[int]) -> None:
    tree = QuotaTree(
        [make_quota(f"q{index}", most={"cpu": "9"}, parent=f"q{parent}") for index, parent in enumerate(named)]
    )

    assert tree.parents == parents_of(named)


def test_pods_that_ask_for_more_than_there_is_anywhere_never_look_small_together() -> None:
    tree = QuotaTree([make_quota("top", most={"cpu": "9"}), make_quota("low", most={"cpu": "9"}, parent="top")])
    huge = tree.charge(1, {"cpu": (2**63 - 1) * 10**9})

    for _ in range(3):
        tree.add_request(1, huge)
        tree.add_used(1, huge)

    column = tree.resources.index("cpu")
    assert tree.used[0, column] == tree.child_requests[1, column] == 3 * 2**50
    for _ in range(3):
        tree.add_used(1, -huge)
    assert not tree.used.any()

"""What is printed of the pods of a workload or a namespace."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.explanation.subjects.group import GroupExplanation, group_table
from descheduler.report.tables.table_style import TableStyle
from tests.explanation.subjects.test_tables import explained

GANG = {"outcome": "kept", "plugin": "P", "reason": "too old", "code": "GangMinimum", "message": "needs all"}
EVICTED = {"outcome": "evicted", "plugin": "P", "reason": "too old", "landing": "lands", "to_node": "b"}


def group(*pods: Any, **facts: Any) -> GroupExplanation:
    given = {"kind": "Deployment", "namespace": "shop", "name": "cart", "unjudged": "", **facts}
    return GroupExplanation(volcano=None, pods=pods, landing_counts=(), causes=(), **given)


def lines_of(explanation: GroupExplanation, *, is_wide: bool = False) -> list[str]:
    """The tables, with one space between columns and without empty lines."""
    return [" ".join(line.split()) for line in group_table(explanation, TableStyle(is_wide=is_wide)) if line]


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        pytest.param({}, "shop p a not selected - -", id="not selected"),
        pytest.param({"outcome": "unjudged"}, "shop p a skipped - -", id="skipped"),
        pytest.param(EVICTED, "shop p a evicted b P: too old", id="evicted"),
        pytest.param(EVICTED | {"landing": None, "to_node": None, "landing_message": "no owner"},
                     "shop p a evicted no new pod P: too old; no owner", id="evicted for good"),
        pytest.param(EVICTED | {"landing": "no", "to_node": None, "landing_message": "no room"},
                     "shop p a evicted pending P: too old; no room", id="evicted and pending"),
        pytest.param(EVICTED | {"landing": "lands_if", "landing_message": "if a volume is attached"},
                     "shop p a evicted b (if) P: too old; if a volume is attached", id="evicted under a condition"),
        pytest.param(EVICTED | {"landing": "likely", "landing_message": "GPUs"}, "shop p a evicted ~b P: too old",
                     id="evicted and likely scheduled"),
        pytest.param(GANG | {"code": "BarePod", "message": "no owner"},
                     "shop p a not evicted - P: too old; blocked by BarePod: no owner", id="kept"),
        pytest.param({"outcome": "kept", "plugin": "P"}, "shop p a not evicted - P", id="kept without a word"),
        pytest.param({"node": None}, "shop p - not selected - -", id="without a node"),
    ],
)  # fmt: skip
def test_pod_is_a_row_with_what_becomes_of_it(facts: dict[str, Any], row: str) -> None:
    assert lines_of(group(explained("p", **facts)))[:2] == ["NAMESPACE POD NODE DECISION TARGET REASON", row]


def test_wide_tables_have_the_plugin_in_a_column() -> None:
    assert lines_of(group(explained("p", **EVICTED)), is_wide=True)[:2] == [
        "NAMESPACE POD NODE DECISION PLUGIN TARGET REASON",
        "shop p a evicted P b too old",
    ]


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        pytest.param({"landing": "lands", "to_node": "b"}, "shop p a b -", id="scheduled"),
        pytest.param({"landing": "no", "landing_message": "no room"}, "shop p a pending no room", id="pending"),
        pytest.param({"landing": None, "landing_message": "no owner"}, "shop p a no new pod no owner", id="none"),
        pytest.param({"landing": None}, "shop p a - -", id="without a prediction"),
    ],
)
def test_without_a_policy_a_row_says_where_the_pod_would_go(facts: dict[str, Any], row: str) -> None:
    lines = lines_of(group(explained("p", outcome=None, **facts)))

    assert lines[:2] == ["NAMESPACE POD NODE TARGET REASON", row]


def test_members_of_a_gang_are_a_row_with_their_reason_where_they_share_it() -> None:
    alike = [explained(f"p{number}", **GANG) for number in range(3)]
    mixed = [*alike, explained("q", **GANG | {"reason": "too full"})]

    assert lines_of(group(*alike))[1] == (
        "shop p0 and 2 more a not evicted - P: too old; blocked by GangMinimum: needs all"
    )
    assert lines_of(group(*mixed))[1] == "shop p0 and 3 more a not evicted - P: blocked by GangMinimum: needs all"
    assert len([line for line in lines_of(group(*alike), is_wide=True) if line.startswith("shop p")]) == 3


@pytest.mark.parametrize(("number", "hidden"), [(20, 0), (21, 21), (23, 23)])
def test_many_pods_that_nobody_selects_are_counted_and_not_shown(number: int, hidden: int) -> None:
    pods = [explained(f"p{each:02}") for each in range(number)]
    pods[0] = explained("p00", **EVICTED)
    explanation = group(*pods)

    narrow, wide = lines_of(explanation), lines_of(explanation, is_wide=True)

    said = f"{number - 1} pods that no plugin selects are not shown; -o wide shows all"
    assert (said in narrow) is bool(hidden)
    assert len([line for line in narrow if line.startswith("shop p")]) == (1 if hidden else number)
    assert len([line for line in wide if line.startswith("shop p")]) == number


@pytest.mark.parametrize(
    ("outcomes", "facts", "summary"),
    [
        pytest.param(["evicted", "kept", "unwanted", "unwanted"], {},
                     "Deployment shop/cart: 4 pods, 1 would be evicted, 1 selected but not evicted, 2 not selected by"
                     " any plugin", id="all kinds"),
        pytest.param(["kept"], {}, "Deployment shop/cart: 1 pod, 1 selected but not evicted", id="one"),
        pytest.param(["unwanted"] * 10, {"kind": "Namespace", "namespace": "", "name": "shop"},
                     "Namespace shop: 10 pods, 10 not selected by any plugin", id="a namespace"),
        pytest.param(["unjudged"], {"unjudged": "no node"},
                     "Deployment shop/cart: 1 pod; the run was skipped: no node", id="skipped"),
        pytest.param([None], {}, "Deployment shop/cart: 1 pod", id="without a policy"),
    ],
)  # fmt: skip
def test_sum_comes_last(outcomes: list[Any], facts: dict[str, str], summary: str) -> None:
    pods = [explained(f"p{number}", outcome=outcome) for number, outcome in enumerate(outcomes)]

    assert lines_of(group(*pods, **facts))[-1] == summary


def test_one_pod_that_nobody_selects_is_counted_as_one() -> None:
    pods = [explained(f"p{each:02}", **EVICTED) for each in range(20)]

    assert "1 pod that no plugin selects is not shown; -o wide shows all" in lines_of(group(*pods, explained("q")))

"""Which tolerations cover which taints."""

from __future__ import annotations

import pytest

from descheduler.model.selection.taints import (
    NO_EXECUTE,
    NO_SCHEDULE,
    Taint,
    Toleration,
    seconds_tolerated,
    tolerates_all,
)

VALUED = Taint("k", "v", NO_SCHEDULE)


@pytest.mark.parametrize(
    ("taint", "toleration", "tolerated"),
    [
        pytest.param(VALUED, Toleration(operator="Exists"), True, id="no key and Exists cover everything"),
        pytest.param(VALUED, Toleration(key="k"), False, id="Equal is the default and compares the value"),
        pytest.param(Taint("k", "", NO_SCHEDULE), Toleration(key="k"), True, id="empty values are equal"),
        pytest.param(VALUED, Toleration("k", "Equal", "v"), True, id="equal values"),
        pytest.param(VALUED, Toleration("j", "Exists"), False, id="another key"),
        pytest.param(VALUED, Toleration("k", "Sometimes", "v"), False, id="an unknown operator"),
        pytest.param(
            Taint("k", "v", NO_EXECUTE), Toleration("k", "Exists", effect=NO_SCHEDULE), False, id="another effect"
        ),
        pytest.param(
            Taint("k", "v", NO_EXECUTE),
            Toleration("k", "Exists", toleration_seconds=0),
            True,
            id="seconds do not matter",
        ),
        pytest.param(Taint("k", "5"), Toleration("k", "Gt", "3"), True, id="a greater number"),
        pytest.param(Taint("k", "3"), Toleration("k", "Gt", "3"), False, id="an equal number is not greater"),
        pytest.param(Taint("k", "-4"), Toleration("k", "Lt", "3"), True, id="a smaller number"),
        pytest.param(Taint("k", "05"), Toleration("k", "Gt", "3"), False, id="a number with a leading zero"),
        pytest.param(Taint("k", "x"), Toleration("k", "Gt", "3"), False, id="a word is no number"),
        pytest.param(
            Taint("node.kubernetes.io/unschedulable", "", NO_SCHEDULE),
            Toleration("node.kubernetes.io/unschedulable", "Exists"),
            True,
            id="a cordon",
        ),
    ],
)
def test_toleration_covers_a_taint(taint: Taint, toleration: Toleration, tolerated: bool) -> None:
    assert toleration.tolerates(taint) is tolerated


def test_each_taint_needs_a_toleration_of_its_own() -> None:
    taints = [VALUED, Taint("gpu", "", NO_SCHEDULE)]
    one, other = Toleration("k", "Exists"), Toleration("gpu", "Exists")

    assert tolerates_all([one, other], taints)
    assert not tolerates_all([one], taints)
    assert tolerates_all([], [])


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        pytest.param([], 0, id="without a toleration"),
        pytest.param([Toleration("other", "Exists")], 0, id="by none that covers the taint"),
        pytest.param([Toleration("k", "Exists")], 0, id="by none that names the effect"),
        pytest.param([Toleration("k", "Exists", effect=NO_EXECUTE)], None, id="for ever"),
        pytest.param([Toleration("k", "Exists", effect=NO_EXECUTE, toleration_seconds=60)], 60, id="for a time"),
        pytest.param(
            [Toleration("k", "Exists", effect=NO_EXECUTE, toleration_seconds=-1)], 0, id="for a time that is over"
        ),
        pytest.param(
            [
                Toleration("k", "Exists", effect=NO_EXECUTE),
                Toleration(operator="Exists", effect=NO_EXECUTE, toleration_seconds=60),
            ],
            60,
            id="for the shortest of several times",
        ),
    ],
)
def test_taint_is_tolerated_for_some_seconds(tolerations: list[Toleration], seconds: int | None) -> None:
    assert seconds_tolerated(tolerations, Taint("k", "v", NO_EXECUTE)) == seconds


@pytest.mark.parametrize(
    ("tolerations", "value", "tolerated"),
    [
        pytest.param([("Gt", "3")], "4", True, id="above the bound"),
        pytest.param([("Gt", "3")], "3", False, id="at the lower bound"),
        pytest.param([("Lt", "3")], "2", True, id="below the bound"),
        pytest.param([("Lt", "3")], "3", False, id="at the upper bound"),
        pytest.param([("Lt", "3"), ("Gt", "8")], "2", True, id="below the one of two"),
        pytest.param([("Lt", "3"), ("Gt", "8")], "9", True, id="above the other"),
        pytest.param([("Lt", "3"), ("Gt", "8")], "5", False, id="between both"),
        pytest.param([("Lt", "3"), ("Lt", "6")], "5", True, id="the higher of two upper bounds"),
        pytest.param([("Gt", "3"), ("Gt", "6")], "5", True, id="the lower of two lower bounds"),
        pytest.param([("Gt", "3")], "04", False, id="a taint with a leading zero is no number"),
        pytest.param([("Gt", "03")], "4", False, id="nor is such a bound"),
    ],
)
def test_bounds_of_several_tolerations(tolerations: list[tuple[str, str]], value: str, tolerated: bool) -> None:
    stated = [Toleration("k", operator, bound) for operator, bound in tolerations]

    assert tolerates_all(stated, [Taint("k", value, NO_SCHEDULE)]) is tolerated
    assert any(each.tolerates(Taint("k", value, NO_SCHEDULE)) for each in stated) is tolerated


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        pytest.param([], 0, id="not tolerated"),
        pytest.param([None], None, id="for ever"),
        pytest.param([30], 30, id="for a time"),
        pytest.param([60, None, 30], 30, id="the shortest of several times"),
        pytest.param([-5], 0, id="less than no time"),
    ],
)
def test_how_long_a_taint_of_a_device_is_tolerated(seconds: list[int | None], expected: int | None) -> None:
    stated = [Toleration("k", "Exists", effect=NO_EXECUTE, toleration_seconds=each) for each in seconds]
    others = [Toleration("k", "Exists"), Toleration("j", "Exists", effect=NO_EXECUTE)]

    assert seconds_tolerated([*others, *stated], Taint("k", "", NO_EXECUTE)) == expected

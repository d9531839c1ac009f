"""Types that the compiler finds for expressions."""

from __future__ import annotations

import pytest

from descheduler.placement.cel.frame import DYN, FREE, INT, NULL, QUANTITY, Type, joined


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        pytest.param(INT, INT, INT, id="the same type"),
        pytest.param(INT, DYN, DYN, id="a value whose type is known later"),
        pytest.param(FREE, INT, INT, id="a type that nothing has fixed yet"),
        pytest.param(INT, FREE, INT, id="the other way round"),
        pytest.param(NULL, QUANTITY, QUANTITY, id="null, which an object may be"),
        pytest.param(Type("list", (FREE,)), Type("list", (INT,)), Type("list", (INT,)), id="a list without elements"),
    ],
)
def test_joined_type_is_the_more_general_one(first: Type, second: Type, both: Type) -> None:
    assert joined(first, second) == both

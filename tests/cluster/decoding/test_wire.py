"""Parts of the API that objects of every kind have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from descheduler.cluster.decoding.wire import Int32, Int64, ListMetadataWire, set_time


@pytest.mark.parametrize(
    ("token", "number", "is_complete"),
    [(None, None, True), ("", 0, True), ("x", None, False), (None, 1, False), ("x", 1, False)],
)
def test_list_is_complete_when_no_page_follows(token: str | None, number: int | None, is_complete: bool) -> None:
    assert ListMetadataWire(token, number).is_complete is is_complete


def test_time_is_one_with_a_zone_that_was_set() -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)

    assert set_time(moment) == moment
    assert set_time(None) is None
    assert set_time(datetime(1, 1, 1, tzinfo=UTC)) is None
    with pytest.raises(ValueError, match="has no zone: write 2026-01-02T15:04:05Z"):
        set_time(datetime(2026, 1, 2))


@pytest.mark.parametrize(("kind", "bits"), [(Int32, 31), (Int64, 63)])
def test_whole_number_has_the_bits_that_the_api_has_for_it(kind: Any, bits: int) -> None:
    for number in (-(2**bits), 2**bits - 1):
        assert msgspec.convert(number, kind) == number
    for number in (-(2**bits) - 1, 2**bits):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(number, kind)

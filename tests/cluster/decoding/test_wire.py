"""Parts of the API that objects of every kind have."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from descheduler.cluster.decoding.wire import ListMetadataWire, set_time


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

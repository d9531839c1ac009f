"""Whatever the API answers, and whenever: no wrong eviction, no endless run, nothing left over in the end."""

from __future__ import annotations

import pytest

from tests.migration.controller.schedules import play


@pytest.mark.parametrize("seed", range(30))
def test_faults_of_the_api_break_no_promise(seed: int) -> None:
    assert play(seed).faults == []

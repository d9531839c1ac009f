"""What holds room is known by its name and labels together."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from descheduler.migration.room.labels import JOB_LABEL, is_named_as_placeholder


@pytest.mark.parametrize(
    ("name", "labels", "is_named"),
    [
        pytest.param("placeholder-u", {JOB_LABEL: "u"}, True, id="as its label demands"),
        pytest.param("placeholder-u", {JOB_LABEL: "v"}, False, id="as another job has it"),
        pytest.param("placeholder-", {JOB_LABEL: ""}, False, id="for no job"),
        pytest.param("web-0", {}, False, id="without a label"),
    ],
)
def test_placeholder_has_the_name_that_its_label_demands(name: str, labels: Mapping[str, str], is_named: bool) -> None:
    assert is_named_as_placeholder(name, labels) is is_named

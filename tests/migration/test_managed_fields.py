"""Who has stated a field of an object."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.migration.managed_fields import ManagedFields, managers_of

REPLICAS = ("spec", "replicas")
STATED: dict[str, Any] = {"f:spec": {"f:replicas": {}, "f:template": {}}}


@pytest.mark.parametrize(
    ("fields", "is_stated"),
    [
        pytest.param(STATED, True, id="among others"),
        pytest.param({"f:spec": {"f:template": {}}}, False, id="others alone"),
        pytest.param({"f:status": {"f:replicas": {}}}, False, id="of another part"),
        pytest.param({"f:spec": None}, False, id="a part that is null"),
        pytest.param({"f:spec": 5}, False, id="a part that is no map"),
        pytest.param({"f:spec": {"f:replicas": None}}, False, id="a field that is null"),
        pytest.param({}, False, id="none"),
        pytest.param(None, False, id="null"),
    ],
)
def test_field_is_stated_where_its_path_leads_to_it(fields: dict[str, Any] | None, *, is_stated: bool) -> None:
    assert ManagedFields("kubectl", fields).state(REPLICAS) is is_stated


def test_managers_of_a_field_are_named_as_often_as_they_have_stated_it() -> None:
    managed = [
        ManagedFields("a", STATED),
        ManagedFields("b", {}),
        ManagedFields(None, STATED),
        ManagedFields("a", STATED),
    ]

    assert managers_of(REPLICAS, managed) == ["a", "", "a"]
    assert managers_of(REPLICAS, None) == []

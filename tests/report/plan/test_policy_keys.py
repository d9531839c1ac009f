"""Keys that are named beside reason codes are keys of policies."""

from __future__ import annotations

import json

import pytest

from descheduler.model.verdict import Reason
from descheduler.report.formats.render import render
from descheduler.report.plan.making import KEYS, policy_key
from descheduler.report.published_schema import published_schema
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan

KINDS = ("DeschedulerPolicy", "DeschedulerConfiguration")


@pytest.fixture(scope="module")
def known() -> frozenset[str]:
    """The names of all keys that policies have, at any depth."""

    def names(part: object) -> set[str]:
        if isinstance(part, list):
            return set().union(*map(names, part)) if part else set()
        if not isinstance(part, dict):
            return set()
        own = set(part["properties"]) if isinstance(part.get("properties"), dict) else set()
        return own.union(*map(names, part.values()))

    return frozenset(names(json.loads(published_schema("policy"))))


@pytest.mark.parametrize("reason", KEYS)
def test_every_key_is_one_of_a_policy(reason: Reason, known: frozenset[str]) -> None:
    assert set(KEYS[reason].split(".")) <= known


@pytest.mark.parametrize(
    ("code", "keys"),
    [
        pytest.param("DaemonSet", ("evictDaemonSetPods", ""), id="a key of upstream's evictor"),
        pytest.param("BarePod", ("", "evictAllBarePods"), id="a key of MigrationController"),
        pytest.param("LocalStorage", ("evictLocalStoragePods", "evictLocalStoragePods"), id="a key of both"),
        pytest.param("DisruptionBudget", ("", ""), id="what the policy does not decide"),
    ],
)
def test_key_is_one_that_the_kind_of_policy_has(code: str, keys: tuple[str, str], known: frozenset[str]) -> None:
    assert tuple(policy_key(code, kind) for kind in KINDS) == keys
    assert {key for key in keys if key} <= known


def test_pages_and_json_name_the_key_of_each_reason() -> None:
    volume = {"name": "scratch", "emptyDir": {}}
    plan = make_test_plan([make_pod("old"), make_pod("kept", volumes=[volume])])

    assert [(count.code, count.key) for count in plan.refusal_counts] == [("LocalStorage", "evictLocalStoragePods")]
    assert "<code>evictLocalStoragePods</code>" in "".join(render(plan, "html"))
    assert "| evictLocalStoragePods |" in "".join(render(plan, "markdown"))

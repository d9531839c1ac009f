"""Limits that are percentages: what is read, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema
import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.effective import policy_to_document
from descheduler.policy.load import load_policy
from descheduler.report.published_schema import published_schema

from .builders import koordinator, load, messages, upstream, with_args

LIMITS = ("maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal")
CONTROLLER = "profiles: [{name: p, pluginConfig: [{name: MigrationController, args: %s}]}]\n"


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("kind", [upstream, koordinator])
def test_percentage_of_a_limit_on_evictions_is_kept_as_written(limit: str, kind: Callable[[str], str]) -> None:
    policy = load(kind(f"{limit}: 10%\n"))

    document = policy_to_document(policy)

    assert document[limit] == "10%"
    assert policy_to_document(load_policy(document, REGISTRY)) == document


@pytest.mark.parametrize("kind", [upstream, koordinator])
@pytest.mark.parametrize(
    ("written", "fault"),
    [
        pytest.param("0%", "'0%' is not a percentage from 1% to 100%", id="nothing"),
        pytest.param("150%", "'150%' is not a percentage from 1% to 100%", id="more than all"),
        pytest.param("-1%", "'-1%' is not a percentage from 1% to 100%", id="less than nothing"),
        pytest.param("2.5%", "'2.5%' is not a percentage from 1% to 100%", id="a fraction"),
        pytest.param("ten", "'ten' is neither a number nor a percentage such as '10%'", id="a word"),
        pytest.param("'10'", "'10' is neither a number nor a percentage such as '10%'", id="a number in quotes"),
        pytest.param("''", "'' is neither a number nor a percentage such as '10%'", id="an empty text"),
    ],
)
def test_nonsense_in_place_of_a_limit_is_refused(kind: Callable[[str], str], written: str, fault: str) -> None:
    assert messages(kind(f"maxNoOfPodsToEvictTotal: {written}\n")) == [
        f"policy.yaml:3:26: maxNoOfPodsToEvictTotal: {fault}"
    ]


@pytest.mark.parametrize(
    "path",
    [
        ("maxMigratingGlobally",),
        ("maxMigratingPerNode",),
        ("maxMigratingPerNamespace",),
        ("moveHistory", "maxMovesPerWindow"),
        ("guards", "maxPendingPodsIncrease"),
        ("objectLimiters", "workload", "burst"),
    ],
    ids=".".join,
)
@pytest.mark.parametrize(("written", "is_valid"), [("10%", True), ("100%", True), ("0%", False), ("many", False)])
def test_limits_of_migration_controller_take_percentages(path: tuple[str, ...], written: str, is_valid: bool) -> None:
    args: object = written
    for key in reversed(path):
        args = {key: args}

    found = messages(koordinator(CONTROLLER % json.dumps(args)))

    field = f"profiles[0].pluginConfig[0].args.{'.'.join(path)}"
    assert [field in message for message in found] == ([] if is_valid else [True])


@pytest.mark.parametrize(("written", "is_valid"), [("10%", True), ("0%", False), ("many", False)])
def test_limit_per_node_of_low_node_utilization_takes_percentages(written: str, is_valid: bool) -> None:
    args = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}, "evictionLimits": {"node": written}}

    found = messages(with_args("LowNodeUtilization", json.dumps(args)))

    assert ["evictionLimits.node" in message for message in found] == ([] if is_valid else [True])


@pytest.mark.parametrize(("written", "is_valid"), [("10%", True), ("0%", False), ("many", False)])
def test_limit_of_scale_down_bin_pack_takes_percentages(written: str, is_valid: bool) -> None:
    args = json.dumps({"strategy": "EvictDirectly", "maxPodsToEvict": written})
    enabled = "plugins: {balance: {enabled: [{name: ScaleDownBinPack}]}}"
    profile = f"{{name: p, pluginConfig: [{{name: ScaleDownBinPack, args: {args}}}], {enabled}}}"

    found = messages(koordinator(f"profiles: [{profile}]\n"))

    assert ["maxPodsToEvict" in message for message in found] == ([] if is_valid else [True])


def test_schema_for_editors_takes_what_is_read() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(published_schema("policy")))
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}

    accepted = [
        limit for limit in (5, "10%", "0%", "ten") if validator.is_valid(document | {"maxNoOfPodsToEvictTotal": limit})
    ]

    assert accepted == [5, "10%"]

"""The JSON Schema of policies, and what it says of policies beside `descheduler validate`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.explanation.docs.schema import policy_schema_text
from descheduler.policy.load import load_policy
from descheduler.report.published_schema import published_schema
from tests.docs.pages import ROOT, shown_policies
from tests.policy.builders import koordinator, upstream, with_args

SHIPPED = [
    pytest.param(file.read_text("utf-8"), id=str(file.relative_to(ROOT)))
    for folder in ("config", "cronjob/base", "cronjob/overlays")
    for file in sorted((ROOT / folder).rglob("*.yaml"))
    if "apiVersion: descheduler/" in file.read_text("utf-8")
]
SHOWN = [pytest.param(block, id=name) for name, block in shown_policies()]


@cache
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(published_schema("policy"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def is_refused(policy: object) -> bool:
    return not validator().is_valid(policy)


def definitions() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(published_schema("policy"))["$defs"]
    return found


def recorded_policies() -> Iterator[dict[str, Any]]:
    """Policies of the recorded cases of both programs."""
    for file in sorted(Path(__file__).parents[1].joinpath("conformance", "vectors").glob("[du]*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            vectors = [json.loads(line) for line in lines]
        yield from (vector["policy"] for vector in vectors if isinstance(vector.get("policy"), dict))


def is_good(policy: dict[str, Any]) -> bool:
    try:
        return not load_policy(policy, REGISTRY).warnings
    except PolicyError:
        return False


@pytest.mark.long
def test_published_schema_is_that_of_the_types() -> None:
    assert published_schema("policy") == policy_schema_text(), "run: make schema"


def test_schema_has_an_identity_and_names_both_kinds() -> None:
    schema = json.loads(published_schema("policy"))

    assert schema["$id"].startswith("urn:")
    assert [choice["$ref"].rpartition("/")[2] for choice in schema["oneOf"]] == [
        "DeschedulerPolicy",
        "DeschedulerConfiguration",
    ]


def test_every_field_is_described() -> None:
    type_meta = {"apiVersion", "kind"}

    silent = [
        f"{name}.{key}"
        for name, definition in definitions().items()
        for key, field in definition["properties"].items()
        if "description" not in field and key not in type_meta
    ]

    assert silent == []


def test_defaults_and_choices_of_arguments_are_told() -> None:
    spread = definitions()["RemovePodsViolatingTopologySpreadConstraintArgs"]["properties"]

    assert spread["topologyBalanceNodeFit"]["default"] is True
    assert spread["constraints"]["items"]["enum"] == ["DoNotSchedule", "ScheduleAnyway"]


@pytest.mark.long
@pytest.mark.parametrize("text", [*SHIPPED, *SHOWN])
def test_shipped_and_shown_policies_obey_the_schema(text: str) -> None:
    validator().validate(yaml.safe_load(text))


@pytest.mark.long
def test_recorded_policies_without_a_warning_obey_the_schema() -> None:
    good = [policy for policy in recorded_policies() if is_good(policy)]

    assert len(good) > 20
    assert [policy for policy in good if is_refused(policy)] == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(with_args("PodLifeTime", "{maxPodLifeTimeSecond: 60}"), id="an unknown argument"),
        pytest.param(with_args("PodLifeTime", "{maxPodLifeTimeSeconds: '60'}"), id="a text for a number"),
        pytest.param(with_args("PodLifeTime", "{maxPodLifeTimeSeconds: 1.5}"), id="a fraction for an integer"),
        pytest.param(with_args("PodLifeTime", "{maxPodLifeTimeSeconds: -1}"), id="a negative number of seconds"),
        pytest.param(with_args("PodLifeTime", "{maxPodLifeTimeSeconds: 1, states: [Gone]}"), id="an unknown state"),
        pytest.param(with_args("PodLifeTime", "[1]"), id="a list for arguments"),
        pytest.param(with_args("DefaultEvictor", "{minPodAge: 5}"), id="a number for a duration"),
        pytest.param(with_args("DefaultEvictor", "{minPodAge: 5 minutes}"), id="a duration in words"),
        pytest.param(with_args("DefaultEvictor", "{podProtections: {extraEnabled: [All]}}"), id="an unknown word"),
        pytest.param(with_args("LowNodeUtilization", "{thresholds: {cpu: 120}}"), id="more than a hundred percent"),
        pytest.param(with_args("RemoveDuplicates", "{namespaces: {include: shop}}"), id="a text for a list"),
        pytest.param(with_args("PodLifetime", "{maxPodLifeTimeSeconds: 1}"), id="an unknown plugin"),
        pytest.param(with_args("MigrationController", "{}"), id="a plugin of the other kind"),
        pytest.param(upstream("maxNoOfPodsToEvictTotal: -1\n"), id="a negative limit"),
        pytest.param(upstream("compatibility: new\n"), id="an unknown compatibility"),
        pytest.param(upstream("profiles: {name: p}\n"), id="an object for a list"),
        pytest.param(upstream("nodeSelector: {matchLabels: {a: b}}\n"), id="the node selector of the other kind"),
        pytest.param(
            upstream(
                "profiles:\n- name: p\n  pluginConfig: [{name: RemoveDuplicates}]\n"
                "  plugins: {deschedule: {enabled: [RemoveDuplicates]}}\n"
            ),
            id="a balance plugin under deschedule",
        ),
        pytest.param(koordinator("nodeSelector: a=b\n"), id="the other node selector of the other kind"),
        pytest.param(koordinator("deschedulingIntervall: 5m\n"), id="an unknown field"),
        pytest.param(koordinator("profiles: [{plugins: {evict: {enabled: [x]}}}]\n"), id="a name for an object"),
        pytest.param(koordinator("leaderElection: {leaderElect: 1}\n"), id="a number for a boolean"),
        pytest.param("apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\n", id="an old version"),
        pytest.param("apiVersion: descheduler/v1alpha2\nkind: Policy\n", id="an unknown kind"),
    ],
)
def test_what_validate_refuses_for_its_structure_is_refused_by_the_schema(text: str) -> None:
    with pytest.raises(PolicyError):
        load_policy(text, REGISTRY)

    assert is_refused(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(upstream("maxNoOfPodsTotal: 1\n"), id="an unknown field"),
        pytest.param(upstream("metricsProviders: [{source: Other}]\n"), id="an unknown source of metrics"),
    ],
)
def test_schema_is_as_strict_as_validate_with_strict(text: str) -> None:
    assert load_policy(text, REGISTRY).warnings

    assert is_refused(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(upstream("profiles:\n"), id="an empty list"),
        pytest.param(with_args("RemoveDuplicates", ""), id="empty arguments"),
        pytest.param(with_args("DefaultEvictor", "{priorityThreshold: }"), id="an empty object"),
    ],
)
def test_null_says_nothing(text: str) -> None:
    load_policy(text, REGISTRY)

    assert not is_refused(yaml.safe_load(text))

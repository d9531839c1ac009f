"""The chart's values: safe defaults, otherwise those of upstream's chart, and what the schema takes and refuses."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.cronjob.manifests import BASE, CHART, Manifest, base_documents, documents, only

DEFAULTS_AS_UPSTREAM = {
    "kind": "CronJob",
    "imagePullSecrets": [],
    "nameOverride": "",
    "fullnameOverride": "",
    "namespaceOverride": "",
    "commonLabels": {},
    "cronJobApiVersion": "batch/v1",
    "suspend": False,
    "command": ["/bin/descheduler"],
    "cmdOptions": {"v": 3},
    "deschedulerPolicyAPIVersion": "descheduler/v1alpha2",
    "priorityClassName": "system-cluster-critical",
    "nodeSelector": {},
    "affinity": {},
    "topologySpreadConstraints": [],
    "tolerations": [],
    "rbac": {"create": True},
    "automountServiceAccountToken": True,
    "cronJobAnnotations": {},
    "cronJobLabels": {},
    "jobAnnotations": {},
    "jobLabels": {},
    "podAnnotations": {},
    "podLabels": {},
    "dnsConfig": {},
    "initContainers": [],
}


def values() -> Manifest:
    """The chart's own values."""
    (found,) = documents((CHART / "values.yaml").read_text())
    return found


def policy_document() -> Manifest:
    """The default policy, as the chart's ConfigMap has it."""
    found = values()
    policy: Manifest = found["deschedulerPolicy"]
    return {"apiVersion": found["deschedulerPolicyAPIVersion"], "kind": found["deschedulerPolicyKind"], **policy}


def problems(changes: str) -> list[str]:
    """What the schema says of the chart's values with `changes`, top-level keys in YAML."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    changed: dict[str, Any] = values() | (yaml.safe_load(changes) or {})
    return [f"{'.'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(changed)]


def test_schema_is_a_schema_that_takes_the_defaults() -> None:
    jsonschema.Draft7Validator.check_schema(json.loads((CHART / "values.schema.json").read_text()))

    assert problems("") == []


def test_every_default_has_a_place_in_the_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert set(values()) <= set(schema["properties"])


def test_defaults_are_those_of_the_upstream_chart() -> None:
    found = values()

    assert {key: found[key] for key in DEFAULTS_AS_UPSTREAM} == DEFAULTS_AS_UPSTREAM


def test_defaults_evict_little_and_rarely_and_only_what_lands() -> None:
    found = values()
    policy = load_policy(policy_document(), REGISTRY)

    assert found["schedule"] == "*/15 * * * *"
    assert policy.max_evictions_total == 10
    assert all("PlacementVerification" in profile.pre_eviction_filter for profile in policy.profiles)


def test_default_policy_and_schedule_are_those_of_the_base() -> None:
    base = only(base_documents(), "CronJob")["spec"]

    assert policy_document() == yaml.safe_load((BASE / "policy.yaml").read_text())
    for key in ("schedule", "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        assert values()[key] == base[key]
    assert values()["activeDeadlineSeconds"] == base["jobTemplate"]["spec"]["activeDeadlineSeconds"]


def test_default_policy_loads_without_a_warning() -> None:
    policy = load_policy(policy_document(), REGISTRY)

    assert policy.warnings == ()


def test_every_value_says_what_it_means() -> None:
    """The chart's README is made of it."""
    properties = json.loads((CHART / "values.schema.json").read_text())["properties"]
    groups = [properties, properties["image"]["properties"], properties["serviceAccount"]["properties"]]

    silent = [
        name
        for group in groups
        for name, value in group.items()
        if not value.get("description", "").endswith(".") and set(value) != {"$ref"} and "properties" not in value
    ]

    assert silent == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param("deschedulingInterval: 5m\nreplicas: 2", id="the interval and replicas of a Deployment"),
        pytest.param(
            "leaderElection: {enabled: true, resourceNamescape: x}", id="leader election, misspelt key and all"
        ),
        pytest.param("service: {enabled: true}\nserviceMonitor: {enabled: true}", id="what scrapes a Deployment"),
        pytest.param("livenessProbe: {failureThreshold: 3}\nports: [{containerPort: 10258}]", id="probe and ports"),
        pytest.param("podDisruptionBudget: {enabled: true}\ndeploymentAnnotations: {a: b}", id="budget, annotations"),
        pytest.param("kind: Deployment", id="a Deployment"),
        pytest.param("image: null\nrbac: null\nschedule: null\nsuspend: null", id="nulls"),
        pytest.param("global: {a: b}", id="what a chart above hands to all its parts"),
        pytest.param("cmdOptions: {dry-run: null, v: 3, logging-format: json, x: true}", id="flags of every type"),
        pytest.param("cmdOptions: {deadline: 1h2m3.5s}", id="a deadline"),
        pytest.param("schedule: '@hourly'", id="a schedule by name"),
        pytest.param(f"image: {{digest: 'sha256:{64 * 'a'}'}}", id="a digest"),
        pytest.param("extraEnv: [{name: A, value: b}]", id="a variable"),
        pytest.param("activeDeadlineSeconds: null\ntimeZone: Etc/UTC", id="no limit, a time zone"),
        pytest.param("resources: {limits: {cpu: 1}}", id="a quantity as a number"),
        pytest.param("securityContext: {}\npodSecurityContext: {fsGroup: 1}", id="another security context"),
    ],
)
def test_schema_takes(changes: str) -> None:
    assert problems(changes) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param("schedule: often", "schedule: 'often' does not match", id="a schedule that is none"),
        pytest.param("startingDeadlineSeconds: 5", "startingDeadlineSeconds: 5 is less than", id="no time to start"),
        pytest.param(
            "activeDeadlineSeconds: '600'", "activeDeadlineSeconds: '600' is not of type", id="text for seconds"
        ),
        pytest.param("suspend: 'false'", "suspend: 'false' is not of type", id="text for a yes or no"),
        pytest.param(
            "image: {pullPolicy: Sometimes}", "image.pullPolicy: 'Sometimes' is not one of", id="a pull policy"
        ),
        pytest.param("image: {digest: abc}", "image.digest: 'abc' does not match", id="a digest that is none"),
        pytest.param(
            "cmdOptions: {deadline: 5}", "cmdOptions.deadline: 5 is not of type", id="a deadline without unit"
        ),
        pytest.param("cmdOptions: {v: [1]}", "cmdOptions.v: [1] is not of type", id="a list for a flag"),
        pytest.param("cmdOptions: {dry-run: ''}", "cmdOptions.dry-run: '' is not one of", id="a dry run left empty"),
        pytest.param("cmdOptions: {dry_run: maybe}", "cmdOptions.dry_run: 'maybe'", id="a dry run, maybe"),
        pytest.param("cmdOptions: {v: ''}", "cmdOptions.v: '' ", id="an empty text for a flag"),
        pytest.param("kind: DaemonSet", "kind: 'DaemonSet' is not one of", id="a DaemonSet"),
        pytest.param("deschedulerPolicy: {kind: Policy}", "deschedulerPolicy.kind: 'Policy'", id="no kind of policy"),
        pytest.param("podLabels: {a: 1}", "podLabels.a: 1 is not of type", id="a label that is a number"),
        pytest.param("cronJobApiVersion: batch/v1beta1", "cronJobApiVersion: ", id="an API that is gone"),
    ],
)
def test_schema_refuses(changes: str, message: str) -> None:
    (found,) = problems(changes)

    assert found.startswith(message)

"""Policies written back as documents."""

from __future__ import annotations

import json

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.effective import policy_to_document
from descheduler.policy.load import load_policy

from .builders import koordinator, upstream, with_args

POLICIES = [
    pytest.param(upstream(), id="an empty policy"),
    pytest.param(
        upstream("nodeSelector: a\nmaxNoOfPodsToEvictTotal: 0\ngracePeriodSeconds: -1\ncompatibility: fixed\n"),
        id="top-level settings",
    ),
    pytest.param(
        upstream(
            "metricsCollector: {enabled: true}\nmetricsProviders:\n- source: Prometheus\n"
            "  prometheus: {url: 'http://x', authToken: {secretReference: {namespace: a, name: b}}}\n- source: Foo\n"
        ),
        id="metrics providers",
    ),
    pytest.param(with_args("RemovePodsViolatingNodeTaints", "{includedTaints: []}"), id="an empty list that matters"),
    pytest.param(
        with_args("RemovePodsViolatingTopologySpreadConstraint", "{topologyBalanceNodeFit: false}"),
        id="a false that matters",
    ),
    pytest.param(
        with_args(
            "DefaultEvictor",
            "{minPodAge: 1h2m3.5s, labelSelector: {matchExpressions: [{key: c, operator: Exists}]},"
            " podProtections: {extraEnabled: [PodsWithPVC],"
            " config: {PodsWithPVC: {protectedStorageClasses: [{name: fast}]}}}, priorityThreshold: {name: low}}",
        ),
        id="an evictor with everything",
    ),
    pytest.param(koordinator(), id="a default configuration"),
    pytest.param(
        koordinator(
            """\
            nodeSelector: {}
            deschedulingInterval: 90s
            clientConnection: {qps: 2.5}
            profiles:
            - name: a
              nodeSelector: {matchLabels: {a: b}}
              plugins:
                balance: {enabled: [{name: RemoveDuplicates}]}
                filter: {enabled: [{name: DefaultEvictor}]}
              pluginConfig:
              - {name: MigrationController, args: {maxMigratingPerNode: 0, evictQPS: '3', evictBurst: 4}}
            """
        ),
        id="a configuration with plugins",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {filter: {disabled: [{name: PlacementVerification}]}}\n"),
        id="a configuration that verifies nothing",
    ),
    pytest.param(
        koordinator("profiles:\n- plugins: {filter: {disabled: [{name: '*'}], enabled: [{name: DefaultEvictor}]}}\n"),
        id="a configuration with a filter of its own",
    ),
]


@pytest.mark.parametrize("text", POLICIES)
def test_loading_what_was_written_gives_the_same_policy(text: str) -> None:
    policy = load_policy(text, REGISTRY)

    document = json.loads(json.dumps(policy_to_document(policy)))
    again = load_policy(document, REGISTRY)

    assert again.profiles == policy.profiles
    assert policy_to_document(again) == document


def test_what_arguments_call_themselves_is_kept() -> None:
    policy = load_policy(with_args("RemoveDuplicates", "{apiVersion: foo/v1, kind: Bar}"), REGISTRY)

    document = json.dumps(policy_to_document(policy))

    assert '{"apiVersion": "foo/v1", "kind": "Bar"}' in document


def test_defaults_show_in_the_document() -> None:
    policy = load_policy(with_args("RemoveFailedPods", "{}"), REGISTRY)

    assert policy_to_document(policy) == {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": {"priorityThreshold": {"value": 2_000_000_000}}},
                    {"name": "RemoveFailedPods", "args": {"minPodLifetimeSeconds": 3600}},
                ],
                "plugins": {
                    "filter": {"enabled": ["DefaultEvictor"]},
                    "preevictionfilter": {"enabled": ["DefaultEvictor"]},
                },
            }
        ],
    }

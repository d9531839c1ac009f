"""By which scheduler pods are placed in an explanation, and what stands above and below its tables."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.explanation.explaining import Explanation, explain, settings_for
from descheduler.model.kube_version import KubeVersion
from descheduler.policy.types import Policy
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.explanation.questions import policy_of
from tests.report.decided_cycles import pod_life_time_policy

OLD, NEW, NEWEST = KubeVersion(1, 33), KubeVersion(1, 34), KubeVersion()


def verifying(version: str = "") -> Policy:
    """A policy whose profile verifies where replacements are scheduled."""
    args = {"kubeVersion": version} if version else {}
    document: Any = pod_life_time_policy()
    profile = document["profiles"][0]
    profile["pluginConfig"] = [*profile["pluginConfig"], {"name": "PlacementVerification", "args": args}]
    profile["plugins"] = {**profile["plugins"], "preevictionfilter": {"enabled": ["PlacementVerification"]}}
    return policy_of(document)


@pytest.mark.parametrize(
    ("policy", "asked", "cluster", "expected"),
    [
        pytest.param(None, None, None, NEWEST, id="nothing is known"),
        pytest.param(None, None, OLD, OLD, id="of the cluster"),
        pytest.param(policy_of(), None, OLD, OLD, id="a policy that does not say"),
        pytest.param(None, NEW, OLD, NEW, id="of the operator"),
        pytest.param(verifying("1.34"), None, OLD, NEW, id="of the policy"),
        pytest.param(verifying("1.34"), OLD, None, OLD, id="of the operator and not of the policy"),
        pytest.param(verifying(), None, OLD, OLD, id="a policy that verifies and does not say"),
    ],
)
def test_version_is_that_of_the_operator_the_policy_or_the_cluster(
    policy: Policy | None, asked: KubeVersion | None, cluster: KubeVersion | None, expected: KubeVersion
) -> None:
    assert settings_for(policy, version=asked, cluster_version=cluster).version == expected


def explanation(policy: Policy | None, snapshot: Snapshot | None) -> Explanation:
    return explain("plugin", "PodLifeTime", snapshot, policy=policy, settings=settings_for(policy), now=NOW)


SNAPSHOT = make_snapshot([make_node("a"), make_node("b")], [make_pod("old")], source="dump.json")


@pytest.mark.parametrize(
    ("policy", "snapshot", "head"),
    [
        pytest.param(None, None, (), id="neither"),
        pytest.param(policy_of(), None, ("Policy: policy.yaml", "", "time: 2026-06-30T12:00:00Z"), id="a policy alone"),
        pytest.param(
            None, SNAPSHOT, ("Policy: none", "dump: dump.json", "time: 2026-06-30T12:00:00Z"), id="a dump alone"
        ),
    ],
)
def test_head_names_what_there_is(policy: Policy | None, snapshot: Snapshot | None, head: tuple[str, ...]) -> None:
    assert tuple(explanation(policy, snapshot).head()) == head


def test_warnings_and_objects_that_were_left_out_come_last() -> None:
    odd = make_snapshot(
        [make_node("a")], source="dump.json", warnings=("no budgets\x1b",), skipped=("pod x is invalid",)
    )

    lines = list(explanation(policy_of(), odd).table(TableStyle()))

    assert lines[-2:] == ["warning: no budgets\\x1b", "warning: left out: pod x is invalid"]


def test_warnings_of_the_policy_are_told() -> None:
    policy = policy_of(pod_life_time_policy(metricsProviders=[{"source": "Unknown"}]))

    (warning,) = explanation(policy, None).warnings

    assert "metricsProviders[0].source" in warning
    assert explanation(None, None).warnings == ()


def test_identities_are_those_of_what_was_given() -> None:
    both, none = explanation(policy_of(), SNAPSHOT), explanation(None, None)

    assert both.policy is not None
    assert both.snapshot is not None
    assert (both.policy.path, both.snapshot.source) == ("policy.yaml", "dump.json")
    assert (none.policy, none.snapshot) == (None, None)


def test_document_says_where_the_subject_is() -> None:
    words = type(explanation(None, None)).__doc__ or ""

    assert words.startswith("The subject, in one of `pod`, `node`, `plugin`")
    assert "; the others are null." in words
    assert replace(explanation(None, None)).answer is not None

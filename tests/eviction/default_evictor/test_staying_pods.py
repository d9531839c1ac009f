"""Pods that ask autoscalers not to evict them: protected where the policy says so, and counted where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot

ROOT = Path(__file__).resolve().parents[3]
KARPENTER, AUTOSCALER = "karpenter.sh/do-not-disrupt", "cluster-autoscaler.kubernetes.io/safe-to-evict"
ON = {"podProtections": {"extraEnabled": ["PodsWithDoNotDisrupt"]}}


def decided(args: Mapping[str, Any], **annotations: Mapping[str, str]) -> Decisions:
    """A run of PodLifeTime beside DefaultEvictor, on a pod of each name that has these annotations."""
    config = [
        {"name": "DefaultEvictor", "args": args},
        {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
    ]
    profile = {"name": "p", "pluginConfig": config, "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}}}
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    pods = [make_pod(name, annotations=found) for name, found in annotations.items()]
    snapshot = make_snapshot([make_node("a"), make_node("b")], pods)
    return decide(load_policy(document, REGISTRY), snapshot, now=NOW)


@pytest.mark.parametrize(
    ("annotations", "is_protected"),
    [
        pytest.param({KARPENTER: "true"}, True, id="do-not-disrupt"),
        pytest.param({KARPENTER: "false"}, False, id="do-not-disrupt that is false"),
        pytest.param({AUTOSCALER: "false"}, True, id="not safe to evict"),
        pytest.param({AUTOSCALER: "true"}, False, id="safe to evict"),
        pytest.param({"descheduler.alpha.kubernetes.io/evict": "", KARPENTER: "true"}, False, id="and evict"),
        pytest.param({}, False, id="none"),
    ],
)
def test_annotated_pod_stays_where_the_policy_protects_it(annotations: dict[str, str], is_protected: bool) -> None:
    decisions = decided(ON, web=annotations)

    assert [move.pod.name for move in decisions.moves] == ([] if is_protected else ["web"])
    assert [each.verdict.reason for each in decisions.refusals] == ([Reason.DO_NOT_DISRUPT] if is_protected else [])


def test_refusal_names_the_annotation_and_the_key_of_the_policy() -> None:
    (refusal,) = decided(ON, web={AUTOSCALER: "false"}).refusals

    assert refusal.verdict.message == (
        'annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "false" is set'
        " (podProtections.extraEnabled: PodsWithDoNotDisrupt)"
    )


def notes(decisions: Decisions) -> list[str]:
    return [note for note in decisions.notes if "do-not-disrupt" in note]


def test_pods_that_are_evicted_all_the_same_are_counted() -> None:
    decisions = decided({}, one={KARPENTER: "true"}, other={}, two={AUTOSCALER: "false"})

    (note,) = notes(decisions)
    assert note.startswith("2 selected pods have the annotation ")
    assert "; 2 are evicted: to protect such pods, add PodsWithDoNotDisrupt to podProtections.extraEnabled" in note


def test_selected_pod_that_stays_for_another_reason_is_counted() -> None:
    (note,) = notes(decided({"minReplicas": 2}, one={KARPENTER: "true"}))

    assert note.startswith("1 selected pod has the annotation ")
    assert "; 0 are evicted: " in note


@pytest.mark.parametrize("args", [pytest.param(ON, id="protected"), pytest.param({}, id="none has it")])
def test_nothing_is_said_where_nothing_is_to_be_done(args: dict[str, Any]) -> None:
    assert notes(decided(args, one={KARPENTER: "true"} if args else {})) == []


def shipped() -> Iterator[Path]:
    yield ROOT / "config" / "policy.yaml"
    yield from sorted((ROOT / "config" / "profiles").glob("*.yaml"))
    yield from sorted((ROOT / "cronjob").glob("**/policy.yaml"))


@pytest.mark.parametrize("path", [*shipped()], ids=lambda path: str(path.relative_to(ROOT)))
def test_shipped_policy_protects_such_pods(path: Path) -> None:
    policy = load_policy(path, REGISTRY)

    for profile in policy.profiles:
        assert "DefaultEvictor" in profile.filter
        assert "PodsWithDoNotDisrupt" in profile.args["DefaultEvictor"].pod_protections.extra_enabled  # type: ignore[attr-defined] # the evictor's


def test_policy_of_the_chart_protects_such_pods() -> None:
    values = yaml.safe_load((ROOT / "cronjob" / "chart" / "values.yaml").read_text())

    for profile in values["deschedulerPolicy"]["profiles"]:
        (args,) = [each["args"] for each in profile["pluginConfig"] if each["name"] == "DefaultEvictor"]
        assert args["podProtections"] == ON["podProtections"]

"""Runs with `requireGain`, and what they decide."""

from __future__ import annotations

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from tests.builders import NOW, Object
from tests.placement.workloads import cluster_of


def run(policy: Object, *objects: Object, registry: Registry = REGISTRY) -> Decisions:
    """What the policy decides about a cluster of these objects."""
    return decide(load_policy(policy, registry), cluster_of(*objects), now=NOW, setting=RunSetting(registry=registry))


def evicted(decisions: Decisions) -> list[str]:
    return [move.pod.name for move in decisions.moves]


def message(decisions: Decisions) -> str:
    (refusal,) = decisions.refusals
    return refusal.verdict.message

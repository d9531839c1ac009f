"""The policies of `config/` on its samples, cycle after cycle: they converge, or the last line says what to enable."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
import yaml

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.eviction.placement_verification.placement_verification import requires_gain
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.simulation_document import SimulatedPolicy
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.simulation.loops import FIVE_MINUTES

CONFIG = Path(__file__).parents[2] / "config"
NOW = {
    "shop": datetime(2026, 1, 15, 12, tzinfo=UTC),
    "load": datetime(2026, 6, 30, 12, tzinfo=UTC),
    "koordinator": datetime(2026, 6, 30, 12, tzinfo=UTC),
}
_POLICIES = ("policy.yaml", *(f"profiles/{path.name}" for path in sorted((CONFIG / "profiles").glob("*.yaml"))))
_MOST_CYCLES = 20
_RETURNS = {
    ("policy.yaml", "shop"),
    ("policy.yaml", "koordinator"),
    ("profiles/balance-load.yaml", "koordinator"),
    ("profiles/pack-nodes.yaml", "shop"),
    ("profiles/pack-nodes.yaml", "koordinator"),
}
"""What nobody verifies: upstream's kind without PlacementVerification."""


@cache
def policy_of(name: str) -> Policy:
    """A policy of `config/`."""
    return load_policy(CONFIG / name, REGISTRY)


def verified(name: str) -> Policy:
    """The same with PlacementVerification in each profile."""
    document = yaml.safe_load((CONFIG / name).read_text())
    for profile in document["profiles"]:
        profile["pluginConfig"].append({"name": "PlacementVerification"})
        profile["plugins"]["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    return load_policy(document, REGISTRY)


def searches(name: str) -> bool:
    """Whether some plugin of the policy searches for a plan, which takes long."""
    profiles = policy_of(name).profiles
    return any(REGISTRY[plugin].searches for profile in profiles for plugin in (*profile.deschedule, *profile.balance))


def simulated(policy: Policy, sample: str) -> SimulatedPolicy:
    """What becomes of the policy on the sample."""
    snapshot: Snapshot = read_dump(
        [CONFIG / "samples" / f"{sample}.jsonl.gz"], snapshot_request(policy, Landings.ASSESSED)
    )
    options = SimulationOptions(_MOST_CYCLES, FIVE_MINUTES)
    (found,) = simulate([Start(policy, snapshot)], now=NOW[sample], options=options).policies
    return found


@pytest.mark.parametrize("sample", list(NOW))
@pytest.mark.parametrize("name", [name for name in _POLICIES if not searches(name)])
def test_policy_converges_or_the_last_line_says_what_to_enable(name: str, sample: str) -> None:
    found = simulated(policy_of(name), sample)

    repeats = found.ending == "repeats"
    assert repeats == ((name, sample) in _RETURNS)
    assert repeats or found.ending == "converges"
    assert repeats == found.sentence.endswith(
        "enable PlacementVerification with requireGain: true, which blocks evictions that gain nothing"
    )


@pytest.mark.parametrize("name", [name for name in _POLICIES if searches(name)])
def test_policy_that_searches_converges(name: str) -> None:
    """On the sample on which searches are short."""
    assert simulated(policy_of(name), "load").ending == "converges"


@pytest.mark.parametrize(("name", "sample"), sorted(_RETURNS))
def test_what_the_line_says_helps(name: str, sample: str) -> None:
    assert simulated(verified(name), sample).ending == "converges"


@pytest.mark.parametrize("name", _POLICIES)
def test_policies_that_verify_landings_require_a_gain(name: str) -> None:
    policy = policy_of(name)

    is_verified = all("PlacementVerification" in profile.pre_eviction_filter for profile in policy.profiles)
    assert requires_gain(policy) == is_verified

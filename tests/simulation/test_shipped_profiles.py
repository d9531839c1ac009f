"""The policies of `config/` on its samples, cycle after cycle: they converge, or the last line says what to enable."""

from __future__ import annotations

import pytest
import yaml

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.placement_verification.placement_verification import requires_gain
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.simulation_document import SimulatedPolicy
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.cycle.shipped import CONFIG, NOW, POLICIES, policy_of, sampled, searches
from tests.simulation.loops import FIVE_MINUTES

_MOST_CYCLES = 20
_RETURNS = {
    ("policy.yaml", "shop"),
    ("policy.yaml", "koordinator"),
    ("profiles/balance-load.yaml", "koordinator"),
    ("profiles/pack-nodes.yaml", "shop"),
    ("profiles/pack-nodes.yaml", "koordinator"),
}
"""What nobody verifies: upstream's kind without PlacementVerification."""


def verified(name: str) -> Policy:
    """The same with PlacementVerification in each profile."""
    document = yaml.safe_load((CONFIG / name).read_text())
    for profile in document["profiles"]:
        profile["pluginConfig"].append({"name": "PlacementVerification"})
        profile["plugins"]["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    return load_policy(document, REGISTRY)


def simulated(policy: Policy, sample: str) -> SimulatedPolicy:
    """What becomes of the policy on the sample."""
    options = SimulationOptions(_MOST_CYCLES, FIVE_MINUTES)
    (found,) = simulate([Start(policy, sampled(policy, sample))], now=NOW[sample], options=options).policies
    return found


@pytest.mark.long
@pytest.mark.parametrize("sample", ["shop", "load", "koordinator"])
@pytest.mark.parametrize("name", [name for name in POLICIES if not searches(name)])
def test_policy_converges_or_the_last_line_says_what_to_enable(name: str, sample: str) -> None:
    found = simulated(policy_of(name), sample)

    repeats = found.ending == "repeats"
    assert repeats == ((name, sample) in _RETURNS)
    assert repeats or found.ending == "converges"
    assert repeats == found.sentence.endswith(
        "enable PlacementVerification with requireGain: true, which blocks evictions that gain nothing"
    )


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in POLICIES if searches(name)])
def test_policy_that_searches_converges(name: str) -> None:
    """On the sample on which searches are short."""
    assert simulated(policy_of(name), "load").ending == "converges"


@pytest.mark.long
@pytest.mark.parametrize(("name", "sample"), sorted(_RETURNS))
def test_what_the_line_says_helps(name: str, sample: str) -> None:
    assert simulated(verified(name), sample).ending == "converges"


@pytest.mark.parametrize("name", POLICIES)
def test_policies_that_verify_landings_require_a_gain(name: str) -> None:
    policy = policy_of(name)

    is_verified = all("PlacementVerification" in profile.pre_eviction_filter for profile in policy.profiles)
    assert requires_gain(policy) == is_verified

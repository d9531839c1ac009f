"""What one tenant states in its pods is compared with nodes and pods through an index, not one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from descheduler import evaluate
from descheduler.model.labels import Requirement
from descheduler.model.taints import Taint, Toleration
from tests.builders import NOW
from tests.worlds.hostile import WORLDS, HostileWorld, hostile_policy

_SCALE = 0.02


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts how often a single condition is compared with a single label set, and a toleration with a taint."""
    calls: Counter[str] = Counter()
    meets, tolerates = Requirement.matches, Toleration.tolerates

    def counted_matches(self: Requirement, labels: Mapping[str, str]) -> bool:
        calls["conditions"] += 1
        return meets(self, labels)

    def counted_tolerates(self: Toleration, taint: Taint) -> bool:
        calls["tolerations"] += 1
        return tolerates(self, taint)

    monkeypatch.setattr(Requirement, "matches", counted_matches)
    monkeypatch.setattr(Toleration, "tolerates", counted_tolerates)
    return calls


@pytest.mark.parametrize(
    ("node_fit", "verifies"),
    [
        pytest.param(False, False, id="alone"),
        pytest.param(True, False, id="with node fit"),
        pytest.param(False, True, id="with verification"),
    ],
)
@pytest.mark.parametrize("world", [pytest.param(world, id=world.name) for world in WORLDS])
def test_conditions_of_one_tenant_are_compared_a_few_times_each(
    world: HostileWorld, node_fit: bool, verifies: bool, compared: Counter[str]
) -> None:
    objects = world.objects(_SCALE)
    policy = hostile_policy(world.strategies, node_fit=node_fit, verifies=verifies)

    evaluate(policy, objects, NOW)

    stated = sum(str(each).count("operator") + str(each).count("topologyKey") for each in objects)
    assert compared.total() <= 4 * stated + len(objects)

"""What one tenant states in its pods is compared with nodes and pods through an index, not one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from descheduler import evaluate
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import Requirement
from descheduler.model.selection.taints import Taint, Toleration
from descheduler.strategies.remove_pods_violating_topology_spread_constraint import domains
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


@pytest.mark.long
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
    assert compared.total() <= 6 * stated + len(objects)


@pytest.mark.parametrize("world", [world for world in WORLDS if "broken spread" in world.name], ids=lambda w: w.name)
def test_pods_are_put_in_order_of_leaving_once_for_all_broken_constraints(
    world: HostileWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordered: list[Pod] = []
    order_of = domains._order_of_leaving

    def counted(pod: Pod, sign: int) -> tuple[bool, int, int]:
        ordered.append(pod)
        return order_of(pod, sign)

    monkeypatch.setattr(domains, "_order_of_leaving", counted)
    objects = world.objects(_SCALE)

    evaluation = evaluate(hostile_policy(world.strategies, node_fit=False, verifies=False), objects, NOW)

    num_pods = sum(item["kind"] == "Pod" for item in objects)
    assert len(evaluation.evictions) > num_pods / 2
    assert len(ordered) == num_pods

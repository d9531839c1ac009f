"""Generated candidates: pods that exercise one feature each, sometimes with another one on top."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from random import Random

from tests.e2e.judge import placing_rules, room_rules
from tests.e2e.judge.draft import Draft
from tests.e2e.judge.features import ALL_FEATURES, Feature
from tests.e2e.judge.vocabulary import chance
from tests.e2e.judge.world import World
from tests.e2e.kube_api import Object

_RULES: Mapping[Feature, Callable[[Draft], None]] = {
    Feature.TAINTS: placing_rules.add_taints,
    Feature.NODE_AFFINITY: placing_rules.add_node_affinity,
    Feature.POD_AFFINITY: placing_rules.add_pod_affinity,
    Feature.POD_ANTI_AFFINITY: placing_rules.add_pod_anti_affinity,
    Feature.SYMMETRY: placing_rules.add_symmetry,
    Feature.SPREAD: placing_rules.add_spread,
    Feature.PORTS: room_rules.add_ports,
    Feature.REQUESTS: room_rules.add_requests,
    Feature.EXTENDED: room_rules.add_extended,
    Feature.VOLUMES: room_rules.add_bound_claims,
    Feature.DELAYED_VOLUMES: room_rules.add_delayed_claim,
    Feature.GATES: placing_rules.add_gate,
}
_SECOND = 0.3
_UNFIT_AS_SECOND = {Feature.GATES, Feature.DELAYED_VOLUMES, Feature.VOLUMES}
_RARE = {Feature.GATES: 0.1}
"""Share of its turns in which a feature is really used."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pod to be placed, as its owner would create it."""

    pod: Object
    """Without `apiVersion` and `kind`."""
    features: tuple[Feature, ...]
    """What it exercises, the main feature first."""


def generate_candidates(
    world: World, seed: int, num_pods: int, *, features: Set[Feature] = ALL_FEATURES
) -> list[Candidate]:
    """Pods `c000`, `c001`, ... for a world generated with the same features; equal arguments give equal pods.

    The main feature goes round, so that each of them is met equally often.
    """
    rng = Random(f"candidates {seed}")
    turns = _turns(rng, features, num_pods)
    return [_candidate(rng, number, turn, world, features) for number, turn in enumerate(turns)]


def _turns(rng: Random, features: Set[Feature], num_pods: int) -> list[Feature | None]:
    ordered = sorted(features)
    turns: list[Feature | None] = []
    while ordered and len(turns) < num_pods:
        rng.shuffle(ordered)
        turns += [feature for feature in ordered if chance(rng, _RARE.get(feature, 1.0))]
    return _delayed_early(rng, turns[:num_pods]) if ordered else [None] * num_pods


def _delayed_early(rng: Random, turns: list[Feature | None]) -> list[Feature | None]:
    """The turns with delayed volumes moved forward: binding them takes a second, in which others are asked."""
    others: list[Feature | None] = [turn for turn in turns if turn is not Feature.DELAYED_VOLUMES]
    for _ in range(len(turns) - len(others)):
        others.insert(rng.randrange(len(turns) // 4 + 1), Feature.DELAYED_VOLUMES)
    return others


def _candidate(rng: Random, number: int, main: Feature | None, world: World, features: Set[Feature]) -> Candidate:
    used = [main] if main else []
    if main and chance(rng, _SECOND):
        used += rng.sample(_seconds(main, features), k=1) if _seconds(main, features) else []
    draft = Draft(rng, world, number)
    for feature in used:
        _RULES[feature](draft)
    if Feature.TAINTS in features and Feature.TAINTS not in used and chance(rng, 0.6):
        draft.tolerate_all_pools()
    return Candidate(draft.pod(), tuple(used))


def _seconds(main: Feature, features: Set[Feature]) -> Sequence[Feature]:
    return sorted(features - {main} - _UNFIT_AS_SECOND)

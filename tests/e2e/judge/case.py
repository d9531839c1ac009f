"""A generated case: one world and the pods that are placed in it one after the other."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from tests.e2e.judge.features import ALL_FEATURES, Feature
from tests.e2e.judge.pods import Candidate, generate_candidates
from tests.e2e.judge.world import World, generate_world


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked of a scheduler in one go."""

    seed: int
    world: World
    candidates: tuple[Candidate, ...]


def generate_case(
    seed: int, num_pods: int = 30, *, features: Set[Feature] = ALL_FEATURES, num_nodes: int | None = None
) -> Case:
    """The case of that seed; the same arguments give the same case."""
    world = generate_world(seed, features=features, num_nodes=num_nodes)
    return Case(seed, world, tuple(generate_candidates(world, seed, num_pods, features=features)))

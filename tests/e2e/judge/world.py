"""Generated worlds: a small cluster with everything in it that the filters look at."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from random import Random

from tests.e2e.judge.features import ALL_FEATURES, Feature
from tests.e2e.judge.vocabulary import NAMESPACES, OVERHEAD, RUNTIME_CLASS
from tests.e2e.judge.world_nodes import generate_nodes
from tests.e2e.judge.world_pods import generate_pods
from tests.e2e.judge.world_volumes import generate_storage
from tests.e2e.kube_api import Object

MIN_NODES = 10
MAX_NODES = 60


@dataclass(frozen=True, slots=True)
class World:
    """What is there before the first candidate, in stored form."""

    nodes: tuple[Object, ...]
    """Node objects without kind."""
    pods: tuple[Object, ...] = ()
    """Bound pods without kind."""
    objects: tuple[Object, ...] = ()
    """Everything else, with `apiVersion` and `kind`."""

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ValueError("a world needs a node: without one the scheduler cannot show what it knows")

    def stored(self) -> Iterator[Object]:
        """All objects with `apiVersion` and `kind`; namespaces come first."""
        yield from self.objects
        for node in self.nodes:
            yield {"apiVersion": "v1", "kind": "Node", **node}
        for pod in self.pods:
            yield {"apiVersion": "v1", "kind": "Pod", **pod}


def generate_world(seed: int, *, features: Set[Feature] = ALL_FEATURES, num_nodes: int | None = None) -> World:
    """The world of that seed; the same arguments give the same world.

    `num_nodes` is drawn between 10 and 60 when it is not given. Features that are off leave no trace.
    """
    rng = Random(f"world {seed}")
    nodes = generate_nodes(rng, num_nodes or rng.randint(MIN_NODES, MAX_NODES), features)
    storage = generate_storage(rng, seed, nodes, features)
    pods = generate_pods(rng, nodes, storage.claims_in_use, features)
    return World(tuple(nodes), tuple(pods), (*_namespaces(), *_runtime_classes(features), *storage.objects))


def _namespaces() -> list[Object]:
    # The API server adds the name as a label when it stores a namespace, which these never pass through.
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {**labels, "kubernetes.io/metadata.name": name}},
        }
        for name, labels in NAMESPACES.items()
    ]


def _runtime_classes(features: Set[Feature]) -> list[Object]:
    if Feature.REQUESTS not in features:
        return []
    return [
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": RUNTIME_CLASS},
            "handler": RUNTIME_CLASS,
            "overhead": {"podFixed": OVERHEAD},
        }
    ]

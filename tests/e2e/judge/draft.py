"""A candidate in the making."""

from __future__ import annotations

from random import Random

from tests.e2e.judge.vocabulary import IMAGES, NAMESPACES, POOL, POOLS, chance, workload_labels
from tests.e2e.judge.world import World
from tests.e2e.kube_api import Object


class Draft:
    """The parts of one pod, to which each feature adds its own; all choices come from `rng`."""

    def __init__(self, rng: Random, world: World, number: int) -> None:
        self.rng = rng
        self.world = world
        self.number = number
        self.namespace = rng.choice(tuple(NAMESPACES))
        self.labels = workload_labels(rng)
        image = rng.choice(tuple(IMAGES))
        self.container: Object = {"name": "main", "image": image, "resources": {"requests": _small_requests(rng)}}
        self.spec: Object = {"containers": [self.container], "terminationGracePeriodSeconds": 0}

    def pod(self) -> Object:
        """The pod so far, without `apiVersion` and `kind`."""
        labels = dict(sorted(self.labels.items()))
        metadata = {"name": f"c{self.number:03d}", "namespace": self.namespace, "labels": labels}
        return {"metadata": metadata, "spec": self.spec}

    def only_in_pool(self) -> None:
        """Confines the pod to the nodes of one pool."""
        self.select(POOL, self.rng.choice(POOLS))

    def only_on_some_node(self) -> None:
        """Confines the pod to one node of the world, by name or by label."""
        node = self.rng.choice(self.world.nodes)["metadata"]["name"]
        if chance(self.rng, 0.5):
            self.require_node({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]})
        else:
            self.select("kubernetes.io/hostname", node)

    def select(self, key: str, value: str) -> None:
        """Adds a pair to the node selector."""
        self.spec.setdefault("nodeSelector", {})[key] = value

    def require_node(self, *terms: Object) -> None:
        """Sets the required node affinity, one of whose terms must match."""
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
        self.affinity("nodeAffinity").update(required)

    def affinity(self, kind: str) -> Object:
        """The part of the affinity of that name, to be filled."""
        part: Object = self.spec.setdefault("affinity", {}).setdefault(kind, {})
        return part

    def tolerate(self, *tolerations: Object) -> None:
        """Adds tolerations."""
        self.spec.setdefault("tolerations", []).extend(tolerations)

    def tolerate_all_pools(self) -> None:
        """Opens every pool to the pod, so that other rules than taints decide."""
        self.tolerate({"key": "dedicated", "operator": "Exists"}, {"key": "audited", "operator": "Exists"})

    def request(self, **amounts: str) -> None:
        """Replaces requests of the main container."""
        self.container["resources"]["requests"] |= amounts


def _small_requests(rng: Random) -> dict[str, str]:
    if chance(rng, 0.1):
        return {}
    return {"cpu": rng.choice(("20m", "100m", "300m")), "memory": rng.choice(("32Mi", "128Mi", "400Mi"))}

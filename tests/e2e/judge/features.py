"""What a generated case may exercise; each member can be switched off."""

from __future__ import annotations

from enum import StrEnum


class Feature(StrEnum):
    """A group of scheduling rules that generated worlds and candidates use."""

    TAINTS = "taints"
    """Taints of every effect, cordoned nodes, tolerations with and without key, value and effect."""
    NODE_AFFINITY = "node-affinity"
    """Node selectors, required terms with every operator, field terms, preferences."""
    POD_AFFINITY = "pod-affinity"
    """Required and preferred affinity, with namespaces, namespace selectors and (mis)match label keys."""
    POD_ANTI_AFFINITY = "pod-anti-affinity"
    """The same for anti-affinity of the candidate."""
    SYMMETRY = "symmetry"
    """Pods already there that do not want the candidate near them."""
    SPREAD = "spread"
    """Topology spread with minimum domains, both inclusion policies, and match label keys."""
    PORTS = "ports"
    """Host ports with addresses and protocols, and pods on the host's network."""
    REQUESTS = "requests"
    """Init containers, sidecars, pod-level requests, and the overhead of a runtime class."""
    EXTENDED = "extended"
    """Extended resources, huge pages and ephemeral storage."""
    VOLUMES = "volumes"
    """Bound claims whose volumes pin a place, claims in use by one pod, unusable claims."""
    DELAYED_VOLUMES = "delayed-volumes"
    """Claims that wait for their first consumer, with ready-made local and zonal volumes."""
    GATES = "gates"
    """Pods that are not yet to be scheduled at all."""


ALL_FEATURES = frozenset(Feature)

"""What the upstream program's look at other nodes (`nodeFit`) leaves out, numbered as in the scenarios' table."""

from __future__ import annotations

from enum import IntEnum


class Hole(IntEnum):
    """One difference between `nodeFit` and what the scheduler decides; kubernetes-sigs/descheduler 0.36."""

    SHARED_ROOM = 1
    """Every pod is judged alone: the same free room may justify any number of evictions."""
    COMPETITORS = 4
    """Pods that wait for a node, nominated ones among them, do not count."""
    NO_SCORES = 6
    """Some other node has to fit; which one the scheduler prefers is not asked."""
    FRAGMENTS = 8
    """Balancing adds up the free room of all targets, though no single one may hold the pod."""
    OLD_TEMPLATE = 9
    """The running pod is judged, not the one that its owner will create."""
    POD_AFFINITY = 11
    """Required pod affinity is not looked at."""
    ANTI_AFFINITY_OF_OTHERS = 12
    """Anti-affinity of the pods that are there is not looked at."""
    DOMAIN_OF_ANTI_AFFINITY = 13
    """Anti-affinity is applied to the pods of one node, whatever its topology key."""
    NAMESPACE_SELECTOR = 14
    """The namespace selector of an anti-affinity term is ignored."""
    SAME_NAME = 15
    """A pod of the same name is taken for the candidate itself, even in another namespace."""
    TOPOLOGY_SPREAD = 16
    """Spread constraints are not looked at."""
    HOST_PORTS = 17
    """Host ports are not looked at."""
    VOLUMES = 18
    """Neither the place of volumes nor the number that a node can attach is looked at."""
    DEVICES = 19
    """Resource claims are not looked at."""
    ADMISSION_AND_GATES = 20
    """Scheduling gates, and what a runtime class adds to a new pod, are not looked at."""
    OTHER_SCHEDULER = 21
    """Whose scheduler places the pod is not asked."""
    RESIZED = 26
    """Pods that are being resized count with what they shall have, not with what they still hold."""
    PREFERENCES = 29
    """Preferred affinity and soft taints do not count."""
    SWITCHED_OFF = 31
    """`nodeFit` is off unless asked for; most strategies look at no other node then."""

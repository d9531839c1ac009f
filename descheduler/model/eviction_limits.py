"""The limits on evictions that a policy, or the arguments of a plugin, can set, and one that is reached."""

from __future__ import annotations

from enum import Enum

import msgspec

__all__ = ["EvictionLimit", "ReachedLimit"]


class EvictionLimit(Enum):
    """A limit on evictions; `value` is its key in the policy and `scope_kind` what it is counted for."""

    def __new__(cls, key: str, scope_kind: str) -> EvictionLimit:
        """A member whose value is its key."""
        member = object.__new__(cls)
        member._value_ = key
        member.scope_kind = scope_kind
        return member

    scope_kind: str

    TOTAL = "maxNoOfPodsToEvictTotal", ""
    NODE = "maxNoOfPodsToEvictPerNode", "node"
    NAMESPACE = "maxNoOfPodsToEvictPerNamespace", "namespace"
    PLUGIN_NODE = "evictionLimits.node", "node"
    PLUGIN_TOTAL = "maxPodsToEvict", ""


class ReachedLimit(msgspec.Struct, frozen=True, gc=False):
    """A limit of `value` evictions that is used up for the node or namespace `scope`; "" where there is no one such."""

    limit: EvictionLimit
    value: int
    scope: str = ""

    @property
    def message(self) -> str:
        """Such as `maxNoOfPodsToEvictPerNode (5) reached for node a`."""
        said = f"{self.limit.value} ({self.value}) reached"
        return f"{said} for {self.limit.scope_kind} {self.scope}" if self.scope else said

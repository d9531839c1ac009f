"""The limits on evictions that a policy, or the arguments of a plugin, can set, and one that is reached."""

from __future__ import annotations

from enum import Enum

import msgspec

from descheduler.model.text.counted import counted
from descheduler.model.text.int_or_percent import share_of

__all__ = ["EvictionLimit", "LimitReached"]


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


class LimitReached(msgspec.Struct, frozen=True, gc=False):
    """A limit of `value` evictions that is used up for the node or namespace `scope`; "" where there is no one such.

    A limit that is a `percentage` in the policy, such as `10%`, is one of `num_pods`; "" where it is a number there.
    """

    limit: EvictionLimit
    value: int
    scope: str = ""
    percentage: str = ""
    num_pods: int = 0

    @classmethod
    def of(cls, limit: EvictionLimit, written: int | str, scope: str = "", *, num_pods: int = 0) -> LimitReached:
        """The limit as `written` in the policy: a number, or a percentage of `num_pods`."""
        if isinstance(written, int):
            return cls(limit, written, scope)
        return cls(limit, share_of(written, num_pods), scope, written, num_pods)

    @property
    def message(self) -> str:
        """Such as `maxNoOfPodsToEvictPerNode (5) reached for node a`; with a percentage `(10%: 3 of 30 pods)`."""
        value = f"{self.percentage}: {self.value} of {counted(self.num_pods, 'pod')}" if self.percentage else self.value
        said = f"{self.limit.value} ({value}) reached"
        return f"{said} for {self.limit.scope_kind} {self.scope}" if self.scope else said

"""Which part of the cluster a run may change, where several runs share one cluster."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

import msgspec

from descheduler.model.node import Node


class Shard(msgspec.Struct, frozen=True):
    """The part with `index` of so many equal ones. A node belongs to the shard that the hash of its `label` points to.

    Without a `label` it is the hash of the node's pool, else of its name. Of what cannot be divided evenly, the rest
    goes to other shards with each `turn`, which all shards that run at once have in common.
    """

    index: int = 0
    count: int = 1
    label: str = ""
    turn: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.count:
            raise ValueError(f"shard index {self.index} is not between 0 and {self.count - 1}")

    @property
    def is_whole(self) -> bool:
        """Whether there is no other shard."""
        return self.count == 1

    def owns(self, node: Node) -> bool:
        """Whether the run may evict from `node`, and counts on it for replacements."""
        return self.is_whole or _place(self.key_of(node), self.count) == self.index

    def key_of(self, node: Node) -> str:
        """What nodes share that are in one shard together."""
        if self.label:
            return node.labels.get(self.label, "")
        return node.pool or node.name

    def num_owned(self, nodes: Iterable[Node]) -> int:
        """How many of `nodes` belong to the shard."""
        return sum(map(self.owns, nodes))

    def share(self, limit: int, key: str = "") -> int:
        """What the shard may use of `limit`, which is one of `key` where there are many such.

        The shares of all shards add up to the limit.
        """
        whole, rest = divmod(max(0, limit), self.count)
        return whole + (self._rank(f"{self.turn}/{key}" if self.turn or key else "") < rest)

    def lasting_share(self, limit: int, key: str) -> int:
        """The same for a limit on several runs together: the rest goes to the same shards whatever the turn is."""
        whole, rest = divmod(max(0, limit), self.count)
        return whole + (self._rank(key) < rest)

    def name(self, name: str) -> str:
        """The name of an object of which every shard has its own."""
        return name if self.is_whole else f"{name}-shard-{self.index}"

    def _rank(self, key: str) -> int:
        """How many shards come before this one when a rest is handed out."""
        return (self.index - (_place(key, self.count) if key else 0)) % self.count

    @property
    def divided_by(self) -> str:
        """What nodes of one shard share, as part of a sentence."""
        return f"label {self.label}" if self.label else "node pool"

    @property
    def whole_name(self) -> str:
        """The shard and what divides the cluster, as part of a sentence."""
        if self.is_whole:
            return "the whole cluster"
        return f"{self} by {self.divided_by}"

    def __str__(self) -> str:
        """The shard as part of a sentence."""
        return f"shard {self.index} of {self.count}"


WHOLE_CLUSTER = Shard()
"""The one shard of a cluster that is not divided."""


@lru_cache(maxsize=1 << 16)
def _place(key: str, count: int) -> int:
    """The same on every machine and in every version, so that no two shards take one node for theirs."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) % count

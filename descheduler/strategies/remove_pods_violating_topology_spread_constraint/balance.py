"""How many pods have to leave which domain so that no two domains differ by more than the allowed skew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import msgspec

__all__ = ["Transfer", "balancing_transfers"]


class Transfer(msgspec.Struct, frozen=True):
    """`num_pods` pods go from the domain at index `source` to the one at index `target`."""

    source: int
    target: int
    num_pods: int


def balancing_transfers(sizes: Sequence[int], max_skew: int) -> Iterator[Transfer]:
    """The transfers that balance domains of these sizes, in ascending order, with as few pods as possible.

    Two pointers walk towards each other, i from the smallest domain and j from the largest; the order is not mended
    when sizes change. A transfer brings neither domain past the mean, and ends at the allowed skew. Where i has just
    arrived and nothing goes from j to i, nothing ever will: the domains after i are no smaller. Mirrors
    `balanceDomains` in kubernetes-sigs/descheduler 0.36
    `pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go`.
    """
    sizes = list(sizes)
    ideal = sum(sizes) / len(sizes) if sizes else 0.0
    i, j = 0, len(sizes) - 1
    has_received = False
    while i < j:
        if sizes[j] <= ideal:
            j -= 1
        skew = sizes[j] - sizes[i]
        num_pods = min(ceil(sizes[j] - ideal), ceil(ideal - sizes[i]), ceil((skew - max_skew) / 2))
        if skew > max_skew and num_pods > 0:
            yield Transfer(j, i, num_pods)
            sizes[j] -= num_pods
            sizes[i] += num_pods
            has_received = True
        elif has_received:
            i += 1
            has_received = False
        else:
            return

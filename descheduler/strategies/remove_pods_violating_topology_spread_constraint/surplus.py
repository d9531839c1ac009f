"""The pods that are to leave for a violated constraint, and how many of them from which domain.

A tenant may state thousands of constraints, each of which is broken by thousands of pods. So for one constraint pods
are places in a listing, ordered as arrays; what depends on a pod alone is found once for all constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.eviction.node_fit import NodeFit, NodeSet
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import clipped
from descheduler.placement.plugins.helper.node_selector_words import requirement_text
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.constraints import PodConstraint
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import (
    LabelIndex,
    SpreadDomains,
    leaving_order,
)

_UNKNOWN = -1
_MOST_OF_SELECTOR = 200
"""Characters of a selector that a reason shows: it is repeated for every pod."""


class Listing:
    """The pods of one namespace that are looked at, and in which order they leave a domain.

    Those that `is_gone` names leave first: an earlier round of the run has evicted them. Those that arrive in the cycle
    stay longest. Neither is ever asked to leave.
    """

    def __init__(
        self,
        pods: Sequence[Pod],
        *,
        highest_first: bool,
        is_arrival: Callable[[Pod], bool],
        is_gone: Callable[[Pod], bool],
    ) -> None:
        self.index = LabelIndex(pods)
        self.is_marked = np.zeros(len(pods), dtype=bool)
        """Whether the pod is to leave for some constraint, with room for it elsewhere."""
        self._lacks_room = np.zeros(len(pods), dtype=bool)
        self.order = leaving_order(pods, highest_first=highest_first)
        arrives = np.array([is_arrival(pod) for pod in pods], dtype=bool)
        gone = np.array([is_gone(pod) for pod in pods], dtype=bool)
        self.standing = np.where(arrives, 0, 2) + gone
        """Compared before `order`."""
        self.may_leave = ~(arrives | gone)
        owners: dict[str, int] = {}
        self._owner_of = np.array([owners.setdefault(_owner_of(pod), len(owners)) for pod in pods], dtype=np.intp)
        self._owners = tuple(owners)

    @property
    def num_selected(self) -> int:
        """How many pods are to leave for some constraint, with room elsewhere or without."""
        return int(np.count_nonzero(self.is_marked | self._lacks_room))

    def owners(self, places: NDArray[np.intp]) -> str:
        """Whose the pods at `places` are, such as `ReplicaSet web`, or `ReplicaSet web and 2 other owners`."""
        first, *others = np.unique(self._owner_of[places]).tolist()
        more = f" and {counted(len(others), 'other owner')}" if others else ""
        return f"{self._owners[first]}{more}"

    def mark_without_room(self, places: NDArray[np.intp]) -> None:
        """Takes note of pods that are to leave for some constraint and that fit nowhere else."""
        self._lacks_room[places] = True


class RoomBelow:
    """Which pods of listings fit on some of `nodes`, those in domains below average; many constraints share them."""

    def __init__(self, node_fit: NodeFit, nodes: Sequence[Node]) -> None:
        self._node_fit = node_fit
        self._nodes = nodes
        self._node_set: NodeSet | None = None
        self._answers: dict[int, tuple[Listing, NDArray[np.int8]]] = {}

    def takes(self, listing: Listing, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether each of the pods at `places` fits on one of the nodes other than its own."""
        pods = listing.index.all_pods
        # The listing is kept as well: an identity stands for it only as long as it lives.
        _, answers = self._answers.setdefault(id(listing), (listing, np.full(len(pods), _UNKNOWN, dtype=np.int8)))
        for place in places[answers[places] == _UNKNOWN].tolist():
            answers[place] = self._fits(pods[place])
        takes: NDArray[np.bool_] = answers[places] == 1
        return takes

    def _fits(self, pod: Pod) -> bool:
        if self._node_set is None:
            self._node_set = self._node_fit.node_set(self._nodes)
        return self._node_fit.fits_any_other(pod, self._node_set)


class Surplus(msgspec.Struct, frozen=True):
    """The pods that are to leave for one constraint, in the order of leaving, as places in their listing.

    `has_room` tells for each whether it fits on a node in a domain below average, `texts` why it is to leave.
    """

    places: NDArray[np.intp]
    has_room: NDArray[np.bool_]
    sources: NDArray[np.intp]
    """For each the place of its sentence in `texts`."""
    texts: Sequence[str]

    def marked_first(self, listing: Listing) -> Iterator[tuple[Pod, str]]:
        """Those with room that no constraint has marked before, each with its sentence; they are marked from now on."""
        fresh = self.has_room & ~listing.is_marked[self.places]
        listing.is_marked[self.places[fresh]] = True
        return self._told(fresh, listing)

    def kept(self, listing: Listing) -> Iterator[tuple[Pod, str]]:
        """Those without room, each with its sentence; the listing takes note of them."""
        listing.mark_without_room(self.places[~self.has_room])
        return self._told(~self.has_room, listing)

    def _told(self, wanted: NDArray[np.bool_], listing: Listing) -> Iterator[tuple[Pod, str]]:
        for position in np.flatnonzero(wanted).tolist():
            yield listing.index.all_pods[self.places[position]], self.texts[self.sources[position]]


NOTHING = Surplus(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=bool), np.zeros(0, dtype=np.intp), ())


def find_surplus(
    constraint: PodConstraint,
    domains: SpreadDomains,
    listing: Listing,
    *,
    room_below: Callable[[Sequence[Node]], RoomBelow],
    needs_room: bool,
) -> Surplus:
    """The pods that are to leave for `constraint`. Without `needs_room` every pod counts as one that has room."""
    ranked, num_empty = domains.ranked(), domains.num_empty
    numbers = domains.numbers
    # Empty domains come before all others and never give a pod away, so their number is enough.
    sizes = [0] * num_empty + numbers[ranked].tolist()
    transfers = list(balancing_transfers(sizes, constraint.max_skew))
    if not transfers:
        return NOTHING
    below = room_below(domains.nodes_below(len(domains.places) / len(sizes)))
    given = np.array([ranked[transfer.source - num_empty] for transfer in transfers], dtype=np.intp)
    amounts = np.array([transfer.num_pods for transfer in transfers], dtype=np.intp)
    gives = np.zeros(len(domains.values), dtype=bool)
    gives[given] = True
    is_there = gives[domains.ids]
    places, ids = domains.places[is_there], domains.ids[is_there]
    # Those that fit elsewhere go first, from the end, after those that earlier rounds of the run have evicted.
    takes = below.takes(listing, places)
    order = np.lexsort((listing.order[places], takes, listing.standing[places], ids))
    places, ids, takes = places[order], ids[order], takes[order]
    leaving, sources = _taken_from_the_end(ids, given, amounts)
    may_leave = listing.may_leave[places[leaving]]
    leaving, sources = leaving[may_leave], sources[may_leave]
    has_room = takes[leaving] if needs_room else np.ones(len(leaving), dtype=bool)
    owners = listing.owners(domains.places)
    texts = [
        surplus_sentence(constraint, domains.values[each], int(domains.numbers[each]) - domains.smallest, owners)
        for each in given.tolist()
    ]
    return Surplus(places[leaving], has_room, sources, texts)


def surplus_sentence(constraint: PodConstraint, domain: str, num_more: int, owners: str = "") -> str:
    """Why pods leave a domain, such as `zone-b has 9 more pods of ReplicaSet web than the emptiest zone`, and the
    constraint. `owners` are left out where they are not known."""
    key = constraint.topology_key
    selected = " and ".join(map(requirement_text, constraint.selector.requirements)) or "all pods"
    stated = {
        "topologyKey": key,
        "maxSkew": str(constraint.max_skew),
        "labelSelector": clipped(selected, _MOST_OF_SELECTOR),
    }
    told = ", ".join(f"{name}: {text}" for name, text in stated.items())
    more = f"{counted(num_more, 'more pod')}{f' of {owners}' if owners else ''}"
    return f"{domain} has {more} than the emptiest {key.rpartition('/')[2]} ({told})"


def _owner_of(pod: Pod) -> str:
    owner = pod.controller
    return "no owner" if owner is None else f"{owner.kind} {owner.name}"


def _taken_from_the_end(
    ids: NDArray[np.intp], given: NDArray[np.intp], amounts: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions in `ids`, which is sorted: for each of the domains `given` its last ones that are left, so many; and of
    each position the place in `given`, where a domain that comes again does so at once."""
    totals = np.cumsum(amounts)
    comes_again = np.zeros(len(given), dtype=bool)
    comes_again[1:] = given[1:] == given[:-1]
    # What all domains before this one have given, so that the rest of the sum is its own.
    before = np.maximum.accumulate(np.where(comes_again, 0, totals - amounts))
    starts = np.searchsorted(ids, given, side="right") - (totals - before)
    sources = np.repeat(np.arange(len(amounts)), amounts)
    return starts[sources] + np.arange(len(sources)) - (totals - amounts)[sources], sources


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

"""`PodTopologySpread`: domains with fewer of the pods that belong together are better.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/scoring.go` (1.36).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import HOSTNAME_LABEL
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import ScoreError, Scores, SpreadConstraint
from descheduler.placement.plugins.helper.scores import MAX_SCORE, exact_div, tdiv
from descheduler.placement.plugins.pod_topology_spread.constraints import PodTopologySpreadArgs, SpreadConstraints
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import is_exact_amount
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import FoundPods, PodQuery
from descheduler.placement.shadow.topology import Domains

Nodes = NDArray[np.intp]

_BELOW_HALF = math.nextafter(0.5, 0.0)


class Cells:
    """The nodes by all topologies of a pod's constraints at once: nodes of one cell are in the same domain of each.

    The answer of a constraint about an empty node depends on the domain alone, so it is computed for some cells and not
    for thousands of nodes. Domains of one node each would make as many cells; they only tell nodes with the key from
    nodes without. `ids` is the cell of each node, `first` the first node of each cell; `numbers` are the cells.
    """

    __slots__ = ("_in_order", "_likely", "_starts", "first", "ids", "num", "numbers")

    def __init__(self, topologies: Iterable[tuple[str, Domains]], num_nodes: int) -> None:
        columns = {id(domains): _told_apart(key, domains) for key, domains in topologies}
        joined = reduce(_joined, columns.values(), np.zeros(num_nodes, dtype=np.intp))
        _, self.first, ids = np.unique(joined, return_index=True, return_inverse=True)
        self.ids: NDArray[np.intp] = ids.reshape(-1)
        self.num = len(self.first)
        self.numbers = np.arange(self.num)
        self._in_order = np.argsort(self.ids, kind="stable")
        self._starts = np.searchsorted(self.ids[self._in_order], self.numbers)
        self._likely = self.first

    def having(self, nodes: BoolMask) -> tuple[BoolMask, bool]:
        """The cells that have some of `nodes`, and whether these are all."""
        # Most masks have some of every cell, mostly a node that the last one had.
        found = nodes.take(self._likely)
        if np.count_nonzero(found) == self.num:
            return found, True
        ordered = nodes.take(self._in_order)
        places = np.append(ordered.nonzero()[0], len(ordered))
        following = places.take(np.searchsorted(places, self._starts))
        first = self._in_order.take(following, mode="clip")
        having: BoolMask = (following < len(ordered)) & (self.ids.take(first) == self.numbers)
        self._likely = np.where(having, first, self._likely)
        return having, bool(np.count_nonzero(having) == self.num)


class _SoftConstraint(NamedTuple):
    """One soft constraint by cell: `has_key` says which have its key, None where all do.

    `domain` and `domain_with_blank` are the domain of each cell, see Domains; `num_domains` is how many the latter are.
    `query` is the place of what it counts.
    """

    constraint: SpreadConstraint
    query: int
    is_of_hosts: bool
    has_key: BoolMask | None
    domain: Nodes
    domain_with_blank: Nodes
    num_domains: int


class _Soft(NamedTuple):
    """The soft constraints of a placement class, what they count, and their cells.

    `host_queries` are the places in `queries` of what is counted by node; `scored` says which cells are scored at all,
    None where all are.
    """

    constraints: tuple[_SoftConstraint, ...]
    queries: tuple[PodQuery, ...]
    host_queries: tuple[int, ...]
    cells: Cells
    scored: BoolMask | None


class _Spots(msgspec.Struct, frozen=True, gc=False):
    """The cells without such pods, and then each of the nodes `crowded`, which have some, as a spot of its own.

    `cell` is the cell of each spot, `is_open` says where the pod may go, `num_open` to how many nodes, and
    `has_all_cells` whether to some of each cell.
    """

    crowded: Nodes
    cell: Nodes
    is_open: BoolMask
    num_open: int
    has_all_cells: bool


class PodTopologySpreadScore:
    """Scores by the constraints that say `ScheduleAnyway`, or by the profile's defaults."""

    name = "PodTopologySpread"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._groups = cluster.follow(PodCounts)
        self._constraints = SpreadConstraints(cluster, profile.args.of(PodTopologySpreadArgs))
        self._num_nodes = len(cluster.table)
        self._soft: dict[PlacementClass, _Soft | None] = {}
        self._cells: dict[object, Cells] = {}

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """None for pods without soft constraints. Nodes that lack a key count as not scored, which gives 0."""
        soft = self._soft_constraints(cycle.pod)
        if soft is None:
            return None
        found = [self._groups.found(query) for query in soft.queries]
        spots = _spots(soft, found, feasible)
        sums: NDArray[np.float64] | None = None
        for each in soft.constraints:
            cost = _cost(each, found[each.query], soft.cells, spots)
            cost = cost if each.has_key is None else cost * each.has_key.take(spots.cell)
            sums = cost if sums is None else sums + cost
        raw = rounded(np.zeros(len(spots.cell)) if sums is None else sums)
        final = _normalised(raw, spots.is_open)
        if soft.scored is not None:
            raw *= soft.scored.take(spots.cell)
            final *= soft.scored.take(spots.cell)
        return Scores(_by_node(final, soft.cells, spots), lambda: _by_node(raw, soft.cells, spots))

    def _soft_constraints(self, incoming: PlacementClass) -> _Soft | None:
        if incoming not in self._soft:
            try:
                constraints = self._constraints.of(incoming.pod, "ScheduleAnyway")
            except ValueError as error:
                raise ScoreError(f"obtaining pod's soft topology spread constraints: {error}") from error
            self._soft[incoming] = self._made(incoming, constraints) if constraints else None
        return self._soft[incoming]

    def _made(self, incoming: PlacementClass, constraints: tuple[SpreadConstraint, ...]) -> _Soft:
        cells = self._cells_of(constraints)
        queries = tuple(dict.fromkeys(constraint.query for constraint in constraints))
        soft = tuple([_by_cell(constraint, queries.index(constraint.query), cells) for constraint in constraints])
        lacking = [each.has_key for each in soft if each.has_key is not None]
        needs_keys = bool(lacking) and self._constraints.requires_all_keys(incoming.pod)
        return _Soft(
            soft,
            queries,
            tuple(dict.fromkeys(each.query for each in soft if each.is_of_hosts)),
            cells,
            np.logical_and.reduce(lacking) if needs_keys else None,
        )

    def _cells_of(self, constraints: tuple[SpreadConstraint, ...]) -> Cells:
        topologies = {each.topology_key: each.counted.domains for each in constraints}
        # Domains are kept for good by those who make them, so identity stands for them.
        signature = frozenset((key == HOSTNAME_LABEL, id(domains)) for key, domains in topologies.items())
        known = self._cells.get(signature)
        if known is None:
            known = self._cells[signature] = Cells(topologies.items(), self._num_nodes)
        return known


def rounded(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers nearest to `costs`, which are not below 0; halves are rounded upwards, as Go does."""
    # To add 0.5 itself would lift what is just below a half as well.
    return (costs + _BELOW_HALF).astype(np.int64)


def _by_cell(constraint: SpreadConstraint, query: int, cells: Cells) -> _SoftConstraint:
    domains = constraint.counted.domains
    has_key = domains.has_key[cells.first]
    return _SoftConstraint(
        constraint,
        query,
        constraint.topology_key == HOSTNAME_LABEL,
        None if has_key.all() else has_key,
        domains.ids[cells.first],
        domains.ids_with_blank[cells.first],
        len(set(domains.ids_with_blank[cells.first].tolist())),
    )


def _spots(soft: _Soft, found: Sequence[FoundPods], feasible: BoolMask) -> _Spots:
    cells = soft.cells
    by_query = [found[query].nodes for query in soft.host_queries]
    if by_query:
        crowded = by_query[0] if len(by_query) == 1 else np.unique(np.concatenate(by_query))
        others = feasible.copy()
        others[crowded] = False
        having, has_all_cells = cells.having(others)
        is_open = np.concatenate((having, feasible.take(crowded)))
        cell = np.concatenate((cells.numbers, cells.ids.take(crowded)))
    else:
        crowded, cell = _NOWHERE, cells.numbers
        is_open, has_all_cells = cells.having(feasible)
    if soft.scored is None:
        return _Spots(crowded, cell, is_open, int(np.count_nonzero(feasible)), has_all_cells)
    num_open = int(np.count_nonzero(feasible & soft.scored.take(cells.ids)))
    return _Spots(crowded, cell, is_open & soft.scored.take(cell), num_open, has_all_cells=False)


def _cost(soft: _SoftConstraint, found: FoundPods, cells: Cells, spots: _Spots) -> NDArray[np.float64]:
    """What the pods in a spot's domain cost it; small topologies are not to be drowned by large ones."""
    constraint = soft.constraint
    if soft.is_of_hosts:
        pods = np.zeros(len(spots.cell), dtype=np.int64)
        is_only = spots.crowded is found.nodes
        places = slice(cells.num, None) if is_only else cells.num + np.searchsorted(spots.crowded, found.nodes)
        pods[places] = found.numbers
        return _cost_of(pods, spots.num_open, constraint)
    by_domain = _cost_of(constraint.counted.sums(found), _num_domains(soft, spots), constraint)
    return by_domain.take(soft.domain).take(spots.cell)


def _num_domains(soft: _SoftConstraint, spots: _Spots) -> int:
    """How many domains the pod may go to."""
    if spots.has_all_cells:
        return soft.num_domains
    there = soft.constraint.counted.domains.marks()
    there[soft.domain_with_blank.take(spots.cell[spots.is_open])] = True
    return int(np.count_nonzero(there))


def _cost_of(pods: NDArray[np.int64], num_domains: int, constraint: SpreadConstraint) -> NDArray[np.float64]:
    cost: NDArray[np.float64] = np.multiply(pods, math.log(num_domains + 2), dtype=np.float64)
    cost += float(constraint.max_skew - 1)
    return cost


def _normalised(raw: NDArray[np.int64], is_open: BoolMask) -> NDArray[np.int64]:
    """Scores in proportion to the open spots."""
    among = raw[is_open]
    most = max(0, int(among[among.argmax()])) if len(among) else 0
    if most == 0:
        return np.full(len(raw), MAX_SCORE, dtype=np.int64)
    divide = exact_div if is_exact_amount(most) else tdiv
    return divide(MAX_SCORE * (most + int(among[among.argmin()]) - raw), most)


def _by_node(values: NDArray[np.int64], cells: Cells, spots: _Spots) -> NDArray[np.int64]:
    column = values.take(cells.ids)
    if len(spots.crowded):
        column[spots.crowded] = values[cells.num :]
    return column


_NOWHERE: Nodes = np.empty(0, dtype=np.intp)


def _told_apart(key: str, domains: Domains) -> NDArray[np.intp]:
    return domains.has_key.astype(np.intp) if key == HOSTNAME_LABEL else domains.ids


def _joined(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """One number for each pair of numbers, small ones, so that no further join leaves the range."""
    _, found = np.unique(first * (int(second.max(initial=0)) + 1) + second, return_inverse=True)
    numbers: NDArray[np.intp] = found.reshape(-1).astype(np.intp)
    return numbers

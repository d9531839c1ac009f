"""A batch of replacements once all their victims are gone: does it land, in every order, in some, or in none."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from random import Random
from typing import NamedTuple

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.batches.certificates import certificate
from descheduler.placement.batches.every_order import Crowd, uncertain_crowds
from descheduler.placement.batches.exhaustive_search import (
    MOST_EVALUATIONS,
    Assignment,
    AssignmentSearch,
    OrderSearch,
    OutOfBudgetError,
    Relocation,
)
from descheduler.placement.batches.sequential_placement import SequentialPlacer, SequentialRun, random_pick
from descheduler.placement.batches.single_landings import single_landings
from descheduler.placement.framework.attempt import Picker, first_of_ties
from descheduler.placement.framework.scheduler_model import SchedulerModel
from descheduler.placement.landings.competitors import goes_first, mask_of, with_nodes
from descheduler.placement.landings.deciding import free_pods
from descheduler.placement.landings.landing import Landing, LandingVerdict, worst
from descheduler.placement.landings.open_choices import FreePod
from descheduler.placement.landings.pending_groups import Competitor
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement, first_priority
from descheduler.placement.landings.verdicts import not_landed
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

_NUM_SHUFFLES = 3
_MOST_SHUFFLED = 100
"""Members of a batch up to which it is shuffled as well."""
_MOST_EXPLORED = 8
_MOST_SUBSETS = 5
_MOST_SEARCHED = 12
_MOST_LOOKED_AT = 500
"""Evaluations for one of many batches that are compared."""

_UNLUCKY = "in some orders or tie-breaks of the replacement pods, no node is left for it"
_OTHER_ORDER = "it can be scheduled only if the replacement pods are created in another order than the evictions"
_OTHER_CHOICE = "it can be scheduled only if other replacement pods go to nodes of lower score"
_EXHAUSTED = "no assignment of all replacement pods to nodes exists (all orders and nodes were tried)"


class Finding(NamedTuple):
    """The landings of a batch by the settled clock, and what is known of it as a whole.

    It `is_proven` where every order was looked at, or need not be.
    """

    landings: dict[UnplacedReplacement, Landing]
    certificate: str = ""
    num_orders: int = 1
    is_proven: bool = False


class _Way(NamedTuple):
    """A run that lands all replacements, and the conditions under which it comes to that."""

    landings: dict[UnplacedReplacement, Landing]
    conditions: tuple[str, ...]


class SettledBatch:
    """Judges `replacements` on `cluster`, which their victims have left. The cluster is left as it is.

    Those that have `settled` before may have any other node of their ties, as pending pods may.
    """

    def __init__(
        self,
        replacements: Sequence[UnplacedReplacement],
        cluster: ShadowCluster,
        pending: PendingPods,
        settled: Sequence[FreePod] = (),
    ) -> None:
        self._cluster = cluster
        self._pending = pending
        self._free = (*settled, *free_pods(pending))
        self._placer = SequentialPlacer(cluster, pending)
        singles = single_landings(replacements)
        unknown = LandingVerdict.UNKNOWN
        self._undecided = [
            unplaced for unplaced in replacements if singles[unplaced.placement_class].verdict is unknown
        ]
        self._replacements = [
            unplaced for unplaced in replacements if singles[unplaced.placement_class].verdict is not unknown
        ]
        self._singles = singles
        self._num_orders = 0
        self._is_exhausted = False
        self._is_proven = True

    def finding(self) -> Finding:
        """The landings of all replacements; JointProof says what the verdicts mean."""
        refused = {m: not_landed(m, m.evaluate(), cold=None) for m in self._undecided}
        with self._cluster.what_if():
            if refused:
                index = self._cluster.table.index
                for unplaced in refused:  # their victims stand in for them
                    self._cluster.add(unplaced.victim, index.get(unplaced.victim.node_name, NO_NODE))
                self._singles = single_landings(self._replacements)
            landings, proof = self._of_decided()
        return Finding({**landings, **refused}, proof, self._num_orders, self._is_proven and not refused and not proof)

    def unproven(
        self, asked: Container[Pod], *, may_stay: bool = False, one_is_enough: bool = False
    ) -> tuple[UnplacedReplacement, ...]:
        """The replacements of `asked`, all victims, that are not proven to land in every order.

        Where `one_is_enough` not all of them are looked for.
        With `may_stay` also if any of the others stay after all, because their evictions are refused when called.
        Of a small batch those that find no node in the first such order that is found.
        """
        uncertain = self._uncertain(self._undecided, asked, may_stay=may_stay, one_is_enough=one_is_enough)
        found = tuple(unplaced for unplaced in uncertain if unplaced.victim in asked)
        if not found or self._undecided or any(unplaced.victim not in asked for unplaced in self._replacements):
            return found
        stuck = self._stuck_beside_any() if may_stay else self._stuck(_MOST_LOOKED_AT)
        return found if stuck is None else stuck

    def _uncertain(
        self,
        others: Sequence[UnplacedReplacement] = (),
        asked: Container[Pod] | None = None,
        *,
        may_stay: bool = False,
        one_is_enough: bool = False,
    ) -> tuple[UnplacedReplacement, ...]:
        """The replacements for which there is no proof beside all of them and `others`, which may go anywhere.

        It is looked for only of those that are like one of `asked`, if that is given.
        """
        both = (*others, *self._replacements)
        first = {unplaced.placement_class: unplaced for unplaced in both}
        with self._cluster.what_if():
            for each in self._tied_beside:
                self._cluster.remove(each.pod, each.node)
            singles = single_landings(both) if self._tied_beside else self._singles
            crowds = {each: Crowd(each, 0, unplaced.scheduler, singles[each].open) for each, unplaced in first.items()}
            for unplaced in self._replacements:
                if asked is None or unplaced.victim in asked:
                    crowds[unplaced.placement_class].single = singles[unplaced.placement_class]
                crowds[unplaced.placement_class].may = singles[unplaced.placement_class].may
            for unplaced in both:
                crowds[unplaced.placement_class].number += 1
                if may_stay:
                    crowds[unplaced.placement_class].may_stay_on(
                        self._cluster.table.index.get(unplaced.victim.node_name)
                    )
            beside = [*self._competing(), *self._doubtful, *map(self._tied_crowd, self._tied_beside)]
            all_crowds = [*crowds.values(), *beside]
            uncertain = set(uncertain_crowds(all_crowds, self._cluster, one_is_enough=one_is_enough))
        return tuple(each for each in self._replacements if crowds[each.placement_class] in uncertain)

    def _competing(self) -> list[Crowd]:
        """The pending pods that get a node once the victims are gone."""
        with self._cluster.what_if():
            num_placed = len(self._pending.placed)
            self._pending.place_all()
            placed = self._pending.placed[num_placed:]
        return [self._crowd_of(each.form, each.group.scheduler) for each in placed if each.group is not None]

    @cached_property
    def _doubtful(self) -> Sequence[Crowd]:
        """The pending pods of which it is unknown whether they get a node, before any of the replacements."""
        lowest = min((first_priority(unplaced) for unplaced in self._replacements), default=None)
        pods = () if lowest is None else self._pending.doubtful(lowest)
        return [
            Crowd(self._cluster.placement_class(each.form), 1, each.scheduler, nodes)
            for each, nodes in with_nodes(pods, self._cluster)
        ]

    @cached_property
    def _tied_beside(self) -> Sequence[FreePod]:
        """The pods on a node that may as well have another one on which a replacement may be."""
        may = [single.may for single in self._singles.values()]
        return [
            each for each in self._free if any(mask[node] for node in each.ties if node != each.node for mask in may)
        ]

    def _tied_crowd(self, each: FreePod) -> Crowd:
        """That pod, taken off its node: it is on one of its ties."""
        nodes = mask_of(each.ties, self._cluster)
        return Crowd(self._cluster.placement_class(each.pod), 1, each.scheduler, nodes)

    def _crowd_of(self, form: Pod, scheduler: SchedulerModel) -> Crowd:
        """One pending pod."""
        evaluation = scheduler.evaluate_binding(form)
        may = evaluation.feasible
        if scheduler.can_be_helped(form):
            may = evaluation.open_for_good() if evaluation.refusals else scheduler.openable(evaluation)
        return Crowd(self._cluster.placement_class(form), 1, scheduler, may)

    def _of_decided(self) -> tuple[dict[UnplacedReplacement, Landing], str]:
        with self._cluster.what_if():
            num_placed = len(self._pending.placed)
            run = self._run(self._replacements)
            competitors = self._pending.placed[num_placed:]
            refused = {m: not_landed(m, m.evaluate(), cold=None) for m in run.failed}
        if not refused:
            unlucky = self._unlucky() if self._uncertain() else ()
            self._is_proven = not unlucky and self._is_proven
            return self._doubted(run, unlucky), ""
        way = self._way(competitors, list({each.placement_class: each for each in refused}.values()))
        if way is None:
            return {**run.landings, **refused}, self._proof()
        return {
            m: _under(way.conditions, way.landings[m]) if m in refused else way.landings[m] for m in self._replacements
        }, ""

    def _unlucky(self) -> tuple[UnplacedReplacement, ...]:
        """Those that find no node in some order; those of the first one found where all of them are looked at."""
        stuck = self._stuck(MOST_EVALUATIONS)
        if stuck is not None:
            return stuck
        self._is_proven = False
        failed = [run.failed for run in self._runs(with_pending=True)]
        return tuple(dict.fromkeys(unplaced for replacements in failed for unplaced in replacements))

    def _stuck(self, most_evaluations: int) -> tuple[UnplacedReplacement, ...] | None:
        """Those that find no node in the first such order, none where there is no such order; None: unknown."""
        if len(self._replacements) > _MOST_EXPLORED or self._doubtful or self._tied_beside:
            return None
        try:
            with self._cluster.what_if():
                return OrderSearch(self._cluster, self._pending, most_evaluations).stuck(self._replacements)
        except OutOfBudgetError:
            return None

    def _stuck_beside_any(self) -> tuple[UnplacedReplacement, ...] | None:
        """The same where any of the victims may stay after all, as their evictions are refused when they are called."""
        if len(self._replacements) > _MOST_SUBSETS or self._doubtful or self._tied_beside:
            return None
        for number in range(len(self._replacements), 0, -1):
            for coming in combinations(self._replacements, number):
                stuck = self._stuck_among(coming)
                if stuck is None or stuck:
                    return stuck
        return ()

    def _stuck_among(self, coming: Sequence[UnplacedReplacement]) -> tuple[UnplacedReplacement, ...] | None:
        """The pods of `coming` that find no node in some order while the victims of all others stay."""
        index = self._cluster.table.index
        try:
            with self._cluster.what_if():
                for unplaced in self._replacements:
                    if unplaced not in coming:
                        self._cluster.add(unplaced.victim, index.get(unplaced.victim.node_name, NO_NODE))
                return OrderSearch(self._cluster, self._pending, _MOST_LOOKED_AT).stuck(coming)
        except OutOfBudgetError:
            return None

    def _way(self, competitors: Sequence[Competitor], refused: Sequence[UnplacedReplacement]) -> _Way | None:
        """Some way in which all replacements land, the likeliest first; None when none was found.

        Pending pods that go before one of `refused` have a node in it as well.
        """
        conditions = (competitors[0].condition,) if competitors else ()
        way = self._way_beside_pending(conditions, _ahead(competitors, refused))
        if way is None and self._pending.placed:
            with self._cluster.what_if():
                conditions = (self._pending.placed[-1].condition,)
                placed = list(self._pending.placed)
                self._pending.lift(placed[::-1])
                ahead = _ahead(placed, refused)
                way = self._way_beside_pending(conditions, ahead)
        return way

    def _way_beside_pending(self, conditions: tuple[str, ...], ahead: Sequence[Competitor]) -> _Way | None:
        """A way beside those pending pods that are placed now, after which all of `ahead` find a node too."""
        if conditions:
            with self._cluster.what_if():
                run = self._run(self._replacements, with_pending=False, ahead=ahead)
            if not run.failed:
                return _Way(dict(run.landings), conditions)
        for run in self._runs(with_pending=False, ahead=ahead):
            if not run.failed:
                return _Way(dict(run.landings), (*conditions, _OTHER_ORDER))
        assignment = self._assignment()
        if assignment is None:
            return None
        with self._cluster.what_if():
            run = self._before(ahead, self._placer.place_as_assigned(assignment))
        return None if run.failed else _Way(dict(run.landings), (*conditions, _OTHER_CHOICE))

    def _assignment(self) -> Assignment | None:
        """Nodes for all replacements, found by search where there are few of them, else by relocation."""
        self._is_exhausted = False
        if len(self._replacements) <= _MOST_SEARCHED:
            try:
                with self._cluster.what_if():
                    found = AssignmentSearch(self._cluster).find(self._replacements)
                self._is_exhausted = found is None
                return found
            except OutOfBudgetError:
                pass
        with self._cluster.what_if():
            run = self._run(self._hardest_first(), with_pending=False)
            open_nodes = {unplaced: self._singles[unplaced.placement_class].open for unplaced in run.failed}
            return Relocation(self._cluster, run.placed).assignment(run.failed, open_nodes)

    def _proof(self) -> str:
        with self._cluster.what_if():
            self._pending.lift(self._pending.placed[::-1])
            bound = [unplaced for unplaced in self._replacements if not unplaced.optional]
            proof = certificate(bound, single_landings(bound), self._cluster) if bound else ""
        is_proven = self._is_exhausted and len(bound) == len(self._replacements)
        return proof or (_EXHAUSTED if is_proven else "")

    def _runs(self, *, with_pending: bool, ahead: Sequence[Competitor] = ()) -> Iterator[SequentialRun]:
        """The batch in other orders: the reverse one, the hardest first and, unless it is large, a few shuffled."""
        orders: list[tuple[Sequence[UnplacedReplacement], Picker]] = [
            (self._replacements[::-1], first_of_ties),
            (self._hardest_first(), first_of_ties),
        ]
        for seed in range(_NUM_SHUFFLES if len(self._replacements) <= _MOST_SHUFFLED else 0):
            generator = Random(seed)  # noqa: S311 - the same every time
            orders.append((generator.sample(self._replacements, len(self._replacements)), random_pick(generator)))
        for replacements, pick in orders:
            with self._cluster.what_if():
                run = self._run(replacements, pick, with_pending=with_pending, ahead=ahead)
            yield run

    def _run(
        self,
        replacements: Sequence[UnplacedReplacement],
        pick: Picker = first_of_ties,
        *,
        with_pending: bool = True,
        ahead: Sequence[Competitor] = (),
    ) -> SequentialRun:
        self._num_orders += 1
        return self._before(ahead, self._placer.place_in_turn(replacements, pick, with_pending=with_pending))

    def _before(self, ahead: Sequence[Competitor], run: SequentialRun) -> SequentialRun:
        """`run`, in which nothing lands if one of `ahead` is left without a node by it."""
        if not ahead or run.failed or self._pending.put_back(ahead):
            return run
        return SequentialRun({}, {}, tuple(run.landings))

    def _hardest_first(self) -> list[UnplacedReplacement]:
        return sorted(
            self._replacements, key=lambda unplaced: int(self._singles[unplaced.placement_class].feasible.sum())
        )

    def _doubted(
        self, run: SequentialRun, unlucky: Sequence[UnplacedReplacement]
    ) -> dict[UnplacedReplacement, Landing]:
        doubted = {unplaced: _under((_UNLUCKY,), run.landings[unplaced]) for unplaced in unlucky}
        return {**run.landings, **doubted}


def _ahead(competitors: Sequence[Competitor], refused: Sequence[UnplacedReplacement]) -> list[Competitor]:
    return [each for each in competitors if any(goes_first(each, unplaced) for unplaced in refused)]


def _under(conditions: tuple[str, ...], landing: Landing) -> Landing:
    """`landing` with further conditions."""
    conditional = worst((landing.verdict, LandingVerdict.LANDS_IF))
    return msgspec.structs.replace(
        landing,
        verdict=conditional,
        cold=conditional,
        conditions=(*landing.conditions, *conditions),
    )

"""A whole batch at once: whether its replacements land together, in whatever order they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.batches.sequential_placement import SequentialPlacer
from descheduler.placement.batches.settled_batch import Finding, SettledBatch
from descheduler.placement.landings.candidates import CandidateMaker, LandingCandidate
from descheduler.placement.landings.landing import JointVerdict, Landing, LandingVerdict, worst
from descheduler.placement.landings.open_choices import FreePod
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.landings.verdicts import as_likely, of_live_size, of_template_size, verdict_of
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_FEWEST = 2
_OTHERS_SIZES = (
    "the other replacement pods keep the requests of their templates",
    "the other replacement pods get the requests that their pods have now",
)


class JointProof:
    """Judges batches on `cluster`. All victims of a batch leave together, and are gone when it has settled. What has
    `settled` before may have any other node of its ties.

    A *sequential run* places the replacements one by one: of those that some node takes, the scheduler takes one of the
    highest priority, and puts it on a node of the best score. Pods that no node takes stay in the queue, and are taken
    as soon as others have made room for them. Before replacements of a priority, pending pods of at least that
    priority are placed.

    * `LANDS`: every run that was made lands all. Where it is proven that each replacement has a node left whatever the
      others do (see `every_order`), one was made and stands for all. Of up to eight replacements all were made, in
      every order within equal priority and with every breaking of ties, unless they are too many; else those in the
      order of the evictions, in the reverse one, the hardest first, and three shuffled ones with random breaking of
      ties (of more than a hundred replacements the first three).
    * `LANDS_IF`: some sequential run lands all, or some other sequence of placements, each on a node that takes the pod
      at that moment, whatever the scheduler prefers; or a landing hangs on a condition of its own.
    * `NO`: no such sequence was found. Of up to twelve replacements there is none, unless there are too many ways to
      look at all; of more of them up to two were tried to be moved out of the way of one. `certificate` is a proof
      that needs no search.
    * `LIKELY`: as far as the schedulers of all replacements are modelled one of the first two, and something is not.
    * `UNKNOWN`: none of this, as some replacement cannot be judged. The others are, as if its victim had stayed.
    """

    def __init__(
        self,
        cluster: ShadowCluster,
        candidates: CandidateMaker,
        pending: PendingPods,
        *,
        gone: Mapping[str, Sequence[Pod]] | None = None,
        are_mates: bool = False,
        settled: Sequence[FreePod] = (),
    ) -> None:
        self._cluster = cluster
        self._candidates = candidates
        self._pending = pending
        self._gone = gone or {}
        self._are_mates = are_mates
        self._settled_before = settled

    def verdict(self, victims: Sequence[Pod]) -> JointVerdict:
        """The verdict on `victims`, each of which is there once. The cluster is left as it is."""
        with self._cluster.what_if():
            return self._verdict(self._candidates_of(victims))

    def unproven(
        self, victims: Sequence[Pod], asked: Sequence[Pod], *, may_stay: bool = False, one_is_enough: bool = False
    ) -> tuple[Pod, ...]:
        """The pods of `asked`, a part of `victims`, whose replacements may be left without a node in some order.

        Of most of them that is not proven, of few of them such an order is known. With `may_stay` any
        of the victims may stay after all. What is likely at best, or lands nowhere, is not among them. Where
        `one_is_enough` not all of them are looked for. The cluster is left as it is.
        """
        with self._cluster.what_if():
            candidates = self._candidates_of(victims)
            replacements = self._evicted(candidates)
            of_interest = frozenset(asked)
            found = self._batch(replacements).unproven(of_interest, may_stay=may_stay, one_is_enough=one_is_enough)
            if any(unplaced.alternative for unplaced in replacements) and not (found and one_is_enough):
                others = [unplaced.alternative or unplaced for unplaced in replacements]
                found += self._batch(others).unproven(of_interest, may_stay=may_stay, one_is_enough=one_is_enough)
        return tuple(dict.fromkeys(unplaced.victim for unplaced in found))

    def _evicted(self, candidates: Sequence[LandingCandidate]) -> list[UnplacedReplacement]:
        """The replacements of `candidates`, which leave the cluster."""
        for candidate in candidates:
            if candidate.leaves:
                self._cluster.remove(candidate.victim)
        return [candidate.unplaced for candidate in candidates if candidate.unplaced is not None]

    def _candidates_of(self, victims: Sequence[Pod]) -> list[LandingCandidate]:
        return _in_units(self._candidates.in_turn(victims, self._gone, are_mates=self._are_mates))

    def _verdict(self, candidates: Sequence[LandingCandidate]) -> JointVerdict:
        cold = self._cold(candidates)
        replacements = self._evicted(candidates)
        finding = self._with_other_sizes(replacements, self._settled(replacements))
        landings = tuple(_landing(candidate, finding, cold) for candidate in candidates)
        landings = landings if finding.is_proven else _with_open_choices(landings)
        return JointVerdict(
            verdict=worst(landing.verdict for landing in landings),
            landings=landings,
            cold=worst(landing.cold for landing in landings),
            conditions=tuple(dict.fromkeys(sentence for landing in landings for sentence in landing.conditions)),
            certificate=finding.certificate,
            num_orders=finding.num_orders,
            is_proven=finding.is_proven,
        )

    def _cold(self, candidates: Sequence[LandingCandidate]) -> dict[UnplacedReplacement, LandingVerdict]:
        """What becomes of those that come at once, while all victims are terminating."""
        with self._cluster.what_if():
            for candidate in candidates:
                if candidate.leaves:
                    self._cluster.terminate(candidate.victim)
            replacements = [candidate.unplaced for candidate in candidates if candidate.unplaced is not None]
            early = [unplaced for unplaced in replacements if unplaced.returns_at_once]
            run = SequentialPlacer(self._cluster, self._pending).place_in_turn(early, with_pending=False)
            likely, lands = LandingVerdict.LIKELY, LandingVerdict.LANDS
            verdicts = {unplaced: likely if landing.cause else lands for unplaced, landing in run.landings.items()}
            for unplaced in run.failed:
                evaluation = unplaced.evaluate()
                verdicts[unplaced] = LandingVerdict.NO if evaluation.fits else verdict_of(unplaced, evaluation)
        return verdicts

    def _settled(self, replacements: Sequence[UnplacedReplacement]) -> Finding:
        return self._batch(replacements).finding()

    def _batch(self, replacements: Sequence[UnplacedReplacement]) -> SettledBatch:
        return SettledBatch(replacements, self._cluster, self._pending, self._settled_before)

    def _with_other_sizes(self, replacements: Sequence[UnplacedReplacement], finding: Finding) -> Finding:
        """`finding`, unless the batch with the other sizes that admission may give to pods has another end."""
        if not any(unplaced.alternative for unplaced in replacements):
            return finding
        others = [unplaced.alternative or unplaced for unplaced in replacements]
        other = self._settled(others)
        finding = finding._replace(is_proven=finding.is_proven and other.is_proven)
        landings = dict(finding.landings)
        lands_whole = any(
            all(each.verdict is not LandingVerdict.NO for each in found.landings.values()) for found in (finding, other)
        )
        for unplaced, instead in zip(replacements, others, strict=True):
            sizes = _OTHERS_SIZES if lands_whole else None
            if instead is not unplaced:
                sizes = of_template_size(unplaced.victim), of_live_size(unplaced.victim)
            landings[unplaced] = _either(landings[unplaced], other.landings[instead], sizes)
        return finding._replace(landings=landings)


def _in_units(candidates: list[LandingCandidate]) -> list[LandingCandidate]:
    """`candidates`, whose replacements know with which others of them they are placed together."""
    units: dict[str, list[Pod]] = {}
    for candidate in candidates:
        if candidate.unplaced is not None and candidate.unplaced.unit:
            units.setdefault(candidate.unplaced.unit_id, []).append(candidate.unplaced.pod)
    return [_in_unit(candidate, units) for candidate in candidates] if units else candidates


def _in_unit(candidate: LandingCandidate, units: Mapping[str, Sequence[Pod]]) -> LandingCandidate:
    unplaced = candidate.unplaced
    if unplaced is None or not unplaced.unit:
        return candidate
    return msgspec.structs.replace(
        candidate, unplaced=msgspec.structs.replace(unplaced, unit=tuple(units[unplaced.unit_id]))
    )


def _landing(candidate: LandingCandidate, finding: Finding, cold: dict[UnplacedReplacement, LandingVerdict]) -> Landing:
    unplaced = candidate.unplaced
    if unplaced is None:
        assert candidate.landing is not None  # noqa: S101 - it is one or the other
        return candidate.landing
    landing = finding.landings[unplaced]
    return msgspec.structs.replace(landing, cold=cold.get(unplaced, landing.verdict))


def _with_open_choices(landings: tuple[Landing, ...]) -> tuple[Landing, ...]:
    """The landings, all likely at best where one of them has an open choice of nodes."""
    cause = next((landing.open_cause for landing in landings if landing.open_cause), "")
    num_placed = sum(landing.node is not None for landing in landings)
    if not cause or num_placed < _FEWEST:
        return landings
    return tuple(as_likely(landing, cause) if landing.node else landing for landing in landings)


def _either(landing: Landing, other: Landing, sizes: tuple[str, str] | None) -> Landing:
    """The worse of two landings, of which `other` is that with the other sizes; where only one of them has a node, the
    condition that pods have its `sizes`. They are None where some pod has no node with either."""
    worse = landing if worst((landing.verdict, other.verdict)) is landing.verdict else other
    lands = other if worse is landing else landing
    if sizes is None or worse.verdict is not LandingVerdict.NO or lands.verdict is LandingVerdict.NO:
        return worse
    verdict, condition = worst((lands.verdict, LandingVerdict.LANDS_IF)), sizes[lands is other]
    return msgspec.structs.replace(lands, verdict=verdict, conditions=(*lands.conditions, condition))

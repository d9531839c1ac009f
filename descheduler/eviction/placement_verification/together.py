"""All moves of a plan: whether the replacements also land in another order than that of the grants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import JointVerdict, Landing, LandingVerdict, worst
from descheduler.plan.moves import PodIdentity, identity_of

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.placement.prover import LandingProver

ONE_WAVE: Mapping[PodIdentity, int] = {}


def judge_together(
    landings: LandingBook, most: int, waves: Mapping[PodIdentity, int] = ONE_WAVE
) -> JointVerdict | None:
    """The verdict on everything booked, None when that is nothing, more than `most`, or when no profile verifies.

    What leaves at once is judged at once: all of it, or the evictions of each of `waves` after those before.

    None as well where room is held for replacements on nodes that a plan has chosen, which come in its order.

    Each eviction was granted on top of those before it. As in the book, every scheduler places all replacements, and
    the landing of a move is that of the scheduler under which it was granted; of an unverified move it is the worst
    that some scheduler gives it. The book is not changed.
    """
    leaving = landings.leaving
    if not landings.provers or not 0 < len(leaving) <= most or landings.holds_room:
        return None
    pods = [pod for pod, _ in leaving]
    batches = [list(batch) for _, batch in groupby(pods, key=lambda pod: waves.get(identity_of(pod), 0))]
    verdicts = [(settings, _in_turn(prover, batches)) for settings, prover in landings.provers]
    return verdicts[0][1] if len(verdicts) == 1 else _joined(leaving, verdicts)


def _in_turn(prover: LandingProver, batches: Sequence[Sequence[Pod]]) -> JointVerdict:
    """The verdict on the batches, each once those before it have settled."""
    if len(batches) == 1:
        return prover.prove(batches[0])
    verdicts: list[JointVerdict] = []
    number = 0
    for batch in batches:
        with prover.as_of(number):
            verdicts.append(prover.prove_further(batch))
        number += len(batch)
    return _summed_up(
        [landing for verdict in verdicts for landing in verdict.landings],
        (verdict.certificate for verdict in verdicts),
        num_orders=min(verdict.num_orders for verdict in verdicts),
        is_proven=all(verdict.is_proven for verdict in verdicts),
    )


def _joined(
    leaving: Sequence[tuple[Pod, SchedulingSettings]], verdicts: Sequence[tuple[SchedulingSettings, JointVerdict]]
) -> JointVerdict:
    chosen = []
    certificates = []
    for place, (_, granted) in enumerate(leaving):
        own = [verdict for settings, verdict in verdicts if settings == granted]
        verdict = _gravest(own or [verdict for _, verdict in verdicts], place)
        chosen.append(verdict.landings[place])
        if verdict.landings[place].verdict is LandingVerdict.NO:
            certificates.append(verdict.certificate)
    return _summed_up(
        chosen,
        certificates,
        num_orders=min(verdict.num_orders for _, verdict in verdicts),
        is_proven=all(verdict.is_proven for _, verdict in verdicts),
    )


def _summed_up(
    landings: Sequence[Landing], certificates: Iterable[str], *, num_orders: int, is_proven: bool
) -> JointVerdict:
    return JointVerdict(
        verdict=worst(landing.verdict for landing in landings),
        landings=tuple(landings),
        cold=worst(landing.cold for landing in landings),
        conditions=tuple(dict.fromkeys(sentence for landing in landings for sentence in landing.conditions)),
        certificate=next(filter(None, certificates), ""),
        num_orders=num_orders,
        is_proven=is_proven,
    )


def _gravest(verdicts: Sequence[JointVerdict], place: int) -> JointVerdict:
    """The one of `verdicts` that says worst of the move at `place`; the first of several."""
    gravest = worst(verdict.landings[place].verdict for verdict in verdicts)
    return next(verdict for verdict in verdicts if verdict.landings[place].verdict is gravest)

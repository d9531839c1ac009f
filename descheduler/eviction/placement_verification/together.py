"""All moves of a plan at once: whether the replacements also land in another order than that of the grants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from descheduler.eviction.placement_verification.landing_book import LandingBook, SchedulingSettings
from descheduler.model.pod import Pod

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.placement.landings.landing import JointVerdict, Landing

__all__ = ["judge_together"]


def judge_together(landings: LandingBook, most: int) -> JointVerdict | None:
    """The verdict on everything booked, None when that is nothing, more than `most`, or when no profile verifies.

    None as well where room is held for replacements on nodes that a plan has chosen, which come in its order.

    Each eviction was granted on top of those before it. As in the book, every scheduler places all replacements, and
    the landing of a move is that of the scheduler under which it was granted; of a move that nobody verified it is the
    worst that some scheduler gives it. The book is not changed.
    """
    leaving = landings.leaving
    if not landings.provers or not 0 < len(leaving) <= most or landings.holds_room:
        return None
    pods = [pod for pod, _ in leaving]
    verdicts = [(settings, prover.prove(pods)) for settings, prover in landings.provers]
    return verdicts[0][1] if len(verdicts) == 1 else _joined(leaving, verdicts)


def _joined(
    leaving: Sequence[tuple[Pod, SchedulingSettings]], verdicts: Sequence[tuple[SchedulingSettings, JointVerdict]]
) -> JointVerdict:
    from descheduler.placement.landings.landing import JointVerdict, LandingVerdict, worst

    chosen = []
    certificates = []
    for place, (_, granted) in enumerate(leaving):
        own = [verdict for settings, verdict in verdicts if settings == granted]
        verdict = _gravest(own or [verdict for _, verdict in verdicts], place)
        chosen.append(verdict.landings[place])
        if verdict.landings[place].verdict is LandingVerdict.NO:
            certificates.append(verdict.certificate)
    return JointVerdict(
        verdict=worst(landing.verdict for landing in chosen),
        landings=tuple(chosen),
        cold=worst(landing.cold for landing in chosen),
        settled=worst(landing.settled for landing in chosen),
        conditions=tuple(_conditions(chosen)),
        certificate=next(filter(None, certificates), ""),
        num_orders=min(verdict.num_orders for _, verdict in verdicts),
    )


def _gravest(verdicts: Sequence[JointVerdict], place: int) -> JointVerdict:
    """The one of `verdicts` that says worst of the move at `place`; the first of several."""
    from descheduler.placement.landings.landing import worst

    gravest = worst(verdict.landings[place].verdict for verdict in verdicts)
    return next(verdict for verdict in verdicts if verdict.landings[place].verdict is gravest)


def _conditions(landings: Iterable[Landing]) -> Iterable[str]:
    return dict.fromkeys(sentence for landing in landings for sentence in landing.conditions)

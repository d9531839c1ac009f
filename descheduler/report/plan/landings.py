"""Landings as the plan shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from descheduler.model.pod import Pod
from descheduler.model.text.counted import first_names, most_first
from descheduler.placement.landings.landing import UNPROVEN, JointVerdict, Landing, LandingVerdict
from descheduler.report.plan.document import LandingCause, LandingTotals, PlannedAllocation, PlannedLanding, Target

_MOST_NAMED = 3


def planned_landing(landing: Landing) -> PlannedLanding:
    """One landing in plain values."""
    return PlannedLanding(
        verdict=landing.verdict.value,
        returns=landing.replacement.answer.returns.value,
        cold=landing.cold.value,
        settled=landing.verdict.value,
        nodes=landing.ties,
        margin=landing.margin,
        node_cause=landing.open_cause,
        returns_to_source=landing.returns_to_source,
        conditions=landing.conditions,
        message=landing.message,
        cause=landing.cause,
        allocations=planned_allocations(landing),
    )


def planned_allocations(landing: Landing) -> tuple[PlannedAllocation, ...]:
    """What the replacement gets on its node, in plain values."""
    return tuple(
        PlannedAllocation(plugin=each.plugin, kind=each.kind, name=each.name, resources=each.resources)
        for each in landing.allocations
    )


def target_of(landing: Landing) -> Target:
    """One landing in short."""
    return Target(
        node=landing.node or "",
        verdict=landing.verdict.value,
        returns=landing.replacement.answer.returns.value,
        returns_to_source=landing.returns_to_source,
        conditions=landing.conditions,
    )


def landing_totals(
    evicted: Sequence[Landing | None], *, is_verified: bool, together: JointVerdict | None = None
) -> LandingTotals:
    """How many of the evicted pods are created again and land; a landing, or None, for each of them."""
    landings = [landing for landing in evicted if landing is not None]
    by_verdict = Counter(landing.verdict for landing in landings)
    return LandingTotals(
        is_verified=is_verified,
        num_evicted=len(evicted),
        num_assessed=len(landings),
        lands=by_verdict[LandingVerdict.LANDS],
        lands_if=by_verdict[LandingVerdict.LANDS_IF],
        likely=by_verdict[LandingVerdict.LIKELY],
        unknown=by_verdict[LandingVerdict.UNKNOWN],
        no=by_verdict[LandingVerdict.NO],
        causes=tuple(landing_causes(landings)),
        returns_to_source=sum(landing.returns_to_source for landing in landings),
        not_created=sum(
            landing.replacement.pod is None for landing in landings if landing.verdict is LandingVerdict.LANDS
        ),
        owner_ends=sum(bool(landing.replacement.answer.loss) for landing in landings),
        together=None if together is None else together.verdict.value,
        conditions=() if together is None else together.conditions,
        certificate="" if together is None else together.certificate,
    )


def landing_causes(landings: Sequence[Landing]) -> Iterator[LandingCause]:
    """One entry a verdict and cause, the most frequent of each verdict first."""
    for verdict in UNPROVEN:
        counts = Counter(landing.cause for landing in landings if landing.verdict is verdict)
        for cause, num_pods in most_first(counts):
            yield LandingCause(verdict=verdict.value, cause=cause, num_pods=num_pods)


def loss_notes(evicted: Sequence[Landing | None]) -> Iterator[str]:
    """A sentence about the evictions that fail or end Jobs, with how many there are and the first names."""
    lost = [landing for landing in evicted if landing is not None and landing.replacement.answer.loss]
    if not lost:
        return
    first = lost[0].replacement.answer.loss
    names = list(dict.fromkeys(_owner_name(landing.victim) for landing in lost))
    several = f"{len(lost):,} evictions fail or end Jobs: {first_names(names, _MOST_NAMED)}; {names[0]}: {first}"
    yield several if len(lost) > 1 else first


def _owner_name(pod: Pod) -> str:
    return pod.key if pod.controller is None else f"{pod.namespace}/{pod.controller.name}"

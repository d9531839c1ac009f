"""One replacement as the prover sees it, and short names of its verdicts."""

from __future__ import annotations

from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.placement.workloads import pod_named

LANDS, LANDS_IF, LIKELY, NO, UNKNOWN = (
    LandingVerdict.LANDS,
    LandingVerdict.LANDS_IF,
    LandingVerdict.LIKELY,
    LandingVerdict.NO,
    LandingVerdict.UNKNOWN,
)


def consider(snapshot: Snapshot, victim: str = "victim") -> Landing:
    """The landing of the pod of this name, with nothing booked."""
    return LandingProver(snapshot).consider(pod_named(snapshot, victim))

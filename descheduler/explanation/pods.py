"""`descheduler explain pod`: what the run decides about a pod, and where the replacement pod would land."""

from __future__ import annotations

from datetime import datetime

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
from descheduler.explanation.facts import pod_facts
from descheduler.explanation.landings import explained_landing
from descheduler.explanation.moved_cluster import MovedCluster, configuration_of
from descheduler.explanation.scheduling.analysis import analyse
from descheduler.explanation.watching.watched_run import WatchedRun
from descheduler.model.pod import Pod
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.landings.landing import Landing
from descheduler.placement.plugins.table import PLUGINS
from descheduler.plan.moves import identity_of
from descheduler.report.explanation.placement import PlacementAnalysis
from descheduler.report.explanation.pod import PodExplanation

__all__ = ["explain_pod"]

_FITS = (
    "the snapshot shows no cause: the scheduler has not tried it yet, or pods before it in the queue use the free"
    " resources"
)


def explain_pod(
    pod: Pod, snapshot: Snapshot, settings: SchedulingSettings, *, now: datetime, run: WatchedRun | None = None
) -> tuple[PodExplanation, tuple[str, ...]]:
    """The explanation of `pod`, and warnings. With a `run` its landing counts with the moves booked before it."""
    decision = None if run is None else run.decision_about(pod)
    if not pod.node_name:
        return _pending(pod, snapshot, settings, now, run)
    moves = () if run is None else run.moves_before(pod)
    books_likely, held = run is not None and not run.decisions.is_verified, {} if run is None else run.held
    moved = MovedCluster(snapshot, settings, moves, now=now, books_likely=books_likely, held=held)
    landing = moved.landing_of(pod)
    explanation = PodExplanation(
        facts=pod_facts(pod, moved.cluster, now),
        decision=decision,
        landing=explained_landing(landing, is_chosen=identity_of(pod) in held),
        placement=_placement(moved, landing),
    )
    return explanation, moved.warnings


def _pending(
    pod: Pod, snapshot: Snapshot, settings: SchedulingSettings, now: datetime, run: WatchedRun | None
) -> tuple[PodExplanation, tuple[str, ...]]:
    """A pod without a node: why the scheduler does not place it, among the pods that are there."""
    cluster = shadow_cluster_of(snapshot, PLUGINS, settings.version)
    is_waiting = not pod.is_terminal and not pod.is_terminating
    placement = analyse(cluster, configuration_of(settings), pod) if is_waiting else None
    if placement is not None and placement.num_feasible:
        placement = msgspec.structs.replace(placement, notes=(*placement.notes, _FITS))
    explanation = PodExplanation(
        facts=pod_facts(pod, cluster, now),
        decision=None if run is None else run.decision_about(pod),
        landing=None,
        placement=placement,
    )
    return explanation, ()


def _placement(moved: MovedCluster, landing: Landing) -> PlacementAnalysis | None:
    replacement, victim = landing.replacement.pod, landing.victim
    if replacement is None:
        return None
    with moved.without(victim) as cluster:
        return analyse(cluster, moved.configuration, replacement, victim.node_name)

"""A pod: what it is, what the run decides about it, and where the replacement pod would be scheduled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.asked import Answer, Explained, Inquiry
from descheduler.explanation.finding import find_pod
from descheduler.explanation.landings import ExplainedLanding, explained_landing
from descheduler.explanation.moved_cluster import MovedCluster
from descheduler.explanation.scheduling.analysis import analyse
from descheduler.explanation.scheduling.placement import PlacementAnalysis, placement_table
from descheduler.explanation.scheduling.volcano import VolcanoFacts, volcano_facts, volcano_tables
from descheduler.explanation.subjects.pod_group import GangFacts, gang_facts
from descheduler.explanation.watched_run import PluginAnswer, PodDecision, WatchedRun
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.text.amounts import amounts_text
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.landings.landing import Landing
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.plan.moves import identity_of
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import allocations_text


class PodFacts(Fields, frozen=True):
    """The pod as the snapshot has it. `owner` is `Kind/name` of its controller, empty without one.

    `node` is null while it is unbound, `age_seconds` when the object has no creation time. `requests` are the
    effective ones as the scheduler counts them: cpu in milli cores, all else in whole units. `gang` is null for a pod
    without one.
    """

    pod: PodReference
    node: str | None
    owner: str
    priority: int | None
    qos_class: str
    phase: str
    is_terminating: bool = msgspec.field(name="terminating")
    age_seconds: float | None
    scheduler: str
    requests: Mapping[str, int]
    gang: GangFacts | None


class PodExplanation(Fields, frozen=True):
    """Everything about one pod. `decision` is null without a policy, `landing` for a pod that is not scheduled yet.

    `placement` is that of the replacement with the pod gone, or of the pod itself while it is pending; null when no pod
    is to be scheduled. `volcano` is null for a pod that belongs to no job of Volcano.
    """

    facts: PodFacts
    volcano: VolcanoFacts | None
    decision: PodDecision | None
    landing: ExplainedLanding | None
    placement: PlacementAnalysis | None


def pod_facts(pod: Pod, cluster: ShadowCluster, now: datetime) -> PodFacts:
    """The facts of `pod` at the instant `now`."""
    owner = pod.controller
    names = cluster.table.resources
    return PodFacts(
        pod=reference(pod),
        node=pod.node_name or None,
        owner="" if owner is None else f"{owner.kind}/{owner.name}",
        priority=pod.priority,
        qos_class=pod.qos_class,
        phase=pod.phase,
        is_terminating=pod.is_terminating,
        age_seconds=None if pod.created_at is None else (now - pod.created_at).total_seconds(),
        scheduler=scheduler_name_of(pod),
        requests={names[row]: amount for row, amount in cluster.placement_class(pod).demand.amounts},
        gang=gang_facts(pod, cluster.snapshot),
    )


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
    cluster = snapshot if run is None else run.decisions.snapshot
    moved = MovedCluster(cluster, settings, moves, now=now, books_likely=books_likely, held=held)
    landing = moved.landing_of(pod)
    explanation = PodExplanation(
        facts=pod_facts(pod, moved.cluster, now),
        volcano=volcano_facts((pod,), moved.cluster, moved.configuration),
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
    configuration = settings.resolved()
    is_waiting = not pod.is_terminal and not pod.is_terminating
    placement = analyse(cluster, configuration, pod) if is_waiting else None
    if placement is not None and placement.num_feasible:
        placement = msgspec.structs.replace(placement, notes=(*placement.notes, _FITS))
    explanation = PodExplanation(
        facts=pod_facts(pod, cluster, now),
        volcano=volcano_facts((pod,), cluster, configuration),
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


_STEPS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def pod_table(explanation: PodExplanation, style: TableStyle) -> Iterator[str]:
    """The pod, what becomes of it, and where what comes back for it would land."""
    facts = explanation.facts
    yield from _facts_table(facts, style)
    yield from volcano_tables(explanation.volcano, style)
    if explanation.decision is not None:
        yield from _decision_table(explanation.decision, style)
    if explanation.landing is not None:
        yield from _landing_table(explanation.landing, style)
    if explanation.placement is not None:
        lead = "the replacement pod" if facts.node is not None else f"the pending pod {facts.pod.name}"
        yield from placement_table(explanation.placement, style, lead)
    elif explanation.landing is None:
        yield style.palette.heading("placement: the pod has finished or is being deleted, so no placement is predicted")
        yield ""


def _facts_table(facts: PodFacts, style: TableStyle) -> Iterator[str]:
    phase = f"{facts.phase}, terminating" if facts.is_terminating else facts.phase
    uid = (["UID"], [facts.pod.uid]) if style.is_wide else ([], [])
    yield from style.heading(printable(f"Pod {facts.pod.namespace}/{facts.pod.name}"))
    # Two tables: one that has all of it is wider than most terminals.
    header = [*uid[0], "NODE", "OWNER", "PHASE", "AGE"]
    row = [
        *uid[1],
        facts.node or "",
        facts.owner,
        phase,
        "" if facts.age_seconds is None else _age(facts.age_seconds),
    ]
    yield from style.table(header, [row])
    row = [
        "" if facts.priority is None else str(facts.priority),
        facts.qos_class,
        facts.scheduler,
        amounts_text(facts.requests.items()),
    ]
    yield from style.table(["PRIORITY", "QOS", "SCHEDULER", "REQUESTS"], [row])
    if facts.gang is not None:
        yield from style.labelled({"Gang": printable(_gang(facts.gang))})
        yield ""


_NO_NAME = "'' (an empty name in the group)"
_MOST_GANGS = 10
"""Gangs of a group that are named."""


def _gang(gang: GangFacts) -> str:
    """Its minimum, and how many of its pods there are."""
    pods = f"{gang.num_running} running, {gang.num_pending} pending"
    if gang.min_member is None:
        return f"{gang.name}: no PodGroup and no valid minMember; {pods}"
    others = [each or _NO_NAME for each in dict.fromkeys(gang.group) if each != gang.name]
    more = [f"{len(others) - _MOST_GANGS:,} more"] if len(others) > _MOST_GANGS else []
    group = f", scheduled together with {', '.join([*others[:_MOST_GANGS], *more])}" if others else ""
    mode = f", mode: {gang.mode}, match-policy: {gang.match_policy}" if gang.mode else ""
    settings = f"minMember: {gang.min_member}{mode}"
    return f"{gang.name} ({settings}): {pods}, {gang.num_missing} missing{group}"


def _decision_table(decision: PodDecision, style: TableStyle) -> Iterator[str]:
    yield from style.heading(f"Decision: {_OUTCOMES.get(decision.outcome) or decision.summary}")
    yield from style.labelled({**_answered(decision.answers), "Wave": _wave(decision)})
    if decision.num_moves_before:
        yield f"{counted(decision.num_moves_before, 'other pod')} evicted before it in this run"
    if style.is_wide or decision.outcome == "unwanted":
        for miss in _misses(decision):
            yield from style.paragraph(miss, indent="  ")
    yield ""
    answers = decision.answers
    if style.is_wide or len(answers) > 1:
        rows = [[a.profile, a.plugin, a.result, a.code, a.subject, a.message or a.reason] for a in answers]
        yield from style.table(["PROFILE", "SELECTED BY", "RESULT", "CODE", "SUBJECT", "REASON"], rows)
    shown = [f for f in decision.filters if style.is_wide or (f.code and decision.outcome == "unwanted")]
    rows = [[f.profile, "no" if f.code else "yes", f.code, f.subject, f.message] for f in shown]
    yield from style.table(["PROFILE", "EVICTABLE", "CODE", "SUBJECT", "REASON"], rows)


def _wave(decision: PodDecision) -> str:
    """Such as `2 of 3 (starts when wave 1 has ended)`; empty where all pods are evicted together."""
    if decision.wave is None or decision.num_waves < 2:
        return ""
    after = f" (starts when wave {decision.wave - 1} has ended)" if decision.wave > 1 else ""
    return f"{decision.wave} of {decision.num_waves}{after}"


_OUTCOMES = {"evicted": "evicted", "kept": "not evicted", "unwanted": "not selected by any plugin"}


def _answered(answers: tuple[PluginAnswer, ...]) -> dict[str, str]:
    """Who selected the pod, and what blocks its eviction."""
    decisive = next((answer for answer in answers if answer.result == "evicted"), answers[0] if answers else None)
    if decisive is None:
        return {}
    reason = f": {decisive.reason}" if decisive.reason else ""
    others = dict.fromkeys(answer.plugin for answer in answers if answer.plugin != decisive.plugin)
    return {
        "Selected by": printable(f"{decisive.plugin} (profile {decisive.profile}){reason}"),
        "Blocked by": printable(f"{decisive.code}: {decisive.message}") if decisive.code else "",
        "Also selected by": ", ".join(others),
    }


def _misses(decision: PodDecision) -> Iterator[str]:
    """A line a plugin, with its profile where there are several."""
    several = len({f.profile for f in decision.filters} | {miss.profile for miss in decision.not_selected}) > 1
    for miss in decision.not_selected:
        yield f"{miss.plugin}{f' (profile {miss.profile})' if several else ''}: {miss.message}"


def _landing_table(landing: ExplainedLanding, style: TableStyle) -> Iterator[str]:
    yield from style.heading(f"If evicted: {landing.summary}")
    allocated = allocations_text(landing.allocations)
    if allocated:
        yield from style.paragraph(printable(f"allocated on {landing.node}: {allocated}"))
    for note in landing.notes:
        yield from style.paragraph(note)
    yield ""
    if style.is_wide and landing.verdict is not None:
        row = [
            landing.verdict,
            landing.cold or "",
            landing.settled or "",
            landing.source,
            landing.returns,
            "" if landing.margin is None else str(landing.margin),
            ", ".join(landing.nodes),
        ]
        yield from style.table(
            ["VERDICT", "POD TERMINATING", "POD DELETED", "SPEC FROM", "CREATED", "MARGIN", "NODES"], [row]
        )


def _age(seconds: float) -> str:
    """The two largest units, such as `3d4h`."""
    rest = max(0, int(seconds))
    parts = []
    for step, unit in _STEPS:
        number, rest = divmod(rest, step)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts[:2]) or "0s"


def _answer(asked: Inquiry) -> Answer[PodExplanation]:
    pod = find_pod(asked.snapshot, asked.name)
    run = asked.run((pod,))
    explanation, warnings = explain_pod(pod, asked.snapshot, asked.settings, now=asked.now, run=run)
    return Answer(explanation, (*(() if run is None else run.notes), *warnings))


SUBJECT = Explained(PodExplanation, _answer, pod_table)

"""The pods of a workload or of a namespace: what becomes of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.asked import Answer, Explained, Inquiry
from descheduler.explanation.finding import GROUP_KINDS, OwnedPods, find_group
from descheduler.explanation.landings import LandingCount, count_landings, landing_lines, landing_message, verdict_word
from descheduler.explanation.moved_cluster import MovedCluster
from descheduler.explanation.scheduling.volcano import VolcanoFacts, volcano_facts, volcano_tables
from descheduler.explanation.watched_run import PluginAnswer, PodDecision, WatchedRun
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.placement.landings.landing import Landing
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.plan.document import LandingCause, LandingWord
from descheduler.report.plan.landings import landing_causes
from descheduler.report.tables.gang_rows import by_gang, shown_nodes, shown_pods
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import target_text


class ExplainedPod(Fields, frozen=True):
    """One of the pods: what the run decides about it, and where its replacement would be scheduled.

    `outcome` is as in `PodDecision`, null without a policy. `plugin` and `reason` are those of the plugin that selected
    it, `code` and `message` say what blocks its eviction, and `subject` names the object that does. With a policy
    `landing`, `to` and `landing_message` are those of the run, for an evicted pod only; without one they are those of
    this pod evicted alone.
    """

    pod: PodReference
    node: str | None
    outcome: Literal["evicted", "kept", "unwanted", "unjudged"] | None
    plugin: str
    reason: str
    code: str
    message: str
    subject: str
    landing: LandingWord | None
    to_node: str | None = msgspec.field(name="to")
    landing_message: str


class GroupExplanation(Fields, frozen=True):
    """The pods of a workload (`kind`, `namespace` and `name`) or of a namespace, which have not finished.

    `unjudged` says why no plugin ran, else it is empty. `landing_counts` and `causes` count the landings in `pods`.
    `volcano` is null where none of them belongs to a job of Volcano.
    """

    kind: str
    namespace: str
    name: str
    unjudged: str
    volcano: VolcanoFacts | None
    pods: tuple[ExplainedPod, ...]
    landing_counts: tuple[LandingCount, ...]
    causes: tuple[LandingCause, ...]


def explain_group(
    group: OwnedPods, snapshot: Snapshot, settings: SchedulingSettings, *, now: datetime, run: WatchedRun | None
) -> tuple[GroupExplanation, tuple[str, ...]]:
    """The explanation of the pods of `group`, and warnings.

    With a `run` only the pods that it evicts have a landing, without one all that have a node.
    """
    pods = group.pods
    books_likely, held = run is None or not run.decisions.is_verified, {} if run is None else run.held
    cluster = snapshot if run is None else run.decisions.snapshot
    moved = MovedCluster(cluster, settings, now=now, books_likely=books_likely, held=held)
    if run is None:
        landings = {id(pod): moved.landing_of(pod) for pod in pods if pod.node_name}
    else:
        landings = _landings_in(run, pods, moved)
    found = [landings[id(pod)] for pod in pods if id(pod) in landings]
    explanation = GroupExplanation(
        kind=group.kind,
        namespace=group.namespace,
        name=group.name,
        unjudged="" if run is None else run.decisions.skipped,
        volcano=volcano_facts(pods, moved.cluster, moved.configuration),
        pods=tuple(_explained(pod, run, landings.get(id(pod))) for pod in pods),
        landing_counts=count_landings(found),
        causes=tuple(landing_causes(found)),
    )
    return explanation, moved.warnings


def _landings_in(run: WatchedRun, pods: Iterable[Pod], moved: MovedCluster) -> dict[int, Landing]:
    wanted = set(map(id, pods))
    evicted = [move.pod for move in run.decisions.leaving]
    landings = zip(evicted, moved.book_all(evicted), strict=True)
    return {id(pod): landing for pod, landing in landings if id(pod) in wanted}


def _explained(pod: Pod, run: WatchedRun | None, landing: Landing | None) -> ExplainedPod:
    decision = None if run is None else run.decision_about(pod)
    answer = _decisive(decision)
    return ExplainedPod(
        pod=reference(pod),
        node=pod.node_name or None,
        outcome=None if decision is None else decision.outcome,
        plugin=answer.plugin,
        reason=answer.reason,
        code=answer.code,
        message=answer.message,
        subject=answer.subject,
        landing=None if landing is None else verdict_word(landing),
        to_node=None if landing is None else landing.node,
        landing_message="" if landing is None else landing_message(landing),
    )


_UNASKED = PluginAnswer(profile="", plugin="", result="kept", reason="", code="", message="", subject="")


def _decisive(decision: PodDecision | None) -> PluginAnswer:
    """The answer that evicts the pod, else the first one, which says what blocks it; one of empty words without any."""
    answers = (*(() if decision is None else decision.answers), _UNASKED)
    return next((answer for answer in answers if answer.result == "evicted"), answers[0])


_MOST_UNSELECTED = 20
"""Pods up to which those that no plugin selects are shown in a table that is not wide."""
_OUTCOMES = {"evicted": "evicted", "kept": "not evicted", "unwanted": "not selected", "unjudged": "skipped"}


def group_table(explanation: GroupExplanation, style: TableStyle) -> Iterator[str]:
    """A row a pod, one for several where their gang blocks them, then the replacements by verdict, and last the sum."""
    shown = explanation.pods
    if not style.is_wide and len(shown) > _MOST_UNSELECTED:
        shown = tuple(pod for pod in shown if pod.outcome not in ("unwanted", "unjudged"))
    rows = [
        _row(group, has_plugins=style.is_wide)
        for group in ([[pod] for pod in shown] if style.is_wide else by_gang(shown))
    ]
    columns = ["NAMESPACE", "POD", "NODE", "DECISION", *(["PLUGIN"] if style.is_wide else []), "TARGET", "REASON"]
    if explanation.pods[0].outcome is None:
        columns = ["NAMESPACE", "POD", "NODE", "TARGET", "REASON"]
    yield from style.table(columns, style.without_repeats(rows))
    if len(shown) < len(explanation.pods):
        words = "pod that no plugin selects is", "pods that no plugin selects are"
        yield f"{counted(len(explanation.pods) - len(shown), *words)} not shown; -o wide shows all"
        yield ""
    yield from volcano_tables(explanation.volcano, style)
    yield from landing_lines(explanation.landing_counts, explanation.causes, style)
    yield style.palette.heading(_summary(explanation))


def _row(group: Sequence[ExplainedPod], *, has_plugins: bool) -> list[str]:
    """The cells; without a column for the plugin, which few terminals have room for, the reason begins with it."""
    pod = group[0]
    where = [pod.pod.namespace, shown_pods(group), shown_nodes(each.node for each in group)]
    is_predicted = pod.landing is not None or pod.landing_message
    target = target_text(pod.landing, pod.to_node) if is_predicted else ""
    why = pod.landing_message if pod.landing in (None, "lands_if", "no") else ""
    if pod.outcome is None:
        return [*where, target, why]
    blocked = f"blocked by {pod.code}: {pod.message}" if pod.code else ""
    selected = pod.reason if len({each.reason for each in group}) == 1 else ""
    reason = "; ".join(filter(None, (selected, blocked, why if pod.outcome == "evicted" else "")))
    if has_plugins:
        return [*where, _OUTCOMES[pod.outcome], pod.plugin, target, reason]
    return [*where, _OUTCOMES[pod.outcome], target, ": ".join(filter(None, (pod.plugin, reason)))]


def _summary(explanation: GroupExplanation) -> str:
    """Such as `Deployment shop/web: 3 pods, 1 would be evicted, 2 not selected by any plugin`."""
    key = f"{explanation.namespace}/{explanation.name}" if explanation.namespace else explanation.name
    num_pods = len(explanation.pods)
    lead = f"{explanation.kind} {key}: {counted(num_pods, 'pod')}"
    if explanation.unjudged:
        return f"{lead}; the run was skipped: {explanation.unjudged}"
    counts = Counter(pod.outcome for pod in explanation.pods)
    parts = [
        f"{counts['evicted']} would be evicted",
        f"{counts['kept']} selected but not evicted",
        f"{counts['unwanted']} not selected by any plugin",
    ]
    return ", ".join([lead, *(part for part in parts if not part.startswith("0 "))])


def _answer(asked: Inquiry) -> Answer[GroupExplanation]:
    group = find_group(asked.snapshot, GROUP_KINDS[asked.type], asked.name)
    run = asked.run(group.pods)
    explanation, warnings = explain_group(group, asked.snapshot, asked.settings, now=asked.now, run=run)
    return Answer(explanation, (*(() if run is None else run.notes), *warnings))


SUBJECT = Explained(GroupExplanation, _answer, group_table)

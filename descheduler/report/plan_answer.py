"""The document `PlanAnswer`: what a plan says about one pod, node, workload, namespace, budget or plugin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from msgspec.structs import replace

from descheduler.model.text.counted import counted
from descheduler.report.document import API_VERSION, ApiVersion, PodReference, PolicyIdentity, SnapshotIdentity
from descheduler.report.formats.render import TabledDocument
from descheduler.report.plan.document import (
    BackgroundEviction,
    Plan,
    PlanMove,
    PlannedRefusal,
    PluginFigures,
    RepeatedRequest,
)
from descheduler.report.plan.figures import NodeFigures
from descheduler.report.plan.goal import BlockedNode, PendingPod
from descheduler.report.plan.workloads import PlannedWorkload
from descheduler.report.subjects import SUBJECTS
from descheduler.report.tables.columns import Row
from descheduler.report.tables.head_line import cluster_part, policy_part, time_part
from descheduler.report.tables.plan_table import move_target, node_table
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import condition_table


class PlanAnswer(TabledDocument, frozen=True):
    """What the plan with `plan_id` says about the thing of `type` called `name`; nothing was decided again.

    `sentence` sums it up. With `is_silent` the plan decides nothing about it: `sentence` says what that means. `moves`
    are the evictions of its pods, `arrivals` those of pods whose replacements are expected on it, if it is a node, and
    `pending_pods` the pending pods that are it or that are expected on it. `refusals`, `background` and
    `repeated_requests` are those of its pods. `blocked_nodes` say why it is not drained, if it is a node, or what it
    blocks, if it is a pod. `workloads`, `nodes` and `plugins` are entries of the plan about it.
    """

    api_version: ApiVersion
    kind: Literal["PlanAnswer"]
    plan_id: str
    now: datetime
    policy: PolicyIdentity
    snapshot: SnapshotIdentity
    type: str
    name: str
    sentence: str
    is_silent: bool
    moves: tuple[PlanMove, ...]
    arrivals: tuple[PlanMove, ...]
    pending_pods: tuple[PendingPod, ...]
    refusals: tuple[PlannedRefusal, ...]
    background: tuple[BackgroundEviction, ...]
    repeated_requests: tuple[RepeatedRequest, ...]
    blocked_nodes: tuple[BlockedNode, ...]
    workloads: tuple[PlannedWorkload, ...]
    nodes: tuple[NodeFigures, ...]
    plugins: tuple[PluginFigures, ...]

    def head(self) -> Sequence[str]:
        """As that of the plan."""
        policy, cluster = policy_part(self.policy.path), cluster_part(self.snapshot)
        return policy, cluster, time_part(self.now), f"plan: {self.plan_id}"

    def table(self, style: TableStyle) -> Iterator[str]:
        """A table for each kind of decision, and last the sentence."""
        header = ["NAMESPACE", "POD", "NODE", "TARGET", "WAVE", "PLUGIN", "REASON"]
        for title, moves in (("Evicted", self.moves), ("Replacement pods that are expected", self.arrivals)):
            rows = style.without_repeats(list(map(_move_row, moves)))
            yield from style.table(header, rows, title=f"{title}: {counted(len(moves), 'pod')}")
        conditions = ((each.pod, each.landing.conditions) for each in self.moves if each.landing)
        yield from condition_table(conditions, style)
        pending = [[each.pod.namespace, each.pod.name, each.to_node or "pending"] for each in self.pending_pods]
        yield from style.table(["NAMESPACE", "POD", "TARGET"], pending, title="Pending pods that need evictions")
        refused = [[*_names(each.pod), each.node, each.plugin, each.code, each.message] for each in self.refusals]
        header = ["NAMESPACE", "POD", "NODE", "PLUGIN", "CODE", "BLOCKED BY"]
        title = f"Not evicted: {counted(len(refused), 'pod')}"
        yield from style.table(header, style.without_repeats(refused), title=title)
        requests: Mapping[str, Sequence[BackgroundEviction | RepeatedRequest]] = {
            "Evicted by another controller": self.background,
            "Selected twice, evicted once": self.repeated_requests,
        }
        for title, listed in requests.items():
            rows = [[*_names(each.pod), each.node, each.plugin, each.reason] for each in listed]
            yield from style.table(["NAMESPACE", "POD", "NODE", "PLUGIN", "REASON"], rows, title=title)
        yield from node_table(self.nodes, style)
        yield from style.heading(f"{self.type} {self.name}: {self.sentence}")


_Request = PlanMove | PlannedRefusal | BackgroundEviction | RepeatedRequest


class _Asked(NamedTuple):
    """How a plan is searched for a thing: which requests and pods are about it, and the `node` or plugin that it is.

    `silence` says what it means where the plan decides nothing about it.
    """

    silence: str
    takes: Callable[[_Request], bool]
    is_pod: Callable[[PodReference], bool] = lambda pod: False
    node: str = ""
    plugin: str = ""
    workloads: Sequence[PlannedWorkload] = ()


def answer_of(plan: Plan, type_name: str, name: str) -> PlanAnswer:
    """What `plan` says about the thing of that type, which is one of `ANSWERED`; names as `explain` has them."""
    asked = ANSWERED[type_name](plan, type_name, name)
    objectives = () if plan.goal is None else plan.goal.objectives
    pending = {each.pod: each for objective in objectives for each in objective.pending_pods}
    answer = PlanAnswer(
        api_version=API_VERSION,
        kind="PlanAnswer",
        plan_id=plan.plan_id,
        now=plan.now,
        policy=plan.policy,
        snapshot=plan.snapshot,
        type=type_name,
        name=name,
        sentence="",
        is_silent=False,
        moves=tuple(filter(asked.takes, plan.moves)),
        arrivals=tuple(each for each in plan.moves if asked.node and each.to_node == asked.node),
        pending_pods=tuple(
            each for each in pending.values() if asked.is_pod(each.pod) or (asked.node and each.to_node == asked.node)
        ),
        refusals=tuple(filter(asked.takes, plan.refusals)),
        background=tuple(filter(asked.takes, plan.background)),
        repeated_requests=tuple(filter(asked.takes, plan.repeated_requests)),
        blocked_nodes=tuple(
            each
            for objective in objectives
            for each in objective.blocked_nodes
            if each.node == asked.node or (each.pod is not None and asked.is_pod(each.pod))
        ),
        workloads=tuple(asked.workloads),
        nodes=tuple(each for each in plan.figures.nodes if each.name == asked.node),
        plugins=tuple(each for each in plan.plugins if each.plugin == asked.plugin),
    )
    said = "; ".join(_sentences(answer))
    silent = f"the plan decides nothing about it: {asked.silence}"
    return replace(answer, is_silent=not said, sentence=said or silent)


def _sentences(answer: PlanAnswer) -> Iterator[str]:
    """What is done with it, in short; nothing where the plan decides nothing about it."""
    if answer.moves:
        waves = sorted({move.wave for move in answer.moves})
        span = f"wave {waves[0]}" if len(waves) == 1 else f"waves {waves[0]} to {waves[-1]}"
        yield f"{counted(len(answer.moves), 'pod')} evicted in {span}"
    for each in answer.workloads:
        most = max((share.pods for share in each.waves), default=0)
        yield f"{each.moved:,} of {counted(each.replicas, 'replica')} evicted, at most {most:,} at once"
    if answer.background:
        yield f"{counted(len(answer.background), 'pod')} evicted by another controller"
    if answer.refusals:
        codes = Counter(refusal.code for refusal in answer.refusals).most_common()
        said = ", ".join(f"{code} {number:,}" for code, number in codes)
        yield f"{counted(len(answer.refusals), 'pod')} selected and not evicted ({said})"
    if answer.arrivals:
        yield f"{counted(len(answer.arrivals), 'replacement pod')} expected"
    if pending := answer.pending_pods:
        placed = sum(each.to_node is not None for each in pending)
        yield f"{placed:,} of {counted(len(pending), 'pending pod')} can be scheduled after evictions"
    for blocked in answer.blocked_nodes:
        named = "" if blocked.node == answer.name else f"node {blocked.node} "
        yield f"{named}cannot be drained: {blocked.cause}"
    yield from (each.facts.why_nothing for each in answer.plugins if each.facts and each.facts.why_nothing)


def _pod(plan: Plan, type_name: str, name: str) -> _Asked:
    silence = "no plugin selected it, or it was not in the cluster; descheduler explain without --plan says which"
    return _of_pods(silence, lambda pod: _is_called(name, pod.namespace, pod.name))


def _of_pods(silence: str, is_pod: Callable[[PodReference], bool]) -> _Asked:
    return _Asked(silence, lambda request: is_pod(request.pod), is_pod)


def _node(plan: Plan, type_name: str, name: str) -> _Asked:
    silence = "no pod of it was selected, and no replacement pod is expected on it"
    return _Asked(silence, lambda request: _node_of(request) == name, node=name)


def _node_of(request: _Request) -> str:
    return request.from_node if isinstance(request, PlanMove) else request.node


def _plugin(plan: Plan, type_name: str, name: str) -> _Asked:
    return _Asked("the policy of the plan does not enable it", lambda request: request.plugin == name, plugin=name)


def _group(plan: Plan, type_name: str, name: str) -> _Asked:
    if type_name == "namespace":
        return _of_pods("no plugin selected a pod of it", lambda pod: pod.namespace == name)
    named = (each for each in plan.workloads if each.kind.lower() == type_name)
    workloads = [each for each in named if _is_called(name, each.namespace, each.name)]
    pods = {pod for each in workloads for pod in each.pods}
    silence = "no pod of it is evicted, and a plan does not tell which pods that are not evicted belong to it"
    return _Asked(silence, lambda request: request.pod in pods, workloads=workloads)


def _budget(plan: Plan, type_name: str, name: str) -> _Asked:
    workloads = [each for each in plan.workloads if any(_is_called(name, each.namespace, b.name) for b in each.budgets)]
    pods = {pod for each in workloads for pod in each.pods}

    silence = "no pod of a workload that it covers is evicted, and it blocks no eviction"
    return _Asked(silence, lambda each: each.pod in pods or _is_blocked_by(each, name), workloads=workloads)


def _is_blocked_by(request: _Request, budget: str) -> bool:
    """Whether it is a refusal because of a PodDisruptionBudget of that name."""
    if not isinstance(request, PlannedRefusal) or request.api_answer is None:
        return False
    namespace, _, name = request.subject.partition("/")
    return _is_called(budget, namespace, name)


_READERS: Mapping[str, Callable[[Plan, str, str], _Asked]] = {
    "pod": _pod,
    "node": _node,
    "plugin": _plugin,
    "group": _group,
    "budgets": _budget,
}
"""Field of a subject → how a plan is searched for a thing of its types."""
ANSWERED: Mapping[str, Callable[[Plan, str, str], _Asked]] = {
    kind.name: _READERS[subject.field] for subject in SUBJECTS if subject.field in _READERS for kind in subject.types
}
"""The types that plans say something about, by name."""


def _is_called(asked: str, namespace: str, name: str) -> bool:
    """Whether it is the one that was asked for: `namespace/name`, `name` of any namespace, or `namespace/` for all."""
    own, slash, bare = asked.rpartition("/")
    return (not slash or own == namespace) and bare in ("", name)


def _names(pod: PodReference) -> tuple[str, str]:
    return pod.namespace, pod.name


def _move_row(move: PlanMove) -> Row:
    return [*_names(move.pod), move.from_node, move_target(move), f"{move.wave}", move.plugin, move.reason]

"""The document `PlanDifference`: how two plans differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from descheduler.documents.fields import Fields
from descheduler.model.text.counted import counted
from descheduler.report.document import API_VERSION, ApiVersion, PodReference, ShardIdentity
from descheduler.report.formats.render import TabledDocument
from descheduler.report.identities import shard_of
from descheduler.report.plan.document import Plan, PlanMove
from descheduler.report.plan.goal import goal_texts
from descheduler.report.tables.columns import Row
from descheduler.report.tables.head_line import policy_part, time_text
from descheduler.report.tables.summary import plan_headline
from descheduler.report.tables.table_style import TableStyle


class MoveInShort(Fields, frozen=True):
    """A pod that one of the plans moves. `to` is null where no node is predicted."""

    pod: PodReference
    from_node: str
    to_node: str | None
    wave: int
    plugin: str
    reason: str


class ChangedMove(Fields, frozen=True):
    """A pod that both plans move, otherwise. `changed` names the fields that differ."""

    pod: PodReference
    old: MoveInShort
    new: MoveInShort
    changed: tuple[str, ...]


class PlanInShort(Fields, frozen=True):
    """One of the plans: its identity, when it was decided, how many pods it evicts and keeps, its sentences about
    the goal, and its shard, null where it is of the whole cluster."""

    plan_id: str
    now: datetime
    policy: str
    policy_digest: str
    source: str
    evictions: int
    refused: int
    goals: tuple[str, ...]
    shard: ShardIdentity | None


class PlanDifference(TabledDocument, frozen=True):
    """How `new` differs from `old`. Pods are the same by uid, those without one by namespace and name.

    `is_empty` says that both evict the same pods, to the same nodes and in the same waves.
    """

    api_version: ApiVersion
    kind: Literal["PlanDifference"]
    old: PlanInShort
    new: PlanInShort
    added: tuple[MoveInShort, ...]
    gone: tuple[MoveInShort, ...]
    changed: tuple[ChangedMove, ...]
    unchanged: int

    @property
    def is_empty(self) -> bool:
        """Whether the plans do the same."""
        return not (self.added or self.gone or self.changed)

    def head(self) -> Sequence[str]:
        """Both policies where they differ, and both plans."""
        policies = " and ".join(dict.fromkeys((self.old.policy, self.new.policy)))
        return policy_part(policies), f"plans: {self.old.plan_id} and {self.new.plan_id}"

    def table(self, style: TableStyle) -> Iterator[str]:
        """A table for each kind of difference, and a summary."""
        header = ["NAMESPACE", "POD", "NODE", "TARGET", "WAVE", "REASON"]
        for title, moves in (("Only in the new plan", self.added), ("Only in the old plan", self.gone)):
            rows = style.without_repeats(list(map(_row, moves)))
            yield from style.table(header, rows, title=f"{title}: {counted(len(moves), 'pod')}")
        changes = [[each.pod.namespace, each.pod.name, _change(each)] for each in self.changed]
        title = f"In both plans, changed: {counted(len(changes), 'pod')}"
        yield from style.table(["NAMESPACE", "POD", "CHANGE"], changes, title=title)
        yield style.palette.heading("Both plans do the same" if self.is_empty else self._headline())
        yield from style.labelled(
            {
                "Old plan": _plan_text(self.old),
                "New plan": _plan_text(self.new),
                "Policy": "" if self.old.policy_digest == self.new.policy_digest else "differs",
                "Shard": _shards_text(self.old.shard, self.new.shard),
                "Unchanged": counted(self.unchanged, "pod"),
            }
        )

    def _headline(self) -> str:
        return f"{len(self.added):,} added, {len(self.gone):,} gone, {len(self.changed):,} changed"


def difference_of(old: Plan, new: Plan) -> PlanDifference:
    """How `new` differs from `old`."""
    before, after = _by_pod(old), _by_pod(new)
    both = [(before[key], move) for key, move in after.items() if key in before]
    changed = [ChangedMove(pod=m.pod, old=_short(o), new=_short(m), changed=c) for o, m in both if (c := _fields(o, m))]
    return PlanDifference(
        api_version=API_VERSION,
        kind="PlanDifference",
        old=_plan_in_short(old),
        new=_plan_in_short(new),
        added=tuple(_short(move) for key, move in after.items() if key not in before),
        gone=tuple(_short(move) for key, move in before.items() if key not in after),
        changed=tuple(changed),
        unchanged=len(both) - len(changed),
    )


def _by_pod(plan: Plan) -> Mapping[str, PlanMove]:
    return {move.pod.uid or f"{move.pod.namespace}/{move.pod.name}": move for move in plan.moves}


def _fields(old: PlanMove, new: PlanMove) -> tuple[str, ...]:
    pairs = {
        "from": (old.from_node, new.from_node),
        "to": (old.to_node, new.to_node),
        "wave": (old.wave, new.wave),
        "plugin": (old.plugin, new.plugin),
        "reason": (old.reason, new.reason),
        "landing": (old.landing and old.landing.verdict, new.landing and new.landing.verdict),
    }
    return tuple(name for name, (one, other) in pairs.items() if one != other)


def _short(move: PlanMove) -> MoveInShort:
    return MoveInShort(
        pod=move.pod,
        from_node=move.from_node,
        to_node=move.to_node,
        wave=move.wave,
        plugin=move.plugin,
        reason=move.reason,
    )


def _plan_in_short(plan: Plan) -> PlanInShort:
    goals = () if plan.goal is None else goal_texts(plan.goal)
    return PlanInShort(
        plan_id=plan.plan_id,
        now=plan.now,
        policy=plan.policy.path,
        policy_digest=plan.policy.digest,
        source=plan.snapshot.source,
        evictions=len(plan.moves),
        refused=len(plan.refusals),
        goals=tuple(goals) or (plan_headline(plan),),
        shard=plan.snapshot.shard,
    )


def _row(move: MoveInShort) -> Row:
    return [move.pod.namespace, move.pod.name, move.from_node, move.to_node or "", f"{move.wave}", move.reason]


def _change(each: ChangedMove) -> str:
    old, new = each.old, each.new
    texts = {
        "from": f"node {old.from_node} → {new.from_node}",
        "to": f"target {old.to_node or 'unknown'} → {new.to_node or 'unknown'}",
        "wave": f"wave {old.wave} → {new.wave}",
        "plugin": f"plugin {old.plugin} → {new.plugin}",
        "reason": f"reason: {new.reason}",
        "landing": "another verdict on its landing",
    }
    return "; ".join(texts[name] for name in each.changed)


def _shards_text(old: ShardIdentity | None, new: ShardIdentity | None) -> str:
    """That the plans are of different parts of the cluster; "" where they are of the same."""
    one, other = shard_of(old), shard_of(new)
    return "" if one == other else f"differs: {one.whole_name} and {other.whole_name}"


def _plan_text(plan: PlanInShort) -> str:
    return f"{plan.plan_id} of {plan.source} at {time_text(plan.now)}: {'; '.join(plan.goals)}"

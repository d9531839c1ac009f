"""The Python API: one dry cycle over objects at hand, without I/O."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.beyond_limits import with_beyond
from descheduler.cycle.deciding.decide import decide, decide_again
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.eviction.background import EvictionAnswer
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions, Failure
from descheduler.plan.moves import Move, Refusal
from descheduler.policy.load import load_policy
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan


class EvaluatedEviction(msgspec.Struct, frozen=True):
    """A pod that would be evicted. `is_repeated` marks a further request for a pod that is evicted already.

    `target_node` is where its replacement lands, None when it lands nowhere, or when that was not looked up: only
    the first evictions of a policy without PlacementVerification are.
    """

    namespace: str
    name: str
    node: str
    profile: str
    plugin: str
    reason: str
    target_node: str | None = None
    is_repeated: bool = False


class EvaluatedRefusal(msgspec.Struct, frozen=True):
    """A refusal of a pod that a plugin selected. `is_attempt` when a limit or the API said no.

    `limit` is the key of the limit that is reached, empty when it is something else.
    """

    namespace: str
    name: str
    node: str
    profile: str
    plugin: str
    code: str
    message: str
    is_attempt: bool = False
    limit: str = ""


class Evaluation(msgspec.Struct, frozen=True):
    """Decisions of one dry cycle, in the order in which they were taken.

    `background` are evictions that another controller would carry out; `num_background` counts those found in
    progress as well. `failures` are plugins that could not work.
    """

    evictions: tuple[EvaluatedEviction, ...]
    refusals: tuple[EvaluatedRefusal, ...]
    background: tuple[EvaluatedEviction, ...]
    num_background: int
    failures: tuple[Failure, ...]
    decisions: Decisions

    @property
    def plan(self) -> Plan:
        """The full plan document of this cycle."""
        return make_plan(self.decisions)


def evaluate(
    policy: Path | str | Mapping[str, object],
    objects: Iterable[Mapping[str, object]] | Mapping[str, object] | Path | str,
    now: datetime | None = None,
    *,
    eviction_answers: Mapping[str, EvictionAnswer] | None = None,
    node_samples: Mapping[str, Mapping[str, float]] | None = None,
    feature_gates: Mapping[str, bool] | None = None,
) -> Evaluation:
    """What one cycle of `policy` would do to a cluster of `objects`, at the instant `now` (aware; default: this one).

    `policy` is a path, YAML or JSON text, or a decoded document; a string of one line that ends like a file name, or
    names a file, is a path. `objects` are Kubernetes objects of any kinds as `kubectl get -o json` gives them (unknown
    kinds are ignored), one such list, or the path of a dump. `eviction_answers` maps `namespace/name` to a refusal of
    the eviction API, `node_samples` a Prometheus query to node name (or `namespace/name` of a pod) → sample.

    Raises PolicyError on a bad policy, SnapshotError on objects that cannot be read, ValueError on a naive `now`.
    """
    instant = now or datetime.now(UTC)
    if instant.tzinfo is None:
        raise ValueError(f"now is {instant.isoformat()!r} without a zone; give an aware datetime")
    loaded = load_policy(Path(policy) if isinstance(policy, str) and _names_file(policy) else policy, REGISTRY)
    snapshot = _snapshot(objects, snapshot_request(loaded, Landings.ASSESSED), node_samples or {})
    setting, this_round = RunSetting(feature_gates or {}), Round(eviction_answers or {})
    decisions = decide(loaded, snapshot, now=instant, setting=setting, this_round=this_round)
    again = decide_again(snapshot, now=instant, setting=setting, this_round=this_round)
    return evaluation_of(with_beyond(decisions, again))


def evaluation_of(decisions: Decisions) -> Evaluation:
    """The decisions in plain values."""
    return Evaluation(
        evictions=tuple(map(_eviction, decisions.moves)),
        refusals=tuple(map(_refusal, decisions.refusals)),
        background=tuple(map(_eviction, decisions.background)),
        num_background=decisions.num_background,
        failures=decisions.failures,
        decisions=decisions,
    )


def _names_file(text: str) -> bool:
    """Whether `text` is a path rather than a document: no policy fits on one line that ends in `.yaml`."""
    return "\n" not in text and (text.endswith((".yaml", ".yml", ".json")) or os.path.isfile(text))


def _snapshot(
    objects: Iterable[Mapping[str, object]] | Mapping[str, object] | Path | str,
    request: SnapshotRequest,
    node_samples: Mapping[str, Mapping[str, float]],
) -> Snapshot:
    if isinstance(objects, (Path, str)):
        snapshot = read_dump([Path(objects)], request)
    else:
        snapshot = snapshot_from_objects([objects] if isinstance(objects, Mapping) else objects, request)
    return replace(snapshot, node_samples=node_samples)


def _eviction(move: Move) -> EvaluatedEviction:
    pod = move.pod
    return EvaluatedEviction(
        namespace=pod.namespace,
        name=pod.name,
        node=pod.node_name,
        profile=move.profile,
        plugin=move.plugin,
        reason=move.reason,
        target_node=move.to_node,
        is_repeated=move.is_repeated,
    )


def _refusal(refusal: Refusal) -> EvaluatedRefusal:
    pod, reason = refusal.pod, refusal.verdict.reason or Reason.UNSET
    return EvaluatedRefusal(
        namespace=pod.namespace,
        name=pod.name,
        node=pod.node_name,
        profile=refusal.profile,
        plugin=refusal.plugin,
        code=str(reason.value),
        message=refusal.verdict.message,
        is_attempt=refusal.is_attempt,
        limit="" if refusal.verdict.limit is None else refusal.verdict.limit.value,
    )

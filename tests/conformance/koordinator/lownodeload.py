"""Recorded rounds of LowNodeLoad: which pods leave which nodes, and why.

The policy is loaded and its profile run as users' are. What the recording held still is held still here: an evicted pod
stays in the cluster, no time passes between rounds, and the evictor accepts what the labels of the pods say.

A result that depends on the order in which nodes and pods were listed is not compared: the recording says nothing about
other orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.profiles import ProfileSurroundings, run_profiles
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.documents.problems import PolicyError
from descheduler.eviction.checks.table import REQUEST_CHECKS, CheckContext, make_evictor
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.handle import Handle
from descheduler.eviction.node_fit import NodeFit
from descheduler.eviction.request_check import PodByPod
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import PluginSpec, Registry
from descheduler.policy.shared_args import Args
from descheduler.policy.types import Policy

Case = Mapping[str, Any]
Evicted = list[dict[str, str]]
"""What one round evicts, in order: node, pod and reason."""

_EVICTOR = "RecordedEvictor"
_REFUSED = refuse(Reason.API_REFUSED, "as recorded")
_LIMITS = {
    "node": "maxNoOfPodsToEvictPerNode",
    "namespace": "maxNoOfPodsToEvictPerNamespace",
    "total": "maxNoOfPodsToEvictTotal",
}


def check(case: Case) -> str | None:
    """What differs from the recorded rounds; None when nothing does, or nothing that the recording decides."""
    expect = case["expect"]
    try:
        policy = load_policy(_document(case), _registry())
    except PolicyError as error:
        return None if "args_error" in expect else f"the arguments do not load: {error}"
    if "args_error" in expect:
        return f"the arguments load, and should not: {expect['args_error']}"
    ours = list(_rounds(case, policy))
    if expect["deterministic"]:
        return _difference(ours, [round_["evicted"] for round_ in expect["rounds"]])
    return None


def _document(case: Case) -> dict[str, Any]:
    limits = case.get("limits") or {}
    only_ours = {"enabled": [{"name": _EVICTOR}], "disabled": [{"name": "*"}, {"name": "PlacementVerification"}]}
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "LowNodeLoad", "args": case["args"]}],
        "plugins": {"balance": {"enabled": [{"name": "LowNodeLoad"}]}, "evict": only_ours, "filter": only_ours},
    }
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [profile],
        **{key: limits[name] for name, key in _LIMITS.items() if name in limits},
    }


def _rounds(case: Case, policy: Policy) -> Iterator[Evicted]:
    """The evictions of each round. The detectors live from round to round, in the memory of the run."""
    memory = RunMemory()
    metrics: list[Any] = []
    now = datetime.fromisoformat(case["now"])
    for round_ in case["rounds"]:
        metrics = round_.get("nodeMetrics", metrics)
        request = snapshot_request(policy, Landings.UNSEEN, registry=_registry())
        snapshot = snapshot_from_objects([*case["nodes"], *case["pods"], *metrics], request)
        moves, memory = _round(policy, snapshot, now, memory)
        yield [{"node": move.pod.node_name, "pod": move.pod.key, "reason": move.reason} for move in moves]


def _round(policy: Policy, snapshot: Snapshot, now: datetime, memory: RunMemory) -> tuple[tuple[Move, ...], RunMemory]:
    """The evictions of one round, and what it leaves for the next."""
    view = ClusterView(snapshot, moves_take_effect=False)
    handle = Handle(policy, view, NodeFit(view, spares_namesakes=False), now)
    evictor = make_evictor(handle, checks=(*REQUEST_CHECKS, _RecordedAnswers))
    setting = RunSetting(registry=_registry(), memory=memory)
    run = run_profiles(ProfileSurroundings(handle, evictor, setting, nodes=view.ready_nodes(EVERYTHING)))
    return tuple(evictor.book.moves), memory.after(now, run.notes)


class _RecordedFilter:
    """Accepts every pod but those whose label says otherwise."""

    def filter(self, pod: Pod) -> Verdict:
        return _REFUSED if pod.labels.get("oracle/evictable") == "false" else ACCEPTED

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        return ACCEPTED


class _RecordedAnswers(PodByPod):
    """Refuses the eviction of pods whose label says that it fails."""

    def __init__(self, context: CheckContext) -> None:
        del context

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        del bundle
        return _REFUSED if candidate.pod.labels.get("oracle/evict") == "fails" else ACCEPTED


def _registry() -> Registry:
    spec = PluginSpec(
        name=_EVICTOR,
        args_type=Args,
        extension_points=frozenset({"filter", "preEvictionFilter", "evict"}),
        factory=lambda args, handle: _RecordedFilter(),
    )
    return {**REGISTRY, _EVICTOR: spec}


def _difference(ours: list[Evicted], recorded: list[Evicted]) -> str | None:
    if len(ours) != len(recorded):
        return f"{len(ours)} rounds instead of {len(recorded)}"
    for number, (found, expected) in enumerate(zip(ours, recorded, strict=True)):
        if _comparable(found) != _comparable(expected):
            return f"round {number}: {_comparable(found)} instead of {_comparable(expected)}"
    return None


def _comparable(evicted: Evicted) -> list[tuple[str, str, list[str]]]:
    return [(each["node"], each["pod"], _parts(each["reason"])) for each in evicted]


def _parts(reason: str) -> list[str]:
    """A reason with the parts after the first comma in a fixed order."""
    first, *others = reason.split(", ")
    return [first, *sorted(others)]

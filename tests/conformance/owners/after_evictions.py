"""What comes after recorded evictions, as the model of owners predicts it.

A victim is asked about with all others of its owner that the case evicts. How it ended is told, as nobody can know it
beforehand: its exit code, and whether it stopped at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import structs

from descheduler.cluster.kind import kind_key
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.quantity import parse_quantity
from descheduler.placement.replacements.answer import Ending, Returns
from descheduler.placement.replacements.controllers.table import CONTROLLERS
from descheduler.placement.replacements.replacement import Replacement, ReplacementMaker
from tests.conformance.owners.revisions import revision_of

Case = Mapping[str, Any]
Entry = Mapping[str, Any]

_NOTHING = "not replaced"
_WHEN_GONE = frozenset({"when finished", "when gone"})
_SKIPPED = frozenset({"refused", "dry run", "evicted again"})
_INDEX = "batch.kubernetes.io/job-completion-index"
_GONE_AT_ONCE_SECONDS = 0.5
_KILLED = 143
_JOB_ENDS = ("Failed", "Complete")
_ENDING = frozenset({"Failed", "Complete", "FailureTarget", "SuccessCriteriaMet"})


class _Asked(NamedTuple):
    """An eviction, the recorded entry of its replacement, and our prediction."""

    eviction: Entry
    entry: Entry
    made: Replacement


def check(case: Case) -> str | None:
    """What differs, or None."""
    snapshot = _snapshot(case)
    asked = list(_asked(case, snapshot))
    differences = [found for each in asked for found in _differences(case, each, snapshot)]
    differences += _differing_end(case, asked)
    return "; ".join(differences) or None


def _snapshot(case: Case) -> Snapshot:
    """The dump holds all objects of its cluster: of kinds that it leaves out there are none."""
    items: Sequence[Entry] = case["dump"]["items"]
    held = {kind_key(item["kind"], item["apiVersion"]) for item in items}
    absent = [kind for key, kind in KINDS.items() if key not in held]
    lists = [{"apiVersion": kind.api_version, "kind": f"{kind.name}List", "items": []} for kind in absent]
    return snapshot_from_objects([*items, *lists], SnapshotRequest(keep_templates=True))


def _asked(case: Case, snapshot: Snapshot) -> Iterator[_Asked]:
    now = datetime.fromisoformat(case["now"])
    entries = list(zip(case["evictions"], case["expect"]["replacements"], strict=True))
    together = {entry["pod"] for _, entry in entries if entry["outcome"] not in _SKIPPED}
    created = {each["name"]: each for each in case["expect"]["created"]}
    before: Replacement | None = None
    for eviction, entry in entries:
        if entry["outcome"] in _SKIPPED:
            continue
        if before is not None and all(pod.name != entry["pod"] for pod in snapshot.pods):
            # In its turn, the replacement of the one before.
            snapshot = _replaced(snapshot, before, created[entry["pod"]])
        victim = next(pod for pod in snapshot.pods if pod.name == entry["pod"])
        others = [pod for pod in snapshot.pods if pod.name in together and pod is not victim]
        gone = [pod for pod in others if victim.controller is not None and pod.controller == victim.controller]
        maker = ReplacementMaker(snapshot, now)
        before = maker.replacement_of(victim, gone=gone, ending=_ending(eviction["victim"]))
        yield _Asked(eviction, entry, before)


def _replaced(snapshot: Snapshot, before: Replacement, created: Entry) -> Snapshot:
    """The cluster once the replacement is there in the place of its victim."""
    assert before.pod is not None
    pod = structs.replace(before.pod, name=created["name"], uid="new", node_name=created["node"], is_ready=True)
    return replace(snapshot, pods=(*(each for each in snapshot.pods if each is not before.victim), pod))


def _ending(victim: Entry) -> Ending:
    if victim["terminalAfter"] is None and victim["lastPhase"] != "Pending":
        return Ending(None, stops=victim["goneAfter"] is not None)
    return Ending(0 if victim["lastPhase"] == "Succeeded" else _KILLED)


def _differences(case: Case, asked: _Asked, snapshot: Snapshot) -> Iterator[str]:
    entry, made = asked.entry, asked.made
    outcomes = {entry["outcome"], *entry.get("outcomes", ())}
    expected = _outcomes(asked)
    if not _may_be_in_doubt(case, asked) and (made.answer.doubt or not outcomes & expected):
        doubt = f" ({made.answer.doubt})" if made.answer.doubt else ""
        yield f"{entry['pod']}: {made.answer.returns.value}{doubt} instead of {' or '.join(sorted(outcomes))}"
    elif "by" in entry and made.pod is not None:
        yield from _differing_pod(case, case["expect"]["created"][entry["by"]], made, snapshot)


def _may_be_in_doubt(case: Case, asked: _Asked) -> bool:
    """Whether nobody can know: about a change that no controller has seen, or of an owner that is not modelled."""
    made = asked.made
    if not made.answer.doubt:
        return False
    owner = made.victim.controller
    is_modelled = owner is not None and kind_key(owner.kind, owner.api_version) in CONTROLLERS
    return case["unseen"] or "outcomes" in asked.entry or not is_modelled


def _outcomes(asked: _Asked) -> frozenset[str]:
    """The recorded outcomes that our answer allows."""
    answer, victim = asked.made.answer, asked.eviction["victim"]
    gone_after = victim["goneAfter"]
    is_gone_at_once = gone_after is not None and gone_after <= _GONE_AT_ONCE_SECONDS
    if not answer.is_created:
        return frozenset({_NOTHING})
    if answer.returns is Returns.LATER:
        return (
            frozenset({"delayed"})
            if not answer.conditions or answer.delay_seconds
            else _WHEN_GONE
            | {
                "delayed",
                _NOTHING,
            }
        )
    if answer.is_early:
        return frozenset({"at once"})
    return _WHEN_GONE | ({"at once"} if is_gone_at_once else set()) | ({_NOTHING} if gone_after is None else set())


def _differing_pod(case: Case, created: Entry, made: Replacement, snapshot: Snapshot) -> Iterator[str]:
    """What of the created pod is different from the predicted one, by what tells pods of its owner apart."""
    pod, name = made.pod, created["name"]
    assert pod is not None
    kind = "" if made.victim.controller is None else made.victim.controller.kind
    if kind == "StatefulSet" and pod.name != name:
        yield f"{name}: name {pod.name}"
    if kind == "DaemonSet" and created["nodeAffinity"] != [[made.answer.node]]:
        yield f"{name}: for node {made.answer.node} instead of {created['nodeAffinity']}"
    if pod.labels.get(_INDEX) != created["labels"].get(_INDEX):
        yield f"{name}: index {pod.labels.get(_INDEX)}"
    if "revision" in created and (revision := revision_of(made, case, snapshot)) != created["revision"]:
        yield f"{name}: revision {revision} instead of {created['revision']}"
    requests = [_quantities(each["resources"].get("requests", {})) for each in created["containers"]]
    if (ours := [dict(each.requests) for each in pod.spec.containers]) != requests:
        yield f"{name}: requests {ours} instead of {requests}"


def _quantities(requests: Mapping[str, str]) -> dict[str, int]:
    return {resource: parse_quantity(text) for resource, text in requests.items()}


def _differing_end(case: Case, asked: Sequence[_Asked]) -> Iterator[str]:
    """Whether and how a Job ends, unless it was ending before."""
    statuses = [item.get("status", {}) for item in case["dump"]["items"] if item["kind"] == "Job"]
    if any(each["type"] in _ENDING for status in statuses for each in status.get("conditions", ())):
        return
    ends = [each.made.answer.end for each in asked if each.made.answer.end is not None]
    ours = f"{ends[-1].condition}/{ends[-1].reason}" if ends else ""
    conditions = [each for each in case["expect"]["conditions"] if each["object"].startswith("Job/")]
    seen = [f"{each['type']}/{each['reason']}" for each in conditions if each["type"] in _JOB_ENDS]
    recorded = seen[-1] if seen else ""
    if ours != recorded:
        yield f"the Job ends as {ours or 'nothing'} instead of {recorded or 'nothing'}"

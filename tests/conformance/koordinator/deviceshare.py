"""Cases of DeviceShare: pods are scheduled one after the other by a profile that runs this plugin alone.

What is compared: whether PreFilter accepts the pod, and its reasons; what Filter says of each node; raw scores; whether
Reserve finds devices, which ones, how much of each, and in which order; what is free and used in the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from descheduler.cluster.decoding.koordinator.devices import decode_allocated
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import AllocatedDevices
from descheduler.model.pod import Pod
from descheduler.model.quantity import ceil_value, parse_quantity
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.configuration.kube_scheduler.plugin_args import SCHEDULER_API_VERSION
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import annotations_read_by
from descheduler.placement.plugins.device_share.device_state import DeviceCache
from descheduler.placement.plugins.device_share.filter import NAME
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import Placed, ShadowCluster

Case = Mapping[str, Any]
Step = Mapping[str, Any]


def check(case: Case) -> str | None:
    """What differs first from what was recorded, or None."""
    return next(_Run(case).differences(), None)


class _Run:
    """The plugin over the cluster of one case."""

    def __init__(self, case: Case) -> None:
        self._case = case
        request = SnapshotRequest(annotations=annotations_read_by(PLUGINS.values()))
        pods = [step["pod"] for step in case["steps"] if step["op"] == "schedule"]
        self._pods = {pod.key: pod for pod in snapshot_from_objects(pods, request).pods}
        self._bound: dict[str, Pod | Placed] = {}
        snapshot = snapshot_from_objects([*case["nodes"], *case["devices"], *case["pods"]], request)
        self._bound |= {pod.key: pod for pod in snapshot.pods if not pod.is_terminal}
        self._cluster = ShadowCluster(snapshot, reads_annotations=annotations_read_by(PLUGINS.values()))
        profile = load_scheduler_configuration(_configuration(case), plugins=PLUGINS).profiles[0]
        self._scheduler = Scheduler(self._cluster, profile, plugins=PLUGINS)

    def differences(self) -> Iterator[str]:
        """One entry for each step, and one for the end."""
        yield from self._amounts_differ("initial")
        for number, (step, expect) in enumerate(zip(self._case["steps"], self._case["expect"]["steps"], strict=True)):
            found = self._scheduled(step, expect) if step["op"] == "schedule" else self._deleted(step)
            yield from (f"step {number}: {difference}" for difference in found)
        yield from self._amounts_differ("final")

    def _deleted(self, step: Step) -> Iterator[str]:
        name = step["name"] if "/" in step["name"] else f"default/{step['name']}"
        bound = self._bound.pop(name, None)
        if isinstance(bound, Placed):
            self._cluster.take_off(bound)
        elif bound is not None:
            self._cluster.remove(bound)
        yield from ()

    def _scheduled(self, step: Step, expect: Step) -> Iterator[str]:
        pod = self._pods[_key(step["pod"])]
        evaluation = self._scheduler.evaluate(pod)
        refusal = evaluation.refusals[0] if evaluation.refusals else None
        is_skipped = expect["prefilter"] == "skip"
        yield from _verdict_differs("prefilter", None if is_skipped else expect["prefilter"], refusal)
        if refusal is not None or is_skipped:
            return
        names = self._cluster.table.names
        for index, name in enumerate(names):
            against = None if evaluation.feasible[index] else evaluation.first_obstacle_on(index)
            yield from _verdict_differs(f"filter of {name}", expect["filter"][name], against)
        if not evaluation.fits:
            return
        scores = self._scores(evaluation)
        if scores != expect["score"]:
            yield f"scores: expected {expect['score']}, got {scores}"
        yield from self._placed(pod, evaluation, _choice(step, scores), expect)

    def _scores(self, evaluation: PodEvaluation) -> Mapping[str, int]:
        table = self._scheduler.scores(evaluation)
        raw = table.by_plugin[NAME].raw
        assert raw is not None
        return {self._cluster.table.names[node]: int(score) for node, score in zip(table.nodes, raw, strict=True)}

    def _placed(self, pod: Pod, evaluation: PodEvaluation, node: str, expect: Step) -> Iterator[str]:
        if node != expect["node"]:
            yield f"node: expected {expect['node']}, got {node}"
            return
        placed = self._scheduler.place(evaluation, self._cluster.table.index[node])
        is_refused = bool(evaluation.cycle.notes)
        if is_refused is not bool(expect.get("reserve")):
            yield f"reserve: expected {expect.get('reserve')}, got {evaluation.cycle.notes}"
        if is_refused:
            self._cluster.take_off(placed)
            return
        self._bound[pod.key] = placed
        devices = placed.takings[0][1].devices if placed.takings else {}  # type: ignore[attr-defined]
        written = _annotation(decode_allocated(placed.patch[DEVICES_ALLOCATED_ANNOTATION])) if devices else {}
        if written != _comparable(expect.get("device_allocated")):
            yield f"device_allocated: expected {expect.get('device_allocated')}, got {written}"
        order = {name: [each.minor for each in entries] for name, entries in devices.items()}
        if order != (expect.get("minor_order") or {}):
            yield f"minor_order: expected {expect.get('minor_order')}, got {order}"

    def _amounts_differ(self, when: str) -> Iterator[str]:
        cache = self._cluster.follow(DeviceCache)
        for index, name in enumerate(self._cluster.table.names):
            state, expect = cache.state(index), (self._case["expect"].get(when) or {}).get(name) or {}
            for what, ours in (("total", state.total), ("free", state.free), ("used", state.used)):
                theirs = _without_nothing(_amounts_of(expect.get(what) or {}))
                if _without_nothing(ours) != theirs:
                    yield f"{when}: {what} on {name}: expected {theirs}, got {_without_nothing(ours)}"


def _configuration(case: Case) -> Mapping[str, object]:
    args = dict(case["args"])
    if case.get("templates"):
        args["gpuSharedResourceTemplates"] = json.loads(case["templates"]["data"]["data.yaml"])
    points = ("preFilter", "filter", "preScore", "score", "reserve", "preBind")
    only = {"enabled": [{"name": NAME}], "disabled": [{"name": "*"}]}
    profile = {
        "schedulerName": "koord-scheduler",
        "plugins": {
            "multiPoint": {"disabled": [{"name": "*"}]},
            "queueSort": {"enabled": [{"name": "PrioritySort"}]},
            "bind": {"enabled": [{"name": "DefaultBinder"}]},
            **dict.fromkeys(points, only),
        },
        "pluginConfig": [{"name": NAME, "args": args}],
    }
    return {"apiVersion": SCHEDULER_API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def _key(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}"


def _choice(step: Step, scores: Mapping[str, int]) -> str:
    names = sorted(scores)
    return names[step["choose"] % len(names)] if "choose" in step else max(names, key=lambda name: scores[name])


_CODES = {
    "Unschedulable": Code.UNSCHEDULABLE,
    "UnschedulableAndUnresolvable": Code.UNRESOLVABLE,
    "Error": Code.UNRESOLVABLE,
}
_MESSAGES_OF_GO = ("invalid DeviceAllocateHint annotation",)
"""What follows is the wording of Go's JSON package."""


def _verdict_differs(what: str, expect: Mapping[str, Any] | None, ours: Obstacle | None) -> Iterator[str]:
    if expect is None or ours is None:
        if not (expect is None and ours is None):
            yield f"{what}: expected {expect}, got {ours and (ours.code, ours.reasons)}"
        return
    codes = expect.get("code_in") or [expect["code"]]
    reasons = expect.get("reasons_in") or [expect["reasons"]]
    if ours.code not in [_CODES[code] for code in codes] or not any(_same(ours.reasons, each) for each in reasons):
        yield f"{what}: expected {expect}, got {ours.code}, {ours.reasons}"


def _same(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    return list(ours) == list(theirs) or any(
        ours[0].startswith(start) and theirs[0].startswith(start) for start in _MESSAGES_OF_GO
    )


def _annotation(devices: AllocatedDevices) -> object:
    return {name: sorted(entries, key=lambda each: each.minor) for name, entries in devices.items()}


def _comparable(annotation: object) -> object:
    return _annotation(decode_allocated(json.dumps(annotation))) if annotation else {}


def _amounts_of(by_type: Mapping[str, Mapping[str, Mapping[str, str]]]) -> dict[str, dict[int, dict[str, int]]]:
    return {
        name: {
            int(minor): {resource: ceil_value(parse_quantity(str(amount))) for resource, amount in amounts.items()}
            for minor, amounts in by_minor.items()
        }
        for name, by_minor in by_type.items()
    }


def _without_nothing(by_type: Mapping[str, Mapping[int, Mapping[str, int]]]) -> object:
    """Absent, empty and zero are the same."""
    found: dict[str, dict[int, dict[str, int]]] = {}
    for name, by_minor in by_type.items():
        kept = {minor: {key: amount for key, amount in each.items() if amount} for minor, each in by_minor.items()}
        kept = {minor: each for minor, each in kept.items() if each}
        if kept:
            found[name] = kept
    return found

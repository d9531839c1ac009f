"""Cases about ElasticQuota: which pods koord-scheduler admits one after another, and what each quota may use then.

Quotas are computed eagerly, so the complete result `eager` is the one to meet where the plugin's own laziness showed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.koordinator.elastic_quota import ROOT_QUOTA
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.quantity import ceil_milli, ceil_value, parse_quantity
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.elastic_quota import (
    ElasticQuotaArgs,
    ElasticQuotaPlugin,
    make_admission,
)
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Placed, ShadowCluster

Object = Mapping[str, Any]
_BUILT_IN_MAX = 2**63 - 1


def check(case: Object) -> str | None:
    """The first difference from what was recorded, None when there is none."""
    world = _World(case)
    expected = case["expect"].get("eager", case["expect"])
    for number, (step, answer) in enumerate(zip(case["steps"], expected["steps"], strict=True)):
        given = world.do(step)
        if step["op"] == "schedule" and (difference := _step_difference(given, answer)):
            return f"step {number} ({step['name']}): {difference}"
    total = world.admission.usage.forest.totals[""]
    if (ours := _units({name: f"{nano}n" for name, nano in total.items()})) != (
        theirs := _units(case["expect"]["total"])
    ):
        return f"total {ours}, recorded {theirs}"
    return "; ".join(_final_differences(world.admission, expected["final"])) or None


class _World:
    """The objects of a case, and the shadow cluster over them, which is made again when anything but a pod comes."""

    def __init__(self, case: Object) -> None:
        self._version = KubeVersion().with_gates(case.get("feature_gates") or {})
        self._profile = _profile(case["args"])
        self._nodes = {node["metadata"]["name"]: node for node in case["nodes"]}
        self._quotas = {quota["metadata"]["name"]: quota for quota in case["quotas"]}
        self._pods = {_key(pod): pod for pod in case["pods"]}
        self._bound = {key for key, pod in self._pods.items() if pod["spec"].get("nodeName")}
        self._placed: dict[str, Placed] = {}
        self._make()

    @property
    def admission(self) -> QuotaAdmission:
        """Who admits pods to the quotas as they are now."""
        return make_admission(self._cluster, self._profile.args.of(ElasticQuotaArgs))

    def do(self, step: Object) -> Object:
        """One step; for `schedule` what became of the pod."""
        op = step["op"]
        if op == "schedule":
            return self._schedule(step["name"])
        if op in ("delete", "finish"):
            self._delete(step["name"])
            return {}
        if op == "add":
            self._pods[_key(step["pod"])] = step["pod"]
        else:
            known = self._quotas if op == "quota" else self._nodes
            known[step[op]["metadata"]["name"]] = step[op]
        self._make()
        return {}

    def _make(self) -> None:
        pods = [self._as_bound(pod) if key in self._bound else pod for key, pod in self._pods.items()]
        snapshot = snapshot_from_objects([*self._nodes.values(), *self._quotas.values(), *pods])
        self._cluster = ShadowCluster(snapshot, version=self._version)
        self._scheduler = Scheduler(self._cluster, self._profile, plugins=PLUGINS)
        self._decoded = {pod.key: pod for pod in snapshot.pods}
        self._placed = {}

    def _as_bound(self, pod: Object) -> Object:
        return {**pod, "spec": {"nodeName": next(iter(self._nodes), "any"), **pod["spec"]}}

    def _schedule(self, key: str) -> Object:
        pod = self._decoded.get(key)
        if pod is None or key in self._bound or pod.is_terminal:
            return {"skipped": True}
        evaluation = self._scheduler.evaluate(pod)
        answer = {"quota": self._quota_name(pod), "admitted": not evaluation.refusals}
        if evaluation.refusals:
            return {**answer, "reasons": evaluation.refusals[0].reasons}
        self._bound.add(key)
        self._placed[key] = self._scheduler.place(evaluation, NO_NODE)
        return answer

    def _delete(self, key: str) -> None:
        if self._pods.pop(key, None) is None:
            return
        pod, placed = self._decoded.pop(key), self._placed.pop(key, None)
        if placed is not None:
            self._cluster.take_off(placed)  # the pod waits again, so that the cluster is made again without it
        elif key in self._bound and not pod.is_terminal:
            self._cluster.remove(pod)
            self._bound.discard(key)
            return
        self._bound.discard(key)
        self._make()

    def _quota_name(self, pod: Pod) -> str | None:
        account = self.admission.usage.account_of(pod)
        return None if account is None else self.admission.usage.forest.name_for(pod)


def _profile(args: Object) -> SchedulerProfile:
    plugins = {
        "multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": ElasticQuotaPlugin.name}]},
        "queueSort": {"enabled": [{"name": "PrioritySort"}]},
        "bind": {"enabled": [{"name": "DefaultBinder"}]},
    }
    profile = {"plugins": plugins, "pluginConfig": [{"name": ElasticQuotaPlugin.name, "args": dict(args)}]}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    return load_scheduler_configuration(document, plugins=PLUGINS).profiles[0]


def _key(pod: Object) -> str:
    return f"{pod['metadata'].get('namespace', 'default')}/{pod['metadata']['name']}"


def _step_difference(given: Object, expected: Object) -> str | None:
    if expected.get("skipped") or given.get("skipped"):
        return None if bool(expected.get("skipped")) == bool(given.get("skipped")) else f"skipped: {given}"
    if given["quota"] != (None if expected.get("skip") else expected["quota"]):
        return f"quota {given['quota']}, recorded {expected.get('quota')}"
    if given["admitted"] != expected["admitted"]:
        return f"admitted {given['admitted']} {given.get('reasons', '')}, recorded {expected}"
    if expected["admitted"]:
        return None
    ours, theirs = _parsed(given["reasons"][0]), _parsed(expected["status"]["reasons"][0])
    return None if ours == theirs else f"{given['reasons'][0]}, recorded {expected['status']['reasons'][0]}"


_MESSAGE = re.compile(
    r"(?P<what>Insufficient [a-z-]*? ?quotas), (?P<key>\w+): (?P<name>\[.*?\]|\S+), "
    r"(?P<limit_key>\w+): (?P<limit>.*?), (?P<used_key>\w+): (?P<used>.*?), pod's request: (?P<request>.*?), "
    r"exceedDimensions: \[(?P<over>.*?)\]"
)


def _parsed(message: str) -> Object:
    match = _MESSAGE.fullmatch(message)
    assert match is not None, message
    found = match.groupdict()
    amounts = {key: _amounts_in(found[key]) for key in ("limit", "used", "request")}
    return {**found, **amounts, "over": sorted(found["over"].split())}


def _amounts_in(text: str) -> Object:
    pairs = [] if text == "<empty>" else [pair.rsplit(":", 1) for pair in text.split(",")]
    return _units(dict(pairs))


def _units(amounts: Mapping[str, str]) -> dict[str, int]:
    """Amounts other than 0, cpu in thousandths."""
    nano = {name: parse_quantity(str(text)) for name, text in amounts.items()}
    units = {name: ceil_milli(each) if name == "cpu" else ceil_value(each) for name, each in nano.items()}
    return {name: min(amount, _BUILT_IN_MAX) for name, amount in units.items() if amount}


def _final_differences(admission: QuotaAdmission, expected: Object) -> Iterator[str]:
    admission.usage.settle()
    for name, recorded in expected.items():
        if name == ROOT_QUOTA:
            yield from _root_differences(admission, recorded)
            continue
        place = admission.usage.forest.place(name)
        if place is None:
            yield f"no quota {name}"
            continue
        for member, ours in _members(place).items():
            theirs = recorded[member]
            theirs = _units(theirs) if isinstance(theirs, dict) else theirs
            if ours != theirs:
                yield f"{name}.{member}: {ours}, recorded {theirs}"


def _root_differences(admission: QuotaAdmission, recorded: Object) -> Iterator[str]:
    """Of the root of the default tree, which is no quota here: the sums of the quotas below it."""
    tree, runtime = admission.usage.forest.trees[""]
    top = [index for index, parent in enumerate(tree.parents) if parent == NO_PARENT]
    sums = {
        "runtime": runtime.total,
        "used": tree.used[top].sum(axis=0),
        "request": tree.limited[top].sum(axis=0),
        "allocated": tree.guaranteed[top].sum(axis=0),
    }
    for member, each in sums.items():
        ours = {name: amount for name, amount in zip(tree.resources, each.tolist(), strict=True) if amount}
        theirs = {name: amount for name, amount in _units(recorded[member]).items() if name in tree.resources}
        if ours != theirs:
            yield f"{ROOT_QUOTA}.{member}: {ours}, recorded {theirs}"


def _members(place: QuotaPlace) -> Object:
    tree, runtime, index = place.tree, place.runtime, place.index
    amounts = {
        "runtime": runtime.of(index),
        "used": tree.used[index],
        "request": tree.requests[index],
        "child_request": tree.child_requests[index],
        "scaled_min": runtime.scaled_min(index),
        "non_preemptible_used": tree.fixed_used[index],
        "non_preemptible_request": tree.fixed_requests[index],
        "guaranteed": tree.guaranteed[index],
        "allocated": tree.allocated[index],
    }
    found: dict[str, Any] = {
        member: {name: amount for name, amount in zip(tree.resources, each.tolist(), strict=True) if amount}
        for member, each in amounts.items()
    }
    most = {name: str(nano) + "n" for name, nano in place.quota.max.items()}
    found["runtime"] = (
        _units(most) if place.is_built_in else {n: a for n, a in found["runtime"].items() if n in place.quota.max}
    )
    found["shared_weight"] = _units({name: f"{nano}n" for name, nano in place.quota.shared_weight.items()})
    found["parent"] = place.quota.parent
    found["lends"] = bool(tree.lends[index])
    return found

"""Whether the live cluster creates a pod: quotas of pods, the largest container, priority classes (rules 7 and 23)."""

from __future__ import annotations

from typing import Any

from tests.simulation.owners.live import Live, LivePod, milli

Object = dict[str, Any]


class Rules:
    """The rules of all namespaces."""

    def __init__(self, objects: list[Object]) -> None:
        self._rules = [each for each in objects if each["kind"] in ("ResourceQuota", "LimitRange")]
        self._classes = {each["metadata"]["name"] for each in objects if each["kind"] == "PriorityClass"}

    def admit(self, live: Live, pod: LivePod) -> bool:
        """Whether the pod is created now."""
        wanted = pod.spec["spec"].get("priorityClassName", "there")
        rules = [each for each in self._rules if each["metadata"]["namespace"] == pod.namespace]
        return wanted in self._classes and all(_admits(rule, live, pod) for rule in rules)


def _admits(rule: Object, live: Live, pod: LivePod) -> bool:
    if rule["kind"] == "LimitRange":
        return all(milli(pod.spec) <= int(each["max"]["cpu"].removesuffix("m")) for each in rule["spec"]["limits"])
    there = [each for each in live.pods if each.namespace == pod.namespace]
    hard = rule["spec"]["hard"]
    if "count/pods" in hard and len(there) >= int(hard["count/pods"]):
        return False
    return "pods" not in hard or sum(not each.is_finished for each in there) < int(hard["pods"])

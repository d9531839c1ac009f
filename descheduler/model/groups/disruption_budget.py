"""PodDisruptionBudgets: what their authors ask for, and what the disruption controller has reported."""

from __future__ import annotations

import msgspec

from descheduler.model.selection.labels import NOTHING, LabelSelector


class DisruptionBudget(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget. `disruptions_allowed` is None while its controller has not reported for this generation.

    A budget whose selector is malformed has `selector_error` set and covers nothing. `has_status` is False for one that
    comes from a manifest, as no API server stores it so. Of `min_available` and `max_unavailable`, numbers or
    percentages, the one that the spec does not state is None. `sync_failure` is why the controller cannot count the
    pods; `expected_pods` is None where a dump does not tell; `num_disrupted` counts evicted pods that it has not
    seen leaving.
    """

    namespace: str
    name: str
    selector: LabelSelector = NOTHING
    selector_error: str = ""
    disruptions_allowed: int | None = None
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int | None = None
    unhealthy_policy: str = ""
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    has_status: bool = True
    sync_failure: str = ""
    num_disrupted: int = 0
    stated_allowed: int = 0
    """The disruptions that its status allows, whether or not that is about the latest spec."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_current(self) -> bool:
        """Whether the status is that of the latest spec."""
        return self.disruptions_allowed is not None

    @property
    def rule(self) -> str:
        """What the spec asks for, for example `maxUnavailable: 1`; empty where it asks for nothing."""
        if self.max_unavailable is not None:
            return f"maxUnavailable: {self.max_unavailable}"
        return "" if self.min_available is None else f"minAvailable: {self.min_available}"

    @property
    def why_never(self) -> str:
        """Why this budget can never allow an eviction, as long as it and the replicas are as they are; "" if it can."""
        if self.disruptions_allowed:
            return ""
        if self.sync_failure:
            return f"SyncFailed ({self.sync_failure})"
        if self.max_unavailable in (0, "0%"):
            return f"maxUnavailable is {self.max_unavailable}"
        if self.min_available == "100%":
            return "minAvailable is 100%"
        return self._why_never_now() if self.is_current else ""

    @property
    def why_none(self) -> str:
        """Why it allows no eviction now, as the end of a sentence about it; empty where it allows one."""
        allowed = self.disruptions_allowed or 0
        if allowed > 0:
            return ""
        if allowed < 0:
            negative = f"the negative status.disruptionsAllowed {allowed}"
            return f"has {negative}: the API server refuses all evictions of its pods"
        if why := self.why_never:
            return f"can never allow an eviction: {why}"
        if not self.is_current:
            return "allows 0 disruptions until the disruption controller has processed its latest spec"
        return f"allows 0 disruptions ({self.current_healthy} healthy, {self.desired_healthy} required)"

    def _why_never_now(self) -> str:
        """The same, by what the controller has counted."""
        expected = self.expected_pods
        if expected is None:
            return ""
        if 0 < expected <= self.desired_healthy and self.min_available is not None:
            pods = "1 pod is" if expected == 1 else f"{expected} pods are"
            share = f" ({self.desired_healthy} pods)" if isinstance(self.min_available, str) else ""
            return f"minAvailable is {self.min_available}{share}, and {pods} expected"
        if expected == self.desired_healthy == 0 < self.current_healthy:
            without_scale = f"its pods have no controller with replicas ({self.rule} needs one)"
            return without_scale if self.rule else "its spec states neither minAvailable nor maxUnavailable"
        return ""

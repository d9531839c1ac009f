"""What the executor is asked to do: one eviction of a plan."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PlannedEviction"]


@dataclass(frozen=True, slots=True)
class PlannedEviction:
    """One eviction of a plan.

    `node` is "" for a pod that is bound nowhere. `reason` is what the request gives beyond profile and plugin; no
    plugin of kubernetes-sigs/descheduler gives one, so compatible runs leave it "". `repeated` marks a request for a
    pod that was requested before in the same run: it is reported and never sent. `request_evict_only` says that the
    pod has the annotation `descheduler.alpha.kubernetes.io/request-evict-only`. `grace_period_seconds` is sent with it,
    None leaves it to the pod. An eviction that is `dry` is shown and never sent.
    """

    namespace: str
    name: str
    uid: str
    node: str
    profile: str
    plugin: str
    reason: str = ""
    repeated: bool = False
    request_evict_only: bool = False
    grace_period_seconds: int | None = None
    dry: bool = False

    @property
    def annotation(self) -> str:
        """The text of the eviction's annotation `reason`, as kubernetes-sigs/descheduler 0.36 writes it."""
        return f"triggered by {self.profile}/{self.plugin}: {self.reason}"

"""What the executor is asked to do: one eviction of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # a plan without landings must not pay for numpy
    from descheduler.placement.landings.landing import Landing

__all__ = ["PlannedEviction"]


class PlannedEviction(msgspec.Struct, frozen=True):
    """One eviction of a plan.

    `node` is "" for a pod that is bound nowhere. `reason` is the plugin's sentence, for logs and reports, and `landing`
    where the replacement is expected, None where nobody looked. `request_evict_only` says that the pod has the
    annotation `descheduler.alpha.kubernetes.io/request-evict-only`. `grace_period_seconds` is sent with it, None leaves
    it to the pod. An eviction that is `dry` is shown and never sent.
    """

    namespace: str
    name: str
    uid: str
    node: str
    profile: str
    plugin: str
    reason: str = ""
    landing: Landing | None = None
    request_evict_only: bool = False
    grace_period_seconds: int | None = None
    dry: bool = False

    @property
    def annotation(self) -> str:
        """The text of the eviction's annotation `reason`, as kubernetes-sigs/descheduler 0.36 writes it.

        No plugin of that gives a reason of its own, so nothing follows the colon.
        """
        return f"triggered by {self.profile}/{self.plugin}: "

"""What MigrationController asks again when a plugin requests an eviction."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.model.pod import Pod
from descheduler.model.verdict import Verdict
from descheduler.plan.prior_moves import PriorMove

__all__ = ["MigrationGate"]


class MigrationGate:
    """The filter once more, since evictions granted meanwhile count as migrations, then the object limiters.

    Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/controllers/migration/controller.go`, `Evict`.
    """

    def __init__(self, args: MigrationControllerArgs, handle: Handle) -> None:
        self._controller = MigrationController(args, handle)
        self._limiter = ObjectLimiter(args, handle.view.snapshot)

    def verdict(self, pod: Pod) -> Verdict:
        """Whether a migration of `pod` may be started now."""
        verdict = self._controller.filter(pod)
        return verdict if not verdict.is_accepted else self._limiter.verdict(pod)

    def count(self, pod: Pod) -> None:
        """Charges the object limiters."""
        self._limiter.count(pod)

    def adopt(self, moves: Sequence[PriorMove]) -> None:
        """Charges the object limiters; the filter knows of prior moves already."""
        self._limiter.adopt(moves)

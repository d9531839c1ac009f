"""What MigrationController asks again when a plugin requests an eviction."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.eviction.request_check import PodByPod
from descheduler.eviction.undo import Undo, undo_all
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.prior_moves import PriorMove
from descheduler.policy.types import Profile

__all__ = ["MigrationGate"]


class MigrationGate(PodByPod):
    """The filter once more, since evictions granted meanwhile count as migrations, then the object limiters.

    Asked of profiles that evict through MigrationController. Mirrors koordinator-sh/koordinator 1.8
    `pkg/descheduler/controllers/migration/controller.go`, `Evict`.
    """

    def __init__(self, profiles: Sequence[Profile], handle: Handle) -> None:
        self._gates = [_Gate(profile, handle) for profile in profiles]

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether a migration of the pod may be started now."""
        gate = self._of(bundle)
        return ACCEPTED if gate is None else gate.verdict(candidate.pod)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Charges the object limiters; what is on the move the filter learns from the cluster view."""
        gate = self._of(bundle)
        return undo_all([] if gate is None else gate.count(candidate.pod))

    def try_out(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """The same, with the pod on the move before the view says so."""
        gate = self._of(bundle)
        return undo_all([] if gate is None else [*gate.count(candidate.pod), *gate.move(candidate.pod)])

    def adopt(self, moves: Sequence[PriorMove]) -> None:
        """Charges the object limiters of each profile; the filter knows of prior moves already."""
        for gate in self._gates:
            gate.adopt(moves)

    def _of(self, bundle: Bundle) -> _Gate | None:
        return self._gates[bundle.profile_index] if self._gates else None


class _Gate:
    """The evict plugins of one profile that are a MigrationController."""

    def __init__(self, profile: Profile, handle: Handle) -> None:
        found = [profile.args[name] for name in profile.evict]
        all_args = [args for args in found if isinstance(args, MigrationControllerArgs)]
        self._profile = profile.name
        self._controllers = [MigrationController(args, handle) for args in all_args]
        self._limiters = [ObjectLimiter(args, handle.view.snapshot) for args in all_args]

    def verdict(self, pod: Pod) -> Verdict:
        """The first refusal."""
        for controller, limiter in zip(self._controllers, self._limiters, strict=True):
            for verdict in (controller.filter(pod), limiter.verdict(pod)):
                if not verdict.is_accepted:
                    return verdict
        return ACCEPTED

    def count(self, pod: Pod) -> list[Undo]:
        """Charges the limiters."""
        return [limiter.count(pod) for limiter in self._limiters]

    def move(self, pod: Pod) -> list[Undo]:
        """Counts `pod` among those on the move."""
        return [controller.migrating.move(pod) for controller in self._controllers]

    def adopt(self, moves: Sequence[PriorMove]) -> None:
        """Charges the limiters for what was evicted in the name of the profile."""
        mine = [move for move in moves if move.profile == self._profile]
        for limiter in self._limiters:
            limiter.adopt(mine)

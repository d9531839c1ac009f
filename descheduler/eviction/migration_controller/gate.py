"""What MigrationController asks again when a plugin requests an eviction."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.eviction.request_check import Allowance, PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo, undo_all
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.types import Profile

__all__ = ["MigrationGate"]


class MigrationGate(PodByPod):
    """The filter once more, since evictions granted meanwhile count as migrations, then the object limiters.

    Asked of profiles that evict through MigrationController. Mirrors koordinator-sh/koordinator 1.8
    `pkg/descheduler/controllers/migration/controller.go`, `Evict`.
    """

    def __init__(self, profiles: Sequence[Profile], handle: Handle) -> None:
        self._gates = {index: gate for index, profile in enumerate(profiles) if (gate := _gate(profile, handle))}

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether a migration of the pod may be started now."""
        gate = self._of(bundle)
        return ACCEPTED if gate is None else gate.verdict(candidate.pod)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Charges the object limiters; what is on the move the filter learns from the cluster view."""
        gate = self._of(bundle)
        return NOTHING_DONE if gate is None else undo_all(gate.count(candidate.pod))

    def try_out(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """The same, with the pod on the move before the view says so."""
        gate = self._of(bundle)
        return NOTHING_DONE if gate is None else undo_all([*gate.count(candidate.pod), *gate.move(candidate.pod)])

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """How many more migrations may be started."""
        gate = self._gates.get(profile_index)
        return () if gate is None else gate.allowances()

    def adopt(self, moves: Sequence[Move]) -> None:
        """Charges the object limiters of each profile; the filter knows of prior moves already."""
        for gate in self._gates.values():
            gate.adopt(moves)

    def _of(self, bundle: Bundle) -> _Gate | None:
        return self._gates.get(bundle.profile_index)


def _gate(profile: Profile, handle: Handle) -> _Gate | None:
    all_args = list(profile.args_of(MigrationControllerArgs, profile.evict))
    return _Gate(profile.name, all_args, handle) if all_args else None


class _Gate:
    """The evict plugins of one profile that are a MigrationController."""

    def __init__(self, profile: str, all_args: Sequence[MigrationControllerArgs], handle: Handle) -> None:
        self._profile = profile
        self._controllers = [MigrationController(args, handle) for args in all_args]
        self._limiters = [ObjectLimiter(args, handle.view.snapshot) for args in all_args]

    def verdict(self, pod: Pod) -> Verdict:
        """The first refusal."""
        for controller, limiter in zip(self._controllers, self._limiters, strict=True):
            for verdict in (controller.filter(pod), limiter.verdict(pod)):
                if not verdict.is_accepted:
                    return verdict
        return ACCEPTED

    def allowances(self) -> list[Allowance]:
        """What is left of the limits on pods on the move, and of the object limiters."""
        moving = [allowance for controller in self._controllers for allowance in controller.allowances]
        return moving + [allowance for limiter in self._limiters for allowance in limiter.allowances()]

    def count(self, pod: Pod) -> list[Undo]:
        """Charges the limiters."""
        return [limiter.count(pod) for limiter in self._limiters]

    def move(self, pod: Pod) -> list[Undo]:
        """Counts `pod` among those on the move."""
        return [controller.migrating.move(pod) for controller in self._controllers]

    def adopt(self, moves: Sequence[Move]) -> None:
        """Charges the limiters for what was evicted in the name of the profile."""
        mine = [move for move in moves if move.profile == self._profile]
        for limiter in self._limiters:
            limiter.adopt(mine)

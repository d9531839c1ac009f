"""Pods whose workload gets a second one before they leave, so that it is never without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.workloads import Workloads
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.moves import Move
from descheduler.policy.types import Policy, Profile

_MOST_NAMED = 3

SURGED_KIND = "ReplicaSet"
"""The kind of controller whose pods can stand in for each other. Those of a StatefulSet have an identity."""


def keeps_single_replicas(args: MigrationControllerArgs) -> bool:
    """Whether the only pod of a workload stays where nothing stands in for it."""
    return not args.skip_check_expected_replicas and "ExpectedReplicas" not in args.skip_eviction_gates


def can_be_surged(pod: Pod, workload: Workload | None) -> bool:
    """Whether `pod` is the only one of `workload`, which can have a second one, as far as a snapshot tells."""
    controller = pod.controller
    is_single = workload is not None and workload.replicas == 1
    return (
        is_single and controller is not None and (controller.kind, controller.api_version) == (SURGED_KIND, "apps/v1")
    )


class SurgingPods:
    """The pods of one snapshot, by the profiles that would move them."""

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot) -> None:
        self._surging = frozenset(index for index, profile in enumerate(profiles) if _surges(profile))
        self._workloads = Workloads(snapshot)

    def has(self, pod: Pod, profile_index: int) -> bool:
        """Whether the workload of `pod` has a second pod when the profile at this place has it leave."""
        return profile_index in self._surging and can_be_surged(pod, self._workloads.of(pod))


def surge_notes(policy: Policy, moves: Iterable[Move], snapshot: Snapshot) -> tuple[str, ...]:
    """A sentence for each profile that has pods among `moves` whose workload is to get a second one."""
    surging, moves = SurgingPods(policy.profiles, snapshot), tuple(moves)
    notes = []
    for index, profile in enumerate(policy.profiles):
        names = [m.pod.key for m in moves if m.profile == profile.name and surging.has(m.pod, index)]
        if names:
            notes.append(f"profile {profile.name}: singleReplicas (Surge) applies to {_named(names)}")
    return tuple(notes)


def _named(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _MOST_NAMED else ""
    scaled = "its workload is" if len(names) == 1 else "their workloads are"
    return f"{counted(len(names), 'pod')} ({', '.join(names[:_MOST_NAMED])}{more}): {scaled} scaled to 2 replicas first"


def _surges(profile: Profile) -> bool:
    return any(args.surges for args in profile.args_of(MigrationControllerArgs, profile.evict))

"""How many pods of each gang count: those that are bound, those that wait, and those that exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from descheduler.model.koordinator.gang_settings import Gangs, gang_id_of
from descheduler.model.pod import Pod
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.shadow_cluster import Company, Cycle, ShadowCluster

_NAME = "Coscheduling"


class GangMembers(CountingFollower):
    """A follower that counts the placed pods of each gang, and knows what the snapshot says of gangs.

    Pods that have finished are bound for as long as they exist.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        snapshot = cluster.snapshot
        self.gangs = Gangs(snapshot.pods, snapshot.pod_groups)
        members = self.gangs.members.items()
        self.placed = Counter(
            {gang: sum(bool(pod.node_name) and pod.is_terminal for pod in pods) for gang, pods in members}
        )
        self.bound_at_first = frozenset(gang for gang, pods in members if any(pod.node_name for pod in pods))

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        if gang := gang_id_of(pod):
            self.placed[gang] += sign

    def fingerprint(self) -> object:
        return sorted((gang, number) for gang, number in self.placed.items() if number)


class GangLedger:
    """How many pods of each group were ever put on a node: once one was, the group is satisfied for good."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._gangs = cluster.follow(GangMembers).gangs
        self.placed: Counter[str] = Counter()

    def reserve(self, cycle: Cycle, node: int) -> str | None:
        """One more pod of its group."""
        settings = self._gangs.settings_for(cycle.pod.pod)
        if settings is None:
            return None
        self.restore(settings.group_id)
        return settings.group_id

    def release(self, taken: str) -> None:
        """That pod was never placed."""
        self.placed[taken] -= 1

    def restore(self, taken: str) -> None:
        """It was placed after all."""
        self.placed[taken] += 1

    def fingerprint(self) -> object:
        return sorted(group for group, number in self.placed.items() if number)


class Tally:
    """The pods of a company by gang: all of them, and those that are held.

    `unplaced` are held or bound without being on a node of the shadow cluster: those of which it is only asked what
    would be if they were.
    """

    def __init__(self, pods: Iterable[Pod], unplaced: Counter[str] | None = None) -> None:
        self.pods = Counter(map(gang_id_of, pods))
        self.held: Counter[str] = Counter()
        self.unplaced = unplaced if unplaced is not None else Counter()
        self._num_held = 0

    def imagine_held(self, gang_id: str) -> None:
        """Counts one more as if it had found a node."""
        self.held[gang_id] += 1
        self.unplaced[gang_id] += 1

    def of_group(self, group: Sequence[str]) -> tuple[int, int]:
        """How many pods of these gangs are held, and how many unplaced."""
        held, unplaced = self.held, self.unplaced
        return (
            sum(map(held.__getitem__, group)) if held else 0,
            sum(map(unplaced.__getitem__, group)) if unplaced else 0,
        )

    @classmethod
    def of(cls, cycle: Cycle) -> Tally:
        """The tally of the pod of `cycle` and its company; a pod without company is its own."""
        company = cycle.company
        if company is None:
            return cls((cycle.pod.pod,))
        known = company.scratch.get(_NAME)
        if not isinstance(known, Tally):
            known = company.scratch[_NAME] = cls(company.pods)
        known._catch_up(company)
        return known

    def _catch_up(self, company: Company) -> None:
        self.held.update(map(gang_id_of, company.held[self._num_held :]))
        self._num_held = len(company.held)

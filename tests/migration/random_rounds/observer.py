"""Recounts a run from the evictions that took effect, with facts alone and none of the program's own counting.

What a plugin has to know of earlier evictions: in a DeschedulerConfiguration all of them; in a DeschedulerPolicy, whose
listing does not change within a round, those of earlier rounds and its own of this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from tests.migration.random_rounds.policies import PolicyFacts, ProfileFacts
from tests.migration.random_rounds.worlds import CPU, NodeFacts, PodFacts, World


@dataclass(frozen=True)
class Deed:
    """An eviction that took effect, or may have, and in whose name it was made. Rounds count from 1."""

    pod: PodFacts
    num_round: int
    profile: str
    plugin: str


@dataclass(frozen=True)
class _Moment:
    """The run as it was when `deed` took effect after all of `before`."""

    world: World
    policy: PolicyFacts
    deed: Deed
    before: Sequence[Deed]

    @cached_property
    def profile(self) -> ProfileFacts:
        return next(profile for profile in self.policy.profiles if profile.name == self.deed.profile)

    @property
    def pod(self) -> PodFacts:
        return self.deed.pod

    @cached_property
    def earlier(self) -> list[PodFacts]:
        """What earlier rounds have evicted."""
        return [each.pod for each in self.before if each.num_round < self.deed.num_round]

    @cached_property
    def known_gone(self) -> set[str]:
        """Keys of the pods that the plugin has to know to be gone."""
        names = self.deed.profile, self.deed.plugin
        return {
            each.pod.key
            for each in self.before
            if not self.policy.is_upstream
            or each.num_round < self.deed.num_round
            or (each.profile, each.plugin) == names
        }

    @cached_property
    def is_alone(self) -> bool:
        """Whether no other plugin's evictions move the figures that this one starts from."""
        return self.policy.is_upstream or [len(each.plugins) for each in self.policy.profiles] == [1]

    @cached_property
    def has_arrivals(self) -> bool:
        """Whether plugins see replacements on the nodes where they land."""
        return not self.policy.is_upstream and any(each.verifies_placement for each in self.policy.profiles)

    def cpu_of(self, node: str, *, gone: set[str]) -> int:
        """Milli CPU that the active pods of the node request."""
        return sum(pod.cpu for pod in self.active if pod.node == node and pod.key not in gone)

    @property
    def active(self) -> list[PodFacts]:
        """The pods of the cluster that have not finished."""
        return [pod for pod in self.world.pods if not pod.is_failed]

    @property
    def siblings(self) -> list[PodFacts]:
        """The active pods of the same ReplicaSet, this one among them."""
        return [pod for pod in self.active if pod.app == self.pod.app]


def faults_of(world: World, policy: PolicyFacts, deeds: Sequence[Deed]) -> list[str]:
    """A sentence for every promise that some eviction broke."""
    moments = [_Moment(world, policy, deed, deeds[:index]) for index, deed in enumerate(deeds)]
    return [
        f"{moment.deed.profile}/{moment.deed.plugin} took {moment.pod.key} off {moment.pod.node} "
        f"in round {moment.deed.num_round}: {fault}"
        for moment in moments
        for law in _LAWS
        for fault in law(moment)
    ]


def _never_twice(moment: _Moment) -> Iterator[str]:
    if any(each.pod == moment.pod for each in moment.before):
        yield "pod evicted twice"


def _limits_of_the_policy(moment: _Moment) -> Iterator[str]:
    pods, policy = [each.pod for each in moment.before], moment.policy
    on_node = sum(pod.node == moment.pod.node for pod in pods)
    in_namespace = sum(pod.namespace == moment.pod.namespace for pod in pods)
    counts = {
        "total": (len(pods), policy.total),
        "node": (on_node, policy.per_node),
        "namespace": (in_namespace, policy.per_namespace),
    }
    for name, (number, limit) in counts.items():
        if limit is not None and number >= limit:
            yield f"limit {name} of the policy exceeded"


def _limits_of_the_migration_controller(moment: _Moment) -> Iterator[str]:
    if moment.policy.is_upstream:
        return
    profile, pods = moment.profile, [each.pod for each in moment.before]
    counts = {
        "node": (sum(pod.node == moment.pod.node for pod in pods), profile.max_per_node),
        "namespace": (sum(pod.namespace == moment.pod.namespace for pod in pods), profile.max_per_namespace),
        "globally": (len(pods), profile.max_globally),
    }
    if moment.pod.app:
        counts |= _counts_of_the_workload(moment)
    for name, (number, limit) in counts.items():
        if limit and number >= limit:
            yield f"limit {name} of the migration controller exceeded"


def _counts_of_the_workload(moment: _Moment) -> dict[str, tuple[int, int]]:
    profile, app = moment.profile, moment.pod.app
    members = [pod for pod in moment.world.pods if pod.app == app]
    moving = {each.pod.key for each in moment.before if each.pod.app == app}
    started = [each for each in moment.before if each.pod.app == app and each.profile == profile.name]
    away = moving | {pod.key for pod in members if pod.is_failed or not pod.is_ready}
    return {
        "workload": (len(moving), min(profile.max_per_workload, len(members))),
        "unavailable": (len(away), min(profile.max_unavailable, len(members))),
        "burst": (len(started), profile.burst),
    }


def _least_replicas(moment: _Moment) -> Iterator[str]:
    if moment.pod.app and moment.profile.min_replicas > 1:
        members = sum(pod.app == moment.pod.app for pod in moment.world.pods)
        if members - sum(pod.app == moment.pod.app for pod in moment.earlier) < moment.profile.min_replicas:
            yield "minReplicas of the evictor broken"


def _node_limit_of_low_node_utilization(moment: _Moment) -> Iterator[str]:
    limit, deed = moment.profile.node_limit, moment.deed
    if deed.plugin != "LowNodeUtilization" or limit is None:
        return
    names = deed.profile, deed.plugin
    mine = [each for each in moment.before if (each.profile, each.plugin) == names]
    if sum(each.pod.node == moment.pod.node for each in mine) >= limit:
        yield "limit node of LowNodeUtilization exceeded"


def _low_node_utilization_ends_at_the_target(moment: _Moment) -> Iterator[str]:
    """Replacements whose node is known count there, which only profiles that verify placement find out."""
    if moment.deed.plugin != "LowNodeUtilization" or moment.has_arrivals:
        return
    used = moment.cpu_of(moment.pod.node, gone=moment.known_gone)
    if used * 100 <= moment.profile.overused * CPU:
        yield "node drained below its target"


def _destinations_have_room(moment: _Moment) -> Iterator[str]:
    """Classes of nodes are those of the listing, which only a DeschedulerPolicy keeps."""
    if not moment.policy.is_upstream:
        return
    profile = moment.profile
    used = {node.name: moment.cpu_of(node.name, gone=set()) for node in moment.world.nodes}
    underused = {name for name, cpu in used.items() if cpu * 100 <= profile.underused * CPU}
    match moment.deed.plugin:
        case "LowNodeUtilization":
            takers, ceiling = underused, profile.overused * CPU // 100
        case "HighNodeUtilization":
            takers, ceiling = used.keys() - underused, CPU
        case _:
            return
    free = sum(ceiling - used[name] for name in takers)
    arrived = [pod for pod in moment.active if pod.key in moment.known_gone and pod.node not in takers]
    if free <= sum(pod.cpu for pod in arrived):
        yield "destinations had no room left"


def _spread_gets_no_worse(moment: _Moment) -> Iterator[str]:
    if moment.deed.plugin != "RemovePodsViolatingTopologySpreadConstraint" or not moment.is_alone:
        return
    zone_of = {node.name: node.zone for node in moment.world.nodes}
    zones = {zone_of[pod.node] for pod in moment.siblings} | {node.zone for node in _suitable(moment)}
    mine = [pod for pod in moment.siblings if zone_of[pod.node] == zone_of[moment.pod.node]]
    left = sum(pod.key not in moment.known_gone for pod in mine)
    if left * len(zones) <= len(moment.siblings):
        yield "domain taken below the mean"


def _duplicates_stay_at_the_average(moment: _Moment) -> Iterator[str]:
    if moment.deed.plugin != "RemoveDuplicates" or not moment.is_alone:
        return
    targets = [node for node in _suitable(moment) if not node.is_tainted]
    mine = [pod for pod in moment.siblings if pod.node == moment.pod.node]
    left = sum(pod.key not in moment.known_gone for pod in mine)
    if left <= ceil(len(moment.siblings) / len(targets)):
        yield "node taken below its share of replicas"


def _suitable(moment: _Moment) -> list[NodeFacts]:
    return [node for node in moment.world.nodes if node.has_ssd or not moment.pod.needs_ssd]


def _conflicts_are_real(moment: _Moment) -> Iterator[str]:
    if moment.deed.plugin != "RemovePodsViolatingInterPodAntiAffinity":
        return
    partners = [pod for pod in moment.siblings if pod.node == moment.pod.node and pod != moment.pod]
    if not any(pod.key not in moment.known_gone for pod in partners):
        yield "nobody left to keep away from"


_Law = Callable[[_Moment], Iterator[str]]
_LAWS: Sequence[_Law] = (
    _never_twice,
    _limits_of_the_policy,
    _limits_of_the_migration_controller,
    _least_replicas,
    _node_limit_of_low_node_utilization,
    _low_node_utilization_ends_at_the_target,
    _destinations_have_room,
    _spread_gets_no_worse,
    _duplicates_stay_at_the_average,
    _conflicts_are_real,
)

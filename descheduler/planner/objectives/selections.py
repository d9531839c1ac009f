"""Which pods strategies select in the cluster as it will be: after all that is booked, replacements included."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.node_fit import NodeFit
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.eviction.wrapped_evictor import WrappedEvictor
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Candidate
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.problem.booked_arrivals import BookedArrivals
from descheduler.strategies.framework import BalancePlugin, judges_pods_alone
from descheduler.strategies.proposals import propose


class CandidatesByStrategy:
    """What each strategy selects: candidates by the name of the strategy. Pods that have finished are left out."""

    def __init__(self, by_strategy: Mapping[str, Sequence[Candidate]]) -> None:
        self.by_strategy = {
            name: [candidate for candidate in candidates if not candidate.pod.is_terminal]
            for name, candidates in by_strategy.items()
        }
        self._reasons: dict[int, dict[str, str]] = {}
        self.pods: list[Pod] = []
        for name, candidates in self.by_strategy.items():
            for candidate in candidates:
                if id(candidate.pod) not in self._reasons:
                    self.pods.append(candidate.pod)
                self._reasons.setdefault(id(candidate.pod), {})[name] = candidate.reason

    def has(self, pod: Pod) -> bool:
        """Whether some strategy selects this very object."""
        return id(pod) in self._reasons

    def reason(self, pod: Pod) -> str:
        """Such as `PodLifeTime: 3 h old; RemoveDuplicates: …`; empty where no strategy selects the pod."""
        return "; ".join(f"{name}: {reason}" for name, reason in self._reasons.get(id(pod), {}).items())

    def strategies_of(self, pod: Pod) -> Sequence[str]:
        """The names of those that select the pod."""
        return list(self._reasons.get(id(pod), {}))


class _FiltersBefore(WrappedEvictor):
    """The evictor with the filters as they answered first, which is kept in `verdicts`.

    A replacement in `arrivals` counts like the pod that was granted. Filters that limit how many pods migrate refuse
    the replacement, and other pods, once evictions are booked; what violates a rule is the same for all that.
    """

    def __init__(self, inner: PluginEvictor, verdicts: dict[PodIdentity, Verdict], arrivals: Iterable[Pod]) -> None:
        super().__init__(inner)
        self._verdicts = verdicts
        self._arrivals = frozenset(map(id, arrivals))

    def filter(self, pod: Pod) -> Verdict:
        """Acceptance of a replacement, else the first answer of the filters."""
        if id(pod) in self._arrivals:
            return ACCEPTED
        key = identity_of(pod)
        if key not in self._verdicts:
            self._verdicts[key] = super().filter(pod)
        return self._verdicts[key]


class StrategySelections:
    """What `strategies`, by name, select on `nodes` whenever it is asked for."""

    def __init__(self, strategies: Sequence[str], handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self.strategies = tuple(strategies)
        self._handle = handle
        self._nodes = nodes
        self._known: tuple[BookedArrivals, CandidatesByStrategy] | None = None
        self._arrivals: Sequence[tuple[Pod, Pod | None]] = ()
        self._verdicts: dict[PodIdentity, Verdict] = {}

    @property
    def judge_pods_alone(self) -> bool:
        """Whether no strategy selects a pod because of others."""
        return all(judges_pods_alone(self._handle.build_used(name, self._handle)) for name in self.strategies)

    def now(self) -> CandidatesByStrategy:
        """The selection in the cluster with everything that is booked."""
        booked = BookedArrivals(self._handle.evictor)
        if self._known is None or self._known[0] != booked:
            self._arrivals = [(pod, self._created(arrival)) for pod, arrival in booked.arrivals]
            self._known = booked, CandidatesByStrategy({name: self._proposed(name) for name in self.strategies})
        return self._known[1]

    def selected_again(self) -> Iterator[tuple[Pod, Pod, str]]:
        """Of the pods whose eviction is booked those whose replacement is selected, the replacement, and why it is."""
        now = self.now()
        for pod, arrival in self._arrivals:
            if arrival is not None and now.has(arrival):
                yield pod, arrival, now.reason(arrival)

    def _created(self, arrival: Pod | None) -> Pod | None:
        """The replacement with the time of its creation, which strategies that go by age look at."""
        return None if arrival is None else msgspec.structs.replace(arrival, created_at=self._handle.now)

    def without(self, stuck: Container[PodIdentity]) -> CandidatesByStrategy:
        """As `now`, but a strategy that selects pods in `stuck`, which cannot be moved, is run without them.

        What it selects then counts if there are other pods in it, such as another duplicate; else what it selects now,
        stuck pods included.
        """
        found: dict[str, Sequence[Candidate]] = {}
        for name, candidates in self.now().by_strategy.items():
            is_stuck = any(identity_of(candidate.pod) in stuck for candidate in candidates)
            others = self._proposed(name, stuck) if is_stuck else candidates
            known = {identity_of(candidate.pod) for candidate in candidates}
            has_others = any(identity_of(each.pod) not in known for each in others if not each.pod.is_terminal)
            found[name] = others if has_others else candidates
        return CandidatesByStrategy(found)

    def _proposed(self, name: str, set_aside: Container[PodIdentity] = frozenset()) -> Sequence[Candidate]:
        handle = self._moved()
        build = partial(self._handle.build_used, name)
        return propose(lambda given: cast(BalancePlugin, build(given)), handle, self._nodes, set_aside=set_aside)

    def _moved(self) -> StrategyHandle:
        """The handle over a snapshot in which what is booked has happened."""
        handle = self._handle
        gone = {id(pod) for pod, _ in self._arrivals}
        came = [arrival for _, arrival in self._arrivals if arrival is not None]
        snapshot = handle.view.snapshot
        if self._arrivals:
            pods = [*(pod for pod in snapshot.pods if id(pod) not in gone), *came]
            pods.sort(key=lambda pod: (pod.namespace, pod.name))
            snapshot = dataclasses.replace(snapshot, pods=tuple(pods))
        view = ClusterView(snapshot, moves_take_effect=True, prior_moves=tuple(handle.view.prior_moves))
        node_fit = NodeFit(view, spares_namesakes=handle.policy.compatibility == "upstream")
        evictor = _FiltersBefore(handle.evictor, self._verdicts, came)
        return msgspec.structs.replace(handle, evictor=evictor, view=view, node_fit=node_fit)

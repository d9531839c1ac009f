"""Evictors of whole policies over small clusters, as a run has them, and everything that they keep account of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.limits import LimitCheck
from descheduler.eviction.checks.table import REQUEST_CHECKS, CheckContext, MakeCheck, make_evictor
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.node_fit import NodeFit
from descheduler.eviction.request_check import RequestCheck
from descheduler.model.pod import Pod
from descheduler.model.verdict import Verdict
from descheduler.placement.landings.landing import Landing
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from tests.builders import NOW


@dataclass(frozen=True)
class Run:
    """An evictor, the checks that it asks, and the cycle that it works in."""

    handle: Handle
    evictor: Evictor
    checks: list[RequestCheck]

    def state(self) -> dict[str, object]:
        """Differs when anything does that an answer may hang on.

        Every check's verdict on every pod, counters, the listing, node fit, the book, and for each scheduler that was
        asked the digest of its shadow cluster.
        """
        view, evictor = self.handle.view, self.evictor
        nodes, pods = view.snapshot.nodes, view.snapshot.pods
        node_set = self.handle.node_fit.node_set(nodes)
        return {
            "verdicts": self._verdicts(pods),
            "counters": [_numbers(check) for check in self.checks if isinstance(check, LimitCheck)],
            "listing": {node.name: [(pod.uid, pod.key) for pod in view.pods_on(node.name)] for node in nodes},
            "owned": {owner.uid: view.pods_of_owner(owner.uid) for pod in pods for owner in pod.owners},
            "fits": [self.handle.node_fit.fits_any_other(pod, node_set) for pod in pods],
            "moves": list(evictor.book.moves),
            "background": (list(evictor.book.background), evictor.num_background),
            "landings": [_told(evictor.landings.landing_of(pod)) for pod in pods],
            "shadow": [prover.cluster.digest() for _, prover in evictor.landings.provers],
        }

    def _verdicts(self, pods: Sequence[Pod]) -> list[Verdict]:
        profiles = enumerate(self.handle.policy.profiles)
        bundles = [Bundle(p.name, "q", (Candidate(pod),), index) for index, p in profiles for pod in pods]
        return [check.verdict(bundle) for check in self.checks for bundle in bundles]


def make_run(
    policy: Mapping[str, object],
    snapshot: Snapshot,
    *,
    table: Sequence[MakeCheck] = REQUEST_CHECKS,
    prior_moves: Sequence[Move] = (),
    **options: Any,
) -> Run:
    """A run of `policy`, as `decide` would start it; `table` has its checks, and options are the evictor's."""
    loaded = load_policy(policy, REGISTRY)
    is_koordinator = loaded.kind == "DeschedulerConfiguration"
    view = ClusterView(snapshot, moves_take_effect=is_koordinator, prior_moves=prior_moves)
    handle = Handle(loaded, view, NodeFit(view), NOW)
    checks: list[RequestCheck] = []

    def kept(make: MakeCheck) -> MakeCheck:
        def make_and_keep(context: CheckContext) -> RequestCheck:
            checks.append(make(context))
            return checks[-1]

        return make_and_keep

    return Run(handle, make_evictor(handle, checks=[kept(make) for make in table], **options), checks)


def bundle_of(*pods: Pod, plugin: str = "q", target_node: str = "") -> Bundle:
    """A bundle of these pods, asked for by the first profile."""
    return Bundle("p", plugin, tuple(Candidate(pod, target_node=target_node) for pod in pods))


def _numbers(check: LimitCheck) -> object:
    counters = check.counters
    return counters.total, +counters.per_node, +counters.per_namespace


def _told(landing: Landing | None) -> object:
    return None if landing is None else (landing.verdict, landing.cold, landing.ties, landing.total, landing.conditions)

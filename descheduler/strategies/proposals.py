"""What a strategy would evict, without anything being booked: candidates for whoever plans on."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.eviction.undo import Undo, undo_all
from descheduler.eviction.wrapped_evictor import WrappedEvictor
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Candidate
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.strategies.framework import BalancePlugin, DeschedulePlugin

_SET_ASIDE = refuse(Reason.OUT_OF_SCOPE, "the pod is set aside")


def propose(
    build: Callable[[StrategyHandle], DeschedulePlugin | BalancePlugin],
    handle: StrategyHandle,
    nodes: Sequence[Node],
    *,
    set_aside: Container[PodIdentity] = frozenset(),
) -> list[Candidate]:
    """The pods that the strategy which `build` makes selects on `nodes`, each once, in the order of asking.

    The filters of the profile answer it, and nothing else refuses a pod: limits, budgets and landings are for who plans
    on. A pod is selected, too, where the strategy itself finds that no node has room for it as things are. Pods in
    `set_aside` count as refused by the filters, so that the strategy may select others in their place.
    Nothing is noted, and where moves take effect in the view of `handle`, they are taken back. Raises StrategyError as
    the strategy does.
    """
    recorder = ProposalRecorder(handle, set_aside)
    try:
        strategy = build(replace(handle, evictor=recorder))
        for point in ("deschedule", "balance"):
            run: Callable[[Sequence[Node]], None] | None = getattr(strategy, point, None)
            if run is not None:
                run(nodes)
    finally:
        recorder.take_back()
    return list(recorder.selected.values())


class ProposalRecorder(WrappedEvictor):
    """Grants what is asked for, and keeps note of it."""

    def __init__(self, handle: StrategyHandle, set_aside: Container[PodIdentity]) -> None:
        super().__init__(handle.evictor)
        self._view: ClusterView = handle.view
        self._set_aside = set_aside
        self._undos: list[Undo] = []
        self.selected: dict[int, Candidate] = {}
        """By identity of the pod: those that are to arrive may have no uid."""

    def filter(self, pod: Pod) -> Verdict:
        """As the profile's, of pods that are not set aside."""
        return _SET_ASIDE if identity_of(pod) in self._set_aside else super().filter(pod)

    def keep(self, candidate: Pod, verdict: Verdict, reason: str = "") -> None:
        """Selects a pod for which the strategy finds no room."""
        if verdict.reason is Reason.NO_NODE_FITS and reason and self.filter(candidate).is_accepted:
            self.selected.setdefault(id(candidate), Candidate(candidate, reason))

    def request_all(self, candidates: Iterable[Candidate]) -> Verdict:
        """Selects all of them."""
        for candidate in candidates:
            if id(candidate.pod) not in self.selected:
                self.selected[id(candidate.pod)] = candidate
                self._undos.append(self._view.book_eviction(candidate.pod))
        return ACCEPTED

    @contextmanager
    def what_if(self) -> Iterator[None]:
        """Forgets what was selected in it."""
        selected, num_undos = dict(self.selected), len(self._undos)
        with super().what_if():
            try:
                yield
            finally:
                self._take_back_to(num_undos)
                self.selected = selected

    def take_back(self) -> None:
        """Undoes what was granted."""
        self._take_back_to(0)

    def _take_back_to(self, num_undos: int) -> None:
        undo_all(self._undos[num_undos:])()
        del self._undos[num_undos:]

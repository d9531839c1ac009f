"""A plugin's evictor behind another one that looks on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.request_check import Allowance
from descheduler.model.held_room import NOTHING_HELD, HeldRooms
from descheduler.model.pod import Pod
from descheduler.model.verdict import Verdict
from descheduler.plan.bundles import Candidate

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.placement.landings.landing import Landing
    from descheduler.placement.prover import LandingProver


class WrappedEvictor(PluginEvictor):
    """Passes everything on to `inner` and has no state of its own; derived ones override what they look at."""

    def __init__(self, inner: PluginEvictor) -> None:
        self._inner = inner
        self.profile_index = inner.profile_index

    def filter(self, pod: Pod) -> Verdict:
        """As `inner`."""
        return self._inner.filter(pod)

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """As `inner`."""
        return self._inner.pre_eviction_filter(pod)

    def num_taken_before(self, node_name: str) -> int:
        """As `inner`."""
        return self._inner.num_taken_before(node_name)

    def begin_turn(self) -> None:
        """As `inner`."""
        self._inner.begin_turn()

    @property
    def num_leaving(self) -> int:
        """As `inner`."""
        return self._inner.num_leaving

    @property
    def num_leaving_for_others(self) -> int:
        """As `inner`."""
        return self._inner.num_leaving_for_others

    def num_leaving_with(self, candidates: Sequence[Candidate]) -> int:
        """As `inner`."""
        return self._inner.num_leaving_with(candidates)

    def keep(self, candidate: Pod, verdict: Verdict, reason: str = "") -> None:
        """As `inner`."""
        self._inner.keep(candidate, verdict, reason)

    def request_all(self, candidates: Iterable[Candidate]) -> Verdict:
        """As `inner`."""
        return self._inner.request_all(candidates)

    def of_scope(self, pod: Pod) -> Verdict:
        """As `inner`."""
        return self._inner.of_scope(pod)

    def allowances(self) -> Sequence[Allowance]:
        """As `inner`."""
        return self._inner.allowances()

    @property
    def last_wave(self) -> int:
        """As `inner`."""
        return self._inner.last_wave

    def prover(self) -> LandingProver:
        """As `inner`."""
        return self._inner.prover()

    def has_booked(self, pod: Pod) -> bool:
        """As `inner`."""
        return self._inner.has_booked(pod)

    def arrivals(self) -> Sequence[tuple[Pod, Pod | None]]:
        """As `inner`."""
        return self._inner.arrivals()

    def predicted(self, pod: Pod, held: HeldRooms = NOTHING_HELD) -> Landing:
        """As `inner`."""
        return self._inner.predicted(pod, held)

    def what_if(self) -> AbstractContextManager[None]:
        """As `inner`."""
        return self._inner.what_if()

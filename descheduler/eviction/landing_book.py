"""Where the replacements of a run's evictions land: one book of moves that all profiles share.

The proof itself is `placement.landing_prover`; this module keeps one prover for each way of scheduling that some
profile names, tells it of every booked eviction, and imports numpy only when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.placement.landing import JointVerdict, Landing
    from descheduler.placement.landing_prover import LandingProver
    from descheduler.policy.scheduler_configuration import SchedulerConfiguration

__all__ = ["KOORD_SCHEDULER", "LandingBook", "SchedulingSettings"]


KOORD_SCHEDULER = "koord-scheduler"
"""The scheduler of Koordinator, which runs kube-scheduler's plugins beside its own."""


@dataclass(frozen=True, slots=True)
class SchedulingSettings:
    """Who places the replacements. `configuration` None is kube-scheduler as it comes.

    The schedulers `names` are taken to run its first profile beside plugins of their own.
    """

    configuration: SchedulerConfiguration | None = None
    version: KubeVersion = field(default_factory=KubeVersion)
    names: tuple[str, ...] = (KOORD_SCHEDULER,)

    def resolved(self) -> SchedulerConfiguration:
        """The configuration with a profile for each of the schedulers."""
        from descheduler.policy.scheduler_configuration import default_configuration, with_schedulers

        return with_schedulers(self.configuration or default_configuration(self.version), self.names)


class LandingBook:
    """The landings of one run over `snapshot`, in the order of its evictions."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.is_verifying = False
        """Whether some plugin runs with PlacementVerification."""
        self.together: JointVerdict | None = None
        """Whether all landings hold together in any order; None where `prove` was not asked or has nothing to say."""
        self._snapshot = snapshot
        self._provers: list[tuple[SchedulingSettings, LandingProver]] = []
        self._leaving: list[Pod] = []
        self._landings: dict[int, Landing] = {}
        self._considered: tuple[SchedulingSettings, Pod, Landing] | None = None

    def landing_of(self, pod: Pod) -> Landing | None:
        """Where the replacement of an evicted pod lands, as it was when the eviction was booked; None if unverified."""
        return self._landings.get(id(pod))

    def consider(self, pod: Pod, settings: SchedulingSettings) -> Landing:
        """Where the replacement of `pod` would land after everything booked so far."""
        if self._considered is not None:
            known_settings, known_pod, landing = self._considered
            if known_pod is pod and known_settings == settings:
                return landing
        landing = self._prover(settings).consider(pod)
        self._considered = settings, pod, landing
        return landing

    def book(self, pod: Pod) -> None:
        """Takes in that `pod` is evicted."""
        self._leaving.append(pod)
        self._considered = None
        for _, prover in self._provers:
            self._landings.setdefault(id(pod), prover.book(pod))

    def assess(self, most: int) -> None:
        """Looks up where the first `most` evictions land that nobody verified, as kube-scheduler would place them."""
        if self.is_verifying or not self._leaving or not most:
            return
        prover = self._new_prover(SchedulingSettings(version=self._snapshot.kube_version or KubeVersion()))
        for pod in self._leaving[:most]:
            self._landings[id(pod)] = prover.book(pod)

    def prove(self, most: int) -> None:
        """Judges all evictions at once, as far as they were verified by one scheduler and are no more than `most`.

        Each was granted on top of those before it; this tells whether the replacements also land in another order.
        """
        if len(self._provers) == 1 and 0 < len(self._leaving) <= most:
            self.together = self._provers[0][1].prove(self._leaving)

    def _prover(self, settings: SchedulingSettings) -> LandingProver:
        for known, prover in self._provers:
            if known == settings:
                return prover
        prover = self._new_prover(settings)
        for pod in self._leaving:
            prover.book(pod)
        self._provers.append((settings, prover))
        return prover

    def _new_prover(self, settings: SchedulingSettings) -> LandingProver:
        from descheduler.placement.landing_prover import LandingProver

        return LandingProver(self._snapshot, configuration=settings.resolved(), version=settings.version)

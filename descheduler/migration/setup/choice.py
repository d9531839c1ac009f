"""How the jobs of a profile are kept, and who holds room for them."""

from __future__ import annotations

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.migration.setup.offer import ClusterOffer
from descheduler.model.koordinator.migration_job import JobMode

__all__ = ["PLACEHOLDER", "Choice", "ProviderMissing", "choose"]

NONE = "none"
KOORDINATOR = "koordinator"
PLACEHOLDER = "placeholder"


class ProviderMissing(Exception):  # noqa: N818 - a state callers act on, named after what it says
    """The policy names a provider that the cluster has not; the sentence says what is missing, and the way out."""


class Choice(msgspec.Struct, frozen=True):
    """`provider` as `reservationProvider` names it; `why` is a sentence for reports.

    Without `uses_jobs` pods are evicted as those of other profiles are, with nothing kept.
    """

    provider: str
    mode: str
    uses_jobs: bool
    why: str


def choose(profile: str, args: MigrationControllerArgs, offer: ClusterOffer, priority_class: str) -> Choice:
    """What suits the profile. Raises ProviderMissing."""
    if args.default_job_mode == JobMode.EVICT_DIRECTLY:
        return _directly(offer, f"profile {profile} holds no room (defaultJobMode EvictDirectly)")
    match args.reservation_provider:
        case "none":
            return _directly(offer, f"profile {profile} holds no room (reservationProvider none)")
        case "koordinator" if not offer.has_reservations:
            raise ProviderMissing(
                f"profile {profile}: reservationProvider is koordinator, and the cluster has no Reservations; "
                "install Koordinator, or use placeholder or none"
            )
        case "placeholder" if not offer.has_placeholder_class:
            raise ProviderMissing(
                f"profile {profile}: reservationProvider is placeholder, and the cluster has no PriorityClass "
                f"{priority_class}; apply cronjob/overlays/placeholder, or use none"
            )
        case "koordinator" | "placeholder" as named:
            return _first(named, profile)
    if offer.has_reservations:
        return _first(KOORDINATOR, profile)
    return _directly(
        offer,
        f"profile {profile} evicts without holding room: the cluster has no Reservations; "
        "set reservationProvider to placeholder to hold room in any cluster",
    )


_WORDS = {KOORDINATOR: "Reservations of Koordinator", PLACEHOLDER: "placeholder pods"}


def _first(provider: str, profile: str) -> Choice:
    why = f"profile {profile} holds room by {_WORDS[provider]}"
    return Choice(provider, JobMode.RESERVATION_FIRST.value, uses_jobs=True, why=why)


def _directly(offer: ClusterOffer, why: str) -> Choice:
    return Choice(NONE, JobMode.EVICT_DIRECTLY.value, offer.has_jobs, why)

"""Who holds room for the jobs of a profile."""

from __future__ import annotations

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.migration.room.offer import ClusterOffer
from descheduler.migration.room.table import PROVIDERS
from descheduler.model.koordinator.migration_job import JobMode

__all__ = ["JobProfile", "ProviderMissing", "RoomChoice", "choose"]


class ProviderMissing(Exception):  # noqa: N818 - a state callers act on, named after what it says
    """The policy names a provider that the cluster has not; the sentence says what is missing, and the way out."""


class RoomChoice(msgspec.Struct, frozen=True):
    """`provider` as `reservationProvider` names it; `why` is a sentence for reports.

    Without `uses_jobs` pods are evicted as those of other profiles are, with nothing kept.
    """

    provider: str
    mode: str
    uses_jobs: bool
    why: str


class JobProfile(msgspec.Struct, frozen=True):
    """How the evictions of one profile are carried out as jobs."""

    args: MigrationControllerArgs
    choice: RoomChoice


def choose(profile: str, args: MigrationControllerArgs, offer: ClusterOffer) -> RoomChoice:
    """What suits the profile. Raises ProviderMissing."""
    if args.default_job_mode == JobMode.EVICT_DIRECTLY:
        return _directly(offer, f"profile {profile} holds no room (defaultJobMode EvictDirectly)")
    provider = RoomProvider.named(args.reservation_provider)
    if provider is None and not offer.has_reservations:
        return _directly(
            offer,
            f"profile {profile} evicts without holding room: the cluster has no Reservations; "
            "set reservationProvider to placeholder to hold room in any cluster",
        )
    if provider is None:
        provider = RoomProvider.KOORDINATOR
    if not provider.holds_room:
        return _directly(offer, f"profile {profile} holds no room (reservationProvider {provider})")
    row = PROVIDERS[provider]
    if not row.is_offered(offer):
        raise ProviderMissing(
            f"profile {profile}: reservationProvider is {provider}, and the cluster has no {row.missing}"
        )
    why = f"profile {profile} holds room by {row.means}"
    return RoomChoice(provider.value, JobMode.RESERVATION_FIRST.value, uses_jobs=True, why=why)


def _directly(offer: ClusterOffer, why: str) -> RoomChoice:
    return RoomChoice(RoomProvider.NONE.value, JobMode.EVICT_DIRECTLY.value, offer.has_jobs, why)

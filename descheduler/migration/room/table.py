"""The ways to hold room, a row each, what a cluster has of them, and which one a profile gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS, RoomProvider
from descheduler.kube.discovery import ServerFacts
from descheduler.kube.objects import ObjectCalls
from descheduler.model.koordinator.migration_job import JobMode

if TYPE_CHECKING:
    from descheduler.migration.room.provider import ReservationProvider


class ProviderRow(msgspec.Struct, frozen=True):
    """A way to hold room.

    `make` gives what holds it for the jobs of an owner, a name that a label may have. `means` is what room is held by,
    for sentences. `is_offered` tells whether a cluster has what that needs, and `missing` what is missing and the way
    out where it has not.
    """

    make: Callable[[ObjectCalls, str], ReservationProvider]
    means: str
    is_offered: Callable[[ClusterOffer], bool]
    missing: str = ""


# Each imports its module when it is called: runs without jobs go without all of them.


def _reservations(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.koordinator.provider import ReservationRooms

    return ReservationRooms(objects, owner)


def _placeholders(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.placeholder.pod import PlaceholderSettings
    from descheduler.migration.room.placeholder.provider import PlaceholderRooms

    return PlaceholderRooms(objects, owner, PlaceholderSettings())


def _nothing(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.provider import NoRooms

    del objects, owner
    return NoRooms()


PROVIDERS: Mapping[RoomProvider, ProviderRow] = {
    RoomProvider.KOORDINATOR: ProviderRow(
        _reservations,
        "Reservations of Koordinator",
        lambda offer: offer.has_reservations,
        "Reservations; install Koordinator, or use placeholder or none",
    ),
    RoomProvider.PLACEHOLDER: ProviderRow(
        _placeholders,
        "placeholder pods",
        lambda offer: offer.has_placeholder_class,
        f"PriorityClass {PLACEHOLDER_CLASS}; apply cronjob/overlays/placeholder, or use none",
    ),
    RoomProvider.NONE: ProviderRow(_nothing, "nothing", lambda offer: True),
}
"""In the order in which a job that names none gets one: first those that hold room."""
_KOORDINATOR_GROUP = "scheduling.koordinator.sh"
_PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


class ClusterOffer(msgspec.Struct, frozen=True):
    """Whether there are PodMigrationJobs, Reservations and the PriorityClass of placeholders."""

    has_jobs: bool = False
    has_reservations: bool = False
    has_placeholder_class: bool = False


class _Resource(msgspec.Struct):
    name: str


class _ResourceList(msgspec.Struct):
    resources: list[_Resource]


_decode_resources = msgspec.json.Decoder(_ResourceList).decode


def find_offer(objects: ObjectCalls, server: ServerFacts, priority_class: str = "") -> ClusterOffer:
    """What the server behind `objects` offers; a PriorityClass is looked for if named. Raises ExchangeError."""
    names: set[str] = set()
    if _KOORDINATOR_GROUP in server.groups:
        found = objects.read(f"/apis/{_KOORDINATOR_GROUP}/v1alpha1", _decode_resources)
        names = {resource.name for resource in found.resources} if found is not None else set()
    has_class = bool(priority_class) and objects.read(f"{_PRIORITY_CLASSES}/{priority_class}", bytes) is not None
    return ClusterOffer("podmigrationjobs" in names, "reservations" in names, has_class)


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

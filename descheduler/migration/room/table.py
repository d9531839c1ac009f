"""The ways to hold room, a row each, what a cluster has of them, and which one a profile gets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from typing import TYPE_CHECKING

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS, RoomProvider
from descheduler.kube.discovery import ServerFacts, decode_resources
from descheduler.kube.objects import ObjectCalls
from descheduler.model.koordinator.migration_job import JobMode

if TYPE_CHECKING:
    from descheduler.migration.room.provider import ReservationProvider


class ProviderRow(msgspec.Struct, frozen=True):
    """A way to hold room.

    `make` gives what holds it for the jobs of an owner, a name that a label may have. `means` is what room is held by,
    for sentences. `is_offered` tells whether a cluster has what that needs, given the names of its Koordinator
    resources; it raises ExchangeError. `missing` is what a cluster lacks where it has not, and `way_out` what a policy
    that names the provider can do then. A profile that names none gets the row with `other_way`, or none at all:
    `other_way` is what its policy can do then.
    """

    make: Callable[[ObjectCalls, str], ReservationProvider]
    means: str
    is_offered: Callable[[ObjectCalls, Container[str]], bool]
    missing: str = ""
    way_out: str = ""
    other_way: str = ""


# Each imports its module when it is called: runs without jobs go without all of them.


def _reservations(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.koordinator.provider import ReservationRooms

    return ReservationRooms(objects, owner)


def _placeholders(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.placeholder.provider import PlaceholderRooms

    return PlaceholderRooms(objects, owner)


def _nothing(objects: ObjectCalls, owner: str) -> ReservationProvider:
    from descheduler.migration.room.provider import NoRooms

    del objects, owner
    return NoRooms()


def _has_placeholder_class(objects: ObjectCalls, resources: Container[str]) -> bool:
    del resources
    return objects.read(f"{_PRIORITY_CLASSES}/{PLACEHOLDER_CLASS}", bytes) is not None


PROVIDERS: Mapping[RoomProvider, ProviderRow] = {
    RoomProvider.KOORDINATOR: ProviderRow(
        _reservations,
        "Reservations of Koordinator",
        lambda objects, resources: "reservations" in resources,
        missing="Reservations",
        way_out="install Koordinator, or use placeholder or none",
        other_way="set reservationProvider to placeholder to hold room in any cluster",
    ),
    RoomProvider.PLACEHOLDER: ProviderRow(
        _placeholders,
        "placeholder pods",
        _has_placeholder_class,
        missing=f"PriorityClass {PLACEHOLDER_CLASS}",
        way_out="apply cronjob/overlays/placeholder, or use none",
    ),
    RoomProvider.NONE: ProviderRow(_nothing, "nothing", lambda objects, resources: True),
}
"""In the order in which a job that names none gets one: first those that hold room."""
_BY_DEFAULT = next(provider for provider, row in PROVIDERS.items() if row.other_way)
_KOORDINATOR_GROUP = "scheduling.koordinator.sh"
_PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


class ClusterOffer(msgspec.Struct, frozen=True):
    """Whether there are PodMigrationJobs, and the providers that have what they need."""

    has_jobs: bool = False
    providers: frozenset[RoomProvider] = frozenset()


def find_offer(objects: ObjectCalls, server: ServerFacts, named: Collection[RoomProvider | None]) -> ClusterOffer:
    """What the server behind `objects` offers of what policies have `named`, and by default. Raises ExchangeError."""
    names: set[str] = set()
    if _KOORDINATOR_GROUP in server.groups:
        found = objects.read(f"/apis/{_KOORDINATOR_GROUP}/v1alpha1", decode_resources)
        names = {resource.name for resource in found.resources} if found is not None else set()
    asked = [each for each in PROVIDERS if each is _BY_DEFAULT or each in named]
    offered = frozenset(each for each in asked if PROVIDERS[each].is_offered(objects, names))
    return ClusterOffer("podmigrationjobs" in names, offered)


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
    named = RoomProvider.named(args.reservation_provider)
    provider = _BY_DEFAULT if named is None else named
    row = PROVIDERS[provider]
    if not provider.holds_room:
        return _directly(offer, f"profile {profile} holds no room (reservationProvider {provider})")
    if provider not in offer.providers:
        lacks = f"the cluster has no {row.missing}"
        if named is None:
            return _directly(offer, f"profile {profile} evicts without holding room: {lacks}; {row.other_way}")
        raise ProviderMissing(f"profile {profile}: reservationProvider is {provider}, and {lacks}; {row.way_out}")
    why = f"profile {profile} holds room by {row.means}"
    return RoomChoice(provider.value, JobMode.RESERVATION_FIRST.value, uses_jobs=True, why=why)


def _directly(offer: ClusterOffer, why: str) -> RoomChoice:
    return RoomChoice(RoomProvider.NONE.value, JobMode.EVICT_DIRECTLY.value, offer.has_jobs, why)

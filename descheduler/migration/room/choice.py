"""How the jobs of a profile are kept, and who holds room for them."""

from __future__ import annotations

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.kube.discovery import ServerFacts
from descheduler.kube.objects import ObjectCalls
from descheduler.model.koordinator.migration_job import JobMode

__all__ = [
    "PLACEHOLDER",
    "ClusterOffer",
    "JobProfile",
    "JobStorage",
    "ProviderMissing",
    "RoomChoice",
    "choose",
    "find_offer",
]

NONE = "none"
KOORDINATOR = "koordinator"
PLACEHOLDER = "placeholder"


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


def choose(profile: str, args: MigrationControllerArgs, offer: ClusterOffer, priority_class: str) -> RoomChoice:
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


def _first(provider: str, profile: str) -> RoomChoice:
    why = f"profile {profile} holds room by {_WORDS[provider]}"
    return RoomChoice(provider, JobMode.RESERVATION_FIRST.value, uses_jobs=True, why=why)


def _directly(offer: ClusterOffer, why: str) -> RoomChoice:
    return RoomChoice(NONE, JobMode.EVICT_DIRECTLY.value, offer.has_jobs, why)


KOORDINATOR_GROUP = "scheduling.koordinator.sh"
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
    if KOORDINATOR_GROUP in server.groups:
        found = objects.read(f"/apis/{KOORDINATOR_GROUP}/v1alpha1", _decode_resources)
        names = {resource.name for resource in found.resources} if found is not None else set()
    has_class = bool(priority_class) and objects.read(f"{_PRIORITY_CLASSES}/{priority_class}", bytes) is not None
    return ClusterOffer("podmigrationjobs" in names, "reservations" in names, has_class)


class JobProfile(msgspec.Struct, frozen=True):
    """How the evictions of one profile are carried out as jobs."""

    args: MigrationControllerArgs
    choice: RoomChoice


class JobStorage(msgspec.Struct, frozen=True):
    """Where jobs are kept: as PodMigrationJobs, or as ConfigMaps of `namespace`.

    `owner` tells those of one policy, in this run and the next; it may be the value of a label. Jobs of
    users are for runs of the whole cluster, or else for its `is_first_shard`.
    """

    owner: str
    namespace: str
    in_objects: bool
    is_first_shard: bool = True

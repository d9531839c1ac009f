"""The provider of a profile is the one that the policy names, or what the cluster offers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.discovery import ServerFacts
from descheduler.migration.room.table import PROVIDERS, ClusterOffer, ProviderMissing, choose, find_offer

KOORDINATOR, PLACEHOLDER = RoomProvider.KOORDINATOR, RoomProvider.PLACEHOLDER
RESERVATIONS, PLACEHOLDERS = frozenset({KOORDINATOR}), frozenset({PLACEHOLDER})
ALL = ClusterOffer(has_jobs=True, providers=RESERVATIONS | PLACEHOLDERS)


def chosen(provider: str, offer: ClusterOffer, mode: str = "ReservationFirst") -> tuple[str, str, bool, str]:
    choice = choose("p", MigrationControllerArgs(default_job_mode=mode, reservation_provider=provider), offer)
    return choice.provider, choice.mode, choice.uses_jobs, choice.why


@pytest.mark.parametrize("provider", list(RoomProvider))
def test_each_provider_has_a_row_that_makes_it(provider: RoomProvider) -> None:
    assert PROVIDERS[provider].make(None, "descheduler").name == provider.value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("provider", "means"),
    [("koordinator", "Reservations of Koordinator"), ("placeholder", "placeholder pods")],
)
def test_named_provider_holds_room_by_jobs(provider: str, means: str) -> None:
    assert chosen(provider, ALL) == (provider, "ReservationFirst", True, f"profile p holds room by {means}")


@pytest.mark.parametrize(
    ("provider", "missing"),
    [
        ("koordinator", "no Reservations; install Koordinator, or use placeholder or none"),
        (
            "placeholder",
            "no PriorityClass descheduler-placeholder; apply cronjob/overlays/placeholder, or use none",
        ),
    ],
)
def test_named_provider_that_the_cluster_lacks_is_refused_with_the_way_out(provider: str, missing: str) -> None:
    with pytest.raises(ProviderMissing) as caught:
        choose("p", MigrationControllerArgs(reservation_provider=provider), ClusterOffer(has_jobs=True))

    assert str(caught.value) == f"profile p: reservationProvider is {provider}, and the cluster has {missing}"


def test_reservations_hold_room_where_the_policy_names_no_provider_and_the_cluster_has_them() -> None:
    assert chosen("", ALL)[0] == "koordinator"
    assert chosen("", ClusterOffer(providers=PLACEHOLDERS)) == (
        "none",
        "EvictDirectly",
        False,
        "profile p evicts without holding room: the cluster has no Reservations; "
        "set reservationProvider to placeholder to hold room in any cluster",
    )


@pytest.mark.parametrize("has_jobs", [True, False])
def test_without_room_jobs_are_used_where_the_cluster_has_them(has_jobs: bool) -> None:
    offer = ClusterOffer(has_jobs=has_jobs, providers=RESERVATIONS)

    none = chosen("none", offer)
    directly = chosen("koordinator", offer, "EvictDirectly")

    assert none == ("none", "EvictDirectly", has_jobs, "profile p holds no room (reservationProvider none)")
    assert directly == ("none", "EvictDirectly", has_jobs, "profile p holds no room (defaultJobMode EvictDirectly)")


JOBS_AND_ROOM = {"resources": [{"name": "podmigrationjobs"}, {"name": "reservations"}, {"name": "devices"}]}
GROUP = {"scheduling.koordinator.sh": "scheduling.koordinator.sh/v1alpha1"}


class Served:
    """A server on which these paths lead to something; it keeps what was looked at."""

    def __init__(self, found: Mapping[str, object]) -> None:
        self._found = found
        self.looks: list[str] = []

    def read(self, path: str, decode: Callable[[bytes], object]) -> object:
        """What is there, as it is decoded."""
        self.looks.append(path)
        return decode(json.dumps(self._found[path]).encode()) if path in self._found else None


RESOURCES = "/apis/scheduling.koordinator.sh/v1alpha1"
CLASS = "/apis/scheduling.k8s.io/v1/priorityclasses/descheduler-placeholder"


@pytest.mark.parametrize(
    ("groups", "found", "named", "offer", "looks"),
    [
        pytest.param(GROUP, {RESOURCES: JOBS_AND_ROOM, CLASS: {}}, PLACEHOLDER, ALL, [RESOURCES, CLASS], id="all"),
        pytest.param({}, {CLASS: {}}, PLACEHOLDER, ClusterOffer(providers=PLACEHOLDERS), [CLASS], id="class"),
        pytest.param({}, {CLASS: {}}, None, ClusterOffer(), [], id="no provider is named"),
        pytest.param(GROUP, {}, PLACEHOLDER, ClusterOffer(), [RESOURCES, CLASS], id="nothing"),
        pytest.param(
            GROUP,
            {RESOURCES: {"resources": [{"name": "reservations"}]}},
            None,
            ClusterOffer(providers=RESERVATIONS),
            [RESOURCES],
            id="reservations",
        ),
        pytest.param(
            GROUP,
            {RESOURCES: {"resources": [{"name": "podmigrationjobs"}]}},
            None,
            ClusterOffer(has_jobs=True),
            [RESOURCES],
            id="jobs",
        ),
    ],
)
def test_cluster_offers_what_it_serves(
    groups: Mapping[str, str],
    found: Mapping[str, object],
    named: RoomProvider | None,
    offer: ClusterOffer,
    looks: list[str],
) -> None:
    served = Served(found)

    assert find_offer(cast(Any, served), ServerFacts("v1.36.0", "1", "36", groups), {named}) == offer
    assert served.looks == looks

"""What Coscheduling itself answers (koordinator.md 8.2): who is queued, who waits at Permit, and who is a unit."""

from __future__ import annotations

from random import Random

import pytest

from descheduler.model.koordinator.gang_settings import PodGroup
from descheduler.model.pod import Pod
from descheduler.placement.framework.obstacle import Code
from descheduler.placement.plugins.coscheduling.obstacles import GangReason, GangShortage, MissingMembers
from descheduler.placement.plugins.coscheduling.plugin import Coscheduling
from descheduler.placement.shadow.shadow_cluster import Company, Cycle, ShadowCluster
from tests.placement.clusters import make_cluster, make_profile
from tests.placement.plugins.coscheduling.worlds import group_of, member, nodes_of

pytestmark = pytest.mark.long


def cluster_of(*pods: Pod, groups: tuple[PodGroup, ...]) -> ShadowCluster:
    """A cluster with room for everything."""
    return make_cluster(nodes_of(8, 8), pods, pod_groups=groups)


def waiting(name: str, gang: str = "train") -> Pod:
    """A pod of a gang without a node."""
    return member(name, gang, node="")


def lacks(cluster: ShadowCluster, *company: Pod) -> MissingMembers | None:
    """What keeps the first of `company` out of the queue."""
    cycle = Cycle(cluster.placement_class(company[0]), cluster, company=Company(company))
    obstacle = Coscheduling(cluster, make_profile()).pre_enqueue(cycle)
    if obstacle is None:
        return None
    assert obstacle.code is Code.UNRESOLVABLE
    (fact,) = obstacle.facts
    assert isinstance(fact, MissingMembers)
    return fact


def test_gang_is_queued_once_as_many_of_its_pods_exist_as_it_needs() -> None:
    cluster = cluster_of(groups=(group_of("train", 3),))
    pods = [waiting(f"w{index}") for index in range(3)]

    few, enough = lacks(cluster, *pods[:2]), lacks(cluster, *pods)

    assert few is not None
    assert (few.why, few.gangs) == (GangReason.TOO_FEW_PODS, (GangShortage("default/train", 2, 3),))
    assert few.gangs[0].missing == 1
    assert enough is None


def test_bound_members_exist_as_well() -> None:
    cluster = cluster_of(member("bound"), groups=(group_of("train", 2, "only-waiting"),))

    assert lacks(cluster, waiting("w")) is None


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        pytest.param((), GangReason.NO_SETTINGS, id="its PodGroup"),
        pytest.param((group_of("train", 1, groups=("train", "other")),), GangReason.NO_GANG, id="a gang of its group"),
    ],
)
def test_gang_is_not_queued_without(groups: tuple[PodGroup, ...], why: GangReason) -> None:
    missing = lacks(cluster_of(groups=groups), waiting("w"))

    assert missing is not None
    assert missing.why is why


@pytest.mark.parametrize(
    ("policy", "num_bound", "num_waiting"),
    [
        pytest.param("only-waiting", 3, 3, id="only-waiting counts those that wait"),
        pytest.param("waiting-and-running", 2, 1, id="waiting-and-running counts those that are bound too"),
        pytest.param("once-satisfied", 1, 1, id="once-satisfied counts nobody once one was bound"),
        pytest.param("once-satisfied", 0, 3, id="and those that wait before"),
    ],
)
def test_members_are_let_through_when_enough_of_them_count(policy: str, num_bound: int, num_waiting: int) -> None:
    bound = [member(f"b{index}") for index in range(num_bound)]
    cluster = cluster_of(*bound, groups=(group_of("train", 3, policy),))
    plugin = Coscheduling(cluster, make_profile())
    pods = [waiting(f"w{index}") for index in range(3)]

    answers = []
    company = Company(tuple(pods))
    for pod in pods:
        cycle = Cycle(cluster.placement_class(pod), cluster, company=company)
        answers.append(plugin.permit(cycle, 0) is None)
        cluster.place(cycle, 0, [plugin.ledger])
        company.held.append(pod)

    assert answers.index(True) + 1 == num_waiting


def test_pod_of_a_satisfied_gang_is_a_unit_of_its_own_and_is_refused_nowhere_whatever_is_placed() -> None:
    groups = (group_of("train", 4), group_of("late", 2, "only-waiting"))
    cluster = cluster_of(member("bound"), groups=groups)
    plugin, generator = Coscheduling(cluster, make_profile()), Random(0)
    asked = waiting("asked")

    for number in range(20):
        other = waiting(f"o{number}", generator.choice(["train", "late", ""]))
        cluster.place(Cycle(cluster.placement_class(other), cluster), generator.randrange(2), [plugin.ledger])
        cycle = Cycle(cluster.placement_class(asked), cluster)

        assert plugin.unit_of(asked) == ""
        assert plugin.pre_enqueue(cycle) is None
        assert plugin.permit(cycle, 0) is None


def test_what_is_placed_for_a_gang_is_taken_back_in_any_order() -> None:
    cluster = cluster_of(groups=(group_of("train", 1), group_of("late", 1)))
    plugin = Coscheduling(cluster, make_profile())
    before = cluster.digest()

    pods = [waiting("t0"), waiting("l0", "late"), waiting("t1")]
    placed = [cluster.place(Cycle(cluster.placement_class(pod), cluster), 0, [plugin.ledger]) for pod in pods]
    assert plugin.unit_of(waiting("t2")) == ""
    for each in (placed[1], placed[0], placed[2]):
        cluster.take_off(each)

    assert cluster.digest() == before
    assert plugin.unit_of(waiting("t2")) == "default/train"


def test_of_a_group_of_thousands_the_first_hundred_gangs_that_it_waits_for_are_named() -> None:
    names = [f"g{index:04}" for index in range(3000)]
    cluster = cluster_of(groups=tuple(group_of(name, 2, "only-waiting", groups=names) for name in names))
    pod = waiting("w", "g0000")

    obstacle = Coscheduling(cluster, make_profile()).permit(Cycle(cluster.placement_class(pod), cluster), 0)

    assert obstacle is not None
    (missing,) = obstacle.facts
    assert isinstance(missing, MissingMembers)
    assert missing.gangs[0] == GangShortage("default/g0000", 1, 2)
    assert len(missing.gangs) == 100
    assert len(missing.group) == 3000
    assert missing.short.endswith(
        "default/g0098 (0 of 2), default/g0099 (0 of 2) and up to 2900 more can be scheduled together"
    )


@pytest.mark.parametrize(
    ("others", "company", "why"),
    [
        pytest.param([], [], GangReason.NO_GANG, id="no pod of it exists"),
        pytest.param(["other"], [], GangReason.NO_SETTINGS, id="a pod of it exists"),
        pytest.param([], ["other"], GangReason.NO_SETTINGS, id="a pod of it is to come"),
    ],
)
def test_gang_of_the_group_without_a_pod_group_is_unknown_or_has_no_settings(
    others: list[str], company: list[str], why: GangReason
) -> None:
    cluster = cluster_of(
        *(waiting("x", gang) for gang in others), groups=(group_of("train", 1, groups=("train", "other")),)
    )

    missing = lacks(cluster, waiting("w"), *(waiting("y", gang) for gang in company))

    assert missing is not None
    assert (missing.why, [gang.gang_id for gang in missing.gangs]) == (why, ["default/other"])


@pytest.mark.parametrize(("present", "missing"), [(1, 2), (3, 0), (4, 0)])
def test_gang_misses_as_many_pods_as_it_needs_more(present: int, missing: int) -> None:
    assert GangShortage("default/train", present, 3).missing == missing

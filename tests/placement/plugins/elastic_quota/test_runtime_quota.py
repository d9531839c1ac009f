"""Runtime quota: the worked examples of the specification, and what koord-scheduler 1.8.0 was measured to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
import pytest

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA, ROOT_QUOTA, ElasticQuota
from descheduler.model.quantity import parse_quantity
from descheduler.placement.plugins.elastic_quota.elastic_quota import BUILT_IN_MAX
from descheduler.placement.plugins.elastic_quota.quota_tree import QuotaTree
from descheduler.placement.plugins.elastic_quota.runtime_quota import RuntimeQuota
from tests.placement.plugins.elastic_quota.quotas import make_quota

WIDE = {"cpu": "1000"}


def shared(
    quotas: Sequence[ElasticQuota], requests: Mapping[str, str], total: str, *, scales_mins: bool = True
) -> dict[str, int]:
    """Quota → its runtime quota of cpu, in thousandths."""
    tree = QuotaTree(quotas)
    runtime = RuntimeQuota(tree, {"cpu": parse_quantity(total)}, scales_mins=scales_mins)
    for name, cpu in requests.items():
        index = tree.index[name]
        tree.add_request(index, tree.charge(index, {"cpu": parse_quantity(cpu)}))
    return {quota.name: int(runtime.of(index)[0]) for index, quota in enumerate(tree.quotas)}


def quota(name: str, least: str, weight: str = "1", **labels: str) -> ElasticQuota:
    return make_quota(name, most=WIDE, least={"cpu": least}, weight={"cpu": weight}, **labels)


def test_worked_example_of_section_7_3() -> None:
    """With whole cpus the surplus would be 3 and 6 of 9; in thousandths it is what v1.8.0 gave (`quota-example-1`)."""
    quotas = [quota("a", "10", "40"), quota("b", "15", "60"), quota("c", "20", "50"), quota("d", "15", "80")]

    found = shared(quotas, {"a": "5", "b": "20", "c": "40", "d": "70"}, "100")

    assert found == {"a": 5000, "b": 20000, "c": 35385, "d": 39615}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param({}, {"a": 42000, "b": 10000, "c": 28000}, id="what is not requested is lent"),
        pytest.param(
            {"allow_lent_resource": "false"}, {"a": 32000, "b": 24000, "c": 24000}, id="unless lending is forbidden"
        ),
    ],
)
def test_scaled_min_example_of_section_7_3(labels: Mapping[str, str], expected: Mapping[str, int]) -> None:
    quotas = [quota("a", "40", "100"), quota("b", "30", "60", **labels), quota("c", "30", "40")]

    assert shared(quotas, {"a": "50", "b": "10", "c": "60"}, "80") == expected


def test_nobody_is_cut_when_mins_are_not_scaled() -> None:
    quotas = [quota("a", "40"), quota("b", "30"), quota("c", "30")]

    found = shared(quotas, {"a": "50", "b": "30", "c": "60"}, "80", scales_mins=False)

    assert sum(found.values()) == 100000


def test_zero_weight_gets_no_surplus() -> None:
    zero = make_quota("a", most=WIDE, least={"cpu": "1"}, weight={"cpu": "0", "memory": "1"})

    assert shared([zero, quota("b", "1")], {"a": "5", "b": "5"}, "20") == {"a": 1000, "b": 5000}


@pytest.mark.parametrize("weight", ["no JSON", "[]", '{"cpu": "x"}', "{}", '{"cpu": 0}'])
def test_shared_weight_that_is_broken_or_zero_is_max(weight: str) -> None:
    assert make_quota("a", most={"cpu": "7"}, weight=weight).shared_weight == {"cpu": 7 * 10**9}


def test_rounded_shares_may_add_up_to_more_than_there_is() -> None:
    """Each share is rounded half up on its own in v1.8.0: 10 thousandths to four equal quotas are 3 each."""
    quotas = [quota(name, "0") for name in "abcd"]

    found = shared(quotas, dict.fromkeys("abcd", "1"), "10m")

    assert found == dict.fromkeys("abcd", 3)


def test_children_share_what_their_parent_may_use() -> None:
    parent = make_quota("p", most={"cpu": "10"}, is_parent="true")
    quotas = [parent, quota("a", "0", parent="p"), quota("b", "0", parent="p")]

    found = shared(quotas, {"a": "20", "b": "4"}, "100")

    assert found == {"p": 10000, "a": 6000, "b": 4000}


def test_weight_of_the_default_quota_overflows_as_measured() -> None:
    """Its max in thousandths of a cpu leaves 64 bits: as a weight it is -600."""
    built_in = ElasticQuota(DEFAULT_QUOTA, max=dict(BUILT_IN_MAX), shared_weight=dict(BUILT_IN_MAX))
    quotas = [built_in, quota("a", "0", "2")]

    found = shared(quotas, {DEFAULT_QUOTA: "1", "a": "9"}, "10")

    assert found["a"] == 9000
    assert found[DEFAULT_QUOTA] < 0


def test_loop_of_parents_ends() -> None:
    quotas = [quota("a", "1", parent="b"), quota("b", "1", parent="a")]

    assert set(shared(quotas, {"a": "5"}, "10")) == {"a", "b"}


def test_taking_requests_back_leaves_what_was_before() -> None:
    tree = QuotaTree([quota("a", "2", allow_lent_resource="false")])
    before = tree.requests.copy()

    tree.add_request(0, np.array([5000]))
    tree.add_request(0, np.array([-5000]))

    assert (tree.requests == before).all()
    assert tree.requests[0, 0] == 2000


def random_tree(draw: Random) -> QuotaTree:
    """Up to eight quotas of cpu, memory or both, at any depth, some of which do not lend."""
    names = [DEFAULT_QUOTA, *(f"q{number}" for number in range(draw.randint(1, 7)))]
    quotas = [
        make_quota(
            name,
            most={
                resource: str(draw.randint(0, 20)) for resource in draw.sample(("cpu", "memory"), draw.randint(1, 2))
            },
            least={"cpu": str(draw.randint(0, 9))} if draw.random() < 0.6 else {},
            weight={"cpu": str(draw.randint(0, 5)), "memory": "1"},
            parent=draw.choice([ROOT_QUOTA, *names[:place]]),
            allow_lent_resource=draw.choice(["true", "true", "false"]),
        )
        for place, name in enumerate(names)
    ]
    return QuotaTree(quotas, guarantees_usage=draw.random() < 0.2)


@pytest.mark.long
def test_shares_that_are_kept_up_to_date_are_those_that_are_computed_at_once() -> None:
    for seed in range(40):
        draw = Random(seed)
        tree, scales_mins = random_tree(draw), draw.random() < 0.8
        total = {"cpu": draw.randint(0, 40) * 10**9, "memory": draw.randint(0, 40) * 10**9}
        runtime = RuntimeQuota(tree, total, scales_mins=scales_mins)
        for _ in range(10):
            index, change = draw.randrange(len(tree.quotas)), draw.choice([tree.add_request, tree.add_used])
            change(index, np.array([draw.randint(0, 9000 if name == "cpu" else 9) for name in tree.resources]))
            at_once = RuntimeQuota(tree, total, scales_mins=scales_mins)
            for asked in draw.sample(range(len(tree.quotas)), draw.randint(0, len(tree.quotas))):
                assert runtime.of(asked).tolist() == at_once.of(asked).tolist(), seed
                assert runtime.scaled_min(asked).tolist() == at_once.scaled_min(asked).tolist(), seed


@pytest.mark.long
def test_quotas_may_be_below_each_other_to_any_depth() -> None:
    deep = 3_000
    quotas = [make_quota(f"q{n}", most={"cpu": "9"}, parent=f"q{n - 1}" if n else ROOT_QUOTA) for n in range(deep)]
    tree = QuotaTree(quotas)
    tree.add_request(deep - 1, np.array([4_000]))

    assert RuntimeQuota(tree, {"cpu": 3 * 10**9}, scales_mins=True).of(deep - 1).tolist() == [3_000]


def test_mins_are_scaled_of_each_resource_of_which_there_is_too_little() -> None:
    """Quotas below the root have to do with what nodes have, whatever the parents of other quotas name."""
    gib = 2**30
    mins = {"cpu": "4", "memory": "4Gi"}
    both = {"cpu": "100", "memory": "100Gi"}
    quotas = [
        make_quota("x", most=both, least=mins),
        make_quota("y", most=both, least=mins),
        make_quota("p", most={"cpu": "100"}, least={"cpu": "4"}, is_parent="true"),
        make_quota("k", most=both, least=mins, parent="p"),
        make_quota("l", most=both, least=mins, parent="p"),
    ]
    tree = QuotaTree(quotas)
    runtime = RuntimeQuota(tree, {"cpu": parse_quantity("6"), "memory": parse_quantity("4Gi")})
    for name in tree.index:
        tree.add_request(tree.index[name], tree.charge(tree.index[name], {"cpu": parse_quantity("50")}))

    scaled = {
        name: dict(zip(tree.resources, runtime.scaled_min(tree.index[name]).tolist(), strict=True))
        for name in tree.index
    }

    assert scaled["x"] == scaled["y"] == {"cpu": 2000, "memory": 2 * gib}
    assert scaled["p"] == {"cpu": 2000, "memory": 0}
    assert scaled["k"]["cpu"] == scaled["l"]["cpu"] == 1000

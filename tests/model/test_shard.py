"""Which nodes a shard owns, and what it has of a limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.shard import WHOLE_CLUSTER, Shard
from tests.builders import make_node

POOL = "cloud.google.com/gke-nodepool"
COUNTS = st.integers(1, 9)


def shards(count: int, *, label: str = "", turn: str = "") -> list[Shard]:
    return [Shard(index, count, label, turn) for index in range(count)]


@given(count=COUNTS, names=st.lists(st.text("abc-09", min_size=1), max_size=20), label=st.sampled_from(["", "rack"]))
def test_every_node_has_one_owner(count: int, names: list[str], label: str) -> None:
    nodes = [make_node(name, labels={"rack": name[:1]}) for name in names]

    owners = [[shard.index for shard in shards(count, label=label) if shard.owns(node)] for node in nodes]

    assert all(len(found) == 1 for found in owners)


@given(count=COUNTS, limit=st.integers(0, 1000), key=st.text(), turn=st.text())
def test_shares_add_up_to_the_limit(count: int, limit: int, key: str, turn: str) -> None:
    shares = [shard.share(limit, key) for shard in shards(count, turn=turn)]

    assert sum(shares) == limit
    assert max(shares) - min(shares) <= 1


@given(count=COUNTS, limit=st.integers(0, 50), key=st.text(), turn=st.text())
def test_share_does_not_shrink_when_the_limit_grows(count: int, limit: int, key: str, turn: str) -> None:
    """Shards that read the cluster one after the other see different rests of a limit."""
    for shard in shards(count, turn=turn):
        assert shard.share(limit, key) <= shard.share(limit + 1, key)


def test_nodes_of_one_pool_are_in_one_shard() -> None:
    nodes = [make_node(f"node-{number}", labels={POOL: "large"}) for number in range(20)]

    (owner,) = [shard for shard in shards(4) if shard.owns(nodes[0])]

    assert owner.num_owned(nodes) == len(nodes)


def test_label_takes_the_place_of_the_pool() -> None:
    nodes = [make_node(f"node-{number}", labels={POOL: "large", "rack": str(number)}) for number in range(40)]

    owned = [shard.num_owned(nodes) for shard in shards(4, label="rack")]

    assert sum(owned) == len(nodes)
    assert all(owned)


def test_first_shards_get_the_rest_of_a_limit_without_a_turn() -> None:
    assert [shard.share(10) for shard in shards(4)] == [3, 3, 2, 2]


def test_rest_of_a_limit_goes_to_other_shards_with_another_turn() -> None:
    served = {
        shard.index for number in range(20) for shard in shards(4, turn=f"job-{number}") if shard.share(1, "shop/web")
    }

    assert served == {0, 1, 2, 3}


def test_lasting_share_is_the_same_whatever_the_turn() -> None:
    found = {tuple(shard.lasting_share(5, "web") for shard in shards(4, turn=turn)) for turn in ("", "a", "b", "c")}

    assert len(found) == 1


def test_names_of_objects_tell_shards_apart() -> None:
    assert [shard.name("descheduler") for shard in shards(2)] == ["descheduler-shard-0", "descheduler-shard-1"]
    assert WHOLE_CLUSTER.name("descheduler") == "descheduler"


@pytest.mark.parametrize("index", [-1, 4])
def test_index_beyond_the_shards_is_an_error(index: int) -> None:
    with pytest.raises(ValueError, match="is not between 0 and 3"):
        Shard(index, 4)


def test_rests_of_many_limits_go_to_all_shards_also_without_a_turn() -> None:
    names = [f"shop/web-{number}" for number in range(20)]

    for share in (Shard.share, Shard.lasting_share):
        assert {shard.index for name in names for shard in shards(4) if share(shard, 1, name)} == {0, 1, 2, 3}


@given(count=COUNTS, limit=st.integers(0, 1000), key=st.text())
def test_lasting_shares_add_up_to_the_limit(count: int, limit: int, key: str) -> None:
    assert sum(shard.lasting_share(limit, key) for shard in shards(count)) == limit


def test_shard_has_nothing_of_a_limit_below_zero() -> None:
    assert [shard.share(-5) for shard in shards(2)] == [0, 0]
    assert [shard.lasting_share(-5, "web") for shard in shards(2)] == [0, 0]


@pytest.mark.parametrize(
    ("shard", "text"),
    [
        pytest.param(WHOLE_CLUSTER, "the whole cluster", id="no shards"),
        pytest.param(Shard(1, 4), "shard 1 of 4 by node pool", id="by pool"),
        pytest.param(Shard(1, 4, "rack"), "shard 1 of 4 by label rack", id="by label"),
    ],
)
def test_shard_says_what_divides_the_cluster(shard: Shard, text: str) -> None:
    assert shard.whole_name == text


def test_nodes_without_the_label_are_in_one_shard() -> None:
    nodes = [make_node(f"node-{number}", labels={POOL: str(number)}) for number in range(20)]

    assert sorted(shard.num_owned(nodes) for shard in shards(4, label="rack")) == [0, 0, 0, 20]

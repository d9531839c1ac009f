"""Host ports: when two pods want the same, and how holders come and go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_ports import ROW, NodePorts
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, obstacles, passing
from tests.placement.plugins.explanations import told


def _pod(name: str, node: str, *wanted: str) -> Pod:
    """A pod whose container wants `protocol address:port` each; a protocol or address that is empty is left out."""
    ports = []
    for text in wanted:
        protocol, _, place = text.partition(" ")
        address, _, port = place.rpartition(":")
        stated = {"protocol": protocol, "hostIP": address}
        ports.append(
            {"containerPort": 80, "hostPort": int(port)} | {key: value for key, value in stated.items() if value}
        )
    return make_pod(name, node=node, spec={"containers": [{"name": "c", "image": "i", "ports": ports}]})


@pytest.mark.parametrize(
    ("used", "wanted", "conflicts"),
    [
        pytest.param("TCP 10.0.0.1:80", "TCP 0.0.0.0:80", True, id="every address includes a used one"),
        pytest.param("TCP 10.0.0.1:80", "TCP 10.0.0.2:80", False, id="two addresses do not meet"),
        pytest.param("TCP 10.0.0.1:80", "TCP 10.0.0.1:80", True, id="the same address does"),
        pytest.param("TCP 10.0.0.1:80", "UDP 0.0.0.0:80", False, id="protocols are apart"),
        pytest.param("TCP 10.0.0.1:80", "TCP 10.0.0.1:81", False, id="so are ports"),
        pytest.param("TCP 0.0.0.0:80", "TCP 10.0.0.2:80", True, id="a holder of every address is in anyone's way"),
        pytest.param("TCP 0.0.0.0:80", " :80", True, id="TCP on every address is meant where nothing is said"),
        pytest.param("TCP :::80", "TCP 10.0.0.2:80", False, id="the IPv6 wildcard is an address like any other"),
        pytest.param("TCP :::80", "TCP 0.0.0.0:80", True, id="which the IPv4 wildcard includes"),
    ],
)
def test_ports_conflict(used: str, wanted: str, conflicts: bool) -> None:
    cluster = make_cluster([make_node("a")], [_pod("holder", "a", used)])

    assert passing(NodePorts, cluster, _pod("new", "", wanted)) == ([] if conflicts else ["a"])


def test_one_taken_port_of_several_is_enough() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")], [_pod("holder", "a", "TCP :80")])

    against = obstacles(NodePorts, cluster, _pod("new", "", "TCP :79", "TCP :80"))

    reason = "node(s) didn't have free ports for the requested pod ports"
    assert against == {"a": Obstacle("NodePorts", Code.UNSCHEDULABLE, (reason,))}


def test_sidecars_want_host_ports_and_other_init_containers_do_not() -> None:
    ports = [{"containerPort": 80, "hostPort": 80}]
    plain = {"name": "init", "image": "i", "ports": ports}
    cluster = make_cluster([make_node("a")], [_pod("holder", "a", "TCP :80")])

    sidecar = make_pod("new", node="", spec={"initContainers": [plain | {"restartPolicy": "Always"}]})
    init = make_pod("new", node="", spec={"initContainers": [plain]})

    assert passing(NodePorts, cluster, sidecar) == []
    assert passing(NodePorts, cluster, init) == ["a"]


def test_ports_of_sidecars_do_not_count_before_1_34() -> None:
    ports = [{"containerPort": 80, "hostPort": 80}]
    spec = {"initContainers": [{"name": "side", "image": "i", "ports": ports, "restartPolicy": "Always"}]}
    old = KubeVersion.parse("1.33")
    held = make_cluster([make_node("a")], [make_pod("holder", node="a", spec=spec)], version=old)
    taken = make_cluster([make_node("a")], [_pod("holder", "a", "TCP :80")], version=old)

    assert passing(NodePorts, held, _pod("new", "", "TCP :80")) == ["a"]
    assert passing(NodePorts, taken, make_pod("new", node="", spec=spec)) == ["a"]


def test_port_stays_taken_until_its_last_holder_goes() -> None:
    holders = [_pod("first", "a", "TCP :80"), _pod("second", "a", "TCP :80")]
    cluster = make_cluster([make_node("a")], holders)
    candidate = _pod("new", "", "TCP :80")

    left = [passing(NodePorts, cluster, candidate)]
    for holder in holders:
        cluster.remove(holder)
        left.append(passing(NodePorts, cluster, candidate))

    assert left == [[], [], ["a"]]


def test_pods_on_unknown_nodes_hold_nothing() -> None:
    cluster = make_cluster([make_node("a")], [_pod("holder", "gone", "TCP :80")])

    assert passing(NodePorts, cluster, _pod("new", "", "TCP :80")) == ["a"]


_WANTED = st.tuples(st.sampled_from(["0.0.0.0", "10.0.0.1", "10.0.0.2", "::"]), st.sampled_from([80, 81]))


@pytest.mark.long
@given(st.lists(st.tuples(st.integers(0, 2), _WANTED, st.booleans()), max_size=20))
def test_what_if_leaves_every_holder_and_answers_are_those_of_a_fresh_count(
    steps: list[tuple[int, tuple[str, int], bool]],
) -> None:
    cluster = make_cluster([make_node(name) for name in "abc"], [_pod("old", "a", "TCP :80")])
    plugin, candidate = NodePorts(cluster, make_profile()), _pod("new", "", "TCP 10.0.0.1:80", "TCP :81")
    before, trial = cluster.digest(), cluster.what_if()
    placed: list[tuple[Pod, int]] = []
    asked = [passing(lambda *_: plugin, cluster, candidate)]

    for node, (address, port), is_leaving in steps:
        if is_leaving and placed:
            cluster.remove(*placed.pop())
        else:
            placed.append((_pod(f"p{len(placed)}", "", f"TCP {address}:{port}"), node))
            cluster.add(*placed[-1])
    fresh = make_cluster([make_node(name) for name in "abc"], [_pod("old", "a", "TCP :80")])
    for pod, node in placed:
        fresh.add(pod, node)

    assert passing(lambda *_: plugin, cluster, candidate) == passing(NodePorts, fresh, candidate)
    trial.take_back()
    assert cluster.digest() == before
    assert asked == [passing(lambda *_: plugin, cluster, candidate)]


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        pytest.param("TCP 10.0.0.1:80", "TCP 10.0.0.1:80", id="the same address"),
        pytest.param("TCP :80", "TCP 10.0.0.1:80", id="a holder of every address"),
        pytest.param("TCP 10.0.0.1:80", "TCP :80", id="every address is wanted"),
    ],
)
def test_explanation_names_the_holders_of_a_wanted_port_alone(held: str, wanted: str) -> None:
    others = ("UDP :80", "TCP :81", "TCP 10.0.0.2:82")
    pods = [_pod("holder", "a", held), *(_pod(f"other-{index}", "a", other) for index, other in enumerate(others))]
    pods.append(_pod("elsewhere", "b", held))
    cluster = make_cluster([make_node("a"), make_node("b")], pods)

    found = told(ROW, cluster, _pod("new", "", "TCP 10.0.0.1:82", wanted))

    assert found == ["host port 80/TCP is in use by default/holder"]

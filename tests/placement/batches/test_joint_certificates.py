"""Certificates of batches: what a proof that there is no assignment rests on."""

from __future__ import annotations

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from tests.builders import make_node, make_pod, required_anti_affinity
from tests.placement.batches.proofs import cordoned, prove, victim
from tests.placement.batches.small_batches import ZONE


class TestCertificates:
    """A no comes with a proof where there is a simple one."""

    @pytest.mark.parametrize(
        ("nodes", "pods", "proof"),
        [
            pytest.param(
                [make_node("x", taints=["pool=gpu:NoSchedule"]), cordoned()],
                [victim("p1")],
                "the replacement of default/p1 cannot be scheduled onto any node: 0/2 nodes are available for the"
                " replacement pod: 1 untolerated taint, 1 unschedulable",
                id="no node passes what no move changes",
            ),
            pytest.param(
                [make_node("x", cpu="1"), cordoned()],
                [victim("p1", cpu="2")],
                "the replacement of default/p1 cannot be scheduled onto any node, even without the evicted pods and"
                " other replacement pods: 0/2 nodes are available for the replacement pod: 1 insufficient cpu,"
                " 1 unschedulable",
                id="no node has room even for one alone",
            ),
            pytest.param(
                [make_node("x", cpu="3"), make_node("y", cpu="3"), cordoned(cpu="9")],
                [make_pod(f"p{i}", node="c", cpu="2") for i in range(3)],
                "3 replacement pods like that of default/p0 are created, and the eligible nodes have room for 2",
                id="free room is there in pieces that are too small",
            ),
            pytest.param(
                [make_node("x", cpu="3"), cordoned(cpu="9")],
                [victim("p1", cpu="2"), victim("p2", cpu="1500m")],
                "2 replacement pods request 3500m cpu, and the eligible nodes have 3 free",
                id="too little in all",
            ),
            pytest.param(
                [
                    make_node("x", labels={ZONE: "a"}),
                    make_node("full", pods="0", labels={ZONE: "b"}),
                    cordoned(labels={ZONE: "a"}),
                ],
                [
                    make_pod(
                        f"p{i}",
                        node="c",
                        labels={"app": "web"},
                        spread=[
                            {
                                "maxSkew": 1,
                                "topologyKey": ZONE,
                                "whenUnsatisfiable": "DoNotSchedule",
                                "labelSelector": {"matchLabels": {"app": "web"}},
                            }
                        ],
                    )
                    for i in range(2)
                ],
                f"topology spread over {ZONE} allows 1 of 2 replacement pods like that of default/p0 in the eligible"
                " domains",
                id="a full zone bounds the other one",
            ),
            pytest.param(
                [make_node("x"), make_node("y"), cordoned()],
                [
                    victim(f"p{i}", labels={"app": "web"}, affinity=required_anti_affinity({"app": "web"}))
                    for i in range(3)
                ],
                "no assignment of all replacement pods to nodes exists (all orders and nodes were tried)",
                id="search is the proof where there is no simpler one",
            ),
        ],
    )
    def test_proof_says_what_is_too_small(self, nodes: list[Node], pods: list[Pod], proof: str) -> None:
        joint = prove(nodes, pods)

        assert (joint.verdict, joint.certificate) == (LandingVerdict.NO, proof)

"""Spread constraints: how they are explained, what their arguments may be, and which pods bear on each other."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.objects import Service
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.pod_topology_spread.constraints import PodTopologySpreadArgs
from descheduler.placement.plugins.pod_topology_spread.plugin import ROW
from tests.builders import make_node, make_pod
from tests.placement.clusters import ZONE, make_cluster, make_profile
from tests.placement.configuration.kube_scheduler.builders import problems, warnings, with_args
from tests.placement.plugins.explanations import told

WEB = {"app": "web"}
ZONES = [make_node(name, labels={ZONE: name}) for name in "ab"]


def spread(key: str = ZONE, **facts: Any) -> dict[str, Any]:
    """A hard constraint over pods of app web."""
    selector = {"matchLabels": WEB}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, **facts}


def webs(**counts: int) -> list[Pod]:
    """So many pods of app web on each node."""
    return [make_pod(f"{node}-{index}", node=node, labels=WEB) for node in counts for index in range(counts[node])]


def pod_with(*constraints: dict[str, Any], labels: dict[str, str] | None = None, **facts: Any) -> Pod:
    """A pod that looks for a node, of app web unless `labels` say otherwise."""
    return make_pod("new", node="", labels=WEB if labels is None else labels, spread=constraints, **facts)


@pytest.mark.parametrize(
    ("pods", "pod", "sentence"),
    [
        pytest.param(
            webs(a=2, b=1),
            pod_with(spread()),
            f"2 matching pods in {ZONE}=a, the emptiest domain 1 (maxSkew: 1)",
            id="one",
        ),
        pytest.param(
            webs(a=3),
            pod_with(spread(maxSkew=3)),
            f"3 matching pods in {ZONE}=a, the emptiest domain 0 (maxSkew: 3)",
            id="exactly the skew without the pod",
        ),
        pytest.param(
            webs(a=2),
            pod_with(spread(), labels={"app": "other"}),
            f"2 matching pods in {ZONE}=a, the emptiest domain 0 (maxSkew: 1)",
            id="a pod that does not count itself",
        ),
        pytest.param(
            webs(a=1, b=1),
            pod_with(spread(minDomains=3)),
            f"1 matching pod in {ZONE}=a, there are fewer than 3 domains (maxSkew: 1)",
            id="too few domains",
        ),
        pytest.param(
            [], pod_with(spread("rack")), "has no label rack, the topologyKey of the spread constraint", id="no key"
        ),
    ],
)
def test_explanation_counts_the_domain_and_the_emptiest_one(pods: list[Pod], pod: Pod, sentence: str) -> None:
    assert told(ROW, make_cluster(ZONES, pods), pod) == [sentence]


def test_explanation_passes_over_constraints_that_are_met() -> None:
    nodes = [make_node(name, labels={ZONE: name, "rack": "r"}) for name in "ab"]
    soft = spread(whenUnsatisfiable="ScheduleAnyway")
    pod = pod_with(spread(maxSkew=9), spread("rack"), soft, spread())

    (sentence,) = told(ROW, make_cluster(nodes, webs(a=1)), pod)

    assert sentence.endswith("(maxSkew: 1)")


def test_default_constraints_are_explained_too() -> None:
    default = TopologySpreadConstraint(max_skew=1, topology_key="rack", when_unsatisfiable="DoNotSchedule")
    profile = make_profile(PodTopologySpreadArgs((default,), is_system_defaulted=False))
    nodes = [*ZONES, make_node("c", labels={"rack": "r"})]
    pod = make_pod("new", node="", labels=WEB)

    found = told(ROW, make_cluster(nodes, services=(Service("default", "web", WEB),)), pod, profile=profile)

    assert found == ["has no label rack, the topologyKey of the spread constraint"]


def default(text: str) -> str:
    """Arguments with one default constraint and these fields of it."""
    return with_args("PodTopologySpread", f"{{defaultingType: List, defaultConstraints: [{{{text}}}]}}")


_SOUND = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(default(_SOUND), "", id="a constraint"),
        pytest.param(default(_SOUND.replace("1", "0")), "maxSkew: 0 is below 1", id="no skew"),
        pytest.param(default(_SOUND.replace("zone", "''")), "topologyKey: is missing", id="no key"),
        pytest.param(default(_SOUND.replace("zone", "a b")), "topologyKey: 'a b'", id="no name of a label"),
        pytest.param(default(f"{_SOUND}, labelSelector: {{}}"), "labelSelector: is given", id="a selector"),
        pytest.param(
            default(f"{_SOUND}}}, {{{_SOUND}"),
            "'zone' is constrained by an earlier DoNotSchedule too",
            id="the same twice",
        ),
        pytest.param(
            default(f"{_SOUND}}}, {{{_SOUND.replace('DoNotSchedule', 'ScheduleAnyway')}"), "", id="a soft one as well"
        ),
        pytest.param(default(f"{_SOUND}}}, {{{_SOUND.replace('zone', 'rack')}"), "", id="another key as well"),
        pytest.param(with_args("PodTopologySpread", "{defaultingType: System}"), "", id="defaults of the system"),
        pytest.param(
            with_args("PodTopologySpread", f"{{defaultConstraints: [{{{_SOUND}}}]}}"),
            "is System, which excludes defaultConstraints",
            id="constraints beside those of the system",
        ),
    ],
)
def test_default_constraints_are_checked(text: str, problem: str) -> None:
    found = problems(text)

    assert [problem in each for each in found] == ([True] if problem else [])


@pytest.mark.parametrize("policy", ["Honor", "Ignore", "Else"])
@pytest.mark.parametrize("key", ["nodeAffinityPolicy", "nodeTaintsPolicy"])
def test_word_that_is_no_policy_is_warned_about(key: str, policy: str) -> None:
    found = warnings(default(f"{_SOUND}, {key}: {policy}"))

    said = f"{key}: 'Else' is neither Honor nor Ignore and is treated as Ignore"
    assert [said in each for each in found] == ([True] if policy == "Else" else [])


def interplay(profile: SchedulerProfile | None = None) -> Any:
    """How pods bear on each other through spread constraints."""
    return ROW.interactions(profile or make_profile())


@pytest.mark.parametrize(
    ("pod", "is_helped"),
    [
        pytest.param(pod_with(spread()), True, id="a hard constraint"),
        pytest.param(pod_with(spread(whenUnsatisfiable="ScheduleAnyway")), False, id="a soft constraint"),
        pytest.param(pod_with(), False, id="none"),
    ],
)
def test_others_may_fill_the_emptiest_domain_for_a_pod_with_hard_constraints(pod: Pod, is_helped: bool) -> None:
    assert interplay().can_be_helped(pod) is is_helped
    assert interplay().is_local(pod) is not is_helped
    assert interplay().is_felt_widely(pod) is False


@pytest.mark.parametrize(
    ("other", "do_interact"),
    [
        pytest.param(make_pod("x", labels=WEB), True, id="a pod that counts"),
        pytest.param(make_pod("x", labels={"app": "db"}), False, id="a pod that does not"),
        pytest.param(make_pod("x", labels=WEB, namespace="other"), False, id="a pod of another namespace"),
    ],
)
def test_pods_interact_where_one_counts_for_the_other(other: Pod, do_interact: bool) -> None:
    pod = pod_with(spread())

    assert interplay().interact(pod, other) is do_interact
    assert interplay().interact(other, pod) is do_interact
    assert interplay().hinders_while_ending(other, pod) is False


@pytest.mark.parametrize(
    ("when", "pod", "is_helped"),
    [
        pytest.param("DoNotSchedule", pod_with(), True, id="a pod without constraints of its own"),
        pytest.param("ScheduleAnyway", pod_with(), False, id="soft ones close no node"),
        pytest.param(
            "DoNotSchedule", pod_with(spread(whenUnsatisfiable="ScheduleAnyway")), False, id="a pod with its own"
        ),
    ],
)
def test_default_constraints_are_those_of_pods_without_any(when: str, pod: Pod, is_helped: bool) -> None:
    default = TopologySpreadConstraint(max_skew=1, topology_key=ZONE, when_unsatisfiable=when)
    found = interplay(make_profile(PodTopologySpreadArgs((default,), is_system_defaulted=False)))

    assert found.can_be_helped(pod) is is_helped
    assert found.interact(pod, make_pod("x", spread=[spread(whenUnsatisfiable="ScheduleAnyway")])) is is_helped

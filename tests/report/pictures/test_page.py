"""Pages and Markdown of plans: everything that a reviewer looks for is there, and no name of the cluster is more than
text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler.report.document import PodReference
from descheduler.report.formats.json_text import json_text
from descheduler.report.formats.render import render
from descheduler.report.pictures.markdown import escaped
from descheduler.report.plan.document import Plan, PlannedRefusal
from descheduler.report.plan.goal import PendingPod
from tests.builders import make_budget, make_node, make_pod
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy
from tests.report.pictures.builders import goal, objective

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "]]> --> & &lt; ' \\",
    "| a | `b` [c](javascript:alert(1)) @team http://evil.example ```",
    "\x1b[31m\u202e\n# title",
]


class Page(HTMLParser):
    """The elements of a page, with the attributes of each, and its text outside of the embedded document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.document = "", ""
        self._within: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            while self._within.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "script" in self._within:
            self.document += data
        elif "style" not in self._within:
            self.text += data

    def names(self) -> set[str]:
        """Names of elements."""
        return {name for name, _ in self.elements}


def page_of(plan: Plan) -> Page:
    return Page("".join(render(plan, "html")))


def test_page_lists_the_pending_pods_and_where_they_can_be_scheduled() -> None:
    pods = [
        PendingPod(pod=PodReference(namespace="shop", name=f"cart-{n}", uid=f"{n}"), to_node=None, holds_target=False)
        for n in range(1501)
    ]
    placed = (replace(pods[0], to_node="a", holds_target=True), *pods[1:])
    plan = replace(make_test_plan([make_pod("old")]), goal=goal(objective(pending_pods=placed)))

    text = page_of(plan).text

    assert "Pending pods that need evictions: 1 of 1,501 can be scheduled after them" in text
    assert "shop/cart-0ayes" in text
    assert "shop/cart-1pendingno" in text
    assert "shop/cart-1500" not in text
    assert "The first 1,500 are listed." in text


def markdown_of(plan: Plan) -> str:
    return "".join(render(plan, "markdown"))


def hostile_plan(text: str) -> Plan:
    """A plan every text of which holds `text`."""
    plan = make_test_plan([make_pod("old"), make_pod("bare", owners=())], policy=pod_life_time_policy())
    return msgspec.convert(_with_text(msgspec.to_builtins(plan), text), Plan)


def _with_text(value: Any, text: str, key: str = "") -> Any:
    """The document with `text` behind every string that is free."""
    if isinstance(value, dict):
        return {name: _with_text(each, text, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_text(each, text, key) for each in value]
    fixed = (
        "apiVersion",
        "kind",
        "now",
        "takenAt",
        "verdict",
        "returns",
        "cold",
        "settled",
        "compatibility",
        "together",
    )
    return f"{value}{text}" if isinstance(value, str) and value and key not in fixed else value


def test_page_says_what_a_reviewer_asks() -> None:
    pods = [make_pod("old", labels={"app": "web"}), make_pod("bare", owners=())]
    budget = make_budget("web", {"app": "web"}, disruptions_allowed=1, has_status=True)
    text = page_of(make_test_plan(pods, budgets=(budget,))).text

    for expected in (
        "1 pod would be evicted",
        "ReplicaSet default/web",
        "1 h old (maxPodLifeTimeSeconds: 60)",
        "1 (web)",  # what its budget allows
        "Wave 1: 1 pod",
        "BarePod",
        "a: ",  # a node that changes
        "descheduler plan --policy-config-file",
    ):
        assert expected in text


def test_a_page_needs_nothing_but_itself() -> None:
    page = page_of(make_test_plan([make_pod("old")]))

    assert page.names() & {"link", "img", "iframe", "object", "embed", "form", "base"} == set()
    assert [attributes["type"] for name, attributes in page.elements if name == "script"] == ["application/json"]
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert all((attributes["href"] or "").startswith("#") for name, attributes in page.elements if name == "a")


def test_a_page_holds_the_whole_plan() -> None:
    plan = hostile_plan(HOSTILE[0])

    assert json.loads(page_of(plan).document) == json.loads(json_text(plan))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_the_cluster_becomes_part_of_the_page(text: str) -> None:
    """The same elements with the same attributes' names, whatever the texts are."""
    plain, hostile = page_of(hostile_plan("x")), page_of(hostile_plan(text))

    assert [(name, set(attributes)) for name, attributes in hostile.elements] == [
        (name, set(attributes)) for name, attributes in plain.elements
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_the_cluster_becomes_part_of_the_markdown(text: str) -> None:
    """As many lines, cells and marks as with other texts."""
    plain, hostile = markdown_of(hostile_plan("x")).split("\n"), markdown_of(hostile_plan(text)).split("\n")

    assert len(hostile) == len(plain)
    assert [_marks(line) for line in hostile] == [_marks(line) for line in plain]


def _marks(line: str) -> tuple[int, bool, bool]:
    """Cells of a table, and whether the line begins a block of code or holds an element."""
    bare = re.sub(r"\\.", "", line)
    is_code = not line.startswith(("|", "-", "#", "  -"))
    return (0 if is_code else bare.count("|")), line.startswith("```"), not is_code and "<" in bare


@given(st.text(max_size=40))
def test_escaped_text_is_one_line_without_links_and_elements(text: str) -> None:
    shown = escaped(text)

    assert "\n" not in shown
    assert "<" not in shown
    assert "@" not in shown
    assert "://" not in shown


def test_plan_that_evicts_nothing_has_a_page() -> None:
    text = page_of(make_test_plan([make_pod("young", age=1)])).text

    assert "0 pods would be evicted" in text
    assert "No workload loses a pod." in text


@pytest.mark.long
def test_page_of_five_thousand_nodes_is_no_larger_than_five_megabytes() -> None:
    nodes = [
        make_node(f"node-{number:04}", labels={"topology.kubernetes.io/zone": f"z{number % 3}"})
        for number in range(5000)
    ]
    pods = [make_pod(f"pod-{number:05}", node=f"node-{number % 5000:04}", cpu="1") for number in range(2000)]

    assert len("".join(render(make_test_plan(pods, nodes=nodes), "html"))) < 5_000_000


@pytest.mark.long
def test_page_of_a_plan_with_many_moves_and_refusals_is_no_larger_either() -> None:
    """Each of 5,000 nodes loses a pod, and 2,000 of them keep one that the plan names too."""
    nodes = [make_node(f"ip-10-0-{number:04}.eu-west-1.compute.internal", cpu="64") for number in range(5000)]
    where = [node.name for node in nodes]
    pods = [
        *(make_pod(f"service-{n:05}-9b6a91d90-15588", node=where[n], cpu="1") for n in range(5000)),
        *(make_pod(f"bare-{n:05}", node=where[n], owners=()) for n in range(2000)),
    ]
    plan = make_test_plan(pods, nodes=nodes)
    html = "".join(render(plan, "html"))

    document = json.loads(Page(html).document)

    assert len(html) < 5_000_000
    assert (len(plan.moves), len(plan.refusals)) == (5000, 2000)
    assert [each["pod"]["name"] for each in document["moves"]] == [
        move.pod.name for move in plan.moves[: len(document["moves"])]
    ]
    for name, words in {"moves": "evictions", "refusals": "pods that are not evicted"}.items():
        assert f"the first {len(document[name]):,} of {len(getattr(plan, name)):,} {words}" in html


def test_refusals_are_counted_by_reason_and_limit() -> None:
    plan = make_test_plan(
        [make_pod(f"p{number}") for number in range(3)], policy=pod_life_time_policy(maxNoOfPodsToEvictTotal=1)
    )
    rows = [line for line in markdown_of(plan).splitlines() if "LimitReached" in line]

    assert isinstance(plan.refusals[0], PlannedRefusal)
    assert [line.split(" | ")[0] for line in rows] == ["| 2"]
    assert "maxNoOfPodsToEvictTotal" in rows[0]

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from descheduler.report.formats.render import Format, render
from descheduler.report.plan.document import Plan, PlannedAllocation
from descheduler.report.tables.palette import Palette, wants_colour
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_node, make_pod
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy
from tests.strategies.runs import policy_with


def text_of(plan: Plan, output_format: Format = "table", **style: Any) -> str:
    return "".join(render(plan, output_format, TableStyle(**style)))


def two_plugins() -> Plan:
    """PodLifeTime evicts one pod of a workload, and RemoveDuplicates another of it."""
    policy = pod_life_time_policy(balance=["RemoveDuplicates"])
    young = [make_pod(f"young-{index}", age=1, owners=("ReplicaSet/cart",)) for index in range(2)]
    return make_test_plan([make_pod("old"), *young], policy=policy)


def test_a_plan_is_shown_plugin_by_plugin_with_the_summary_last() -> None:
    pods = [make_pod("bare", owners=()), make_pod("old", cpu="500m", memory="1Gi")]

    plan = make_test_plan(pods)

    assert text_of(plan) == (
        f"Policy: policy.yaml; dump: dump.json; time: 2026-06-30T12:00:00Z; plan: {plan.plan_id}\n"
        "\n"
        "PodLifeTime: 1 pod to evict\n"
        "NAMESPACE   POD   NODE   TARGET   REASON\n"
        "default     old   a      b        1 h old (maxPodLifeTimeSeconds: 60)\n"
        "\n"
        "Not evicted, by reason\n"
        "PODS   CODE      MEANING\n"
        "1      BarePod   the pod has no owner that recreates it: default/bare\n"
        "\n"
        "1 pod would be evicted\n"
        "By plugin:          PodLifeTime 1\n"
        "Estimated time:     30s for pace and grace periods, plus the start of replacement pods\n"
        "Replacement pods:   1 can be scheduled\n"
        "Not evicted:        1 pod (BarePod 1)\n"
        "Requests:           0.5 of 8.0 CPU, 1.0 of 16.0 GiB memory (2 pods on 2 nodes); "
        "evicted pods: 0.5 CPU and 1.0 GiB\n"
    )


@pytest.mark.parametrize(
    ("waves", "line"),
    [
        pytest.param((1, 1, 2), "Waves:              2, of 2 and 1 pods;", id="two"),
        pytest.param((1, 2, 3), "Waves:              3, of 1, 1 and 1 pods;", id="three"),
        pytest.param(range(1, 12), "Waves:              11, of 1, 1, 1, 1, 1, 1, 1, 1 and 3 more waves;", id="many"),
    ],
)
def test_summary_counts_the_pods_of_each_wave(waves: Sequence[int], line: str) -> None:
    plan = make_test_plan([make_pod(f"old-{number}") for number in range(len(waves))])
    moves = tuple(msgspec.structs.replace(m, wave=wave) for m, wave in zip(plan.moves, waves, strict=True))

    text = text_of(msgspec.structs.replace(plan, moves=moves, keeps_waves=True))

    assert f"{line} a wave starts when the wave before has ended\n" in text


def test_waves_of_a_policy_that_keeps_none_are_not_promised() -> None:
    """A run of a DeschedulerPolicy evicts at upstream's pace."""
    plan = make_test_plan([make_pod("old-1"), make_pod("old-2")])
    moves = tuple(msgspec.structs.replace(m, wave=wave) for wave, m in enumerate(plan.moves, start=1))

    in_waves = msgspec.structs.replace(plan, moves=moves)

    said = "a DeschedulerPolicy does not wait between waves, a DeschedulerConfiguration does"
    assert not plan.keeps_waves
    assert f"Waves:              2, of 1 and 1 pods; {said}\n" in text_of(in_waves)
    for output in ("html", "markdown"):
        shown = "".join(render(in_waves, "html" if output == "html" else "markdown"))
        assert said[2:] in shown
        assert "when the wave before has ended" not in shown


def test_a_reason_is_said_once_unless_the_table_is_wide() -> None:
    plan = make_test_plan([make_pod(f"old-{number}") for number in range(3)])

    reason, repeat = "1 h old (maxPodLifeTimeSeconds: 60)", "as above"
    default, wide = text_of(plan), text_of(plan, "wide")

    assert (default.count(reason), default.count(repeat)) == (1, 2)
    assert (wide.count(reason), wide.count(repeat)) == (3, 0)


def test_a_reason_that_stands_below_its_row_is_said_once() -> None:
    plan = make_test_plan([make_pod(f"old-{'long' * 12}-{number}") for number in range(3)])

    lines = list(render(plan, "table", TableStyle(width=80)))

    rows = "".join(lines).splitlines()
    first = next(number for number, line in enumerate(rows) if line.startswith("default "))
    assert rows[first + 1].strip() == "1 h old (maxPodLifeTimeSeconds: 60)"
    assert [line.startswith("default ") for line in rows[first + 2 : first + 5]] == [True, True, False]
    assert "as above" not in "".join(lines)


def test_cause_of_a_run_without_evictions_is_said_once() -> None:
    text = text_of(make_test_plan([make_pod("young", age=1)]))

    assert text.count("no pod is old enough") == 1


def test_marks_of_targets_are_explained_once_under_the_tables() -> None:
    plan = make_test_plan([make_pod(f"old-{number}") for number in range(4)])
    landing = plan.moves[0].landing
    assert landing is not None
    changes: list[dict[str, Any]] = [
        {"returns": "not created"},
        {"returns": "owner ends", "verdict": "no"},
        {"returns_to_source": True},
        {"verdict": "likely"},
    ]
    landings = [msgspec.structs.replace(landing, **change) for change in changes]
    nodes = [None, None, "a", "b"]
    moves = [
        msgspec.structs.replace(move, landing=each, to_node=node)
        for move, each, node in zip(plan.moves, landings, nodes, strict=True)
    ]

    text = text_of(msgspec.structs.replace(plan, moves=tuple(moves)))

    assert re.findall(r"old-\d +a +(.*?) {3,}", text) == ["no new pod", "Job ends", "a (same node)", "~b"]
    assert (
        "TARGET: ~ = likely, not certain; (same node) = the replacement pod is scheduled onto the node that the pod is"
        " evicted from; no new pod = the owner creates no replacement pod; Job ends = the eviction fails or ends the"
        " Job\n"
    ) in text


def test_plain_targets_need_no_explanation() -> None:
    assert "TARGET:" not in text_of(make_test_plan())


def test_wide_table_names_all_kinds_that_the_dump_lacks() -> None:
    plan = make_test_plan()
    names = "csinodes.storage.k8s.io", "jobs.batch"
    plan = msgspec.structs.replace(plan, snapshot=msgspec.structs.replace(plan.snapshot, missing_kinds=names))

    assert "Kinds that are not in the dump: csinodes.storage.k8s.io, jobs.batch\n" in text_of(plan, "wide")
    assert "csinodes" not in text_of(plan)


def test_moves_of_one_wave_have_no_line_about_waves() -> None:
    assert "Waves:" not in text_of(make_test_plan())


def test_every_plugin_has_a_table_with_the_same_columns() -> None:
    lines = text_of(two_plugins()).splitlines()

    assert [line for line in lines if line.endswith("to evict")] == [
        "PodLifeTime: 1 pod to evict",
        "RemoveDuplicates: 1 pod to evict",
    ]
    headers = {line for line in lines if line.startswith("NAMESPACE")}
    assert len(headers) == 1


def test_titles_name_the_profile_where_several_could_be_meant() -> None:
    text = text_of(make_test_plan([make_pod("old")], policy=pod_life_time_policy(["main", "again"])))

    assert "PodLifeTime (profile main): 1 pod to evict" in text


def test_summary_counts_a_plugin_of_several_profiles_for_each_of_them() -> None:
    plan = make_test_plan([make_pod("old")], policy=pod_life_time_policy(["main", "again"]))

    assert re.search(r"^By plugin: +PodLifeTime \(profile main\) 1$", text_of(plan), re.MULTILINE)


def test_candidates_that_were_not_asked_for_show_where_nothing_else_does() -> None:
    plan = make_test_plan([make_pod("bare", owners=())])

    assert "bare " in text_of(plan)


def test_beside_evictions_candidates_that_were_not_asked_for_show_in_wide_tables_only() -> None:
    plan = make_test_plan([make_pod("bare", owners=()), make_pod("web")])

    table, wide = text_of(plan), text_of(plan, "wide")

    assert not re.search(r"^default +bare ", table, re.MULTILINE)
    assert re.search(r"^default +bare +a +PodLifeTime +.* no owner", wide, re.MULTILINE)


def test_reasons_name_the_first_pod_and_say_what_is_said_of_all_their_pods() -> None:
    failed = [make_pod(f"failed-{number}", owners=(), phase="Failed") for number in range(2)]

    alike, mixed = text_of(make_test_plan(failed)), text_of(make_test_plan([*failed, make_pod("bare", owners=())]))

    assert (
        "2      BarePod   the failed pod has no owner that recreates it (evictFailedBarePods: false; to evict such"
        " pods, add FailedBarePods to podProtections.defaultDisabled): default/failed-0 and 1 more\n"
    ) in alike
    assert "3      BarePod   the pod has no owner that recreates it: default/bare and 2 more\n" in mixed


def test_pods_that_a_later_run_evicts_are_listed() -> None:
    """It is why people look at the report: they can correct the reservation of the node before."""
    node = make_node("a", annotations={"node.koordinator.sh/reservation": '{"resources": {"cpu": "2"}}'})
    policy = policy_with("RemovePodsViolatingNodeReservation")

    text = text_of(make_test_plan([make_pod("p", cpu="3")], nodes=[node, make_node("b")], policy=policy))

    assert re.search(r"^default +p +a +RemovePodsViolatingNodeReservation +seen for the first time", text, re.MULTILINE)


def test_pods_that_a_limit_blocks_are_counted_but_not_listed() -> None:
    plan = make_test_plan(policy=pod_life_time_policy(maxNoOfPodsToEvictPerNode=1))

    text = text_of(plan)

    assert "Not evicted: " in text
    assert "BLOCKED BY" not in text
    assert re.search(r"^2 +LimitReached", text, re.MULTILINE)
    assert re.search(r"^Limits reached: +maxNoOfPodsToEvictPerNode \(1\) for a; 2 more pods match$", text, re.MULTILINE)


def test_a_long_list_of_refusals_is_cut_and_says_so() -> None:
    pods = [make_pod(f"old-{index:02}", uid="") for index in range(25)]

    text = text_of(make_test_plan(pods))

    assert "Not evicted: 20 of 25 pods; -o wide shows all" in text
    assert len(re.findall(r"^default +old-\d\d ", text, re.MULTILINE)) == 20


def test_wide_table_shows_the_figures_of_nodes_and_plugins() -> None:
    plan = make_test_plan([make_pod("old", cpu="1", memory="2Gi"), make_pod("bare", cpu="1", owners=())])

    text = text_of(plan, "wide")

    assert re.search(r"^main +PodLifeTime +1 +0 +BarePod 1$", text, re.MULTILINE)
    assert re.search(r"^a +2 -> 1 +50% -> 25% +25% -> 0%$", text, re.MULTILINE)


def test_wide_table_shows_what_replacements_get_where_any_gets_something() -> None:
    plan = make_test_plan([make_pod("old", uid="u"), make_pod("other")])
    first, *rest = plan.moves
    assert first.landing is not None
    gpus = tuple(PlannedAllocation(plugin="DeviceShare", kind="gpu", name=name, resources={}) for name in "03")
    landing = msgspec.structs.replace(first.landing, allocations=gpus)
    with_gpus = msgspec.structs.replace(plan, moves=(msgspec.structs.replace(first, landing=landing), *rest))

    texts = [text_of(plan, "wide"), text_of(with_gpus), text_of(with_gpus, "wide")]

    assert ["ALLOCATED" in text for text in texts] == [False, False, True]
    assert re.search(r"^default +old +u +a +\S.* +gpu 0, 3 +1 ", texts[-1], re.MULTILINE)


def test_a_share_of_nothing_is_not_a_number() -> None:
    plan = make_test_plan([make_pod("old", cpu="1")], nodes=[make_node("a", cpu=None), make_node("b")])

    assert "? -> ?" in text_of(plan, "wide")


def test_a_run_that_was_skipped_says_why() -> None:
    assert "\n\nSkipped: " in text_of(make_test_plan(nodes=[]))


def test_warnings_and_skipped_objects_come_before_the_summary() -> None:
    plan = make_test_plan(warnings=("no budgets\x1b",), skipped=("pod x is invalid",))

    lines = text_of(plan).splitlines()

    at = lines.index("Warning: no budgets\\x1b")
    assert lines[at + 1 : at + 4] == ["Warning: skipped: pod x is invalid", "", "3 pods would be evicted"]


def test_quiet_leaves_warnings_and_the_summary() -> None:
    lines = text_of(make_test_plan(warnings=("look here",)), is_quiet=True).splitlines()

    assert lines[:3] == ["Warning: look here", "", "3 pods would be evicted"]


def test_without_headers_there_is_a_row_for_each_pod_to_evict_and_nothing_else() -> None:
    lines = text_of(two_plugins(), has_headers=False).splitlines()

    assert [line.split()[:2] for line in lines] == [["default", "old"], ["default", "young-1"]]
    assert [line.split()[4] for line in lines] == ["PodLifeTime", "RemoveDuplicates"]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_tables_fit_the_terminal(width: int) -> None:
    node = "ip-10-0-113-7.eu-central-1.compute.internal"
    pods = [make_pod(f"checkout-service-6d5f9c8b7d-x{index}z", node=node, uid="") for index in range(3)]
    old = make_pod("payment-authorisation-gateway-6d5f9c8b7d-xkq2z", node=node)

    text = text_of(make_test_plan([*pods, old], nodes=[make_node(node), make_node("b")]), width=width)

    assert max(map(len, text.splitlines())) <= width


def test_tables_are_whole_without_a_terminal() -> None:
    name = "payment-authorisation-gateway-6d5f9c8b7d-xkq2z-" * 4

    assert f" {name} " in text_of(make_test_plan([make_pod(name)]))


def test_colours_mark_headings_and_warnings_only_when_asked_for() -> None:
    plan = make_test_plan(warnings=("look here",))

    coloured = text_of(plan, palette=Palette(is_coloured=True))

    assert "\x1b[33mWarning: look here\x1b[0m" in coloured
    assert "\x1b" not in text_of(plan)


@pytest.mark.parametrize(
    ("is_terminal", "environ", "expected"),
    [
        pytest.param(True, {}, True, id="a terminal is coloured"),
        pytest.param(False, {}, False, id="a pipe is not"),
        pytest.param(True, {"NO_COLOR": "1"}, False, id="NO_COLOR wins"),
        pytest.param(True, {"NO_COLOR": ""}, True, id="an empty NO_COLOR does not count"),
        pytest.param(True, {"TERM": "dumb"}, False, id="a dumb terminal is left alone"),
        pytest.param(False, {"CLICOLOR_FORCE": "1"}, True, id="CLICOLOR_FORCE colours a pipe"),
        pytest.param(False, {"CLICOLOR_FORCE": "0"}, False, id="CLICOLOR_FORCE=0 does not"),
        pytest.param(True, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False, id="NO_COLOR beats it"),
        pytest.param(True, {"CLICOLOR": "0"}, False, id="CLICOLOR=0 is no"),
    ],
)
def test_when_output_is_coloured(is_terminal: bool, environ: dict[str, str], expected: bool) -> None:
    assert wants_colour(is_terminal=is_terminal, environ=environ) is expected

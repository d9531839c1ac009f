"""Dumps in every form that people have them in, and what is said of those that are none."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from textwrap import indent

import pytest
import yaml

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.kind import TRACES_OF_SCHEDULERS
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from tests.builders import Object, node_object, pod_object

NODE = node_object("a")
POD = pod_object("cart", node="a")
RELATED = pod_object(
    "train",
    labels={"gang.scheduling.koordinator.sh/name": "a", "scheduling.x-k8s.io/pod-group": "a"},
    owners=["Job/train"],
    claims=["data"],
    scheduler="volcano",
)
"""A pod that shows something of many kinds."""


def listed(kind: str, *items: Object, **metadata: object) -> Object:
    """A list of one kind; the API server leaves kind and version out of its items."""
    bare = [{name: part for name, part in item.items() if name not in ("kind", "apiVersion")} for item in items]
    return {"kind": f"{kind}List", "apiVersion": "v1", "metadata": metadata, "items": bare}


def mixed(*items: Object) -> Object:
    """What `kubectl get nodes,pods -o json` prints."""
    return {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": ""}, "items": list(items)}


def lines(*objects: Object) -> str:
    return "".join(json.dumps(obj) + "\n" for obj in objects)


def names(snapshot: Snapshot) -> tuple[list[str], list[str]]:
    return [node.name for node in snapshot.nodes], [pod.key for pod in snapshot.pods]


def write(folder: Path, text: str | bytes, name: str = "dump") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def problem(paths: Iterable[Path]) -> str:
    with pytest.raises(SnapshotError) as caught:
        read_dump(list(paths))
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(mixed(NODE, POD), indent=4), id="a mixed list as kubectl indents it"),
        pytest.param(json.dumps(mixed(NODE, POD)), id="a mixed list on one line"),
        pytest.param(lines(NODE, POD), id="an object a line"),
        pytest.param(lines(listed("Node", NODE), listed("Pod", POD)), id="a list a line"),
        pytest.param("\n" + lines(NODE) + "\n\n" + lines(POD), id="lines with blank ones between them"),
        pytest.param(lines(NODE).replace("\n", "\r\n") + lines(POD), id="lines that end as on Windows"),
        pytest.param(json.dumps([NODE, POD], indent=1), id="an array of objects"),
        pytest.param(json.dumps(NODE, indent=2) + "\n" + json.dumps(POD, indent=2), id="indented objects in a row"),
        pytest.param("\ufeff" + lines(NODE, POD), id="text with a byte order mark"),
        pytest.param("\n  " + json.dumps(mixed(NODE, POD)), id="blanks before a list"),
        pytest.param(yaml.safe_dump(mixed(NODE, POD)), id="a YAML list"),
        pytest.param(indent(yaml.safe_dump(mixed(NODE, POD)), "  "), id="a YAML list that is indented"),
        pytest.param(yaml.safe_dump_all([NODE, POD, None]), id="YAML documents, one of them empty"),
        pytest.param("# taken today\n---\n" + yaml.safe_dump(mixed(NODE, POD)), id="YAML that starts with a comment"),
    ],
)
@pytest.mark.parametrize("is_compressed", [False, True], ids=["plain", "gzip"])
def test_form_of_a_dump_does_not_matter(tmp_path: Path, text: str, is_compressed: bool) -> None:
    raw = gzip.compress(text.encode()) if is_compressed else text.encode()

    snapshot = read_dump([write(tmp_path, raw)])

    assert names(snapshot) == (["a"], ["default/cart"])


def test_standard_input_is_read() -> None:
    snapshot = read_dump(["-"], stdin=io.BytesIO(lines(NODE, POD).encode()))

    assert names(snapshot) == (["a"], ["default/cart"])
    assert snapshot.source == "standard input"


def test_folder_is_read_with_its_folders_and_other_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    write(tmp_path, lines(NODE), "nodes.json")
    write(tmp_path, gzip.compress(lines(POD).encode()), "shop/pods.jsonl.gz")
    write(tmp_path, "all is well", "shop/logs.txt")

    snapshot = read_dump([tmp_path])

    assert names(snapshot) == (["a"], ["default/cart"])


def test_gzip_files_in_a_row_are_one_dump(tmp_path: Path) -> None:
    members = [gzip.compress(lines(NODE).encode()), gzip.compress(lines(POD).encode()), b"\0" * 512]

    snapshot = read_dump([write(tmp_path, b"".join(members))])

    assert names(snapshot) == (["a"], ["default/cart"])


def test_yaml_times_and_booleans_mean_what_they_mean_to_kubectl(tmp_path: Path) -> None:
    text = """
apiVersion: v1
kind: Node
metadata: {name: a, creationTimestamp: 2026-01-02T03:04:05Z, labels: &labels {zone: "on"}}
spec: {unschedulable: yes}
---
apiVersion: v1
kind: Pod
metadata: {name: cart, namespace: shop, creationTimestamp: 2026-01-02T03:04:05Z}
spec: {nodeName: a, priority: 0x10}
"""

    snapshot = read_dump([write(tmp_path, text)])

    assert snapshot.nodes[0].unschedulable
    assert snapshot.nodes[0].labels == {"zone": "on"}
    assert snapshot.pods[0].priority == 16
    assert snapshot.pods[0].created_at is not None
    assert snapshot.pods[0].created_at.isoformat() == "2026-01-02T03:04:05+00:00"


def test_yaml_aliases_and_merges_are_followed(tmp_path: Path) -> None:
    text = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: a, labels: &shared {zone: x, disk: ssd}}
- apiVersion: v1
  kind: Node
  metadata: {name: b, labels: {<<: *shared, zone: z}}
- apiVersion: v1
  kind: Node
  metadata: {name: c, labels: *shared}
"""

    snapshot = read_dump([write(tmp_path, text)])

    assert [node.labels for node in snapshot.nodes] == [
        {"zone": "x", "disk": "ssd"},
        {"zone": "z", "disk": "ssd"},
        {"zone": "x", "disk": "ssd"},
    ]


def test_kinds_that_no_rule_reads_are_passed_over(tmp_path: Path) -> None:
    event = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"}}

    snapshot = read_dump([write(tmp_path, lines(NODE, event, listed("Event", event)))])

    assert snapshot.kinds == {"Node"}


def test_kind_of_another_group_is_not_mistaken_for_a_core_kind(tmp_path: Path) -> None:
    other = {"kind": "Node", "apiVersion": "example.com/v1", "metadata": {"name": "x"}}

    snapshot = read_dump([write(tmp_path, lines(NODE, other))])

    assert [node.name for node in snapshot.nodes] == ["a"]


def test_needed_kind_that_a_dump_lacks_is_named_in_a_warning(tmp_path: Path) -> None:
    snapshot = read_dump([write(tmp_path, lines(NODE, POD))], SnapshotRequest({"Pod", "PodDisruptionBudget.policy"}))

    assert snapshot.warnings == (
        "1 kind is not in the dump and assumed to be empty: poddisruptionbudgets.policy (how many pods of an"
        " application can be disrupted); 'descheduler snapshot' writes every kind that is read",
    )


def test_several_kinds_that_a_dump_lacks_make_one_warning(tmp_path: Path) -> None:
    snapshot = read_dump(
        [write(tmp_path, lines(NODE, RELATED))], SnapshotRequest({"Pod", "Job.batch", "CSINode.storage.k8s.io"})
    )

    assert snapshot.warnings == (
        "2 kinds are not in the dump and assumed to be empty: csinodes.storage.k8s.io (how many volumes a node can"
        " attach), jobs.batch (the pod template, and whether an evicted pod is created again); 'descheduler snapshot'"
        " writes every kind that is read",
    )


def test_pod_groups_of_several_api_groups_are_told_apart_where_a_dump_lacks_many_kinds(tmp_path: Path) -> None:
    groups = ("scheduling.sigs.k8s.io", "scheduling.volcano.sh", "scheduling.x-k8s.io")
    kinds = {"Pod", "CSINode.storage.k8s.io", *(f"PodGroup.{group}" for group in groups)}

    (warning,) = read_dump([write(tmp_path, lines(NODE, RELATED))], SnapshotRequest(kinds)).warnings

    assert warning.startswith(
        "4 kinds are not in the dump and assumed to be empty: csinodes.storage.k8s.io,"
        " podgroups.scheduling.sigs.k8s.io, podgroups.scheduling.volcano.sh, podgroups.scheduling.x-k8s.io; "
    )


def test_warning_names_a_few_of_many_kinds_that_a_dump_lacks(tmp_path: Path) -> None:
    groups = ("scheduling.sigs.k8s.io", "scheduling.volcano.sh", "scheduling.x-k8s.io")
    kinds = {"Pod", "CSINode.storage.k8s.io", *(f"PodGroup.{group}" for group in groups), "Service", "Job.batch"}

    snapshot = read_dump([write(tmp_path, lines(NODE, RELATED))], SnapshotRequest(kinds))

    assert len(snapshot.missing_kinds) == 6
    assert snapshot.missing_kinds[-1] == "services"
    assert snapshot.warnings == (
        "6 kinds are not in the dump and assumed to be empty: csinodes.storage.k8s.io, jobs.batch,"
        " podgroups.scheduling.sigs.k8s.io, podgroups.scheduling.volcano.sh, podgroups.scheduling.x-k8s.io"
        " and 1 other ('descheduler run -o wide' lists them); 'descheduler snapshot' writes every kind that is read",
    )


def test_missing_kinds_that_nothing_in_the_dump_leads_to_are_not_named(tmp_path: Path) -> None:
    request = SnapshotRequest({"Pod", "Service", "Job.batch", "CSINode.storage.k8s.io", "Queue.scheduling.volcano.sh"})

    snapshot = read_dump([write(tmp_path, lines(NODE, POD))], request)

    assert snapshot.missing_kinds == ("services",)


def test_schedulers_that_are_configured_lead_to_kinds_that_pods_do_not_show(tmp_path: Path) -> None:
    needed = {"Pod", "Job.batch", "Queue.scheduling.volcano.sh"}

    snapshot = read_dump([write(tmp_path, lines(NODE, POD))], SnapshotRequest(needed, traces=TRACES_OF_SCHEDULERS))

    assert snapshot.missing_kinds == ("queues.scheduling.volcano.sh",)


def test_empty_list_of_a_needed_kind_says_that_there_are_none(tmp_path: Path) -> None:
    budgets = {"kind": "PodDisruptionBudgetList", "apiVersion": "policy/v1", "items": []}

    snapshot = read_dump([write(tmp_path, lines(NODE, budgets))], SnapshotRequest({"PodDisruptionBudget.policy"}))

    assert snapshot.warnings == ()


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        pytest.param(b"", "is empty", id="an empty file"),
        pytest.param(b" \n\n ", "is empty", id="a file of blanks"),
        pytest.param(b"# nothing\n", "holds no objects", id="YAML without a document"),
        pytest.param(b"\x7fELF\0\0\0", "is binary", id="a program"),
        pytest.param("{}".encode("utf-16"), "is UTF-16 text", id="what PowerShell writes"),
        pytest.param(b"NAME   READY\ncart   1/1\n", "neither JSON nor YAML objects", id="a table of kubectl"),
        pytest.param(b"kind: [Pod\n", ":2:1: not YAML", id="broken YAML"),
        pytest.param(b"kind: Pod\n\tname: x\n", "indented with a tab", id="YAML with a tab"),
        pytest.param(b"a: *b\n", "alias *b has no anchor", id="YAML with an alias of nothing"),
        pytest.param(b"\xff\xfa: x\n", "YAML does not allow", id="YAML that is not UTF-8"),
        pytest.param(b'{"kind": "Node",\n "x": 1', "ends after 2 lines", id="JSON that is cut short"),
        pytest.param(b'{"kind": "Node",\n "x": oops}\n', ":2:7: not JSON", id="broken JSON"),
        pytest.param(lines(NODE).encode() + b'{"kind":', ":2: not a Kubernetes object", id="a line that is cut short"),
        pytest.param(gzip.compress(lines(NODE).encode())[:-9], "gzip data is truncated", id="gzip that is cut short"),
        pytest.param(b"\x1f\x8b\x08\0 and no more gzip", "gzip data is damaged", id="damaged gzip"),
        pytest.param(b'{"name": "a"}\n', "without kind", id="JSON of something else"),
        pytest.param(b"[1, 2]", "not a Kubernetes object but 1", id="an array of numbers"),
        pytest.param(b'{"kind":"List","items":[7]}', "not a Kubernetes object but 7", id="a list of numbers"),
        pytest.param(b'{"kind":"List","items":"\xff"}', "its items are", id="a list of bytes that are no text"),
        pytest.param(lines(NODE).encode().replace(b'"a"', b'"\xff"', 1), "not UTF-8", id="a name that is no text"),
        pytest.param(lines(POD).encode(), "no nodes", id="a dump without nodes"),
        pytest.param(lines(NODE, NODE).encode(), "node a appears twice", id="a node that is there twice"),
        pytest.param(lines(listed("Node", NODE, **{"continue": "x"})).encode(), "one page", id="a page of several"),
        pytest.param(lines(listed("Pod", POD, remainingItemCount=7)).encode(), "one page", id="a page of pods"),
        pytest.param(b'{"a":' * 100_000, "nested too deeply", id="JSON nested without end"),
        pytest.param(b'{"kind":"Node","x":' + b"[" * 9999 + b"]" * 9999 + b"}", "nested", id="a deep object"),
        pytest.param(b"a: " + b"[" * 500, "nested more than 200 levels deep", id="YAML nested without end"),
        pytest.param(
            b'{"kind":"Status","apiVersion":"v1","message":"Unauthorized"}',
            "an answer of the API server instead of objects: Unauthorized",
            id="an error of the API server",
        ),
    ],
)
def test_what_is_no_dump_is_said_in_one_sentence(tmp_path: Path, raw: bytes, sentence: str) -> None:
    path = write(tmp_path, raw)

    message = problem([path])

    assert message.startswith(str(path))
    assert sentence in message
    assert "\n" not in message


def test_yaml_that_repeats_itself_without_end_is_refused(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    bomb = "\n".join(["a0: &a0 [x, x, x]", *levels])

    assert "by aliases" in problem([write(tmp_path, bomb)])


def test_missing_file_is_named(tmp_path: Path) -> None:
    assert problem([tmp_path / "gone"]) == f"{tmp_path / 'gone'}: cannot be read: no such file or directory"


def test_link_to_nowhere_in_a_folder_is_named(tmp_path: Path) -> None:
    write(tmp_path, lines(NODE), "nodes.json")
    (tmp_path / "pods.json").symlink_to("gone")

    assert problem([tmp_path]) == f"{tmp_path / 'pods.json'}: cannot be read: no such file or directory"


def test_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, lines(NODE), "nodes.json")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def refuse_closed(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse_closed)

    assert problem([tmp_path]) == f"{tmp_path / 'closed'}: cannot be read: permission denied"


def test_pipe_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, lines(NODE, POD), "all.json")
    os.mkfifo(tmp_path / "pipe.json")

    assert names(read_dump([tmp_path])) == (["a"], ["default/cart"])


def test_name_that_is_no_text_is_escaped(tmp_path: Path) -> None:
    path = write(tmp_path, lines(NODE, POD), "a\udcff\x1b[31m.json")

    assert read_dump([path]).source == f"{tmp_path}/a\\udcff\\x1b[31m.json"


def test_lists_within_lists_are_read_to_a_bounded_depth(tmp_path: Path) -> None:
    inner: Object = mixed(NODE, POD)
    for _ in range(3):
        inner = mixed(inner)

    assert names(read_dump([write(tmp_path, json.dumps(inner))])) == (["a"], ["default/cart"])
    assert "lists are nested 4 deep" in problem([write(tmp_path, json.dumps(mixed(inner)))])


def test_broken_object_is_named_with_its_line(tmp_path: Path) -> None:
    broken = pod_object("bad", namespace="shop", cpu="12 cores")
    texts = {
        "json": json.dumps(mixed(NODE, POD, broken), indent=2),
        "page": json.dumps(NODE) + "\n" + json.dumps(listed("Pod", POD, broken)),
        "array": json.dumps([NODE, POD, broken], indent=2),
        "yaml": yaml.safe_dump(mixed(NODE, POD, broken), sort_keys=False),
    }

    for form, text in texts.items():
        path = write(tmp_path, text, form)
        place = problem([path]).partition(": Pod shop/bad")[0]
        rest = "\n".join(text.split("\n")[int(place.removeprefix(f"{path}:")) - 1 :])
        assert text.count("\n", 0, text.index("bad")) - text.count("\n", 0, len(text) - len(rest)) <= 4, form


def test_folder_without_a_dump_is_named(tmp_path: Path) -> None:
    assert "no dump in this folder" in problem([tmp_path])


@pytest.mark.parametrize("form", ["lines", "page", "mixed"])
def test_broken_object_is_named_and_ends_the_run_or_is_left_out(tmp_path: Path, form: str) -> None:
    broken = pod_object("bad", namespace="shop", cpu="12 cores")
    texts = {
        "lines": lines(NODE, POD, broken),
        "page": lines(NODE, listed("Pod", POD, broken)),
        "mixed": json.dumps(mixed(NODE, POD, broken), indent=1),
    }
    path = write(tmp_path, texts[form])

    message = problem([path])
    snapshot = read_dump([path], SnapshotRequest(skip_broken=True))

    assert "Pod shop/bad is invalid" in message
    assert "--skip-broken-objects" in message
    assert names(snapshot) == (["a"], ["default/cart"])
    assert [sentence.split(":")[0] for sentence in snapshot.skipped] == ["Pod shop/bad is invalid"]


def test_control_characters_of_a_dump_do_not_reach_the_terminal(tmp_path: Path) -> None:
    message = problem([write(tmp_path, lines(pod_object("a\x1b[2Jb", cpu="x")))])

    assert "\x1b" not in message

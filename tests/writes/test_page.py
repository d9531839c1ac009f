"""The list of writes: what is held against it, and that it and the roles of cronjob/ say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.cronjob.manifests import CRONJOB, documents
from tests.cronjob.rbac import Grant, grants_of
from tests.writes.page import ListedWrite, listed_writes, objection
from tests.writes.recorder import Recorder, WrittenCall

WRITING = {"create", "update", "patch", "delete", "deletecollection", "*"}
JOB = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
POD = "/api/v1/namespaces/shop/pods/web-0"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/descheduler"
MAPS = "/api/v1/namespaces/kube-system/configmaps"
SEEN = {"uid": "u", "resourceVersion": "1"}

LISTED = [
    pytest.param("POST", f"{POD}/eviction", {"deleteOptions": {"preconditions": {"uid": "u"}}}, id="an eviction"),
    pytest.param("PUT", LEASE, {"metadata": {"name": "descheduler", "resourceVersion": "1"}}, id="a renewed Lease"),
    pytest.param("PATCH", f"{JOB}/j/status", {"metadata": SEEN, "status": {"phase": "Running"}}, id="a job's step"),
    pytest.param("PATCH", f"{JOB}/j", {"metadata": SEEN | {"annotations": {"a": "b"}}, "spec": {}}, id="a job's surge"),
    pytest.param("DELETE", f"{JOB}/j", {"preconditions": {"uid": "u"}}, id="a deleted job"),
    pytest.param("POST", MAPS, {"metadata": {"name": "descheduler-status"}}, id="a status"),
    pytest.param(
        "PATCH",
        POD,
        {"metadata": {"uid": "u", "annotations": {"controller.kubernetes.io/pod-deletion-cost": None}}},
        id="a mark that is removed",
    ),
]
NOT_LISTED = [
    pytest.param("POST", f"{POD}/eviction", {}, "uid is not stated", id="an eviction of whatever has the name"),
    pytest.param("DELETE", POD, {}, "uid is not stated", id="a deletion of whatever has the name"),
    pytest.param(
        "DELETE", POD, {"metadata": {"uid": "u"}}, "uid is not stated", id="a deletion with its UID where none belongs"
    ),
    pytest.param("PUT", LEASE, {"metadata": {}}, "resourceVersion is not stated", id="a Lease written blindly"),
    pytest.param(
        "PATCH",
        f"{JOB}/j/status",
        {"metadata": {"uid": "u"}, "status": {}},
        "resourceVersion is not stated",
        id="a job written blindly",
    ),
    pytest.param(
        "PATCH",
        POD,
        {"metadata": {"uid": "u", "labels": {"a": "b"}}},
        "metadata.labels.a is changed",
        id="a label",
    ),
    pytest.param(
        "PATCH", f"{JOB}/j", {"metadata": SEEN, "status": {"phase": "x"}}, "status.phase is changed", id="another field"
    ),
    pytest.param("DELETE", f"{MAPS}/settings", {"preconditions": {"uid": "u"}}, "not on the list", id="another name"),
    pytest.param("PUT", POD, {"metadata": SEEN}, "not on the list", id="another verb"),
    pytest.param(
        "DELETE",
        "/api/v1/namespaces/shop/pods",
        {"preconditions": {"uid": "u"}},
        "not on the list",
        id="all pods of a namespace",
    ),
    pytest.param("POST", "/api/v1/secrets", {"metadata": {"name": "s"}}, "not on the list", id="a Secret"),
    pytest.param("POST", JOB, {"metadata": {"generateName": "j-"}}, "name is not stated", id="a job without a name"),
]


def call(method: str, path: str, body: Any) -> WrittenCall:
    """The call of a request that writes."""
    found = WrittenCall.of(method, path, body)
    assert found is not None
    return found


@pytest.mark.parametrize(("method", "path", "body"), LISTED)
def test_a_call_on_the_list_passes(method: str, path: str, body: Any) -> None:
    assert objection(call(method, path, body)) == ""


@pytest.mark.parametrize(("method", "path", "body", "why"), NOT_LISTED)
def test_a_call_that_is_not_as_listed_is_told_so(method: str, path: str, body: Any, why: str) -> None:
    assert why in objection(call(method, path, body))


OLD_LEASE: dict[str, Any] = {
    "metadata": {"name": "descheduler", "resourceVersion": "1", "uid": "u", "labels": {"team": "a"}},
    "spec": {"holderIdentity": ""},
}


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        pytest.param(OLD_LEASE["metadata"], "", id="the listed field alone"),
        pytest.param({"name": "descheduler", "resourceVersion": "1"}, "metadata.labels.team is changed", id="a loss"),
        pytest.param(
            OLD_LEASE["metadata"] | {"annotations": {"a": "b"}}, "metadata.annotations.a is changed", id="more"
        ),
        pytest.param({"name": "descheduler", "resourceVersion": "0"}, "", id="an older state, which is refused"),
    ],
)
def test_an_update_changes_the_listed_fields_and_keeps_the_others(metadata: Any, why: str) -> None:
    recorder = Recorder()

    recorder.note("PUT", LEASE, {"metadata": metadata, "spec": {"holderIdentity": "me"}}, before=OLD_LEASE)
    (written,) = recorder.take()

    assert objection(written).endswith(why)
    assert bool(objection(written)) == bool(why)


@pytest.mark.parametrize(("method", "path"), [("GET", POD), ("POST", "/api/v1/query"), ("POST", "/elsewhere")])
def test_what_changes_nothing_in_the_cluster_is_no_write(method: str, path: str) -> None:
    recorder = Recorder()

    recorder.note(method, path, None)

    assert recorder.take() == []


def test_calls_are_given_out_once() -> None:
    recorder = Recorder()
    recorder.note("DELETE", POD, None)

    first, second = recorder.take(), recorder.take()

    assert [(each.verb, each.resource, each.name) for each in first] == [("delete", "pods", "web-0")]
    assert second == []


def grants_in(file: str, role: str = "") -> set[Grant]:
    """What the roles in a manifest allow, or the one of this name; values of the chart are left open."""
    text = (CRONJOB / file).read_text()
    plain = "\n".join(line for line in text.splitlines() if not re.match(r"\s*\{\{-? ", line))
    found = documents(re.sub(r"\{\{.*?\}\}", "VALUE", plain))
    roles = [each for each in found if each["kind"].endswith("Role") and role in ("", each["metadata"]["name"])]
    return {grant for grant in grants_of(roles) if grant.verb in WRITING}


def role_files() -> Iterator[str]:
    """Every manifest of cronjob/ with roles."""
    for file in sorted(CRONJOB.rglob("*.yaml")):
        if re.search(r"^kind: (Cluster)?Role$", file.read_text(), re.MULTILINE):
            yield str(file.relative_to(CRONJOB))


def allows(grant: Grant, listed: ListedWrite) -> bool:
    """Whether a right is one for the listed call: on that resource, and for a name that it may have."""
    plural, _, rest = listed.resource.partition(".")
    group, _, subresource = rest.partition("/")
    plural, _, of_core = plural.partition("/")
    whole = "/".join(filter(None, (plural, subresource or of_core)))
    is_named = grant.name in ("", "VALUE") or fnmatchcase(grant.name.replace("VALUE", "descheduler"), listed.name)
    return (grant.verb, grant.group, grant.resource) == (listed.verb, group, whole) and is_named


@pytest.mark.parametrize(
    "listed", [pytest.param(each, id=f"{each.verb} {each.resource} {each.name}") for each in listed_writes()]
)
def test_the_role_that_a_row_names_allows_the_call(listed: ListedWrite) -> None:
    granted = grants_in(listed.file, listed.role)

    assert any(allows(grant, listed) for grant in granted)


@pytest.mark.parametrize("file", list(role_files()))
def test_no_role_allows_a_write_that_is_not_listed(file: str) -> None:
    of_nobody = [grant for grant in grants_in(file) if not any(allows(grant, each) for each in listed_writes())]

    assert of_nobody == []
    assert file.startswith("chart/") or any(each.file == file for each in listed_writes())


def test_the_chart_can_grant_every_listed_call() -> None:
    chart = {grant for file in role_files() if file.startswith("chart/") for grant in grants_in(file)}

    missing = [each for each in listed_writes() if not any(allows(grant, each) for grant in chart)]

    assert missing == []

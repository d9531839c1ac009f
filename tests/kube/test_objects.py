"""What calls for single objects make of answers: rights that are missing, and deletions that nobody confirmed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.errors import ApiError, KindForbidden
from descheduler.kube.objects import ObjectCalls, is_object_name, rule_to_add
from descheduler.transport.errors import ExchangeError, TransportError
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer


@pytest.mark.parametrize(
    ("method", "path", "rule", "where"),
    [
        pytest.param(
            "POST",
            "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs",
            "{apiGroups: [scheduling.koordinator.sh], resources: [podmigrationjobs], verbs: [create]}",
            "a ClusterRole",
            id="a job",
        ),
        pytest.param(
            "PATCH",
            "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs/j/status",
            "{apiGroups: [scheduling.koordinator.sh], resources: [podmigrationjobs/status], verbs: [patch]}",
            "a ClusterRole",
            id="the status of a job",
        ),
        pytest.param(
            "DELETE",
            "/api/v1/namespaces/shop/pods/placeholder-1",
            '{apiGroups: [""], resources: [pods], verbs: [delete]}',
            "a Role in namespace shop",
            id="a placeholder",
        ),
        pytest.param(
            "GET",
            "/apis/scheduling.koordinator.sh/v1alpha1/reservations?limit=500",
            "{apiGroups: [scheduling.koordinator.sh], resources: [reservations], verbs: [list]}",
            "a ClusterRole",
            id="a list",
        ),
        pytest.param(
            "GET",
            "/api/v1/namespaces/shop",
            '{apiGroups: [""], resources: [namespaces], verbs: [get]}',
            "a ClusterRole",
            id="a namespace",
        ),
    ],
)
def test_rule_is_that_of_the_request(method: str, path: str, rule: str, where: str) -> None:
    assert rule_to_add(method, path) == f"add this rule to {where}: {rule}"


def test_paths_of_no_object_take_no_rule() -> None:
    assert rule_to_add("GET", "/version") == ""


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("web-0", True),
        ("a.b", True),
        ("...", True),
        ("", False),
        (".", False),
        ("..", False),
        ("a/b", False),
        ("a%2Fb", False),
        ("a?b", False),
        ("a#b", False),
        ("a b", False),
        ("a\nb", False),
        ("ä", False),
    ],
)
def test_name_of_an_object_is_one_segment_of_a_path(text: str, is_name: bool) -> None:
    assert is_object_name(text) is is_name


class CutOff:
    """A client whose calls that write get no answer; reads find an object with this metadata, or none."""

    def __init__(self, metadata: dict[str, str] | None) -> None:
        self._metadata = metadata

    def send(self, method: str, path: str, **parts: object) -> None:
        """No answer comes."""
        raise TransportError(f"{method} {path}: the connection was lost")

    def fetch(self, path: str, decode: Callable[[bytes], Any], **parts: object) -> Any:
        """The object as it is."""
        if self._metadata is None:
            raise ApiError(f"GET {path}: there is none", status_code=404, reason="NotFound")
        return decode(json.dumps({"metadata": self._metadata}).encode())


@pytest.mark.parametrize(
    ("metadata", "is_deleted"),
    [
        pytest.param(None, True, id="it is gone"),
        pytest.param({"uid": "other"}, True, id="another one has its name"),
        pytest.param({"uid": "own", "deletionTimestamp": "2026-01-15T12:00:00Z"}, True, id="it is about to go"),
        pytest.param({"uid": "own"}, False, id="it is there as before"),
    ],
)
def test_object_is_looked_at_after_a_deletion_without_an_answer(
    metadata: dict[str, str] | None, is_deleted: bool
) -> None:
    objects = ObjectCalls(cast(Any, CutOff(metadata)))

    if is_deleted:
        assert objects.delete("/api/v1/namespaces/shop/pods/web", uid="own")
    else:
        with pytest.raises(TransportError, match="the connection was lost"):
            objects.delete("/api/v1/namespaces/shop/pods/web", uid="own")


PODS = "/api/v1/namespaces/shop/pods"
POD = f"{PODS}/web"
DEEP = b'{"a":' * 1200 + b"1" + b"}" * 1200


def status(code: int, reason: str) -> Answer:
    """What the API server refuses with."""
    return Answer(code, {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": "no"})


def name_of(body: bytes) -> str:
    return str(json.loads(body)["metadata"]["name"])


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        pytest.param(status(404, "NotFound"), None, "", id="gone"),
        pytest.param(Answer(404, b"no such route"), ApiError, "404", id="a 404 of a proxy"),
        pytest.param(status(410, "NotFound"), ApiError, "410", id="another status with that reason"),
        pytest.param(
            status(403, "Forbidden"), KindForbidden, "add this rule to a Role in namespace shop", id="no right"
        ),
        pytest.param(Answer(403, b"blocked"), ApiError, r"403\)$", id="a 403 of a proxy"),
        pytest.param(status(401, "Forbidden"), ApiError, "401", id="another status for want of a right"),
        pytest.param(
            Answer(200, {"kind": "PodList"}), TransportError, "not what was asked|cut short|tried", id="another object"
        ),
    ],
)
def test_read_finds_an_object_none_or_a_refusal(
    fake_api: FakeApi, client: KubeClient, answer: Answer, error: type[Exception] | None, words: str
) -> None:
    fake_api.fail_always("GET", POD, answer)
    objects = ObjectCalls(client)

    if error is None:
        assert objects.read(POD, name_of) is None
    else:
        with pytest.raises(ExchangeError, match=words) as caught:
            objects.read(POD, name_of)
        assert type(caught.value) is error
        assert ("add this rule" in str(caught.value)) == (error is KindForbidden)


@pytest.mark.own_calls
@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        pytest.param(Answer(201, {"metadata": {"name": "web"}}), None, "web", id="created"),
        pytest.param(status(409, "AlreadyExists"), None, None, id="there is one"),
        pytest.param(status(409, "Conflict"), ApiError, "409", id="another conflict"),
        pytest.param(status(403, "Forbidden"), ApiError, "resources: .pods., verbs: .create.", id="no right"),
        pytest.param(status(422, "Invalid"), ApiError, r"422\)$", id="refused"),
        pytest.param(status(422, "AlreadyExists"), ApiError, r"422\)$", id="another status with that reason"),
        pytest.param(Answer(201, b"{"), TransportError, "cut short or not what was asked", id="cut short"),
    ],
)
def test_create_makes_an_object_none_or_a_refusal(
    fake_api: FakeApi, client: KubeClient, answer: Answer, error: type[Exception] | None, words: str | None
) -> None:
    fake_api.fail_next("POST", PODS, answer)
    made = {"metadata": {"name": "web"}}

    if error is None:
        assert ObjectCalls(client).create(PODS, made, name_of, manager="descheduler") == words
    else:
        with pytest.raises(error, match=words):
            ObjectCalls(client).create(PODS, made, name_of)
    assert fake_api.requests[-1].query.get("fieldManager") == ("descheduler" if error is None else None)


def test_object_that_could_not_be_used_is_not_sent(fake_api: FakeApi, client: KubeClient) -> None:
    deep: Any = {}
    for _ in range(1200):
        deep = {"a": deep}

    with pytest.raises(ExchangeError, match="not sent, the object would not be valid: 'metadata'"):
        ObjectCalls(client).create(PODS, {}, name_of)
    with pytest.raises(ExchangeError, match="not sent, the object would not be valid: it is nested too deeply"):
        ObjectCalls(client).create(PODS, deep, name_of)
    assert fake_api.requests == []


@pytest.mark.own_calls
@pytest.mark.parametrize(
    ("answer", "is_found"),
    [
        (Answer(200, {"metadata": {"name": "web"}}), True),
        (status(404, "NotFound"), False),
        (status(409, "Conflict"), False),
    ],
)
def test_change_finds_an_object_or_none(fake_api: FakeApi, client: KubeClient, answer: Answer, is_found: bool) -> None:
    fake_api.fail_always("PATCH", POD, answer)
    fake_api.fail_always("DELETE", POD, answer)
    objects = ObjectCalls(client)

    assert objects.patch(POD, {}, name_of) == ("web" if is_found else None)
    assert objects.delete(POD) is is_found


@pytest.mark.own_calls
@pytest.mark.parametrize("answer", [Answer(404, b"no such route"), status(422, "NotFound"), status(409, "Odd")])
def test_change_that_is_refused_otherwise_is_an_error(fake_api: FakeApi, client: KubeClient, answer: Answer) -> None:
    fake_api.fail_always("PATCH", POD, answer)
    fake_api.fail_always("DELETE", POD, answer)
    fake_api.fail_always("GET", POD, Answer(200, {"metadata": {"name": "web", "uid": "u"}}))

    with pytest.raises(ApiError, match=str(answer.status_code)):
        ObjectCalls(client).patch(POD, {}, name_of)
    with pytest.raises(ApiError, match=str(answer.status_code)):
        ObjectCalls(client).delete(POD)


@pytest.mark.own_calls
@pytest.mark.parametrize(
    ("uid", "seconds", "options"),
    [
        ("", None, {}),
        ("u", None, {"preconditions": {"uid": "u"}}),
        ("", 0, {"gracePeriodSeconds": 0}),
        ("u", 5, {"preconditions": {"uid": "u"}, "gracePeriodSeconds": 5}),
    ],
)
def test_deletion_says_which_object_and_how_long_it_may_take(
    fake_api: FakeApi, client: KubeClient, uid: str, seconds: int | None, options: dict[str, object]
) -> None:
    fake_api.fail_next("DELETE", POD, Answer(200, {}))

    assert ObjectCalls(client).delete(POD, uid=uid, grace_period_seconds=seconds)
    assert fake_api.requests[-1].body == {"apiVersion": "v1", "kind": "DeleteOptions", **options}


def test_nothing_is_written_once_the_calls_are_given_up(fake_api: FakeApi, client: KubeClient) -> None:
    objects = ObjectCalls(client)
    objects.give_up()

    with pytest.raises(ExchangeError, match="not sent, the run has ended"):
        objects.delete(POD)
    assert fake_api.requests == []


def list_of(items: bytes) -> Answer:
    """A list with these members beside its kind."""
    return Answer(200, b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"}' + items + b"}")


def test_objects_of_a_list_are_read_also_beside_one_that_is_nested_too_deeply(
    fake_api: FakeApi, client: KubeClient
) -> None:
    one, deep = b'{"metadata":{"name":"a"}}', b'{"metadata":{"name":"b"},"x":' + DEEP + b"}"
    objects = ObjectCalls(client)

    fake_api.fail_always("GET", PODS, list_of(b',"items":[' + one + b"," + one + b"]"))
    assert objects.list(PODS, name_of) == ("a", "a")
    fake_api.fail_always("GET", PODS, list_of(b',"items":[' + one + b"," + deep + b',{"metadata":{}}]'))
    assert objects.list_readable(PODS, lambda item: msgspec.json.decode(item)["metadata"]["name"]) == ("a",)

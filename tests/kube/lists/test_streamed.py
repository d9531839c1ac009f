"""A list that is read as it comes in keeps what every other request keeps, in protobuf and in JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.errors import ApiError, KindAbsent, KindForbidden, ListExpired
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import AnswerBroken, ExchangeError, TransportError
from tests.integration.api_fixtures import Naps
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer, BrokenGzip, Drip, Fault, RawAnswer, Silence, Truncate, failure
from tests.transport.oversized import PODS, head

NAMES = [f"p{number}" for number in range(5)]
TOKEN = "s3cr3t-token"

Read = Callable[[KubeClient], int]


def read_messages(client: KubeClient) -> int:
    return sum(len(batch.items) for batch in client.list_messages(PODS))


def read_pieces(client: KubeClient) -> int:
    return b"".join(page.body for page in client.list_pages(PODS, limit=0)).count(b'"uid"')


@pytest.fixture(params=[read_messages, read_pieces], ids=["protobuf", "json"])
def read(request: pytest.FixtureRequest) -> Read:
    """Reads pods; returns how many there are."""
    reader: Read = request.param
    return reader


@pytest.fixture
def five_pods(fake_api: FakeApi) -> FakeApi:
    for name in NAMES:
        fake_api.add_pod(name)
    return fake_api


def test_list_is_asked_for_once_and_without_a_limit(five_pods: FakeApi, client: KubeClient, read: Read) -> None:
    assert read(client) == 5

    assert [request.query for request in five_pods.sent("GET", PODS)] == [{}]


def test_json_is_compressed_on_its_way(five_pods: FakeApi, client: KubeClient) -> None:
    pages = list(client.list_pages(PODS, limit=0, label_selector="a=b"))

    assert {(page.resource_version, page.kind) for page in pages} == {("1000", "PodList")}
    [request] = five_pods.sent("GET", PODS)
    assert request.headers["accept-encoding"] == "gzip"
    assert request.query == {"labelSelector": "a=b"}


def test_empty_list_has_a_version(client: KubeClient) -> None:
    [page] = client.list_pages(PODS, limit=0)

    assert (page.resource_version, page.first) == ("1000", b"")


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        pytest.param(
            failure(403, "Forbidden", 'User "e" may not'), KindForbidden, "not allowed to list pods", id="403"
        ),
        pytest.param(failure(404, "NotFound"), KindAbsent, "does not serve pods", id="404"),
        pytest.param(failure(410, "Expired"), ListExpired, "expired", id="410"),
        pytest.param(Answer(206, {}), ExchangeError, "HTTP status 206", id="a part"),
        pytest.param(Answer(204, b""), ExchangeError, "HTTP status 204", id="nothing"),
        pytest.param(Answer(302, {}, {"Location": "/elsewhere"}), ApiError, "302", id="a redirect"),
        pytest.param(Truncate(60), AnswerBroken, "closed before the answer|cut short", id="cut off"),
        pytest.param(BrokenGzip(), AnswerBroken, "is damaged", id="damaged"),
    ],
)
def test_answer_that_is_not_the_list_is_an_error(
    five_pods: FakeApi, client: KubeClient, read: Read, fault: Fault, error: type[ExchangeError], message: str
) -> None:
    five_pods.fail_always("GET", PODS, fault)

    with pytest.raises(error, match=message):
        read(client)

    assert [request.path for request in five_pods.requests] == [PODS] * len(five_pods.requests)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param({"kind": "Status", "apiVersion": "v1", "message": "no"}, "a Status: no", id="a Status"),
        pytest.param({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": None}, "items: null", id="null"),
        pytest.param({"kind": "PodList", "apiVersion": "v1", "metadata": {}}, "without items", id="no items"),
        pytest.param(
            {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [{"kind": "Node"}]},
            "holds a Node",
            id="other objects",
        ),
        pytest.param({"kind": "Pod", "apiVersion": "v1", "metadata": {}, "items": []}, "a Pod of v1", id="no list"),
    ],
)
def test_json_that_is_not_the_list_is_an_error(
    fake_api: FakeApi, client: KubeClient, body: object, message: str
) -> None:
    fake_api.fail_always("GET", PODS, Answer(200, body))

    with pytest.raises(ExchangeError, match=f"the answer is not the list of pods, but .*{message}"):
        read_pieces(client)


def test_pages_are_followed_where_the_server_makes_some(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("GET", PODS, json_page("a", more="1"), json_page("b", more="2"), json_page("c"))

    assert read_pieces(client) == 3
    assert [request.query.get("continue") for request in fake_api.sent("GET", PODS)] == [None, "1", "2"]


def test_pages_that_follow_are_asked_for_by_the_same_selector(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("GET", PODS, json_page("a", more="1"), json_page("b"))

    pages = list(client.list_pages(PODS, limit=0, label_selector="a=b"))

    assert len(pages) == 2
    asked = [request.query for request in fake_api.sent("GET", PODS)]
    assert asked == [{"labelSelector": "a=b"}, {"labelSelector": "a=b", "continue": "1"}]


@pytest.mark.parametrize(
    ("pages", "error", "message"),
    [
        pytest.param([("a", "1", "7"), ("b", "", "8")], ListExpired, "resource version changed", id="of two versions"),
        pytest.param([("a", "1", "7"), ("b", "1", "7")], ExchangeError, "same continue token", id="that never end"),
        pytest.param([("a", "1", "7"), ("a", "2", "7")], ExchangeError, "same objects", id="that repeat themselves"),
    ],
)
def test_pages_that_cannot_be_one_list_are_given_up(
    fake_api: FakeApi,
    client: KubeClient,
    pages: Iterable[tuple[str, str, str]],
    error: type[ExchangeError],
    message: str,
) -> None:
    fake_api.fail_next("GET", PODS, *(json_page(name, more=more, version=version) for name, more, version in pages))

    with pytest.raises(error, match=message):
        read_pieces(client)


def json_page(name: str, *, more: str = "", version: str = "7") -> Answer:
    metadata = {"resourceVersion": version, "continue": more}
    items = [{"metadata": {"name": name, "uid": name}}]
    return Answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})


def test_busy_server_is_asked_again_as_it_wants(five_pods: FakeApi, client: KubeClient, naps: Naps, read: Read) -> None:
    """A large list takes more seats of priority and fairness than a page, and may have to wait for them."""
    five_pods.fail_next("GET", PODS, failure(429, "TooManyRequests", retry_after_seconds=3))

    assert read(client) == 5
    assert naps == [3.0]


@pytest.mark.parametrize("fault", [Silence(), Drip(0.02)], ids=["that is silent", "that drips"])
def test_answer_without_progress_is_given_up(
    five_pods: FakeApi, kubeconfig: Path, naps: Naps, read: Read, fault: Fault
) -> None:
    five_pods.fail_always("GET", PODS, fault)
    hasty = connect(str(kubeconfig), request_timeout=0.3, retry=RetryPolicy(attempts=1, sleep=naps))

    with pytest.raises(TransportError, match=r"no complete answer within 0\.3 s"):
        read(hasty)


@pytest.mark.long
def test_answer_may_stay_unread_for_longer_than_it_is_waited_for(fake_api: FakeApi, kubeconfig: Path) -> None:
    for number in range(6):
        fake_api.add_pod(f"p{number}")["metadata"]["annotations"] = {"large": "x" * 200_000}
    hasty = connect(str(kubeconfig), request_timeout=1.5, retry=RetryPolicy(attempts=1))
    batches = hasty.list_messages(PODS)

    num_first = len(next(batches).items)
    time.sleep(1.6)

    assert num_first < 6
    assert num_first + sum(len(batch.items) for batch in batches) == 6


def test_credentials_are_not_sent_over_plain_http(five_pods: FakeApi, tmp_path: Path, read: Read) -> None:
    client = connect(str(five_pods.write_kubeconfig(tmp_path / "config", token=TOKEN)))

    read(client)

    assert ["authorization" in request.headers for request in five_pods.requests] == [False]


def test_token_that_an_answer_repeats_is_not_shown(secure_api: FakeApi, tmp_path: Path, read: Read) -> None:
    client = connect(str(secure_api.write_kubeconfig(tmp_path / "config", token=TOKEN)))
    secure_api.fail_always("GET", PODS, failure(400, "BadRequest", f"bad header Bearer {TOKEN}"))

    with pytest.raises(ApiError, match=r"bad header Bearer \*\*\*"):
        read(client)

    [request] = secure_api.requests
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


def test_token_that_a_success_repeats_is_not_shown(secure_api: FakeApi, tmp_path: Path) -> None:
    client = connect(str(secure_api.write_kubeconfig(tmp_path / "config", token=TOKEN)))
    secure_api.fail_always("GET", PODS, Answer(200, {"kind": "Status", "message": f"got {TOKEN}"}))

    with pytest.raises(ExchangeError, match=r"a Status: got \*\*\*"):
        read_pieces(client)


def test_token_that_is_rotated_meanwhile_is_read_again(secure_api: FakeApi, tmp_path: Path, read: Read) -> None:
    secure_api.add_pod("p")
    secure_api.token = "old"
    file = tmp_path / "token"
    file.write_text("old")
    config = secure_api.write_kubeconfig(tmp_path / "config")
    config.write_text(config.read_text().replace("token: old", f"tokenFile: {file}"))
    client = connect(str(config))
    assert read(client) == 1
    secure_api.token = "new"
    file.write_text("new")

    assert read(client) == 1


def test_reader_that_is_stopped_reads_no_further(five_pods: FakeApi, client: KubeClient, read: Read) -> None:
    calls = iter([None])

    def stop_at_the_second(path: str) -> None:
        if next(calls, "stop"):
            raise TimeoutError("stopped")

    with pytest.raises(TimeoutError, match="stopped"):
        read(client.watched(stop_at_the_second))


def test_connection_of_an_answer_that_is_given_up_is_not_used_again(
    five_pods: FakeApi, client: KubeClient, read: Read
) -> None:
    five_pods.fail_next("GET", PODS, RawAnswer(lambda: [head(Content_Length=1 << 20), b"{" * 100_000]))

    with pytest.raises(ExchangeError):
        read(client)

    assert read(client) == 5

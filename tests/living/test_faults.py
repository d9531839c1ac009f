"""Faults on the way to the living cluster: what was done, what is heard of it, and the end of the program."""

from __future__ import annotations

import json

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import AnswerBroken, ExchangeError, NotConnected, TransportError
from tests.faults.faults import Act, Delivery, Fault, Form, Lie, Requests
from tests.living.api.server import Call
from tests.living.builders import deployment, living_cluster
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay, Killed, Kind, SeededFaults, kind_of

pytestmark = pytest.mark.own_calls

_MAPS = "/api/v1/namespaces/default/configmaps"
_BODY = b'{"metadata": {"name": "a"}}'


def faulty(cluster: LivingCluster, *faults: AnyFault | None) -> KubeClient:
    """A client whose calls meet these faults, one each, and then none."""
    left = list(faults)
    way = FaultyWay(cluster.api, lambda call: left.pop(0) if left else None)
    return cluster.client(passage=way)


def is_made(cluster: LivingCluster) -> bool:
    """Whether the ConfigMap is there."""
    return cluster.get("configmaps", "a", "default") is not None


class TestEffects:
    @pytest.mark.parametrize(
        ("fault", "error", "made"),
        [
            (Kind.NO_CONNECTION, NotConnected, False),
            (Fault(Act.NEVER, delivery=Delivery.RESET), TransportError, False),
            (Fault(Act.AT_ONCE, delivery=Delivery.RESET), TransportError, True),
            (Fault(Act.AT_ONCE, delivery=Delivery.SILENT), TransportError, True),
            (Fault(Act.AT_ONCE, delivery=Delivery.TRUNCATED), TransportError, True),
            (Fault(Act.AT_ONCE, delivery=Delivery.BOMB), TransportError, True),
            (Fault(Act.AT_ONCE, delay_seconds=31), TransportError, True),
        ],
        ids=str,
    )
    def test_a_write_without_an_answer_is_done_or_not(
        self, fault: AnyFault, error: type[ExchangeError], made: bool
    ) -> None:
        cluster = living_cluster(1)

        with pytest.raises(error):
            faulty(cluster, fault).send("POST", _MAPS, body=_BODY)

        assert is_made(cluster) is made

    def test_a_late_effect_comes_when_its_time_has_come(self) -> None:
        cluster = living_cluster(1)
        late = Fault(Act.LATE, late_seconds=40, delivery=Delivery.SILENT)

        with pytest.raises(TransportError):
            faulty(cluster, late).send("POST", _MAPS, body=_BODY)

        assert not is_made(cluster)
        cluster.clock.sleep(15)
        assert is_made(cluster)

    @pytest.mark.parametrize("act", [Act.NEVER, Act.AT_ONCE])
    def test_a_refusal_may_hide_the_effect(self, act: Act) -> None:
        cluster = living_cluster(1)
        fault = Fault(act, 503, Form.STATUS_WITH_WAIT, wait_seconds=3)

        answer = faulty(cluster, fault).send("POST", _MAPS, body=_BODY)

        assert (answer.status_code, answer.headers["retry-after"]) == (503, "3")
        assert is_made(cluster) is (act is Act.AT_ONCE)

    def test_an_answer_may_be_no_json(self) -> None:
        answer = faulty(living_cluster(1), Fault(lie=Lie.WRONG_JSON)).send("POST", _MAPS, body=_BODY)

        with pytest.raises(ValueError, match="Expecting"):
            json.loads(answer.body)

    def test_somebody_else_may_change_an_object_in_between(self) -> None:
        cluster = living_cluster(1)
        made = json.loads(cluster.client().send("POST", _MAPS, body=_BODY).body)

        answer = faulty(cluster, Kind.CONFLICT).send("PUT", f"{_MAPS}/a", body=json.dumps(made).encode())

        assert answer.status_code == 409

    def test_a_list_is_read_again_after_faults(self) -> None:
        cluster = living_cluster(1, [deployment("web", 2)])
        client = faulty(cluster, Fault(code=500), Fault(delivery=Delivery.RESET), Fault(delivery=Delivery.SILENT))

        pages = list(client.list_pages("/api/v1/pods"))

        assert len(json.loads(pages[0].body)["items"]) == 2

    def test_a_list_without_end_is_given_up(self) -> None:
        with pytest.raises(ExchangeError, match="no end"):
            list(faulty(living_cluster(1), Fault(lie=Lie.ENDLESS)).list_pages("/api/v1/pods"))


class TestWatches:
    def test_a_watch_breaks_after_its_first_event(self) -> None:
        with pytest.raises(AnswerBroken):
            read(Kind.WATCH_ENDS)

    def test_a_watch_is_gone(self) -> None:
        (event,) = read(Kind.WATCH_GONE).splitlines()

        assert (json.loads(event)["type"], json.loads(event)["object"]["code"]) == ("ERROR", 410)

    def test_a_watch_is_silent(self) -> None:
        assert read(Kind.WATCH_SILENT) == b""


class TestTheEndOfTheProgram:
    @pytest.mark.parametrize("after_effect", [False, True])
    def test_nothing_that_it_does_after_its_end_reaches_the_api(self, after_effect: bool) -> None:
        cluster = living_cluster(1)
        client = cluster.client(passage=FaultyWay(cluster.api, kill_at=2, kills_after_effect=after_effect))

        client.send("GET", "/version")
        for _ in range(2):
            with pytest.raises(Killed):
                client.send("POST", _MAPS, body=_BODY)

        assert is_made(cluster) is after_effect
        assert cluster.client().send("GET", "/version").is_success


class TestSeeds:
    def test_a_seed_draws_the_same_faults_again(self) -> None:
        assert met(1) == met(1) != met(2)

    def test_after_so_many_faults_all_is_well(self) -> None:
        assert len(met(1, most=3)) == 3

    def test_only_calls_of_the_given_kinds_meet_faults(self) -> None:
        assert met(1, kinds=frozenset({Requests.EVICTION})) == []

    @pytest.mark.parametrize(
        ("method", "path", "kind"),
        [
            ("GET", "/version", Requests.DISCOVERY),
            ("GET", "/apis", Requests.DISCOVERY),
            ("GET", "/api/v1", Requests.DISCOVERY),
            ("GET", "/apis/apps/v1", Requests.DISCOVERY),
            ("GET", "/api/v1/pods", Requests.LIST),
            ("GET", "/api/v1/namespaces/a/pods", Requests.LIST),
            ("GET", "/apis/apps/v1/deployments", Requests.LIST),
            ("GET", "/api/v1/namespaces/a/pods/b", Requests.POD),
            ("GET", "/api/v1/nodes/b", Requests.POD),
            ("GET", "/apis/g.io/v1/reservations/b", Requests.POD),
            ("GET", "/apis/apps/v1/namespaces/a/deployments/b", Requests.POD),
            ("POST", "/api/v1/namespaces/a/pods/b/eviction", Requests.EVICTION),
            ("POST", "/apis/events.k8s.io/v1/namespaces/a/events", Requests.EVENT),
            ("PATCH", "/apis/g.io/v1/reservations/b/status", Requests.LEASE),
        ],
    )
    def test_each_request_is_of_a_kind(self, method: str, path: str, kind: Requests) -> None:
        cluster = living_cluster(1)
        cluster.client().send(method, path, body=_BODY)

        assert kind_of(cluster.api.calls[-1]) is kind


def read(fault: AnyFault) -> bytes:
    """What arrives of a watch of pods that begins with the pods there are."""
    cluster = living_cluster(1, [deployment("web", 2)])
    query = {"watch": "1", "timeoutSeconds": "5"}
    stream = faulty(cluster, fault).open_stream("/api/v1/pods", query=query, accept="application/json")
    return b"".join(stream.parts())


def met(seed: int, *, most: int | None = None, kinds: frozenset[Requests] = frozenset()) -> list[tuple[int, str]]:
    """The faults that thirty calls meet."""
    cluster = living_cluster(1)
    faults = SeededFaults(seed, rate=0.5, most=most, kinds=kinds)
    way = FaultyWay(cluster.api, faults)
    transport = cluster.transport(passage=way)
    client = KubeClient(transport, retry=RetryPolicy(attempts=1))
    for _ in range(30):
        try:
            client.send("PUT", f"{_MAPS}/a", body=_BODY)
        except ExchangeError:
            continue
    return way.met


def test_a_way_knows_the_calls_that_went_by() -> None:
    cluster = living_cluster(1)
    seen: list[Call] = []
    way = FaultyWay(cluster.api, lambda call: seen.append(call))

    cluster.client(passage=way).send("GET", "/version")

    assert [call.subject for call in seen] == ["GET /version"]

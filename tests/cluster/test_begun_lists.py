"""Which lists are asked for before anybody reads them, and how."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from descheduler.cluster.begun_lists import begin_lists
from descheduler.cluster.request import SnapshotRequest
from descheduler.kube.lists.streamed import MessageBatch

EMPTY = MessageBatch((), "1", "")


class Client:
    """A client whose lists are empty; notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.has_asked = threading.Event()

    def list_messages(self, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
        self.asked.append((path, limit))
        self.has_asked.set()
        yield EMPTY


@pytest.mark.parametrize(("git_version", "limit"), [("v1.36.0", 0), ("v1.32.0", 5000), ("", 5000)])
def test_nodes_are_asked_for_at_once(git_version: str, limit: int) -> None:
    client = Client()

    begun = begin_lists(client, SnapshotRequest({"Node", "Pod"}), git_version)

    assert client.has_asked.wait(10)
    assert client.asked[0] == ("/api/v1/nodes", limit)
    begun.close()


def test_pods_are_asked_for_behind_nodes() -> None:
    client = Client()
    begun = begin_lists(client, SnapshotRequest({"Node", "Pod"}), "v1.36.0")

    assert [*begun.parts("Node"), *begun.parts("Pod")] == [EMPTY, EMPTY]
    assert client.asked == [("/api/v1/nodes", 0), ("/api/v1/pods", 0)]


def test_list_that_is_read_is_told_of_when_its_turn_comes() -> None:
    told: list[str] = []

    begun = begin_lists(Client(), SnapshotRequest({"Node", "Pod"}), "v1.36.0", told.append)

    assert told == []
    list(begun.parts("Node"))
    assert told == ["reading nodes"]
    list(begun.parts("Pod"))
    assert told == ["reading nodes", "reading pods"]


def test_kinds_in_json_are_not_asked_for_ahead() -> None:
    client = Client()

    begin_lists(client, SnapshotRequest({"PodDisruptionBudget.policy"}), "v1.36.0").close()

    assert client.asked == []

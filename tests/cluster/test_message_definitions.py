"""Messages of the API in protobuf become JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from descheduler.cluster.message_definitions import json_of, message_class, moment_of
from tests.builders import Object
from tests.cluster.messages.writer import proto_object


def through(kind: str, obj: Object) -> Any:
    """`obj` after it was a message."""
    return json.loads(json_of(message_class(kind).FromString(proto_object(kind, obj))))


@pytest.mark.parametrize(
    ("seconds", "moment"),
    [
        (None, None),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_time_that_is_written_as_nothing_is_none(seconds: int | None, moment: datetime | None) -> None:
    time: Any = message_class("Time")()
    if seconds is not None:
        time.seconds = seconds

    assert moment_of(time) == moment


@pytest.mark.parametrize("seconds", [2**60, -(2**60)])
def test_time_beyond_years_is_refused(seconds: int) -> None:
    time: Any = message_class("Time")()
    time.seconds = seconds

    with pytest.raises(ValueError, match=r"is out of range|year"):
        moment_of(time)


def test_fields_have_the_form_that_they_have_in_json() -> None:
    pod: Object = {
        "metadata": {
            "name": "p",
            "generation": 2,
            "labels": {"a": "b"},
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "ownerReferences": [{"kind": "Job", "name": "j", "controller": True}],
        },
        "spec": {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "d"}}, {"name": "e", "emptyDir": {}}],
            "nodeSelector": {"zone": "x"},
        },
        "status": {"phase": "Running"},
    }

    found = through("Pod", pod)

    assert found["metadata"] == pod["metadata"] | {"creationTimestamp": "2026-01-02T03:04:05+00:00"}
    assert found["spec"]["containers"][0]["resources"] == pod["spec"]["containers"][0]["resources"]
    assert found["spec"]["volumes"] == pod["spec"]["volumes"]
    assert found["spec"]["nodeSelector"] == {"zone": "x"}
    assert found["status"] == {"phase": "Running"}


def test_quantity_without_text_is_zero() -> None:
    found = through("Node", {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "", "pods": "5"}}})

    assert found["status"]["allocatable"] == {"cpu": "0", "pods": "5"}


def test_message_of_another_name_is_unknown() -> None:
    with pytest.raises(KeyError):
        message_class("Secret")

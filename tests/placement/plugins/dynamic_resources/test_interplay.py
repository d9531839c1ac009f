"""Which pods bear on each other because of devices."""

from __future__ import annotations

import pytest

from descheduler.placement.plugins.dynamic_resources.plugin import ClaimInterplay
from tests.builders import make_pod


@pytest.mark.parametrize(
    ("resource", "needs"),
    [
        pytest.param("example.com/gpu", True, id="a class serves it"),
        pytest.param("deviceclass.resource.kubernetes.io/gpu", True, id="the name of a class"),
        pytest.param("nvidia.com/gpu", False, id="a device plugin serves it"),
        pytest.param("cpu", False, id="of the node"),
    ],
)
def test_pods_need_devices_by_the_classes_that_there_are(resource: str, needs: bool) -> None:
    """Without this, GPU pods of clusters without such classes would be proved one by one."""
    interplay, pod = ClaimInterplay({"example.com/gpu"}), make_pod("p", requests={resource: "1"})

    assert interplay.is_local(pod) is not needs
    assert interplay.can_be_helped(pod) is needs
    assert interplay.interact(pod, pod) is needs

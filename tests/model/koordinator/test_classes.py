"""Koordinator's priority classes of pods."""

from __future__ import annotations

from descheduler.model.koordinator.classes import is_prod
from tests.builders import make_pod


def test_pod_is_prod_by_its_class_alone() -> None:
    assert is_prod(make_pod("prod", cpu="1", priority=9000))
    assert not is_prod(make_pod("mid", cpu="1", priority=7999))

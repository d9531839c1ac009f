"""Bundles as values."""

from __future__ import annotations

import pytest

from descheduler.plan.bundles import Bundle, Candidate
from tests.builders import make_pod


def test_bundle_holds_no_pod_twice() -> None:
    candidate = Candidate(make_pod("cart"))

    with pytest.raises(ValueError, match=r"a pod is in the bundle of q twice: default/cart, default/cart"):
        Bundle("p", "q", (candidate, candidate))


def test_rest_of_a_bundle_is_asked_for_in_the_same_name() -> None:
    one, two = Candidate(make_pod("one")), Candidate(make_pod("two"), "is old", "b")
    bundle = Bundle("p", "q", (one, two), 3)

    assert bundle.only([two]) == Bundle("p", "q", (two,), 3)

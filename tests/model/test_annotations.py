"""Which annotations are kept."""

from __future__ import annotations

import pytest

from descheduler.model.annotations import AnnotationKeys


@pytest.mark.parametrize(
    ("key", "is_in"),
    [
        pytest.param("example.com/size", True, id="a key by itself"),
        pytest.param("example.com/sizes", False, id="a longer key"),
        pytest.param("kueue.x-k8s.io/queue", True, id="a key of a domain"),
        pytest.param("x.kueue.x-k8s.io/queue", False, id="a key of a domain below it"),
        pytest.param("other.io/queue", False, id="another key"),
    ],
)
def test_key_that_ends_with_a_slash_stands_for_its_domain(key: str, is_in: bool) -> None:
    assert (key in AnnotationKeys(["example.com/size", "kueue.x-k8s.io/"])) is is_in

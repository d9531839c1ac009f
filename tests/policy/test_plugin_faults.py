from __future__ import annotations

import pytest

from descheduler.policy.plugin_faults import failure_words


@pytest.mark.parametrize(
    ("message", "words"),
    [
        pytest.param("no metrics", "no metrics", id="a plugin of the program says what is wrong"),
        pytest.param(
            "plugin Spot (package acme) failed: KeyError at acme/spot.py:3",
            "KeyError at acme/spot.py:3 (package acme)",
            id="a fault names its plugin and package first",
        ),
        pytest.param("plugin Spot failed: KeyError", "KeyError", id="a plugin without a package"),
        pytest.param(
            "plugin Spotless failed: KeyError", "plugin Spotless failed: KeyError", id="another plugin stays named"
        ),
    ],
)
def test_words_of_a_failure_leave_out_its_own_plugin(message: str, words: str) -> None:
    assert failure_words("Spot", message) == words

"""Runs and explanations of odd Koordinator clusters fail nowhere, and say the same of the same thing."""

from __future__ import annotations

from random import Random

import pytest

from tests.worlds.hostile_koordinator import hostile_world
from tests.worlds.hostile_koordinator_faults import faults_of

pytestmark = pytest.mark.long


@pytest.mark.parametrize("seed", range(8))
def test_documents_about_an_odd_cluster_are_made_and_agree(seed: int) -> None:
    assert faults_of(hostile_world(Random(seed))) == []

"""Arithmetic of resources (volcano.md §2): the quantum, missing names, and shares."""

from __future__ import annotations

import pytest

from descheduler.model.requests import CPU, MEMORY, PODS
from descheduler.placement.volcano import resources
from descheduler.placement.volcano.resources import Amounts

GPU = "nvidia.com/gpu"
NANO = 10**9


def test_cpu_counts_in_milli_memory_and_pods_in_pieces_and_all_else_in_thousandths() -> None:
    """Names of quotas are left out, and cpu and memory are always there."""
    stated = {CPU: NANO * 3 // 2, MEMORY: 1024 * NANO, PODS: 110 * NANO, GPU: 2 * NANO, "count/pods": NANO}

    assert resources.amounts_of(stated) == {CPU: 1500, MEMORY: 1024, PODS: 110, GPU: 2000}
    assert resources.amounts_of({}) == {CPU: 0, MEMORY: 0}
    assert resources.amounts_of({"requests.cpu": NANO}) == {CPU: 0, MEMORY: 0}


def test_reports_have_cpu_in_milli_and_all_else_in_whole_units() -> None:
    found = [resources.whole_units(name, 3000.0) for name in (CPU, MEMORY, PODS, GPU)]

    assert found == [3000, 3000, 3000, 3]


@pytest.mark.parametrize(
    ("left", "right", "missing", "fits"),
    [
        pytest.param({CPU: 5}, {CPU: 5}, 0, True, id="equal amounts"),
        pytest.param({CPU: 5.09}, {CPU: 5}, 0, True, id="more by less than the quantum"),
        pytest.param({CPU: 6.0}, {CPU: 5.0}, 0, False, id="more"),
        pytest.param({CPU: 4, GPU: 1}, {CPU: 5}, 0, False, id="a resource that is missing is 0"),
        pytest.param({CPU: 4, GPU: 0.09}, {CPU: 5}, 0, True, id="nothing of a missing resource"),
        pytest.param({CPU: 4, GPU: 1}, {CPU: 5}, float("inf"), True, id="a missing resource has no limit"),
        pytest.param({CPU: 4}, {CPU: 5, GPU: 1}, 0, True, id="what is not asked for does not matter"),
        pytest.param({CPU: 4, MEMORY: 9}, {CPU: 5, MEMORY: 8}, 0, False, id="each resource has to fit"),
    ],
)
def test_amounts_fit_up_to_the_quantum(left: Amounts, right: Amounts, missing: float, fits: bool) -> None:
    assert resources.fits(left, right, missing=missing) is fits


@pytest.mark.parametrize(
    ("left", "asked", "fits"),
    [
        pytest.param({CPU: 5}, {CPU: 1}, True, id="as much"),
        pytest.param({CPU: 5.05}, {CPU: 1}, False, id="more by less than the quantum"),
        pytest.param({CPU: 9}, {MEMORY: 1}, True, id="more of what is not asked for"),
        pytest.param({CPU: 9}, {CPU: 0}, True, id="more, where nothing is asked for"),
        pytest.param({PODS: 9}, {PODS: 1}, True, id="pods do not count"),
        pytest.param({}, {CPU: 1, GPU: 1}, True, id="what is missing on both sides"),
        pytest.param({GPU: 1}, {GPU: 1}, False, id="what is missing on the right"),
    ],
)
def test_dimensions_that_are_asked_for_fit_strictly(left: Amounts, asked: Amounts, fits: bool) -> None:
    assert resources.fits_strictly(left, {CPU: 5, PODS: 1}, asked) is fits


@pytest.mark.parametrize(
    ("amounts", "is_nothing", "names"),
    [
        ({CPU: 0.09, MEMORY: 0}, True, []),
        ({CPU: 0.1, MEMORY: 0}, False, [CPU]),
        ({CPU: 0, MEMORY: 0, PODS: 1}, True, [PODS]),
        ({CPU: 0, MEMORY: 5, GPU: 1}, False, [MEMORY, GPU]),
    ],
)
def test_less_than_the_quantum_is_nothing(amounts: Amounts, is_nothing: bool, names: list[str]) -> None:
    assert (resources.is_nothing(amounts), list(resources.named(amounts))) == (is_nothing, names)


def test_sums_and_differences_are_by_resource() -> None:
    left, right = {CPU: 5.0, GPU: 1.0}, {CPU: 2.0, MEMORY: 3.0}

    assert resources.added(left, right) == {CPU: 7, GPU: 1, MEMORY: 3}
    assert resources.subtracted(left, right) == {CPU: 3, GPU: 1, MEMORY: -3}
    assert resources.exceeded_part(left, right) == {CPU: 3, GPU: 1}
    assert resources.exceeded_part(right, left) == {CPU: 0, MEMORY: 3}
    assert resources.least(left, right) == {CPU: 2, GPU: 0}
    assert resources.least(left, right, missing=9) == {CPU: 2, GPU: 1}
    assert resources.most(left, right) == {CPU: 5, GPU: 1, MEMORY: 3}


def test_total_names_each_resource_that_is_stated() -> None:
    """Also one of which there is nothing."""
    assert resources.total_of([{CPU: 1.0, GPU: 0.0}, {CPU: 2.0, MEMORY: 3.0}]) == {CPU: 3, MEMORY: 3, GPU: 0}
    assert resources.total_of([{GPU: 2.0}, {GPU: 0.0}]) == {CPU: 0, MEMORY: 0, GPU: 2}
    assert resources.total_of([]) == {CPU: 0, MEMORY: 0}


@pytest.mark.parametrize(("taken", "total", "share"), [(1, 4, 0.25), (4, 4, 1), (0, 0, 0), (1, 0, 1), (6, 4, 1.5)])
def test_share_of_nothing_is_all_or_nothing(taken: float, total: float, share: float) -> None:
    assert resources.share(taken, total) == share

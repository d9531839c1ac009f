"""The garbage collector is as it was once many objects were loaded or worked with."""

from __future__ import annotations

import gc

import pytest

from descheduler.cluster.loading import paused_gc, settled_gc


@pytest.fixture(autouse=True)
def thawed() -> None:
    """The tests themselves may have settled what was there before."""
    gc.unfreeze()


def test_collector_is_off_while_objects_are_loaded() -> None:
    with paused_gc():
        was_enabled = gc.isenabled()

    assert (was_enabled, gc.isenabled()) == (False, True)


def test_objects_that_were_loaded_are_old_afterwards() -> None:
    with paused_gc():
        loaded: list[object] = [[] for _ in range(100)]

    assert not any(each is loaded for each in gc.get_objects(generation=0))
    assert any(each is loaded for each in gc.get_objects(generation=2))


def test_objects_that_are_there_are_settled_until_the_outermost_work_ends() -> None:
    with settled_gc():
        with settled_gc():
            pass
        num_settled = gc.get_freeze_count()

    assert num_settled > 0
    assert gc.get_freeze_count() == 0


def test_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with paused_gc():
            pass
        is_enabled = gc.isenabled()
    finally:
        gc.enable()

    assert not is_enabled


def test_objects_that_somebody_settled_stay_settled() -> None:
    gc.freeze()
    with settled_gc():
        pass
    with paused_gc():
        pass

    assert gc.get_freeze_count() > 0
    gc.unfreeze()


def test_work_over_nothing_that_was_settled_leaves_nothing_settled() -> None:
    with settled_gc():
        pass

    assert gc.get_freeze_count() == 0

from __future__ import annotations

from descheduler.migration.dispatch.pace import CallWindow
from tests.migration.stand_ins import Clock


def num_calls(window: CallWindow) -> int:
    """How many calls may be under way at once."""
    return next(number for number in range(1000) if not window.has_room(number))


def test_volley_that_is_turned_away_halves_the_window_once() -> None:
    clock = Clock()
    window = CallWindow(64, clock.now)

    for _ in range(10):
        window.turned_away(2.0)

    assert num_calls(window) == 32
    assert window.shut_seconds == 2.0


def test_each_further_volley_halves_it_down_to_one_call() -> None:
    clock = Clock()
    window = CallWindow(64, clock.now)

    for _ in range(10):
        window.turned_away(1.0)
        clock.sleep(1.0)

    assert num_calls(window) == 1


def test_served_calls_open_it_again_and_never_wider_than_at_the_start() -> None:
    clock = Clock()
    window = CallWindow(4, clock.now)
    window.turned_away(1.0)
    sizes = []

    for _ in range(16):
        window.served()
        sizes.append(num_calls(window))

    assert sizes == [2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4]


def test_served_calls_count_anew_after_one_in_vain() -> None:
    clock = Clock()
    window = CallWindow(4, clock.now)
    window.turned_away(1.0)
    for _ in range(3):
        window.served()

    window.turned_away(1.0)
    window.served()

    assert num_calls(window) == 2


def test_longest_wait_of_a_volley_holds() -> None:
    clock = Clock()
    window = CallWindow(4, clock.now)

    window.turned_away(5.0)
    window.turned_away(1.0)

    assert window.shut_seconds == 5.0

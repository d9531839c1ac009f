"""Which objects implement a protocol, asked once a class."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from descheduler.placement.shadow.roles import OfManyKinds, implements, those_of


@runtime_checkable
class Sized(Protocol):
    """Has a size."""

    size: int


class Box:
    def __init__(self) -> None:
        self.size = 1


class Point:
    pass


class Parcel(OfManyKinds):
    def __init__(self, size: int | None) -> None:
        if size is not None:
            self.size = size


def test_attributes_that_a_class_gives_its_instances_count() -> None:
    box = Box()

    assert those_of(Sized, [box, Point(), box]) == [box, box]
    assert those_of(Sized, [Point(), box]) == [box]


def test_instances_of_a_class_that_differ_are_asked_one_by_one() -> None:
    assert [implements(each, Sized) for each in (Parcel(1), Parcel(None), Parcel(2))] == [True, False, True]

"""Which of many label sets a selector matches, without asking them one by one.

A tenant may state thousands of selectors, each of as many conditions as fit into an object. So every label set is filed
under what it says, and a condition costs a few microseconds however many label sets there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement, parse_int64

_NEVER = -1
"""As a number of conditions that no label set can meet."""


class SelectorIndex:
    """Selectors by number, from 0 in the order added. They must hold structured operators alone, without `Gt`, `Lt`.

    Every condition is filed under the labels that meet it, or fail it. Labels then find the conditions that they meet,
    and a selector matches when all of its own are among them and none is failed.
    """

    def __init__(self) -> None:
        self._num_needed: list[int] = []
        self._meets: dict[tuple[str, str | None], list[int]] = {}
        self._fails: dict[tuple[str, str | None], list[int]] = {}
        self._needed = np.empty(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self._num_needed)

    def add(self, selector: LabelSelector | None) -> None:
        """Files one more selector; None matches nothing."""
        selector = selector or NOTHING
        number, num_needed = len(self), 0
        for requirement in selector.requirements:
            is_needed = requirement.operator in ("In", "Exists")
            num_needed += is_needed
            filed = self._meets if is_needed else self._fails
            values = requirement.values if requirement.operator in ("In", "NotIn") else (None,)
            for value in values:
                filed.setdefault((requirement.key, value), []).append(number)
        self._num_needed.append(_NEVER if selector.nothing else num_needed)

    def matching(self, labels: Mapping[str, str]) -> NDArray[np.bool_]:
        if len(self._needed) < len(self):
            self._needed = np.array(self._num_needed, dtype=np.intp)
        met = np.bincount(_filed(self._meets, labels), minlength=len(self))
        matching: NDArray[np.bool_] = met == self._needed
        matching[_filed(self._fails, labels)] = False
        return matching


def _filed(filed: Mapping[tuple[str, str | None], list[int]], labels: Mapping[str, str]) -> NDArray[np.intp]:
    """What is filed under the labels or under their keys."""
    found: list[int] = []
    for key, value in labels.items():
        found += filed.get((key, value), ())
        found += filed.get((key, None), ())
    return np.array(found, dtype=np.intp)


_FEW_KEYS = 32
"""So many keys are filed one by one, since most clusters ask for few; whoever asks for more has all filed at once.

Without that end, selectors with a key each would go through all label sets once for every selector.
"""

_Mask = NDArray[np.bool_]


class LabelColumns:
    """Label sets by place, from 0 in the order given; more can be added. Masks are new with each call."""

    def __init__(self, label_sets: Iterable[Mapping[str, str]] = ()) -> None:
        self._label_sets: list[Mapping[str, str]] = list(label_sets)
        self._keys: dict[str, _Key] = {}
        self._is_whole = False

    def __len__(self) -> int:
        return len(self._label_sets)

    def add(self, labels: Mapping[str, str]) -> None:
        """Files one more label set, at the end."""
        place = len(self._label_sets)
        self._label_sets.append(labels)
        for key, value in labels.items():
            column = self._keys.get(key)
            if column is None and self._is_whole:
                column = self._keys[key] = _Key()
            if column is not None:
                column.add(value, place)

    def selected(self, selector: LabelSelector) -> _Mask:
        """The label sets that `selector` matches."""
        return self._none() if selector.nothing else self.meeting(selector.requirements)

    def meeting(self, requirements: Sequence[Requirement]) -> _Mask:
        """The label sets that meet every one of `requirements`."""
        mask: _Mask | None = None
        for found in self._with_wanted(requirements):
            if not len(found):
                return self._none()  # before any other condition costs something
            narrowed = self._none()
            narrowed[found] = True
            mask = narrowed if mask is None else mask & narrowed
        if mask is None:
            mask = np.ones(len(self), dtype=bool)
        for requirement in requirements:
            if requirement.operator in ("NotIn", "DoesNotExist"):
                mask[self._banned(requirement)] = False
        return mask

    def having(self, key: str) -> _Mask:
        """The label sets that have this key, whatever its value."""
        mask = self._none()
        column = self._column(key)
        if column is not None:
            mask[column.places.array()] = True
        return mask

    def _none(self) -> _Mask:
        return np.zeros(len(self), dtype=bool)

    def _with_wanted(self, requirements: Sequence[Requirement]) -> Iterator[NDArray[np.intp]]:
        """For each condition that needs its label, the places that meet it, in any order."""
        for requirement in requirements:
            operator = requirement.operator
            if operator not in ("NotIn", "DoesNotExist"):
                column = self._column(requirement.key)
                if column is None:
                    yield _NOWHERE
                elif operator == "In":
                    yield column.with_values(requirement.values)
                elif operator == "Exists":
                    yield column.places.array()
                else:
                    yield column.compared(requirement)

    def _banned(self, requirement: Requirement) -> NDArray[np.intp]:
        """The places that fail a condition which a missing label meets."""
        column = self._column(requirement.key)
        if column is None:
            return _NOWHERE
        if requirement.operator == "NotIn":
            return column.with_values(requirement.values)
        return column.places.array()

    def _column(self, key: str) -> _Key | None:
        column = self._keys.get(key)
        if column is None and not self._is_whole:
            column = self._file(key)
        return column

    def _file(self, key: str) -> _Key | None:
        """Files all label sets under `key`, or under every key there is once many have been asked for."""
        if len(self._keys) >= _FEW_KEYS:
            self._is_whole, self._keys = True, {}
            for place, labels in enumerate(self._label_sets):
                for each, text in labels.items():
                    self._keys.setdefault(each, _Key()).add(text, place)
            return self._keys.get(key)
        column = self._keys[key] = _Key()
        for place, labels in enumerate(self._label_sets):
            value = labels.get(key)
            if value is not None:
                column.add(value, place)
        return column


class _Places:
    """Ascending places that only grow, as a list and as the array made of it."""

    __slots__ = ("_array", "_places")

    def __init__(self) -> None:
        self._places: list[int] = []
        self._array = _NOWHERE

    def add(self, place: int) -> None:
        self._places.append(place)

    def array(self) -> NDArray[np.intp]:
        if len(self._array) != len(self._places):
            self._array = np.array(self._places, dtype=np.intp)
        return self._array


_NOWHERE: NDArray[np.intp] = np.empty(0, dtype=np.intp)


class _Key:
    """One label key: where it is, and where with which value."""

    __slots__ = ("_by_value", "_numbers", "places")

    def __init__(self) -> None:
        self.places = _Places()
        self._by_value: dict[str, _Places] = {}
        self._numbers: tuple[NDArray[np.intp], NDArray[np.int64]] | None = None

    def add(self, value: str, place: int) -> None:
        self.places.add(place)
        found = self._by_value.get(value)
        if found is None:
            found = self._by_value[value] = _Places()
        found.add(place)
        self._numbers = None

    def with_values(self, values: frozenset[str]) -> NDArray[np.intp]:
        """The places with one of `values`."""
        if len(values) == 1:
            (value,) = values
            found = self._by_value.get(value)
            return _NOWHERE if found is None else found.array()
        # The smaller side leads: a condition may list a thousand values, and a key may have ten thousand.
        common = values & self._by_value.keys() if len(values) < len(self._by_value) else self._by_value.keys() & values
        return np.concatenate([self._by_value[value].array() for value in common]) if common else _NOWHERE

    def compared(self, requirement: Requirement) -> NDArray[np.intp]:
        """The places with a whole number above (`Gt`) or below (`Lt`) the one that `requirement` names."""
        bound = parse_int64(next(iter(requirement.values)))
        if bound is None:
            return _NOWHERE
        places, numbers = self._with_numbers()
        return places[numbers > bound] if requirement.operator == "Gt" else places[numbers < bound]

    def _with_numbers(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        if self._numbers is None:
            found = [(parse_int64(value), places.array()) for value, places in self._by_value.items()]
            numbers = [(number, places) for number, places in found if number is not None]
            self._numbers = (
                np.concatenate([places for _, places in numbers]) if numbers else _NOWHERE,
                np.repeat(
                    np.array([number for number, _ in numbers], dtype=np.int64), [len(places) for _, places in numbers]
                ),
            )
        return self._numbers

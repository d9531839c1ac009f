"""What the claims of a pod ask for, with their expressions compiled once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import msgspec

from descheduler.model.resource_claims import (
    Attribute,
    AttributeConstraint,
    ClaimSpec,
    DeviceClass,
    DeviceRequest,
    RequestedDevices,
    VersionAttribute,
)
from descheduler.model.selection.taints import Taint, Tolerance
from descheduler.placement.cel import (
    CelDevice,
    EvaluationError,
    InvalidExpression,
    Quantity,
    Selector,
    Unsupported,
    Version,
    compile_selector,
)
from descheduler.placement.plugins.dynamic_resources.pools import PoolDevice

_LONGEST_SHOWN = 80
"""Characters of an expression in a message."""


class AttemptError(Exception):
    """What ends the whole attempt to place the pod, whatever is said of other nodes; `claim` is the one at fault.

    With `is_brief` it is a state of seconds.
    """

    def __init__(self, text: str, claim: AskedClaim | None = None, *, is_brief: bool = False) -> None:
        super().__init__(text)
        self.claim = claim
        self.is_brief = is_brief


class UnknownAllocation(Exception):  # noqa: N818 - nothing is wrong
    """Why it cannot be told which devices the scheduler would take; the message is the same for every such pod."""


class _Expression:
    """One expression, and what it says of the devices that it was asked about: True, False, or why it has no value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.doubt = self.fault = ""
        self._answers: dict[int, bool | str] = {}
        self._selector: Selector | None = None
        try:
            self._selector = compile_selector(text)
        except Unsupported as error:
            self.doubt = str(error)
        except InvalidExpression as error:
            self.fault = str(error)

    def selects(self, device: PoolDevice, seen: CelDevice) -> bool:
        """Whether it holds for a device, which is `seen`, one object for all of its content.

        Raises AttemptError and UnknownAllocation.
        """
        known = self._answers.get(id(seen))
        if known is None:
            known = self._answers[id(seen)] = self._answer(seen)
        if isinstance(known, str):
            raise AttemptError(f"selector on device {'/'.join(device.id)}: {known}")
        return known

    def _answer(self, seen: CelDevice) -> bool | str:
        if self._selector is None:
            if self.doubt:
                raise UnknownAllocation(f"a selector of devices uses {self.doubt}")
            return self.fault
        try:
            return self._selector.matches(seen)
        except EvaluationError as error:
            return str(error)
        except Unsupported as error:
            raise UnknownAllocation(f"a selector of devices uses {error}") from error


class DeviceSelectors:
    """The expressions of one cluster, each compiled once, and devices in the form in which they see them.

    Thousands of devices have a handful of contents, so that there is one form for each content.
    """

    def __init__(self) -> None:
        self._by_text: dict[str, _Expression] = {}
        self._seen: dict[PoolDevice, CelDevice] = {}
        self._by_content: dict[bytes, CelDevice] = {}

    def of(self, texts: Sequence[str]) -> tuple[_Expression, ...]:
        return tuple(self._by_text.get(text) or self._by_text.setdefault(text, _Expression(text)) for text in texts)

    def select(self, expressions: tuple[_Expression, ...], device: PoolDevice) -> bool:
        """Whether all of them hold for a device; the first that does not ends it."""
        if not expressions:
            return True
        seen = self._seen.get(device) or self._see(device)
        return all(each.selects(device, seen) for each in expressions)

    def _see(self, device: PoolDevice) -> CelDevice:
        body = device.body
        content = msgspec.json.encode((device.id.driver, body.attributes, body.capacity, body.allows_multiple))
        seen = self._by_content.get(content)
        if seen is None:
            seen = self._by_content[content] = _seen_by_selectors(device)
        self._seen[device] = seen
        return seen

    def first_failing(self, expressions: tuple[_Expression, ...], device: PoolDevice) -> int | None:
        """The place of the first of them that does not hold for a device, has no value or is not known."""
        for place, each in enumerate(expressions):
            try:
                if not self.select((each,), device):
                    return place
            except (AttemptError, UnknownAllocation):
                return place
        return None


def _seen_by_selectors(device: PoolDevice) -> CelDevice:
    body = device.body
    return CelDevice.of(
        device.id.driver,
        {name: _seen_value(value) for name, value in body.attributes.items()},
        {name: Quantity.parse(each.text) for name, each in body.capacity.items()},
        allow_multiple_allocations=body.allows_multiple,
    )


def _seen_value(value: Attribute) -> str | int | bool | Version:
    if not isinstance(value, VersionAttribute):
        return value
    try:
        return Version.parse(value.text)
    except ValueError as error:
        raise UnknownAllocation(f"an attribute of a device: {error}") from error


class AskedDevices:
    """Devices that a request asks for, or one alternative of it."""

    def __init__(
        self, request: str, asked: RequestedDevices, device_class: DeviceClass, selectors: DeviceSelectors
    ) -> None:
        self.name = f"{request}/{asked.name}" if asked.name else request
        self.request = request
        self.alternative = asked.name
        self.is_all = asked.is_all
        self.number = asked.number
        self.has_admin_access = asked.has_admin_access
        self.capacity: Mapping[str, int] = asked.capacity
        self.tolerations = asked.tolerations
        self._tolerance = Tolerance(asked.tolerations)
        self._selectors = selectors
        self._class = device_class
        self._expressions = selectors.of((*device_class.selectors, *asked.selectors))
        self.kind: Hashable = (self._expressions, self.is_all, self.number, self.has_admin_access)
        """Alike for requests for as many devices of the same kind."""

    def selects(self, device: PoolDevice) -> bool:
        """Whether class and request select a device. Raises AttemptError and UnknownAllocation."""
        return self._selectors.select(self._expressions, device)

    def first_failing(self, device: PoolDevice) -> str:
        """The first selector that does not select a device, by its place and text; "" where all do."""
        place = self._selectors.first_failing(self._expressions, device)
        if place is None:
            return ""
        number = place - len(self._class.selectors) + 1
        which = f"selector {number}" if number > 0 else f"selector {place + 1} of DeviceClass {self._class.name}"
        return f"{which} ({_shown(self._expressions[place].text)})"

    def tolerates_taint(self, taint: Taint) -> bool:
        """Whether the request tolerates a taint."""
        return self._tolerance.tolerates(taint)

    def tolerates(self, device: PoolDevice) -> bool:
        """Whether the request tolerates all taints of a device."""
        return not device.taints or self._tolerance.tolerates_all(device.taints)


def _shown(expression: str) -> str:
    """An expression on one line, and its beginning alone where it is long."""
    line = " ".join(expression.split())
    return line if len(line) <= _LONGEST_SHOWN else f"{line[: _LONGEST_SHOWN - 1]}…"


class AskedRequest:
    """One request of a claim: one choice, or several of which the first that works is taken."""

    def __init__(self, request: DeviceRequest, classes: Mapping[str, DeviceClass], selectors: DeviceSelectors) -> None:
        self.name = request.name
        self.is_first_available = request.is_first_available
        self.choices = tuple(
            AskedDevices(request.name, each, classes[each.device_class], selectors) for each in request.choices
        )


class AskedClaim:
    """What claims of one content ask for that have no devices yet. Their classes exist."""

    def __init__(self, spec: ClaimSpec, classes: Mapping[str, DeviceClass], selectors: DeviceSelectors) -> None:
        self.requests = tuple(AskedRequest(each, classes, selectors) for each in spec.requests)
        self.constraints: tuple[AttributeConstraint, ...] = spec.constraints

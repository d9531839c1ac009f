from __future__ import annotations

import io
import json
import logging
import re
import sys

import pytest

from descheduler.telemetry.logging import LogFormat, configure_logging, fields, is_json, log_broken_off, log_event

logger = logging.getLogger("descheduler.test")


def logged(log_format: LogFormat = "text", verbosity: int = 0) -> io.StringIO:
    stream = io.StringIO()
    configure_logging(stream, verbosity=verbosity, log_format=log_format)
    return stream


def test_text_has_the_form_of_klog() -> None:
    stream = logged()

    log_event(logger, "Evicted pod", pod="shop/cart", evictions=3, dry=True)

    assert re.fullmatch(
        r'I\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ test_logging\.py:\d+\] "Evicted pod" pod="shop/cart" evictions=3 dry=true\n',
        stream.getvalue(),
    )


@pytest.mark.parametrize(("level", "letter"), [(logging.WARNING, "W"), (logging.ERROR, "E"), (logging.CRITICAL, "E")])
def test_the_first_letter_is_the_severity(level: int, letter: str) -> None:
    stream = logged()

    logger.log(level, "look")

    assert stream.getvalue()[0] == letter


def test_values_cannot_forge_lines() -> None:
    stream = logged()

    logger.warning("odd\nname", extra=fields(pod='a"\nI0101 fake\x1b'))

    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize(
    ("verbosity", "expected"),
    [
        pytest.param(0, ["story"], id="the story alone by default"),
        pytest.param(1, ["story", "pod"], id="each pod at 1"),
        pytest.param(4, ["story", "pod", "check"], id="each check at 4"),
        pytest.param(1000, ["story", "pod", "check"], id="any higher number is all"),
    ],
)
def test_events_show_from_their_verbosity_on(verbosity: int, expected: list[str]) -> None:
    stream = logged("json", verbosity)

    log_event(logger, "story")
    log_event(logger, "pod", verbosity=1)
    log_event(logger, "check", verbosity=4)

    assert [json.loads(line)["msg"] for line in stream.getvalue().splitlines()] == expected


def test_json_is_one_object_a_line() -> None:
    stream = logged("json", 1)

    log_event(logger, "Evicted pod", verbosity=1, pod="shop/cart")

    event = json.loads(stream.getvalue())
    assert event.pop("ts") > 0
    assert event.pop("caller").startswith("test_logging.py:")
    assert event == {"level": "info", "msg": "Evicted pod", "v": 1, "pod": "shop/cart"}


def test_an_error_is_shown_with_its_place_and_without_its_text_in_both_formats() -> None:
    """The text is some library's, and may quote a token."""
    text = " ".join(["Bearer", "s3cr3t"])
    for log_format in ("text", "json"):
        stream = logged(log_format)
        try:
            raise ValueError(text)
        except ValueError:
            logger.exception("failed")

        assert "ValueError" in stream.getvalue()
        assert "test_logging.py" in stream.getvalue()
        assert text not in stream.getvalue()


def test_text_that_a_library_fills_into_its_warnings_is_hidden() -> None:
    """`opentelemetry.util.re` quotes the header fields of its settings, urllib3 whole URLs."""
    stream = logged("text")

    logging.getLogger("opentelemetry.util.re").warning("Header format invalid: %s, %d tries", "Bearer s3cr3t", 2)
    logging.getLogger("urllib3").warning(ValueError("s3cr3t"))

    assert "Header format invalid: ***, 2 tries" in stream.getvalue()
    assert "s3cr3t" not in stream.getvalue()


def test_libraries_are_heard_from_warnings_on() -> None:
    stream = logged("text", 9)

    logging.getLogger("urllib3").info("connection opened")
    logging.getLogger("urllib3").warning("connection lost")

    assert "connection opened" not in stream.getvalue()
    assert "connection lost" in stream.getvalue()


@pytest.mark.parametrize(
    ("value", "spelled"),
    [(True, "true"), (False, "false"), (3, "3"), (1.5, "1.5"), ("a b", '"a b"'), (None, '"None"')],
)
def test_values_are_spelled_as_klog_spells_them(value: object, spelled: str) -> None:
    stream = logged()

    log_event(logger, "x", value=value)

    assert stream.getvalue().endswith(f" value={spelled}\n")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (logging.CRITICAL, {"level": "error"}),
        (logging.ERROR, {"level": "error"}),
        (logging.WARNING, {"level": "warning"}),
        (logging.INFO, {"level": "info", "v": 0}),
        (logging.INFO - 3, {"level": "info", "v": 3}),
    ],
)
def test_json_names_the_level_and_the_verbosity(level: int, expected: dict[str, object]) -> None:
    stream = logged("json", 9)

    logger.log(level, "x")

    event = json.loads(stream.getvalue())
    assert {key: event[key] for key in ("level", "v") if key in event} == expected


@pytest.mark.parametrize(
    ("message", "args", "shown"),
    [
        ("whole %s", (), "whole %s"),
        ("%s", ("secret",), "***"),
        ("%s %s", (1.5, True), "1.5 True"),
        ("%(a)s", ({"a": "secret"},), "%(a)s"),
    ],
)
def test_messages_of_libraries_are_shown_without_texts(message: str, args: tuple[object, ...], shown: str) -> None:
    stream = logged("json")

    logging.getLogger("urllib3").warning(message, *args)

    assert json.loads(stream.getvalue())["msg"] == shown


def test_json_is_known_from_text() -> None:
    logged("text")
    assert not is_json()
    logged("json")
    assert is_json()


def test_closed_stream_takes_the_log_too() -> None:
    configure_logging(None, verbosity=0, log_format="text")

    logger.error("nobody hears this")


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize(("number", "num_more"), [(0, 0), (2, 0), (100, 0), (101, 1), (103, 3)])
def test_second_signal_leaves_a_line_for_each_of_the_first_hundred_pods(
    capfd: pytest.CaptureFixture[str], log_format: LogFormat, number: int, num_more: int
) -> None:
    configure_logging(sys.stderr, verbosity=0, log_format=log_format)

    log_broken_off([f"shop/p{index}" for index in range(number)], sys._getframe())

    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1 + min(number, 100) + bool(num_more)
    assert ("unconfirmed=" if log_format == "text" else '"unconfirmed": ') + str(number) in lines[0]
    assert "test_logging.py:" in lines[0]
    assert all("Eviction not confirmed, counted as evicted" in line for line in lines[1:101])
    if num_more:
        assert "More evictions not confirmed" in lines[-1]
        assert ("num=" if log_format == "text" else '"num": ') + str(num_more) in lines[-1]


def test_second_signal_in_unknown_code_is_told_too(capfd: pytest.CaptureFixture[str]) -> None:
    log_broken_off([], None)

    assert "(unknown):0]" in capfd.readouterr().err

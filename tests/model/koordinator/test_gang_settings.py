"""What pods and PodGroups say of gangs (koordinator.md 8.1)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.model.koordinator.gang_settings import (
    POD_GROUP_LABEL,
    GangMode,
    Gangs,
    GangSettings,
    MatchPolicy,
    PodGroup,
    gang_id_of,
    settings_of_pod,
    settings_of_pod_group,
)
from descheduler.model.pod import Pod
from tests.builders import make_pod

DOMAIN = "gang.scheduling.koordinator.sh/"


def of_group(**annotations: str) -> GangSettings:
    """The settings of a PodGroup of four with these annotations of gangs."""
    keys = {f"{DOMAIN}{key.replace('_', '-')}": value for key, value in annotations.items()}
    return settings_of_pod_group(PodGroup("ai", "train", 4, annotations=keys))


def by_annotations(name: str = "pod", *, age: float = 60, **annotations: str) -> Pod:
    """A pod of gang `train` by annotation."""
    keys = {f"{DOMAIN}{key.replace('_', '-')}": value for key, value in annotations.items()}
    return make_pod(name, namespace="ai", age=age, annotations={f"{DOMAIN}name": "train", **keys})


@pytest.mark.parametrize(
    ("labels", "annotations", "expected"),
    [
        pytest.param({}, {}, "", id="none"),
        pytest.param({POD_GROUP_LABEL: "a"}, {}, "ai/a", id="the label of a PodGroup"),
        pytest.param({f"{POD_GROUP_LABEL}/name": "b"}, {}, "ai/b", id="the label of the light mode"),
        pytest.param({}, {f"{DOMAIN}name": "c"}, "ai/c", id="the annotation"),
        pytest.param(
            {POD_GROUP_LABEL: "a", f"{POD_GROUP_LABEL}/name": "b"}, {f"{DOMAIN}name": "c"}, "ai/a", id="the first hit"
        ),
    ],
)
def test_gang_of_a_pod_is_named_by(labels: dict[str, str], annotations: dict[str, str], expected: str) -> None:
    pod = make_pod("pod", namespace="ai", labels=labels, annotations=annotations)

    assert gang_id_of(pod) == expected


def test_defaults_of_a_pod_group() -> None:
    assert of_group() == GangSettings(
        gang_id="ai/train",
        min_available=4,
        total_number=4,
        mode=GangMode.STRICT,
        match_policy=MatchPolicy.ONCE_SATISFIED,
        group=("ai/train",),
        waiting_time=timedelta(seconds=600),
    )


def test_settings_of_a_pod_group() -> None:
    settings = of_group(
        total_number="6", mode="NonStrict", match_policy="only-waiting", groups='["ai/train", "ai/serve"]'
    )

    assert (settings.total_number, settings.mode, settings.match_policy, settings.group_id) == (
        6,
        GangMode.NON_STRICT,
        MatchPolicy.ONLY_WAITING,
        "ai/serve,ai/train",
    )


def test_values_that_cannot_be_read_fall_back_to_the_defaults() -> None:
    assert of_group(total_number="many", mode="Bad", match_policy="bad", groups="[bad") == of_group()
    assert of_group(total_number="2") == of_group()
    assert of_group(groups='{"a": 1}') == of_group()


def test_policy_has_an_alias() -> None:
    annotations = {f"{POD_GROUP_LABEL}/match-policy": "waiting-and-running"}

    settings = settings_of_pod_group(PodGroup("ai", "train", 4, annotations=annotations))

    assert settings.match_policy is MatchPolicy.WAITING_AND_RUNNING


def test_waiting_time_is_that_of_the_pod_group_or_the_pod() -> None:
    by_seconds = settings_of_pod_group(PodGroup("ai", "train", 4, schedule_timeout_seconds=6))
    by_text = settings_of_pod(by_annotations(min_available="2", waiting_time="1m30s"))
    by_default = settings_of_pod(by_annotations(min_available="2", waiting_time="soon"))

    assert by_seconds.waiting_time == timedelta(seconds=6)
    assert by_text is not None
    assert by_text.waiting_time == timedelta(seconds=90)
    assert by_default is not None
    assert by_default.waiting_time == timedelta(seconds=600)


@pytest.mark.parametrize(
    ("labels", "minimum", "expected"),
    [
        pytest.param({}, "3", 3, id="annotation"),
        pytest.param({f"{POD_GROUP_LABEL}/min-available": "5"}, "3", 5, id="label of the light mode before it"),
        pytest.param({}, "three", None, id="no number"),
        pytest.param({}, "", None, id="missing"),
        pytest.param({POD_GROUP_LABEL: "train"}, "3", None, id="pod of a PodGroup"),
    ],
)
def test_minimum_of_a_gang_without_a_pod_group(labels: dict[str, str], minimum: str, expected: int | None) -> None:
    annotations = {f"{DOMAIN}name": "train", f"{DOMAIN}min-available": minimum}

    settings = settings_of_pod(make_pod("pod", labels=labels, annotations=annotations))

    assert (None if settings is None else settings.min_available) == expected


def test_oldest_member_that_can_be_read_decides_about_a_gang_without_a_pod_group() -> None:
    members = [
        by_annotations("young", age=10, min_available="2"),
        by_annotations("old", age=60, min_available="3"),
        by_annotations("oldest", age=90, min_available="odd"),
    ]

    settings = Gangs(members, ()).settings("ai/train")

    assert settings is not None
    assert settings.min_available == 3


def test_pod_group_decides_whatever_its_pods_say() -> None:
    settings = Gangs([by_annotations(min_available="2")], [PodGroup("ai", "train", 4)]).settings("ai/train")

    assert settings is not None
    assert settings.min_available == 4


def test_numbers_that_no_integer_of_32_bits_holds_are_not_read() -> None:
    endless = "9" * 5_000

    assert settings_of_pod(by_annotations(min_available=endless)) is None
    assert settings_of_pod(by_annotations(min_available="0" * 20 + "7")) is not None
    assert of_group(total_number=endless).total_number == 4
    group = PodGroup("ai", "train", 4, schedule_timeout_seconds=2**62)
    assert settings_of_pod_group(group).waiting_time == timedelta(seconds=600)


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        pytest.param("3", 4, id="fewer than the minimum"),
        pytest.param("4", 4, id="as many as the minimum"),
        pytest.param("5", 5, id="more than the minimum"),
        pytest.param("0", 0, id="none"),
        pytest.param("-1", 4, id="less than none"),
    ],
)
def test_total_number_is_at_least_the_minimum(total: str, expected: int) -> None:
    assert of_group(total_number=total).total_number == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2147483647", 2**31 - 1), ("2147483648", None), ("-2147483648", -(2**31)), ("-2147483649", None), ("+3", 3)],
)
def test_minimum_is_an_integer_of_32_bits(text: str, expected: int | None) -> None:
    settings = settings_of_pod(by_annotations(min_available=text))

    assert (None if settings is None else settings.min_available) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(None, 600), (0, 600), (-1, 600), (1, 1), (2**31 - 1, 2**31 - 1), (2**31, 600)],
)
def test_waiting_time_of_a_pod_group_is_an_integer_above_0(seconds: int | None, expected: int) -> None:
    group = PodGroup("ai", "train", 4, schedule_timeout_seconds=seconds)

    assert settings_of_pod_group(group).waiting_time == timedelta(seconds=expected)


@pytest.mark.parametrize(("text", "seconds"), [("0s", 600), ("-1s", 600), ("1s", 1)])
def test_waiting_time_of_a_pod_is_above_0(text: str, seconds: int) -> None:
    settings = settings_of_pod(by_annotations(min_available="2", waiting_time=text))

    assert settings is not None
    assert settings.waiting_time == timedelta(seconds=seconds)


def test_gangs_are_there_with_members_or_with_a_pod_group() -> None:
    assert not Gangs([make_pod("web")], ())
    assert Gangs([by_annotations()], ())
    assert Gangs((), [PodGroup("ai", "train", 4)])


def test_member_without_a_time_counts_as_the_youngest() -> None:
    unknown = make_pod(
        "a", namespace="ai", age=None, annotations={f"{DOMAIN}name": "train", f"{DOMAIN}min-available": "9"}
    )

    settings = Gangs([unknown, by_annotations("z", min_available="3")], ()).settings("ai/train")

    assert settings is not None
    assert settings.min_available == 3


def test_new_gang_takes_its_settings_from_its_first_member() -> None:
    gangs = Gangs((), ())

    first = gangs.settings_for(by_annotations("first", min_available="3"))
    second = gangs.settings_for(by_annotations("second", min_available="5"))

    assert first is not None
    assert second is first
    assert gangs.settings_for(make_pod("web")) is None


def test_items_of_a_group_that_are_no_names_are_empty_ones() -> None:
    assert of_group(groups='["b", 7, "a"]').group == ("", "a", "b")
    assert of_group(groups="[]").group == ("ai/train",)

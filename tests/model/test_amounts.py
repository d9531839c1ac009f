from __future__ import annotations

import pytest

from descheduler.model.text.amounts import (
    amount_of,
    amount_of_most,
    amount_text,
    amounts_text,
    cpu_texts,
    percent_text,
    rounded_percent,
    short_amounts_text,
)


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        pytest.param("cpu", 200, "200m", id="a fifth of a core"),
        pytest.param("cpu", 4000, "4", id="whole cores"),
        pytest.param("cpu", -1500, "-1500m", id="less than nothing"),
        pytest.param("memory", 1023, "1023", id="bytes"),
        pytest.param("memory", 3 * 2**29, "1.5Gi", id="one and a half GiB"),
        pytest.param("memory", -(2**20), "-1Mi", id="an overcommitted node"),
        pytest.param("hugepages-2Mi", 2**21, "2Mi", id="huge pages are bytes"),
        pytest.param("nvidia.com/gpu", 3, "3", id="devices"),
        pytest.param("koordinator.sh/gpu-memory", 16 << 30, "16Gi", id="memory of GPUs is bytes"),
        pytest.param("kubernetes.io/gpu-memory", 3 * 2**29, "1.5Gi", id="so it is under its old name"),
        pytest.param("koordinator.sh/gpu-memory-ratio", 1024, "1024", id="percent of GPUs"),
        pytest.param("kubernetes.io/batch-memory", 1 << 30, "1Gi", id="memory of batch pods is bytes"),
    ],
)
def test_amounts_are_written_as_people_read_them(resource: str, amount: int, text: str) -> None:
    assert amount_text(resource, amount) == text


def test_amount_in_a_sentence_names_its_resource() -> None:
    assert [amount_of("cpu", 1500), amount_of("memory", 1 << 30)] == ["1500m CPU", "1Gi memory"]


@pytest.mark.parametrize(
    ("resource", "amount", "most", "text"),
    [
        pytest.param("cpu", 16_000, 7429, "16 CPU of 7.4", id="one decimal"),
        pytest.param("cpu", 7432, 7429, "7.432 CPU of 7.429", id="as many as tell them apart"),
        pytest.param("cpu", 500, 0, "0.5 CPU of 0", id="cores where it is less than one"),
        pytest.param("memory", 5 << 30, 2 << 30, "5Gi memory of 2Gi", id="memory"),
        pytest.param("nvidia.com/gpu", 3, 2, "3 nvidia.com/gpu of 2", id="devices"),
    ],
)
def test_amount_and_its_limit_have_one_unit(resource: str, amount: int, most: int, text: str) -> None:
    assert amount_of_most(resource, amount, most) == text


@pytest.mark.parametrize(
    ("amounts", "texts"),
    [
        pytest.param([1824, 15_400, 13_576, 96_000], ["1.8", "15.4", "13.6", "96"], id="one decimal"),
        pytest.param([40, 2040, 2000], ["0.04", "2.04", "2"], id="as many as tell them apart"),
        pytest.param([1, 1501, 1500, 4000], ["0.001", "1.501", "1.5", "4"], id="all of them"),
        pytest.param([3000, 3000, 0], ["3", "3", "0"], id="none for whole ones"),
    ],
)
def test_cpus_of_one_sentence_have_few_decimals(amounts: list[int], texts: list[str]) -> None:
    assert cpu_texts(amounts) == texts


def test_several_amounts_are_one_phrase() -> None:
    assert amounts_text([("cpu", 500), ("memory", 2**30)]) == "cpu 500m, memory 1Gi"
    assert amounts_text([]) == "nothing"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        pytest.param(1, 3, "33.3%", id="a third"),
        pytest.param(31_900, 32_000, "99.7%", id="room for one more small pod"),
        pytest.param(31_999, 32_000, "99.9%", id="room for almost nothing"),
        pytest.param(27_200, 32_000, "85%", id="a whole number"),
        pytest.param(32_000, 32_000, "100%", id="full"),
        pytest.param(48_000, 32_000, "150%", id="overcommitted"),
        pytest.param(1, 0, "?", id="of nothing"),
    ],
)
def test_only_what_is_full_is_a_hundred_percent(part: int, whole: int, text: str) -> None:
    assert percent_text(part, whole) == text


@pytest.mark.parametrize(
    ("percent", "limit", "text"),
    [
        pytest.param(62.5, None, "62.5%", id="one decimal"),
        pytest.param(63.0, None, "63%", id="none where there is none"),
        pytest.param(70.04, None, "70%", id="no limit to tell it from"),
        pytest.param(70.04, 70.0, "70.04%", id="a little above its limit"),
        pytest.param(70.0, 70.0, "70%", id="at its limit"),
        pytest.param(33.333, 33.333, "33.3%", id="at a limit of many decimals"),
        pytest.param(99.97, None, "99.9%", id="a little short of the whole"),
        pytest.param(300.0, None, "300%", id="more than the whole"),
    ],
)
def test_a_share_has_one_decimal_and_does_not_look_like_a_limit_that_it_is_not(
    percent: float, limit: float | None, text: str
) -> None:
    assert rounded_percent(percent, limit) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        pytest.param(1024, "1Ki", id="the first step"),
        pytest.param(2**60, "1Ei", id="the last step"),
        pytest.param(2**70, "1024Ei", id="beyond the last step"),
    ],
)
def test_bytes_have_the_largest_step_that_there_is(amount: int, text: str) -> None:
    assert amount_text("memory", amount) == text


def test_amounts_of_one_domain_are_told_without_it() -> None:
    amounts = {"koordinator.sh/gpu-core": 50, "koordinator.sh/gpu-memory": 8 << 30, "cpu": 500}

    assert short_amounts_text(amounts) == "gpu-core 50, gpu-memory 8Gi, cpu 500m"
    assert short_amounts_text({}) == ""

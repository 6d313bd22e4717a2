"""Selections of launches and thread blocks: what they contain, and what is refused."""

import pytest

from warpreg.sass.choice import TraceChoice, binary_version, blocks, kernels, trace_choice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.selection import plain_names


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("4", [4]),
        ("3-5", [3, 4, 5]),
        ("1,4,7-", [1, 4, 7, 8, 9, 10]),
        ("5, 5 ,4-5,3 - 4", [3, 4, 5]),
        ("9-,2,8-", [2, 8, 9, 10]),
        ("010", [10]),
    ],
)
def test_numbers_and_ranges_are_joined(text: str, chosen: list[int]) -> None:
    selection = kernels(text)
    assert [number for number in range(1, 11) if number in selection] == chosen
    assert selection.count(11) == len(chosen)


def test_equal_selections_are_equal_however_they_are_written() -> None:
    assert kernels("4,3-5,1") == kernels("1, 3,4 ,5") == kernels([1, 3, 4, 5])
    assert str(kernels("4,3-5,1,b*,a?")) == "1,3-5,a?,b*"
    assert blocks(range(100)) == blocks("0-99")
    assert kernels(7) == kernels("7")
    assert str(blocks("3-")) == "3-"
    assert blocks("3-").below(10) == "3-9"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'': expected numbers such as 1,4-, found none"),
        (" , ", "found none"),
        ("5-3", "'5-3': expected a range from low to high, 3-5"),
        ("0", "'0': numbers begin at 1"),
        ("0-4", "'0-4': numbers begin at 1"),
        ("-3", "'-3': expected a number or a range such as 4, 1-5, 7- or a pattern such as gemm*"),
        ("1-2-3", "'1-2-3': expected a number or a range"),
        ("1 2", "'1 2': expected a number or a range"),
        ("9" * 19, "expected a number or a range"),
        ("--", "'--': expected a number or a range"),
    ],
)
def test_what_is_no_selection_is_refused(text: str, message: str) -> None:
    with pytest.raises(SassTraceError) as caught:
        kernels(text)
    assert message in str(caught.value)


def test_thread_blocks_have_numbers_from_0_and_no_names() -> None:
    assert 0 in blocks("0")
    with pytest.raises(SassTraceError, match=r"'gemm\*': expected a number or a range such as 3, 0-5, 7-$"):
        blocks("gemm*")
    with pytest.raises(SassTraceError, match="found none"):
        blocks([])


def test_numbers_beyond_the_end_are_told() -> None:
    assert kernels("3-12").beyond(13) == ""
    assert kernels("3-").beyond(13) == ""
    assert kernels("3-14,20").beyond(13) == "13-14, 20"
    assert kernels("13-").beyond(13) == "13-"
    assert blocks(range(0, 20, 2)).beyond(0) == "0, 2, 4, 6, 8, 10 and 4 more"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("gemm", ("gemm",)),
        ("_Z4gemmPf", ("_Z4gemmPf", "gemm")),
        ("_Z4gemmILi4EEvPf", ("_Z4gemmILi4EEvPf", "gemm")),
        ("_ZN2at6native3fooILi4EEvPf", ("_ZN2at6native3fooILi4EEvPf", "at::native::foo", "foo")),
        ("void at::native::foo<4, float>(int*)", ("void at::native::foo<4, float>(int*)", "at::native::foo", "foo")),
        ("_Z", ("_Z",)),
        ("", ("",)),
    ],
)
def test_names_of_kernels_without_mangling(name: str, plain: tuple[str, ...]) -> None:
    assert plain_names(name) == plain


def test_patterns_match_whole_names() -> None:
    assert kernels("gem?").matches("gemm")
    assert not kernels("gem").matches("gemm")
    assert not kernels("Gemm*").matches("gemm")
    assert not kernels("3").matches("3")


@pytest.mark.parametrize(("given", "number"), [(70, 70), ("70", 70), ("sm_75", 75), ("compute_80", 80), ("sm_90a", 90)])
def test_binary_versions(given: str | int, number: int) -> None:
    assert binary_version(given) == number


@pytest.mark.parametrize("given", ["", "0", 35, "sm_", "volta", "7.0", "sm_130", -70])
def test_other_binary_versions_are_refused(given: str | int) -> None:
    with pytest.raises(SassTraceError, match="expected a binary version from sm_50 on, such as 70 or sm_70"):
        binary_version(given)


def test_a_choice_says_what_is_not_the_default() -> None:
    assert TraceChoice().as_dict() == {}
    assert trace_choice("alu", "sm_70", "2,1", range(3)).as_dict() == {
        "unknown_opcodes": "alu",
        "binary_version": 70,
        "kernels": "1-2",
        "blocks": "0-2",
    }
    with pytest.raises(SassTraceError, match="expected error or alu, found 'skip'"):
        trace_choice("skip")  # type: ignore[arg-type]

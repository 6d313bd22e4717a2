"""C++ names of kernels; the mangled names follow the Itanium C++ ABI, section 5.1."""

from __future__ import annotations

import pytest

from warpreg.ir.cpp_names import demangled, forms, normal, short_name


@pytest.mark.parametrize(
    ("name", "with_parameters", "short"),
    [
        ("_Z6squarePi", "square(int*)", "square"),
        ("_ZN2ns6squareEPi", "ns::square(int*)", "ns::square"),
        ("_Z4fillIfEvPT_S0_", "fill<float>(float*, float)", "fill<float>"),
        ("_ZN2ns4gridIiLi4EEEvPT_", "ns::grid<int, 4>(int*)", "ns::grid<int, 4>"),
        ("_Z5applyPFiiE", "apply(int (*)(int))", "apply"),
        ("plain", "plain", "plain"),
        ("_Zwrong", "_Zwrong", "_Zwrong"),
    ],
)
def test_names(name: str, with_parameters: str, short: str) -> None:
    assert (demangled(name), short_name(name)) == (with_parameters, short)


def test_forms_in_which_a_kernel_may_be_given() -> None:
    assert forms("_ZN2ns4gridIiLi4EEEvPT_") == {
        "_ZN2ns4gridIiLi4EEEvPT_", "ns::grid<int,4>(int*)", "ns::grid<int,4>", "ns::grid", "grid<int,4>", "grid",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["f<unsigned int,4>", " f < unsigned  int , 4u >", "f<unsigned int, 4UL>"])
def test_spaces_and_suffixes_do_not_matter(text: str) -> None:
    assert normal(text) == "f<unsigned int,4>"

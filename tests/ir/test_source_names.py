"""Names of variables in the source, from their names in PTX."""

from __future__ import annotations

import pytest

from warpreg.ir.source_names import is_called, source_name


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("w", "w"),
        ("_ZN2ns2in1vE", "ns::in::v"),
        ("_ZL4taps", "taps"),
        ("_ZN34_INTERNAL_00000000_8_names_cu_init2ns1dE", "ns::d"),
        ("_ZN34_INTERNAL_00000000_8_names_cu_init36_GLOBAL__N__00000000_8_names_cu_init1qE", "q"),
        ("_Z2tvIfE", "tv<float>"),
        ("_Z2tvIjLi4ELin2EE", "tv<unsigned int, 4, -2>"),
        ("_Z2tvI1SE", "tv<...>"),
        ("_ZN2ns1XIfE3tabE", "ns::X<float>::tab"),
        ("_ZZ1kE5inner", "inner"),
        ("_ZZN2ns3fooEPfE5inner_0", "inner"),
        ("_ZZ3fooPfE7table_1", "table_1"),
        ("_ZTV3Foo", "_ZTV3Foo"),
        ("_Z99w", "_Z99w"),
        ("_ZZ1kE99w", "_ZZ1kE99w"),
    ],
)
def test_a_mangled_name_has_the_name_in_the_source(mangled: str, name: str) -> None:
    assert source_name(mangled) == name


@pytest.mark.parametrize(
    ("mangled", "name", "expected"),
    [
        ("_ZN2ns2in1vE", "v", True),
        ("_ZN2ns2in1vE", "in::v", True),
        ("_ZN2ns2in1vE", "n::v", False),
        ("_Z2tvIfE", "tv", True),
        ("_Z2tvIfE", "tv<float>", True),
        ("_Z2tvIfE", "tv<int>", False),
        ("w", "w", True),
        ("sw", "w", False),
    ],
)
def test_namespaces_and_template_arguments_may_be_left_out(mangled: str, name: str, expected: bool) -> None:
    assert is_called(mangled, name) is expected

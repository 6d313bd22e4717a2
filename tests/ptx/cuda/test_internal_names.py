"""Names of what belongs to one file alone, in PTX of two compilations."""

from __future__ import annotations

import pytest

from warpreg.ptx.cuda.internal_names import independent


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_ZN42_GLOBAL__N__a1b8ae85_4_n_cu_a4230c8c_224361gILi3EEEvPi", "_ZN16_GLOBAL__N__file1gILi3EEEvPi"),
        ("_ZN35_GLOBAL__N__a1b8ae85_9_source_cu_k11gEPi", "_ZN16_GLOBAL__N__file1gEPi"),
        (
            "_ZN37_INTERNAL_576e0665_9_source_cu__Z2zz139_GLOBAL__N__576e0665_9_source_cu__Z2zz14moreE",
            "_ZN14_INTERNAL_file16_GLOBAL__N__file4moreE",
        ),
        (  # an identifier that ends in a digit, before the length of the next one
            "_ZN37_INTERNAL_576e0665_9_source_cu__Z2zz14cuda3__439_GLOBAL__N__576e0665_9_source_cu__Z2zz14swapE",
            "_ZN14_INTERNAL_file4cuda3__416_GLOBAL__N__file4swapE",
        ),
        ("_ZN2ns35_GLOBAL__N__a1b8ae85_9_source_cu_k11gEPi", "_ZN2ns16_GLOBAL__N__file1gEPi"),
        ("_Z6squarePi", "_Z6squarePi"),
    ],
)
def test_hashes_of_the_compilation_disappear(name: str, expected: str) -> None:
    assert independent(name) == expected
    assert independent(f".entry {name}(\n\t.param .u64 {name}_param_0\n)") == (
        f".entry {expected}(\n\t.param .u64 {expected}_param_0\n)"
    )

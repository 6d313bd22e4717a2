"""The address size of a module without ``.address_size``, and the note about it."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from warpreg import ptx
from warpreg.cli.app import main
from warpreg.ptx.address_size import AddressSizeWarning

OLD = ".version 1.4\n.target sm_13\n"
NEW = ".version 7.0\n.target sm_75\n"
REGISTERS = ".reg .u32 r; .reg .u64 w;"
WIDE = "ld.param.u64 w, [a]; st.global.u32 [w], r;"
NARROW = "cvt.u32.u64 r, w; st.global.u32 [r], r;"


def size(text: str, name: str = "<ptx>") -> tuple[int, list[str]]:
    """The address size, and the notes."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = ptx.parse(text, name).address_size
    assert all(issubclass(one.category, AddressSizeWarning) for one in seen)
    return found, [str(one.message) for one in seen]


def kernel(body: str) -> str:
    return (
        ".global .u32 g; .const .u32 c; .func f(.reg .u64 p);\n"
        f".entry k (.param .u64 a) {{ .shared .u32 s; .local .u32 l; {REGISTERS}\n{body}\nexit; }}\n"
    )


@pytest.mark.parametrize("header", [OLD, NEW, ".version 2.2\n.target sm_20\n", ".version 2.3\n.target sm_20\n"])
@pytest.mark.parametrize(
    ("body", "bits"),
    [
        (WIDE, 64),
        ("ld.global.u32 r, [w+4];", 64),
        ("ld.u32 r, [w];", 64),
        ("atom.global.add.u32 r, [w], r;", 64),
        ("red.global.add.u32 [w], r;", 64),
        ("mov.u64 w, g;", 64),
        ("cvta.global.u64 w, w;", 64),
        ("{ .reg .u64 w; st.global.u32 [w], r; }", 64),
        ("st.shared.u32 [w], r;", 64),
        # Addresses of other memories have 32 bits in both.
        ("mov.u32 r, s; st.shared.u32 [r], r;" + WIDE, 64),
        ("mov.u32 r, l; st.local.u32 [r], r;" + WIDE, 64),
        ("mov.u32 r, c; ld.const.u32 r, [r];" + WIDE, 64),
        ("st.global.u32 [g], r; ld.shared.u32 r, [s];" + WIDE, 64),
        # One 32-bit address of global memory decides.
        (NARROW, 32),
        (WIDE + NARROW, 32),
        (NARROW + WIDE, 32),
        (WIDE + "ld.u32 r, [r];", 32),
        (WIDE + "mov.u32 r, g;", 32),
        (WIDE + "cvta.global.u32 r, r;", 32),
        # Nothing says it.
        ("ld.param.u64 w, [a]; add.u64 w, w, 1;", 32),
        ("st.global.u32 [g], r;", 32),
        ("mov.u32 r, s; st.shared.u32 [r], r;", 32),
    ],
)
def test_the_code_says_it(header: str, body: str, bits: int) -> None:
    assert size(header + kernel(body))[0] == bits


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("body", [WIDE, NARROW])
def test_the_directive_says_it_first(bits: int, body: str) -> None:
    assert size(f"{NEW}.address_size {bits}\n" + kernel(body)) == (bits, [])


def test_any_function_and_any_kernel_of_the_module_counts() -> None:
    integers = ".entry n (.param .u64 a) { .reg .u64 w; ld.param.u64 w, [a]; exit; }\n"
    function = f".func f(.reg .u64 p) {{ {REGISTERS} st.global.u32 [p], r; ret; }}\n"
    assert size(OLD + integers)[0] == 32
    assert size(OLD + integers + function)[0] == 64
    assert size(OLD + integers + function + kernel(NARROW).partition("\n")[2].replace("a)", "b)"))[0] == 32


def test_the_note_has_the_place_and_comes_once() -> None:
    text = OLD + kernel("\n" + WIDE)
    note = "once.ptx:6:22: addresses have 64 bits, as '[w]' has here; .address_size is not given"
    assert size(text, "once.ptx") == (64, [note])
    assert size(text, "once.ptx") == (64, [])
    assert size(OLD + kernel(NARROW), "narrow.ptx") == (32, [])


def test_what_is_written_has_the_directive() -> None:
    with pytest.warns(AddressSizeWarning):
        written = ptx.write(ptx.parse(OLD + kernel(WIDE), "written.ptx"))
    assert ".address_size 64" in written
    assert size(written) == (64, [])


KERNEL = f"""{OLD}.entry k (.param .u64 out)
{{ .reg .u32 %r<4>; .reg .u64 %rd<4>;
cvt.u32.u16 %r1, %tid.x;
ld.param.u64 %rd1, [out]; cvt.u64.u32 %rd2, %r1; mul.lo.u64 %rd2, %rd2, 4; add.u64 %rd3, %rd1, %rd2;
st.global.s32 [%rd3], %r1; exit; }}
"""


@pytest.mark.parametrize("bits", ["32", "64"])
def test_the_command_line_runs_it_and_prints_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bits: str
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL)
    command = ["run", str(path), "--grid", "1", "--block", "32", "--arg", "buffer:s32:32", "--address-bits", bits]
    assert main(command) == 0
    shown = capsys.readouterr()
    note = f"warpreg: {path}:7:1: addresses have 64 bits, as '[%rd3]' has here; .address_size is not given\n"
    assert shown.err == note
    assert "0 1 2 3 4 5" in shown.out

"""Valid traces: the reconstructed kernels and paths."""

import lzma
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.sass.text import FULL, LOCAL_BASE, SHARED_BASE, Execution, body, executions, header, line, write_trace

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW
from warpreg.sass.listing import Copy
from warpreg.sass.reader import RecordedLaunch, read_recording

LOW, HIGH = 0x0000FFFF, 0xFFFF0000


def listing(launch: RecordedLaunch) -> list[tuple[list[str], tuple[int, ...]]]:
    return [([str(i) for i in block.instructions], block.successors) for block in launch.kernel.blocks]


def read(tmp_path: Path, *warps: list[str], **entries: Any) -> RecordedLaunch:
    return read_recording(write_trace(tmp_path, [warps], **entries)).launches[0]


def test_a_straight_program_is_one_block_with_wide_operands_and_no_zero_register(tmp_path: Path) -> None:
    lines = [
        line(0x00, "R4 <- IMAD.WIDE R2 R3 R6"),
        line(0x10, "R8 <- LDG.E.64 R4", memory="8 1 0x1000 8"),
        line(0x20, "R255 <- FADD R8 R255"),
        line(0x30, "ISETP.GE.AND R8"),
        line(0x40, "EXIT"),
    ]
    launch = read(tmp_path, lines, lines)
    text = ["IMAD.WIDE R4.64, R2, R3, R6.64", "LDG.E.64 R8.64, [R4.64]", "FADD _, R8, 0", "ISETP.GE.AND _, R8", "EXIT"]
    assert listing(launch) == [(text, ())]
    assert launch.warp_instructions == 10
    assert launch.visits.tolist() == [2]
    assert (launch.kernel.register_count, launch.kernel.register_demand) == (10, 32)
    assert launch.kernel.shared_bytes == 64


def test_a_loop_is_rebuilt_and_its_branch_is_guarded(tmp_path: Path) -> None:
    once = [line(0x10, "R1 <- IADD3 R1"), line(0x20, "BRA")]
    last = [line(0x10, "R1 <- IADD3 R1"), line(0x20, "BRA", mask=0)]
    launch = read(tmp_path, [line(0x00, "R1 <- MOV"), *once, *once, *last, line(0x30, "EXIT")])
    assert listing(launch) == [
        (["MOV R1"], (1,)),
        (["IADD3 R1, R1", "@P0 BRA"], (1, 2)),
        (["EXIT"], ()),
    ]
    assert launch.visits.tolist() == [1, 3, 1]


def test_sides_of_a_branch_meet_where_the_mask_grows_and_do_not_follow_each_other(tmp_path: Path) -> None:
    launch = read(
        tmp_path,
        [
            line(0x00, "BRA", mask=HIGH),
            line(0x10, "R1 <- MOV", mask=LOW),
            line(0x20, "BRA", mask=LOW),
            line(0x30, "R2 <- MOV", mask=HIGH),
            line(0x40, "R3 <- IADD3 R1 R2"),
            line(0x50, "EXIT"),
        ],
    )
    assert [successors for _, successors in listing(launch)] == [(2, 1), (3,), (3,), ()]
    assert [e.active for e in executions(launch)[0, 0]] == [FULL, LOW, LOW, HIGH, FULL, FULL]


def test_lanes_that_wait_for_one_another_begin_anew(tmp_path: Path) -> None:
    launch = read(
        tmp_path,
        [
            line(0x00, "BSSY"),
            line(0x10, "BRA", mask=HIGH),
            line(0x20, "R1 <- MOV", mask=LOW),
            line(0x40, "BSYNC", mask=LOW),
            line(0x30, "R2 <- MOV", mask=HIGH),
            line(0x40, "BSYNC", mask=HIGH),
            line(0x50, "EXIT"),
        ],
    )
    assert listing(launch) == [
        (["BSSY", "@P0 BRA"], (2, 1)),
        (["MOV R1"], (3,)),
        (["MOV R2"], (3,)),
        (["BSYNC"], (4,)),
        (["EXIT"], ()),
    ]


def test_lines_with_fewer_lanes_are_predicated_and_equal_masks_share_a_predicate(tmp_path: Path) -> None:
    launch = read(
        tmp_path,
        [
            line(0x00, "R1 <- MOV"),
            line(0x10, "R2 <- MOV", mask=LOW),
            line(0x20, "R2 <- IADD3 R1", mask=HIGH),
            line(0x30, "R3 <- LDG.E R4", mask=LOW, memory="4 1 0x2000 4"),
            line(0x40, "R5 <- MOV", mask=0xF),
            line(0x50, "EXIT"),
        ],
    )
    text = ["MOV R1", "@P0 MOV R2", "@!P0 IADD3 R2, R1", "@P0 LDG.E R3, [R4.64]", "@P1 MOV R5", "EXIT"]
    assert listing(launch) == [(text, ())]
    seen = executions(launch)[0, 0]
    assert seen[3] == Execution(0x30, FULL, LOW, tuple(0x2000 + 4 * lane for lane in range(16)))


@pytest.mark.parametrize(
    ("mask", "memory", "addresses"),
    [
        (0x7, "4 0 0x10 0x20 0xfffffffffffffff0", (0x10, 0x20, 0xFFFFFFFFFFFFFFF0)),
        (0x70, "4 1 0x1000 -8", (0x1000, 0xFF8, 0xFF0)),
        (0x7, "4 2 0x1000 4 -8", (0x1000, 0x1004, 0xFFC)),
        (0x8001, "4 2 0x1000 6", (0x1000, 0x1006)),
        (0x10, "4 2 0x1234567890", (0x1234567890,)),
        (0x0, "4 1 0x0 0", ()),
    ],
)
def test_addresses_in_all_encodings(tmp_path: Path, mask: int, memory: str, addresses: tuple[int, ...]) -> None:
    launch = read(
        tmp_path, [line(0, "R1 <- MOV"), line(0x10, "R2 <- LDG.E R2", mask=mask, memory=memory), line(0x20, "EXIT")]
    )
    seen = executions(launch)
    assert seen[0, 0][1] == Execution(0x10, FULL, mask, addresses)


def test_shared_and_local_addresses_become_offsets_and_generic_ones_our_windows(tmp_path: Path) -> None:
    def access(pc: int, text: str, address: int) -> str:
        return line(pc, text, memory=f"4 1 {address:#x} 0")

    launch = read(
        tmp_path,
        [
            access(0x00, "R1 <- LDS R2", SHARED_BASE + 0x40),
            access(0x10, "R1 <- LDS R2", 0x40),
            access(0x20, "R1 <- LDL R2", LOCAL_BASE + 0x8),
            access(0x30, "R1 <- LD.E R2", SHARED_BASE + 0x4),
            access(0x40, "R1 <- LD.E R2", LOCAL_BASE + 0x4),
            access(0x50, "R1 <- LD.E R2", 0x700000000),
            line(0x60, "EXIT"),
        ],
    )
    seen = executions(launch)[0, 0]
    assert [e.addresses[0] for e in seen[:-1]] == [0x40, 0x40, 0x8, SHARED_WINDOW + 4, LOCAL_WINDOW + 4, 0x700000000]
    assert launch.kernel.local_bytes == 16


def test_a_result_behind_a_predicate_is_found_among_the_sources(tmp_path: Path) -> None:
    launch = read(
        tmp_path,
        [
            line(0x00, "SHFL.IDX R5 R4 R6"),
            line(0x10, "ATOMG.E.ADD.STRONG.GPU R7 R2 R5", memory="4 1 0x100 0"),
            line(0x20, "LOP3.LUT R255 R7 R5"),
            line(0x30, "EXIT"),
        ],
    )
    assert listing(launch)[0][0] == [
        "SHFL.IDX R5, R4, R6",
        "ATOMG.E.ADD.STRONG.GPU R7, [R2.64], R5",
        "LOP3.LUT _, R7, R5",
        "EXIT",
    ]


def test_the_register_of_a_branch_or_barrier_is_read(tmp_path: Path) -> None:
    launch = read(tmp_path, [line(0, "R3 <- WARPSYNC"), line(0x10, "R4 <- RET.REL.NODEC"), line(0x20, "EXIT")])
    assert [str(i) for i in launch.kernel.instructions()] == ["WARPSYNC _, R3", "RET.REL.NODEC _, R4.64", "EXIT"]


def test_the_second_result_of_a_fetch_is_found_among_the_sources_since_sm_70(tmp_path: Path) -> None:
    fetch = line(0, "R255 <- TEX.LL R32 R20 R34").removesuffix("0 ") + "3 "
    launch = read(tmp_path, [fetch, line(0x10, "EXIT")], nregs=64)
    assert listing(launch)[0][0][0] == "TEX.LL {_, R32.64}, R20.64, R34"
    launch = read(tmp_path, [fetch, line(0x10, "EXIT")], nregs=64, binary_version=61)
    assert listing(launch)[0][0][0] == "TEX.LL _, R32.64, R20, R34"


def test_a_copy_with_two_lines_is_one_instruction_with_the_global_address(tmp_path: Path) -> None:
    shared, far = (line(0x10, "LDGSTS.E.128 R1 R2", memory=f"16 1 {a:#x} 16") for a in (SHARED_BASE, 0x5000))
    launch = read(tmp_path, [line(0, "R1 <- MOV"), shared, far, shared, far, line(0x20, "EXIT")])
    seen = executions(launch)[0, 0]
    assert [(e.pc, e.addresses[:2]) for e in seen if e.addresses] == [(0x10, (0x5000, 0x5010))] * 2
    assert launch.warp_instructions == 4
    assert "LDGSTS.E.128 _, R1, [R2.64]" in [str(i) for i in launch.kernel.instructions()]


def test_version_three_is_read(tmp_path: Path) -> None:
    """It has no line information and no immediates; deltas and strides are as in later versions."""
    lines = [
        line(0x00, "R4 <- LDG.E.128.CONSTANT.SYS R44", mask=0x7, memory="16 2 0x7efe7b60c300 16 2000"),
        line(0x10, "R1 <- IMAD.MOV.U32 R255 R255"),
        line(0x20, "EXIT"),
    ]
    path = write_trace(tmp_path, [[lines]], accelsim_tracer_version=3, enable_lineinfo=None, nvbit_version=1.5)
    text = path.read_text().replace(" 0 \n", " \n")
    path.write_text(text)
    (launch,) = read_recording(path).launches
    assert launch.header.tracer_version == 3
    (first, second, third) = executions(launch)[0, 0]
    assert first.addresses == (0x7EFE7B60C300, 0x7EFE7B60C310, 0x7EFE7B60CAE0)
    assert (second.pc, third.pc) == (0x10, 0x20)


def test_versions_four_to_six_are_read(tmp_path: Path) -> None:
    lines = [line(0, "R2 <- LDG.E R2", memory="4 1 0x100 4"), line(0x10, "EXIT")]
    endings = {4: "", 5: "0 ", 6: "0 0 Val 0x00000001 0x00000002 "}
    results = []
    for version, ending in endings.items():
        warp = [text.removesuffix("0 ") + ending for text in lines]
        results.append(listing(read(tmp_path, warp, accelsim_tracer_version=version)))
    assert results[0] == results[1] == results[2]


def test_line_information_goes_to_the_instruction(tmp_path: Path) -> None:
    launch = read(tmp_path, ["17 " + line(0, "R1 <- MOV"), "18 " + line(0x10, "EXIT")], enable_lineinfo=1)
    assert [i.source.line for i in launch.kernel.instructions() if i.source] == [17, 18]


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_compressed_traces_are_the_same(tmp_path: Path, suffix: str) -> None:
    blocks = [[[line(0, "R1 <- MOV"), line(0x10, "EXIT")]]] * 3
    plain = write_trace(tmp_path, blocks)
    text = plain.read_bytes()
    compressed = plain.with_name(plain.name + suffix)
    half = len(text) // 2
    if suffix == ".xz":
        compressed.write_bytes(lzma.compress(text[:half]) + lzma.compress(text[half:]))
    else:
        frames = zstandard.ZstdCompressor()
        compressed.write_bytes(frames.compress(text[:half]) + frames.compress(text[half:]))
    launch, same = read_recording(plain).launches[0], read_recording(compressed).launches[0]
    assert listing(launch) == listing(same)
    assert launch.digest == same.digest
    assert executions(launch) == executions(same)


def test_a_list_gives_launches_and_copies_in_order(tmp_path: Path) -> None:
    for number in (1, 2):
        write_trace(tmp_path, [[[line(0, "EXIT")]]], f"kernel-{number}.traceg", kernel_id=number)
    listed = tmp_path / "kernelslist.g"
    listed.write_text(
        "MemcpyHtoD,0x00000100,64\nkernel-1.traceg\nMemcpyDtoH,0x100,64\nMemcpyHtoD,0x200,8\nkernel-2.traceg\n"
    )
    recording = read_recording(listed)
    assert recording.name == tmp_path.name
    assert [launch.header.kernel_id for launch in recording.launches] == [1, 2]
    assert recording.copies == (Copy(0x100, 64, 0), Copy(0x200, 8, 1))


def test_warps_that_begin_in_different_places_get_a_common_entry(tmp_path: Path) -> None:
    launch = read(tmp_path, [line(0, "EXIT")], [line(0x10, "EXIT")])
    assert listing(launch) == [([], (2, 1)), (["EXIT"], ()), (["EXIT"], ())]
    assert launch.visits.tolist() == [0, 1, 1]


def test_a_thousand_instructions_make_the_tables_grow(tmp_path: Path) -> None:
    warp = [line(16 * i, f"R{i % 200} <- MOV", memory="0") for i in range(3000)] + [line(48000, "EXIT")]
    launch = read(tmp_path, warp, nregs=255)
    assert launch.kernel.instruction_count == 3001
    assert len(launch.kernel.blocks) == 1


def test_buffers_are_written_out_on_the_way(tmp_path: Path) -> None:
    loop = [line(0x10, "R2 <- LDG.E R2", memory="4 0 " + " ".join(hex(a) for a in range(0x10000000000, 0x10000000020)))]
    loop.append(line(0x20, "BRA"))
    warp = [line(0, "R1 <- MOV"), *loop * 2500, line(0x30, "EXIT")]
    text = header() + body([[warp]])
    path = tmp_path / "kernel-1.traceg"
    path.write_text(text)
    launch = read_recording(path).launches[0]
    assert launch.warp_instructions == 5002
    seen = executions(launch)[0, 0]
    assert {e.addresses for e in seen if e.mask} == {tuple(range(0x10000000000, 0x10000000020))}


def test_launches_of_a_kernel_share_what_any_of_them_shows(tmp_path: Path) -> None:
    begin, end = line(0, "R1 <- LDG.E R2", memory="4 1 0x100 4"), line(0x30, "EXIT")
    taken, fallen = [line(0x10, "BRA"), end], [line(0x10, "BRA", mask=0), line(0x20, "R3 <- MOV"), end]
    for number, rest in enumerate((taken, fallen), 1):
        write_trace(tmp_path, [[[begin, *rest]]], f"kernel-{number}.traceg", nregs=16 * number)
    (tmp_path / "kernelslist.g").write_text("kernel-1.traceg\nkernel-2.traceg\n")
    one, two = read_recording(tmp_path / "kernelslist.g").launches
    assert one.kernel is two.kernel
    assert [successors for _, successors in listing(one)] == [(2, 1), (2,), ()]
    assert one.visits.tolist() == [1, 0, 1]
    assert two.visits.tolist() == [1, 1, 1]
    assert one.kernel.register_demand == 32
    for launch, path in ((one, [0, 0x10, 0x30]), (two, [0, 0x10, 0x20, 0x30])):
        seen = executions(launch)[0, 0]
        assert [e.pc for e in seen] == path
        assert seen[0].addresses[0] == 0x100

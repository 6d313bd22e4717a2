"""Machine files: values, sources, and the rejection of invalid files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from warpreg import gpu
from warpreg.ir.errors import UnknownNameError, WarpregError

GEBHART = Path(gpu.machine.FOLDER) / "gebhart.toml"


def edited(tmp_path: Path, old: str, new: str) -> Path:
    """A user's machine: the one of the ISCA paper with one piece of text replaced."""
    text = GEBHART.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(gpu.MachineError) as caught:
        gpu.load(path)
    return str(caught.value)


@pytest.mark.parametrize("name", gpu.names())
def test_each_machine_loads_and_every_number_has_an_origin(name: str) -> None:
    machine = gpu.load(name)
    assert machine.name == name
    assert len(machine.origins) >= 28
    assert all(origin.text for origin in machine.origins.values())


@pytest.mark.parametrize("name", ["gebhart", "gebhart-rfc", "gebhart-orf"])
def test_the_gebhart_machines_hold_32_registers_for_each_of_1024_threads(name: str) -> None:
    machine = gpu.load(name)
    assert machine.register_file.registers == 32 * 1024
    assert machine.warp_registers == 32 * machine.sm.warps
    bank_words = (
        machine.register_file.bytes * 8 // (machine.register_file.banks * machine.register_file.bank_width_bits)
    )
    assert bank_words == 256
    assert machine.schedulers.active_warps == 8


def test_gtx480_as_the_simulator_configures_it() -> None:
    machine = gpu.load("gtx480")
    assert (machine.chip.sms, machine.sm.threads, machine.sm.blocks) == (15, 1536, 8)
    assert machine.register_file.registers == 32768
    assert machine.schedulers.active_warps is None
    assert machine.origins["latency.texture"].assumed
    assert str(machine.origins["chip.sms"]) == "GPGPU-Sim 4.2 config"
    assert str(machine.origins["latency.texture"]).startswith("assumed: ")


def test_a_users_file_is_read_by_path_and_equal_content_has_one_digest(tmp_path: Path) -> None:
    mine = gpu.load(edited(tmp_path, "[chip]", "# a comment\n[chip]"))
    assert mine.name == "mine"
    assert mine.digest == gpu.load("gebhart").digest
    assert mine.digest != gpu.load("gebhart-orf").digest


def test_an_unknown_machine_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="no machine named 'gtx_480'; did you mean 'gtx480'"):
        gpu.load("gtx_480")


def test_a_wrong_key_is_placed_at_its_line_and_the_nearest_is_suggested(tmp_path: Path) -> None:
    path = edited(tmp_path, "\nsms       =", "\nsmss      =")
    line = 1 + next(n for n, text in enumerate(path.read_text(encoding="utf-8").splitlines()) if "smss" in text)
    assert refusal(path) == f"{path}:{line}: chip.smss: expected 'sms', found unknown key 'smss'"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "\nshared   =",
            "\n# shared =",
            "latency.shared: expected an entry (shared memory), found nothing",
        ),
        ("[latency]", "[latencies]", "latencies: expected 'latency', found unknown key 'latencies'"),
        (
            '{ value = 16, unit = "SMs"',
            '{ value = "16", unit = "SMs"',
            "chip.sms: expected a value of type int, found '16'",
        ),
        (
            '{ value = 16, unit = "SMs"',
            '{ value = true, unit = "SMs"',
            "chip.sms: expected a value of type int, found True",
        ),
        ('{ value = 16, unit = "SMs"', '{ value = 0, unit = "SMs"', "chip.sms: expected 1 to 1024 SMs, found 0"),
        (
            '{ value = 16, unit = "SMs"',
            '{ value = 16, unit = "cores"',
            "chip.sms: expected unit 'SMs', found unit 'cores'",
        ),
        ("{ value = 16,", "{ vlaue = 16,", "chip.sms: expected { value = ..., source = ... }, found {'vlaue': 16"),
        (
            ', source = "rfc §2, orf-lrf §1" }',
            " }",
            "chip.sms: expected exactly one of source and assumed, found neither",
        ),
        (
            ', source = "rfc §2, orf-lrf §1" }',
            ', source = " " }',
            "chip.sms: expected exactly one of source and assumed, found neither",
        ),
        (
            'source = "rfc §2, orf-lrf §1" }',
            'source = "a", assumed = "b" }',
            "chip.sms: expected exactly one of source and assumed",
        ),
        (
            'source = "rfc §2, orf-lrf §1" }',
            'source = "a", note = "b" }',
            "chip.sms.note: expected one of value, unit, source, assumed",
        ),
        (
            'value = "two-level"',
            'value = "fair"',
            "schedulers.policy: expected one of lrr, gto, oldest, gty, two-level, found 'fair'",
        ),
        (
            'value = "two-level"',
            'value = "gto"',
            "schedulers.active_warps: expected an entry with policy two-level, and only then, found 8",
        ),
        ("value = 1024, unit", "value = 1000, unit", "sm.threads: expected 32 warps x 32 = 1024, found 1000"),
        ("value = 4, unit", "value = 5, unit", "sm.lanes_per_cluster: expected a divisor of 32, found 5"),
        ("value = 131072", "value = 131070", "register_file.bytes: expected a whole number of 128-bit words"),
        (
            'suspend      = { value = "static"',
            'suspend      = { value = "stall"',
            "schedulers.stall_threshold: expected cycles with suspend stall, and only then, found None",
        ),
        ("active_warps = { value = 8", "active_warps = { value = 33", "schedulers.active_warps: expected at most 32"),
        (
            'kind            = { value = "ideal"',
            'kind            = { value = "banks"',
            "collectors: expected sets of collectors with banks, and only then, found 0 sets",
        ),
        (
            'same_as = { value = "sfu"',
            'same_as = { value = "fp"',
            "pipes.dp.same_as: expected a pipe with units of its own, found 'fp'",
        ),
        ("[pipes.dp]", "[pipes.double]", "pipes.double: expected one of int, fp, sfu"),
        (
            'latency    = { value = 20, unit = "cycles"',
            '# latency  = { value = 20, unit = "cycles"',
            "pipes.sfu.latency: expected cycles, found none",
        ),
        ("units      = { value = 1,", "units      = { value = 0,", "pipes.int.units: expected 1 to 256 units, found 0"),
        ("[chip]", "[chip", ":"),
    ],
)
def test_a_wrong_file_is_refused_with_key_expected_and_found(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = edited(tmp_path, old, new)
    found = refusal(path)
    assert message in found
    assert found.startswith(f"{path}:")


def with_base(tmp_path: Path, base: str, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(f'title = "Mine"\nbase = "{base}"\n{text}', encoding="utf-8")
    return path


def test_a_file_may_say_only_what_differs_from_another_machine(tmp_path: Path) -> None:
    text = '[register_file]\nbytes = { value = 65536, unit = "bytes", assumed = "half of it" }\n'
    mine, whole = gpu.load(with_base(tmp_path, "gtx480", text)), gpu.load("gtx480")
    assert mine.title == "Mine"
    assert (mine.register_file.bytes, whole.register_file.bytes) == (65536, 131072)
    assert mine.register_file.banks == whole.register_file.banks
    assert str(mine.origins["register_file.bytes"]) == "assumed: half of it"
    assert mine.origins["register_file.banks"] == whole.origins["register_file.banks"]
    assert mine.digest != whole.digest


def test_what_does_not_fit_its_base_is_refused_where_it_is_written(tmp_path: Path) -> None:
    path = with_base(tmp_path, "gtx480", '[sm]\nthreads = { value = 1024, unit = "threads", assumed = "fewer" }\n')
    assert refusal(path) == f"{path}:4: sm.threads: expected 48 warps x 32 = 1536, found 1024"
    path = with_base(tmp_path, "gtx_480", "")
    assert refusal(path).startswith(f"{path}:2: base: expected one of ")


def test_a_machine_may_say_how_its_banks_are_sliced(tmp_path: Path) -> None:
    """Without the entries a bank has one slice and takes one row address; a slice is whole bytes of its 1024 bits."""
    entry = 'slices = {{ value = {}, unit = "slices", assumed = "a test" }}'
    path = with_base(tmp_path, "gtx480", f"[register_file]\n{entry.format(4)}")
    assert gpu.load(path).register_file.slices == 4
    assert gpu.load("gtx480").register_file.slices is None
    path = with_base(tmp_path, "gtx480", f"[register_file]\n{entry.format(5)}")
    assert refusal(path).endswith(
        ": register_file.slices: expected a divisor of 128 bytes, the width of a bank, found 5"
    )
    path = with_base(tmp_path, "gtx480", f"[register_file]\n{entry.format(17)}")
    assert refusal(path).endswith(": register_file.slices: expected 1 to 16 slices, found 17")


def test_collectors_serve_every_pipe_that_reads_banks_once(tmp_path: Path) -> None:
    text = '[collectors.sfu]\npipes = { value = ["sfu", "mem"], assumed = "twice" }\n'
    path = with_base(tmp_path, "gtx480", text)
    assert refusal(path) == f"{path}:4: collectors.sfu.pipes: expected pipe mem in 1 of the sets, found sfu and mem"


def test_pipes_of_the_machines_that_peers_describe() -> None:
    """GPGPU-Sim's trace configuration: latency and initiation interval; the TITAN X has no integer units."""
    v100, titanx = gpu.load("v100"), gpu.load("titanx")
    assert (v100.pipes["sfu"].latency, v100.pipes["sfu"].initiation) == (20, 8)
    assert (v100.worker["int"], titanx.worker["int"]) == ("int", "fp")
    assert (v100.pipes["int"].private, v100.pipes["mem"].private) == (True, False)
    assert v100.cycles("int") == 2 + 3
    assert v100.cycles("mem") == 0
    assert v100.collectors["general"].collectors == 2
    assert v100.register_file.is_single_ported
    assert not gpu.load("gebhart").register_file.is_single_ported


def test_the_machines_of_the_papers_differ_from_their_bases_where_the_papers_say_so() -> None:
    corf, bow, larf = gpu.load("corf-fermi"), gpu.load("bow-titanx"), gpu.load("larf-gp102")
    assert (corf.chip.sms, corf.register_file.banks, corf.schedulers.policy) == (15, 4, "two-level")
    assert corf.operand_path.operand_ports == 1
    by_register = gpu.load("corf-fermi-by-register")
    assert (corf.register_file.mapping, by_register.register_file.mapping) == ("register+warp", "register")
    assert dataclasses.replace(by_register.register_file, mapping="register+warp") == corf.register_file
    assert {name: one.collectors for name, one in corf.collectors.items()} == {"general": 4}
    fermi, volta, titanv = gpu.load("bow-fermi"), gpu.load("bow-volta"), gpu.load("titanv")
    assert (fermi.operand_path.operand_ports, fermi.collectors["general"].collectors) == (1, 6 + 8 + 2)
    assert (volta.operand_path.operand_ports, titanv.operand_path.operand_ports) == (1, 0)
    assert (volta.chip.sms, volta.chip.clock_mhz, volta.register_file.banks) == (80, 1200, 8)
    assert (bow.chip.sms, bow.sm.warps, bow.register_file.banks, bow.operand_path.operand_ports) == (56, 32, 32, 1)
    assert {name: (one.collectors, one.in_ports) for name, one in bow.collectors.items()} == {
        "sp": (20, 4), "sfu": (4, 1), "mem": (8, 1),
    }  # fmt: skip
    assert (bow.latency.shared, bow.load_store.entries, bow.pipes["sfu"].latency) == (3, 2, 8)
    assert bow.memory.l1 is not None
    assert bow.memory.l2 is not None
    assert (bow.memory.l1.latency, bow.memory.l1.ways, bow.memory.l2.spread) == (1, 6, "consecutive")
    assert gpu.load("bow-titanx-ideal").operand_path.kind == "ideal"
    assert (larf.chip.sms, larf.warp_registers, larf.schedulers.policy) == (28, 2048, "lrr")
    assert (larf.collectors["general"].collectors, larf.register_file.private_banks) == (16, False)
    halves = [gpu.load(name).warp_registers for name in ("regmutex-gtx480", "regmutex-gtx480-half")]
    assert halves == [1024, 512]
    fermi = gpu.load("regmutex-gtx480")
    assert fermi.collectors["sp"].pipes == ("fp", "dp")
    assert (fermi.pipes["dp"].units, fermi.pipes["dp"].initiation, fermi.operand_path.operand_ports) == (2, 8, 1)
    assert fermi.memory.l1 is not None
    assert (fermi.latency.shared, fermi.memory.l1.latency, fermi.memory.l1.miss_lines) == (3, 1, 32)
    assert gpu.load("tfet").warp_registers == 512
    assert gpu.load("gtx980-two-level").schedulers.active_warps == 4
    assert gpu.load("gtx980-two-level").schedulers.suspend == "pending"
    assert (gpu.load("gtx980").latency.shared, gpu.load("titanx").latency.shared) == (3, 24)


def test_a_machine_can_drop_tables_of_its_base(tmp_path: Path) -> None:
    ideal = '[operand_path]\nkind = { value = "ideal", assumed = "a test" }\n'
    path = with_base(tmp_path, "gtx480", f'drop = ["collectors"]\n{ideal}')
    assert gpu.load(path).collectors == {}
    assert gpu.load(path).operand_path.dispatch_cycles == 3
    assert refusal(with_base(tmp_path, "gtx480", ideal)).endswith("found 3 sets")
    for wrong, found in (('["collector"]', "'collector'"), ("3", "3")):
        path = with_base(tmp_path, "gtx480", f"drop = {wrong}\n")
        assert refusal(path).startswith(f"{path}:3: drop: expected tables of the base: chip, sm, ")
        assert refusal(path).endswith(f"found {found}")


OWN_UNITS = """
units      = { value = 2, unit = "units", assumed = "a test" }
private    = { value = false, assumed = "a test" }
initiation = { value = 16, unit = "cycles", assumed = "a test" }
latency    = { value = 8, unit = "cycles", assumed = "a test" }
"""
F64_COLLECTORS = '[collectors.sp]\npipes = { value = ["fp", "dp"], assumed = "a test" }\n'


def test_a_machine_can_give_units_to_a_pipe_that_has_none_in_its_base(tmp_path: Path) -> None:
    """The GTX 480's f64 instructions go to its SFU (`same_as`); here they have units with their own interval."""
    mine = gpu.load(with_base(tmp_path, "gtx480", f"{F64_COLLECTORS}[pipes.dp]{OWN_UNITS}"))
    assert (mine.worker["dp"], gpu.load("gtx480").worker["dp"]) == ("dp", "sfu")
    assert (mine.pipes["dp"].units, mine.pipes["dp"].initiation, mine.pipes["dp"].latency) == (2, 16, 8)
    assert "pipes.dp.same_as" not in mine.origins


def test_a_machine_can_give_the_work_of_a_pipe_of_its_base_to_another(tmp_path: Path) -> None:
    """The TITAN X has f64 units; `same_as` replaces them as a whole, and another one that of the base."""
    same_as = '[pipes.dp]\nsame_as = { value = "fp", assumed = "a test" }\n'
    general = '[collectors.general]\npipes = { value = ["fp", "sfu", "mem"], assumed = "a test" }\n'
    mine = gpu.load(with_base(tmp_path, "titanx", same_as + general))
    assert (mine.worker["dp"], gpu.load("titanx").worker["dp"]) == ("fp", "dp")
    assert "dp" not in mine.pipes
    assert gpu.load(with_base(tmp_path, "gtx480", same_as)).worker["dp"] == "fp"


def test_a_pipe_has_either_units_or_the_pipe_that_does_its_work(tmp_path: Path) -> None:
    latency = 'latency = { value = 8, unit = "cycles", assumed = "a test" }'
    path = with_base(tmp_path, "gtx480", f"[pipes.dp]\n{latency}\n")
    assert refusal(path).startswith(f"{path}:3: pipes.dp.units: expected an entry (units")
    both = f'same_as = {{ value = "fp", assumed = "a test" }}\n{latency}'
    path = with_base(tmp_path, "gtx480", f"[pipes.dp]\n{both}\n")
    assert refusal(path).startswith(f"{path}:4: pipes.dp.same_as: expected ")


def test_a_syntax_error_names_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text('title = "x"\n[chip\n', encoding="utf-8")
    assert refusal(path).startswith(f"{path}:2:")


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    assert "expected a readable TOML file, found No such file" in refusal(tmp_path / "none.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "found bytes that are not UTF-8" in refusal(binary)


def test_all_refusals_belong_to_the_one_family() -> None:
    assert issubclass(gpu.MachineError, WarpregError)
    assert issubclass(gpu.OccupancyError, WarpregError)


@pytest.mark.parametrize(
    ("section", "text", "message"),
    [
        ("register_file", 'bank_read_ports = { value = 4, unit = "ports"', "expected 1 to 3 with a read window, found"),
        ("register_file", "private_banks = { value = false", "expected banks of each scheduler with a read window"),
        ("schedulers", 'issue_width = { value = 2, unit = "instructions"', "expected 1 with a read window, found 2"),
        ("register_file", 'steps_per_cycle = { value = 2, unit = "steps"', "expected 1 with a read window, found 2"),
        ("pipes.fp", 'latency = { value = 2, unit = "cycles"', "pipes.fp.latency: expected at least 3"),
        ("pipes.fp", 'queue = { value = 2, unit = "instructions"', "pipes.fp.queue: expected queue and lead"),
        ("schedulers", 'dependences = { value = "stalls"', "expected one of scoreboard, control, found 'stalls'"),
    ],
)  # fmt: skip
def test_a_read_window_needs_its_own_numbers(tmp_path: Path, section: str, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'title = "Mine"\nbase = "h100"\n[{section}]\n{text}, assumed = "a test" }}\n')
    with pytest.raises(gpu.MachineError, match=message):
        gpu.load(path)


def test_queues_and_a_window_belong_together(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "Mine"\nbase = "gtx480"\n[operand_path]\nread_cycles = { value = 3, unit = "cycles", assumed = "a" }\n'
    )
    with pytest.raises(
        gpu.MachineError, match=r"read_cycles: expected cycles with a read window, and only then, found 3"
    ):
        gpu.load(path)

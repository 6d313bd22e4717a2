"""The references of the ISPASS workloads by hand."""

import hashlib
from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size
from warpreg.workloads.ispass.aes.tables import inverse_round_keys, inverse_sbox, mixed, round_keys, sbox
from warpreg.workloads.ispass.wp.columns import CLASSES, Columns
from warpreg.workloads.workload import Array

DRY = ("cloud", "ice", "rain", "snow")


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, {key: np.array(value) for key, value in inputs.items()})


def test_lps_averages_the_six_neighbours_of_inner_cells() -> None:
    field = np.arange(27.0).reshape(3, 3, 3) ** 2
    found = reference("lps", {"steps": 1}, field=field)["field"]
    # Neighbours of cell 13 are 12, 14, 10, 16, 4 and 22
    expected = field.copy()
    expected[1, 1, 1] = (144 + 196 + 100 + 256 + 16 + 484) / 6
    assert np.array_equal(found, expected.astype(np.float32))


def test_nqu_has_two_boards_of_six_in_each_half() -> None:
    size = {"n": 6, "host_rows": 1}
    inputs = workloads.find("nqu").inputs(size, np.random.default_rng(0))
    # Queens in the first row at columns 0, 1 and 2; of the four solutions only one starts at 1 and one at 2
    assert sorted(inputs["columns"].tolist()) == [1, 2, 4]
    found = reference("nqu", size, **inputs)
    assert found["block_sums"].tolist() == [2]
    assert found["solutions"] == 4


def test_aes_of_the_standards_examples() -> None:
    # FIPS 197, appendices C.1 and C.3
    data = np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), np.uint8).reshape(1, 16)
    keys = {f"key_{bits}": np.arange(bits // 8, dtype=np.uint8) for bits in (128, 256)}
    found = reference("aes", {"blocks": 1}, data=data, **keys)
    assert found["cipher_128"].tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    assert found["cipher_256"].tobytes().hex() == "8ea2b7ca516745bfeafc49904b496089"


def test_aes_tables() -> None:
    # FIPS 197, 4.2 and figure 7: S-box of 0x53; columns db 13 53 45 are mixed to 8e 4d a1 bc
    assert sbox()[0x53] == 0xED
    assert inverse_sbox()[0xED] == 0x53
    column = np.array([0xDB, 0x13, 0x53, 0x45], np.uint8)
    assert mixed(column, (2, 3, 1, 1)).tolist() == [0x8E, 0x4D, 0xA1, 0xBC]
    assert mixed(mixed(column, (2, 3, 1, 1)), (14, 11, 13, 9)).tolist() == column.tolist()
    key = np.arange(16, dtype=np.uint8)
    assert np.array_equal(inverse_round_keys(key)[0], round_keys(key)[-1])


def test_sto_hashes_pieces_and_windows() -> None:
    # RFC 1321 and RFC 3174 on nothing but zeros: MD5 and SHA-1 of 64 zero bytes, and windows two bytes apart
    data = np.zeros(2 * 64 + 4, np.uint8)
    data[65] = 1
    found = reference("sto", {"pieces": 2, "bytes": 64, "step": 2}, data=data)
    assert found["md5"][0].tobytes() == hashlib.md5(bytes(64)).digest()
    assert found["md5"][1].tobytes() == hashlib.md5(b"\0\1" + bytes(62)).digest()
    assert found["md5_overlap"][1].tobytes() == hashlib.md5(bytes(63) + b"\1").digest()
    assert found["sha1"][0].tobytes().hex() == "c8d7d0ef0eedfa82d2ea1aa592845b9a6d4b02b7"


def test_lib_without_volatility_is_a_swaption_on_flat_rates() -> None:
    # Rates stay 0.05 a year, quarters of 1.25%: one swaption over two quarters at 1% a year is paid 100 times
    # 1 - b^2 - 0.25 * 0.01 (b + b^2), with b = 1 / 1.0125, discounted over one quarter more.
    bond = 1 / 1.0125
    size = {"rates": 3, "steps": 1, "options": 1, "paths": 1}
    inputs = {"normals": np.ones((1, 1), np.float32), "volatilities": np.zeros(3, np.float32), "maturities": [2]}
    found = reference("lib", size, **inputs, swap_rates=np.array([0.01], np.float32))
    swap = bond**2 + 0.0025 * (bond + bond**2) - 1
    assert found["values"] == pytest.approx(-100 * swap * bond)
    # d b2 / d rate = -0.25 b2 / 1.0125
    assert found["derivatives"] == pytest.approx(100 * 1.0025 * 0.25 * bond**3 * bond)


def test_ray_to_a_dark_square_and_on_to_the_sky() -> None:
    # Along the camera, tilted by 0.25, the plane is met 2.5 / sin(0.25) away at z = 2.79, where squares are dark.
    sine, cosine = np.sin(0.25), np.cos(0.25)
    far_away = [[100, 1, 0, 1, 1, 1, 1, 0.5]]
    size = {"width": 1, "height": 1, "spheres": 1}
    found = reference("ray", size, spheres=far_away, light=[5, 9, -6])["image"][0, 0]
    to_light = np.array([5, 9, -6 - (2.5 / sine * cosine - 7)])
    to_light /= np.linalg.norm(to_light)
    highlight = 0.5 * max(to_light @ [0, sine, cosine], 0) ** 20
    own = 0.8 * (np.array([0.2, 0.2, 0.25]) * (0.15 + 0.85 * to_light[1]) + highlight)
    sky = 0.2 * (0.5 + 0.5 * sine) * np.array([0.5, 0.7, 1])
    assert np.abs(found[:3] - 255 * (own + sky)).max() <= 1
    assert found[3] == 255


def test_wp_keeps_the_mass_of_water() -> None:
    workload = workloads.find("wp")
    inputs = workload.inputs(workload.sizes["tiny"], np.random.default_rng(2))
    columns = Columns({name: array.astype(np.float64) for name, array in inputs.items()})

    def mass() -> Array:
        water = sum(columns.state[name] for name in CLASSES[1:])
        return (water * inputs["density"] * inputs["thickness"]).sum(axis=0)

    before = mass()
    columns.advance(60.0)
    assert (columns.ground > 0).any()
    assert mass() + columns.ground == pytest.approx(before, rel=1e-9)


def test_wp_condenses_what_air_cannot_hold() -> None:
    # At 273.15 K and 61,078 Pa vapour at 610.78 Pa saturates air: 0.622 / 99. Of 1e-4 kg more a part condenses to first
    # order, 1 / (1 + L^2 q / R c T^2) with L = 2.5e6, R = 461.5 and c = 1004.5 (1 + 0.8 q): the rest stays as it warms.
    saturated = 0.622 / 99
    vapour = saturated + 1e-4
    state = {"temperature": 273.15, "pressure": 61_078.0, "density": 0.78, "thickness": 300.0, "vapour": vapour}
    columns = Columns({name: np.full((1, 1), number) for name, number in (state | dict.fromkeys(DRY, 0.0)).items()})
    columns.advance(60.0)
    heat = 1004.5 * (1 + 0.8 * vapour)
    condensed = 1e-4 / (1 + 2.5e6**2 * saturated / (461.5 * heat * 273.15**2))
    assert columns.state["cloud"] == pytest.approx(condensed)
    assert columns.state["temperature"] == pytest.approx(273.15 + 2.5e6 / heat * condensed)

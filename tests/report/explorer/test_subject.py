"""Requests of a page: what they may choose, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.report.explorer.samples import SUBJECT, TEXT, request

from warpreg.ir.errors import WarpregError
from warpreg.report.explorer.subject import read_edit


def test_a_request_is_a_text_with_options() -> None:
    page, edit = read_edit(request(text="a\r\nb\rc", max_registers=16, schedule=False, designs={"rfc": {}}), SUBJECT)
    assert (page, edit.text, edit.codes) == ("1", "a\nb\nc", ("warpreg",))
    assert (edit.choice.max_registers, edit.choice.schedule, edit.choice.address_bits) == (16, False, 64)
    assert edit.designs == {"rfc": {}}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"text": 1}, "text: expected str, found 1"),
        ({"page": None}, "page: expected str, found None"),
        ({"schedule": "no"}, "schedule: expected bool, found 'no'"),
        ({"max_registers": 4}, "max_registers: expected 8 to 255, found 4"),
        ({"max_registers": True}, "max_registers: expected int, found True"),
        ({"address_bits": 16}, "address_bits: expected 32 or 64, found 16"),
        ({"shown": "sm_80"}, "no code named 'sm_80'"),
        ({"shown": "--version"}, "no code named '--version'"),
        ({"designs": {"/tmp/other.py": {}}}, "no design named '/tmp/other.py'"),
        ({"designs": {"rfc": {"entries": 3}}}, "designs: expected texts by parameter for rfc"),
        ({"designs": {"rfc": []}}, "designs: expected texts by parameter for rfc"),
        ({"designs": {str(number): {} for number in range(9)}}, "designs: expected at most 8, found 9"),
    ],
)
def test_anything_else_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(WarpregError) as caught:
        read_edit(request(**changed), SUBJECT)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"3", b"\xff", TEXT.encode()])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(WarpregError, match=r"expected (JSON|str)"):
        read_edit(body, SUBJECT)

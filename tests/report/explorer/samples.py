"""Sources that the tests of the explorer show."""

from __future__ import annotations

import json
from typing import Any

from warpreg.evaluation.runs.run import CompileChoice
from warpreg.report.explorer.subject import OWN, PTX, Subject

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %a, %b;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    mov.u32 %a, %tid.x;
    mul.lo.u32 %b, %a, %a;
    xor.b32 %b, %b, %a;
    st.global.u32 [%out], %b;
    ret;
}
"""
SUBJECT = Subject("k.ptx", PTX, TEXT, CompileChoice(), designs=("mrf", "orf-lrf", "regmutex", "rfc"))


def request(subject: Subject = SUBJECT, **changed: Any) -> bytes:
    """What the page sends when it is opened."""
    options = {"max_registers": None, "schedule": True, "address_bits": 64}
    return json.dumps({"page": "1", "text": subject.text, "shown": OWN, "designs": {}, **options, **changed}).encode()

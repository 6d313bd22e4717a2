"""Random PTX kernels with structured control flow that parts the lanes of a warp: ifs, loops, breaks, early exits."""

from __future__ import annotations

import random

HEADER = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry parted(.param .u64 out)
{
.reg .u32 %r<9>; .reg .u32 %i<99>; .reg .u64 %a<3>; .reg .pred %p<999>;
.shared .align 4 .u32 total;
ld.param.u64 %a0, [out];
mov.u32 %r0, %tid.x;
mul.wide.u32 %a1, %r0, 16;
add.u64 %a0, %a0, %a1;
mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r1, %r1, 77, %r0;
mul.lo.u32 %r2, %r1, 2654435761;
xor.b32 %r3, %r2, 12345;
setp.ne.u32 %p0, %r0, 0;
@!%p0 st.shared.u32 [total], 0;
bar.sync 0;
"""

STORE = """
st.global.v4.u32 [%a0], {%r1, %r2, %r3, %r4};
ret;
"""

FOOTER = f"""
bar.sync 0;
ld.shared.u32 %r4, [total];
{STORE}
}}
"""


class Program:
    """One random kernel; ``out`` gets four words for each thread of a block."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.labels = 0
        self.loops = 0
        self.predicates = 1

    def text(self) -> str:
        for _ in range(4):
            self.statement(0, None)
        return HEADER + "\n".join(self.lines) + FOOTER

    def statement(self, depth: int, loop: tuple[str, str] | None) -> None:
        """A statement; ``loop`` are the labels to which a break and a continue go."""
        choices = ["compute", "compute", "count"]
        choices += ["if", "if", "loop"] if depth < 3 else []
        choices += ["break", "continue"] if loop else []
        choices += ["exit"] if depth and self.random.random() < 0.2 else []
        kind = self.random.choice(choices)
        if kind in ("break", "continue"):
            assert loop is not None
            self.lines.append(f"@{self.condition()} bra {loop[kind == 'continue']};")
        elif kind == "if":
            self.choice(depth, loop)
        elif kind == "loop":
            self.loop(depth)
        elif kind == "exit":
            self.exit()
        elif kind == "count":
            self.lines.append(f"red.shared.add.u32 [total], {self.register()};")
        else:
            self.compute()

    def block(self, depth: int, loop: tuple[str, str] | None) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1, loop)

    def compute(self) -> None:
        a, b = self.register(), self.register()
        number = self.random.randrange(1, 1 << 16)
        self.lines.append(
            self.random.choice(
                (
                    f"mad.lo.u32 {a}, {b}, {number}, {self.register()};",
                    f"xor.b32 {a}, {a}, {b};",
                    f"add.u32 {a}, {b}, {number};",
                    f"shf.l.wrap.b32 {a}, {a}, {b}, 7;",
                    f"min.s32 {a}, {b}, {number};",
                )
            )
        )

    def choice(self, depth: int, loop: tuple[str, str] | None) -> None:
        other, end = self.label(), self.label()
        self.lines.append(f"@{self.condition()} bra {other};")
        self.block(depth, loop)
        self.lines += [f"bra {end};", f"{other}:"]
        if self.random.random() < 0.6:
            self.block(depth, loop)
        self.lines.append(f"{end}:")

    def loop(self, depth: int) -> None:
        """At most seven rounds, by thread."""
        head, onward, end = self.label(), self.label(), self.label()
        counter = f"%i{self.loops}"
        self.loops += 1
        self.lines += [f"and.b32 {counter}, {self.register()}, 7;", f"{head}:"]
        done = self.predicate()
        self.lines += [f"setp.eq.u32 {done}, {counter}, 0;", f"@{done} bra {end};", f"sub.u32 {counter}, {counter}, 1;"]
        self.block(depth, (end, onward))
        self.lines += [f"{onward}:", f"bra {head};", f"{end}:"]

    def exit(self) -> None:
        end = self.label()
        self.lines += [f"@{self.condition()} bra {end};", "mov.u32 %r4, 4;", STORE, f"{end}:"]

    def condition(self) -> str:
        """A new predicate that holds in some threads."""
        found, bits = self.predicate(), self.random.choice((1, 3, 7, 12, 31))
        self.lines.append(f"and.b32 %r5, {self.register()}, {bits};")
        self.lines.append(
            f"setp.{self.random.choice(('eq', 'ne', 'gt'))}.u32 {found}, %r5, {self.random.choice((0, 1, 4))};"
        )
        return found

    def register(self) -> str:
        return self.random.choice(("%r1", "%r2", "%r3"))

    def predicate(self) -> str:
        self.predicates += 1
        return f"%p{self.predicates}"

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

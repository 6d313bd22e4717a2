"""The modifiers that the interpreter knows of each opcode; any other makes an instruction unknown."""

from __future__ import annotations

from tests.machine_code.reference.text import Instruction

ROUNDED = "RN RZ RM RP FTZ SAT"
COMPARED = "LT LE GT GE EQ NE AND OR XOR"
ORDERED = f"{COMPARED} LTU LEU GTU GEU EQU NEU NUM NAN T F FTZ"
MEMORY = (
    "E U8 S8 U16 S16 32 64 128 CONSTANT STRONG WEAK GPU SM SYS CTA EF EL EU EN NA LU LTC64B LTC128B LTC256B U PRIVATE"
)
ATOMIC = "E ADD MIN MAX AND OR XOR EXCH CAS CAST SPIN INC DEC POPC "
ATOMIC += "32 64 128 S32 S64 U32 F32 F64 FTZ RN STRONG GPU SM SYS CTA"
KNOWN = {
    "IADD3": "X", "UIADD3": "X", "IMAD": "MOV U32 IADD SHL X WIDE HI S32", "UIMAD": "MOV U32 IADD SHL X WIDE HI S32",
    "LEA": "HI X SX32", "ULEA": "HI X SX32", "SHF": "L R U32 S32 U64 S64 HI W", "USHF": "L R U32 S32 U64 S64 HI W",
    "ISETP": f"{COMPARED} U32 EX", "UISETP": f"{COMPARED} U32 EX", "IMNMX": "U32", "VIMNMX": "U32 U16x2 S16x2 RELU",
    "VIMNMX3": "U32", "VIADDMNMX": "U32", "VABSDIFF": "U32", "FLO": "U32 SH", "UFLO": "U32 SH", "BMSK": "W",
    "UBMSK": "W",
    "SGXT": "U32 W", "USGXT": "U32 W", "IDP": "2A 4A LO HI U8 S8 U16 S16", "I2I": "U8 S8 U16 S16 S32 U32 SAT",
    "LOP3": "LUT PAND", "ULOP3": "LUT PAND", "PLOP3": "LUT", "UPLOP3": "LUT", "PRMT": "F4E B4E RC8 ECL ECR RC16",
    "MOV": "U32", "UMOV": "U32",
    "FADD": ROUNDED, "FMUL": f"{ROUNDED} D2 D4 D8 M2 M4 M8", "FFMA": ROUNDED, "DADD": ROUNDED, "DMUL": ROUNDED,
    "DFMA": ROUNDED, "FSETP": ORDERED, "DSETP": f"{ORDERED} MIN MAX", "FSET": f"{ORDERED} BF",
    "FMNMX": "FTZ NAN XORSIGN", "FSEL": "FTZ",
    "F2I": "FTZ NTZ U8 S8 U16 S16 U32 S32 U64 S64 F16 F32 F64 FLOOR CEIL TRUNC",
    "I2F": "U8 S8 U16 S16 U32 S32 U64 S64 F16 F32 F64 RN RZ RM RP", "I2FP": "F32 S32 U32 RN RZ RM RP",
    "F2F": "F16 F32 F64 BF16 FTZ SAT RN RZ RM RP", "FRND": "F16 F32 F64 FTZ SAT FLOOR CEIL TRUNC",
    "F2FP": "F16 BF16 F32 TF32 E4M3 E5M2 PACK_AB PACK_B MERGE_C PACK_AB_MERGE_C UNPACK_B UNPACK_B_MERGE_C RN RZ RELU "
    "SATFINITE",
    "HADD2": "BF16_V2 FTZ SAT RELU F32", "HMUL2": "BF16_V2 FTZ SAT RELU", "HFMA2": "BF16_V2 FTZ SAT RELU MMA",
    "HMNMX2": "BF16_V2 FTZ NAN XORSIGN", "HSETP2": f"{ORDERED} BF16_V2", "HSET2": f"{ORDERED} BF16_V2 BF",
    **dict.fromkeys(("LD", "LDG", "LDS", "LDL", "ST", "STG", "STS", "STL", "LDC", "ULDC"), MEMORY),
    **dict.fromkeys(("ATOM", "ATOMG", "ATOMS", "RED", "REDG"), ATOMIC), "QSPC": "E S L G",
    "LDGSTS": "E BYPASS 32 64 128 LTC64B LTC128B LTC256B ZFILL", "TEX": "SCR LL LZ", "TLD": "SCR LL LZ",
    "LDSM": "16 M88 MT88 2 4", "CS2R": "32", "B2R": "RESULT",
    "VOTE": "ANY ALL EQ", "VOTEU": "ANY ALL EQ", "SHFL": "UP DOWN BFLY IDX", "MATCH": "ANY ALL U32 U64",
    "REDUX": "SUM MIN MAX AND OR XOR S32 U32",
    "BRA": "DIV CONV U", "CALL": "REL NOINC", "RET": "REL NODEC", "WARPSYNC": "ALL COLLECTIVE EXCLUSIVE",
    "BAR": "SYNC ARV RED POPC AND OR DEFER_BLOCKING",
    "DEPBAR": "LE", "MEMBAR": "ALL SC CTA GPU SYS VC", "CCTL": "E PF1 PF2 PF1_5 RML2 PML2 DML2 WB RS IVALL",
    "ERRBAR": "", "CGAERRBAR": "",
    "MUFU": "RCP RSQ LG2 EX2 SIN COS SQRT TANH RCP64H RSQ64H",
}  # fmt: skip
SETS = {opcode: frozenset(text.split()) for opcode, text in KNOWN.items()}


def expect_known(i: Instruction) -> None:
    """Raises UnknownCode for a modifier that has no meaning here."""
    unknown = set(i.modifiers) - SETS.get(i.opcode, frozenset())
    if unknown:
        raise i.unknown(", ".join(sorted(unknown)))

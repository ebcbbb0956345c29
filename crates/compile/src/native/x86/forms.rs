//! The vector instructions in use, by opcode.

use super::encode::{Form, Length};
use crate::instruction::{Code, Test};

/// An instruction of map 0F with prefix 66: most packed ones.
const fn packed(opcode: u8) -> Form {
    Form { map: 1, prefix: 1, opcode, w: false }
}

/// The scalar instruction beside a packed one: prefix F2 instead of 66, or for fused products the next opcode.
pub(super) const fn scalar(form: Form) -> Form {
    if form.map == 1 { Form { prefix: 3, ..form } } else { Form { opcode: form.opcode + 1, ..form } }
}

/// `vmovupd` from and to memory.
pub(super) const LOAD: Form = packed(0x10);
pub(super) const STORE: Form = packed(0x11);
/// One number in all lanes: `vbroadcastsd`, or for two lanes `vmovddup`.
pub(super) const fn broadcast(length: Length) -> Form {
    match length {
        Length::L128 => Form { map: 1, prefix: 3, opcode: 0x12, w: false },
        _ => Form { map: 2, prefix: 1, opcode: 0x19, w: false },
    }
}
/// `vmovhpd` from memory: the upper one of two lanes.
pub(super) const LOAD_UPPER: Form = packed(0x16);
/// `vinsertf128`; with an EVEX prefix `vinsertf64x2`.
pub(super) const INSERT: Form = Form { map: 3, prefix: 1, opcode: 0x18, w: false };
/// `vgatherdpd`, AVX-512.
pub(super) const GATHER: Form = Form { map: 2, prefix: 1, opcode: 0x92, w: true };
/// `vpermpd` and `vpermi2pd`, AVX-512: lanes of one row and of two, by the lanes of a table.
pub(super) const PERMUTE: Form = Form { map: 2, prefix: 1, opcode: 0x16, w: true };
pub(super) const PERMUTE_TWO: Form = Form { map: 2, prefix: 1, opcode: 0x77, w: true };
/// `vmovdqu`; with an EVEX prefix `vmovdqu64`.
pub(super) const LOAD_INTEGERS: Form = Form { map: 1, prefix: 2, opcode: 0x6F, w: false };
pub(super) const SQRT: Form = packed(0x51);
/// `vcmppd`.
pub(super) const CMP: Form = packed(0xC2);
/// `vucomisd`.
pub(super) const COMPARE_FLAGS: Form = packed(0x2E);
/// `vpsllq` and `vpsrlq` by a number, distinguished by the first register's place: 6 and 2.
pub(super) const SHIFT: Form = packed(0x73);
/// `vmovmskpd`.
pub(super) const SIGNS: Form = packed(0x50);
/// `vpmovq2m`, AVX-512.
pub(super) const SIGN_MASK: Form = Form { map: 2, prefix: 2, opcode: 0x39, w: false };
/// `vblendmpd`, AVX-512.
pub(super) const BLEND_MASK: Form = Form { map: 2, prefix: 1, opcode: 0x65, w: false };
/// `vblendvpd`, AVX.
pub(super) const BLEND_SIGN: Form = Form { map: 3, prefix: 1, opcode: 0x4B, w: false };
/// `vroundpd` and `vroundsd`; with an EVEX prefix `vrndscalepd` and `vrndscalesd`, the same for modes 8 and 9.
pub(super) const ROUND: Form = Form { map: 3, prefix: 1, opcode: 0x09, w: false };
pub(super) const ROUND_SCALAR: Form = Form { map: 3, prefix: 1, opcode: 0x0B, w: false };

/// Fused products in the forms 132, 213 and 231. With d the destination and s, t the sources in this order:
/// d·t + s, s·d + t, s·t + d.
const fn fused(opcode: u8) -> [Form; 3] {
    const fn form(opcode: u8) -> Form {
        Form { map: 2, prefix: 1, opcode, w: true }
    }
    [form(opcode), form(opcode + 0x10), form(opcode + 0x20)]
}

pub(super) const MUL_ADD: [Form; 3] = fused(0x98);
pub(super) const MUL_SUB: [Form; 3] = fused(0x9A);
pub(super) const NEG_MUL_ADD: [Form; 3] = fused(0x9C);
pub(super) const NEG_MUL_SUB: [Form; 3] = fused(0x9E);

/// `vpternlogq`, AVX-512: any function of three bits.
pub(super) const TERNARY: Form = Form { map: 3, prefix: 1, opcode: 0x25, w: true };

/// The table of d ^ (s & t) for [`TERNARY`], with d the destination and s, t the sources; and of s ^ (d & t).
pub(super) const XOR_AND: [u8; 2] = [0x78, 0x6C];

/// The instruction of a code with two arguments.
pub(super) fn binary(code: Code) -> Form {
    packed(match code {
        Code::Add => 0x58,
        Code::Mul => 0x59,
        Code::Sub => 0x5C,
        Code::Min => 0x5D,
        Code::Div => 0x5E,
        Code::Max => 0x5F,
        Code::And => 0x54,
        Code::AndNot => 0x55,
        Code::Or => 0x56,
        Code::Xor => 0x57,
        Code::AddInt => 0xD4,
        Code::SubInt => 0xFB,
        _ => unreachable!("{code:?} is not an instruction of two arguments"),
    })
}

/// The number of a comparison in `vcmppd`; `swapped` for b against a. None of them signals for quiet NaN.
pub(super) fn predicate(test: Test, swapped: bool) -> u8 {
    match (test, swapped) {
        (Test::Equal, _) => 0x00,
        (Test::Differ, _) => 0x04,
        (Test::Less, false) => 0x11,
        (Test::LessEqual, false) => 0x12,
        (Test::NotLess, false) => 0x15,
        (Test::NotLessEqual, false) => 0x16,
        (Test::Less, true) => 0x1E,
        (Test::LessEqual, true) => 0x1D,
        (Test::NotLess, true) => 0x1A,
        (Test::NotLessEqual, true) => 0x19,
    }
}

/// The test that holds where this one does not.
pub(super) fn opposite(test: Test) -> Test {
    match test {
        Test::Less => Test::NotLess,
        Test::NotLess => Test::Less,
        Test::LessEqual => Test::NotLessEqual,
        Test::NotLessEqual => Test::LessEqual,
        Test::Equal => Test::Differ,
        Test::Differ => Test::Equal,
    }
}

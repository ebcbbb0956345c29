//! Every encoding against the system's assembler.

use super::encode::{Encoder, Form, General, Length, Memory, Rm};
use super::forms;
use crate::instruction::{Code, Test};
use crate::native::Isa;
use std::process::Command;

/// Overwrites registers that a function may overwrite, so that what native code fails to keep across calls shows:
/// library functions leave most of them alone.
pub(super) fn spoil_registers() {
    if Isa::Avx512.available() {
        // SAFETY: the processor has the instructions, and every register written may be.
        unsafe {
            std::arch::asm!(
                ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
                "vpxorq zmm\\n, zmm\\n, zmm\\n",
                ".endr",
                "kxnorw k1, k1, k1",
                clobber_abi("sysv64"),
                options(nomem, nostack),
            );
        }
    }
    // SAFETY: every register written may be.
    unsafe {
        std::arch::asm!(
            ".irp r, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11",
            "mov \\r, -1",
            ".endr",
            clobber_abi("sysv64"),
            options(nomem, nostack),
        );
    }
}

/// Bytes written here, and the same instruction as text.
type Sample = (Vec<u8>, String);

const BASES: [(General, &str); 4] =
    [(General::Rdi, "rdi"), (General::Rsi, "rsi"), (General::Rdx, "rdx"), (General::Rcx, "rcx")];

/// Around the ends of what 8 bits reach in units of 1, 8, 16, 32 and 64 bytes, and what is no multiple of a unit.
const DISPLACEMENTS: [i32; 24] = [
    0,
    1,
    8,
    60,
    64,
    120,
    127,
    128,
    -8,
    -128,
    -129,
    -136,
    1016,
    1024,
    -1024,
    -1032,
    4064,
    4096,
    -4096,
    8128,
    8192,
    -8192,
    -8256,
    123_456_789,
];

fn name(register: u8, length: Length) -> String {
    let prefix = match length {
        Length::L128 => 'x',
        Length::L256 => 'y',
        Length::L512 => 'z',
    };
    format!("{prefix}mm{register}")
}

fn bytes(length: Length) -> i32 {
    match length {
        Length::L128 => 16,
        Length::L256 => 32,
        Length::L512 => 64,
    }
}

fn text(rm: Rm, length: Length) -> String {
    match rm {
        Rm::Register(register) => name(register, length),
        Rm::Memory(Memory { base, displacement, size, broadcast }) => {
            let base = BASES.iter().find(|(b, _)| *b == base).unwrap().1;
            let width = match size {
                8 => "qword",
                16 => "xmmword",
                32 => "ymmword",
                _ => "zmmword",
            };
            let all = if broadcast { format!("{{1to{}}}", bytes(length) / 8) } else { String::new() };
            format!("{width} ptr [{base}{displacement:+}]{all}")
        }
    }
}

/// Registers and memory operands of an instruction that reads `size` bytes.
fn operands(size: i32, broadcast: bool, registers: u8) -> Vec<Rm> {
    let mut list: Vec<Rm> = (0..registers).map(Rm::Register).collect();
    for (i, displacement) in DISPLACEMENTS.into_iter().enumerate() {
        for (k, (base, _)) in BASES.into_iter().enumerate() {
            // Every displacement with two bases, every base with many displacements.
            if (i + k) % 2 == 0 {
                list.push(Rm::Memory(Memory { base, displacement, size, broadcast: false }));
                if broadcast {
                    list.push(Rm::Memory(Memory { base, displacement, size: 8, broadcast }));
                }
            }
        }
    }
    list
}

/// Writes an instruction with the prefix named in its text.
fn sample(evex: bool, mnemonic: &str, operands: &str, write: impl FnOnce(&mut Encoder)) -> Sample {
    let mut encoder = Encoder::new(Vec::new(), evex);
    write(&mut encoder);
    let prefix = match encoder.bytes[0] {
        0x62 => "{evex} ",
        0xC4 | 0xC5 => "{vex} ",
        _ => "",
    };
    (encoder.bytes, format!("{prefix}{mnemonic} {operands}"))
}

/// Checks that the assembler makes the same bytes of every text.
fn compare(test: &str, samples: &[Sample]) {
    let directory = std::env::temp_dir().join(format!("leastaction-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let [source, object, binary] = ["a.s", "a.o", "a.bin"].map(|name| directory.join(name));
    let mut listing = String::from(".intel_syntax noprefix\n");
    // A marker after each instruction lets a difference be found.
    for (_, text) in samples {
        listing += &format!("{text}\n.byte 0x06\n");
    }
    std::fs::write(&source, listing).unwrap();
    let Ok(assembled) = Command::new("as").arg("-o").arg(&object).arg(&source).output() else {
        println!("skipped: there is no assembler `as` here");
        return;
    };
    assert!(assembled.status.success(), "{}", String::from_utf8_lossy(&assembled.stderr));
    let extracted = Command::new("objcopy")
        .args(["-O", "binary", "-j", ".text"])
        .args([&object, &binary])
        .status()
        .unwrap();
    assert!(extracted.success());
    let found = std::fs::read(&binary).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let mut rest = &found[..];
    for (bytes, text) in samples {
        let with_marker = [&bytes[..], &[0x06]].concat();
        assert!(
            rest.starts_with(&with_marker),
            "{text}: wrote {bytes:02x?}, the assembler begins {:02x?}",
            &rest[..rest.len().min(12)]
        );
        rest = &rest[with_marker.len()..];
    }
    assert!(rest.is_empty());
    println!("{} instructions compared", samples.len());
}

/// Packed and scalar instructions with two sources.
fn two_sources() -> Vec<(Form, &'static str)> {
    let mut list = vec![];
    let fused = [
        (forms::MUL_ADD, ["vfmadd132", "vfmadd213", "vfmadd231"]),
        (forms::MUL_SUB, ["vfmsub132", "vfmsub213", "vfmsub231"]),
        (forms::NEG_MUL_ADD, ["vfnmadd132", "vfnmadd213", "vfnmadd231"]),
        (forms::NEG_MUL_SUB, ["vfnmsub132", "vfnmsub213", "vfnmsub231"]),
    ];
    for (forms, names) in fused {
        list.extend(forms.into_iter().zip(names));
    }
    let codes = [
        (Code::Add, "vadd"),
        (Code::Sub, "vsub"),
        (Code::Mul, "vmul"),
        (Code::Div, "vdiv"),
        (Code::Min, "vmin"),
        (Code::Max, "vmax"),
    ];
    list.extend(codes.map(|(code, name)| (forms::binary(code), name)));
    list
}

/// Registers for the first two operands beside each third one.
fn others(i: usize, registers: u8) -> (u8, u8) {
    let n = usize::from(registers);
    ((i * 7 % n) as u8, (i * 13 % n + i / n) as u8 % registers)
}

/// The lengths of a machine, and whether it broadcasts.
fn machines() -> [(bool, Length, u8); 3] {
    [(false, Length::L256, 16), (true, Length::L512, 32), (true, Length::L128, 32)]
}

#[test]
fn arithmetic_is_encoded_as_the_assembler_does() {
    let mut samples = Vec::new();
    for (form, mnemonic) in two_sources() {
        for (evex, length, registers) in machines() {
            for (i, rm) in operands(bytes(length), evex, registers).into_iter().enumerate() {
                let (to, a) = others(i, registers);
                let operands = format!("{}, {}, {}", name(to, length), name(a, length), text(rm, length));
                let write = |e: &mut Encoder| e.vector(form, length, to, a, rm);
                samples.push(sample(evex, &format!("{mnemonic}pd"), &operands, write));
            }
        }
        for (evex, registers) in [(false, 16), (true, 32)] {
            for (i, rm) in operands(8, false, registers).into_iter().enumerate() {
                let (to, a) = others(i, registers);
                let l = Length::L128;
                let operands = format!("{}, {}, {}", name(to, l), name(a, l), text(rm, l));
                let write = |e: &mut Encoder| e.vector(forms::scalar(form), l, to, a, rm);
                samples.push(sample(evex, &format!("{mnemonic}sd"), &operands, write));
            }
        }
    }
    compare("arithmetic", &samples);
}

#[test]
fn bits_moves_and_rounding_are_encoded_as_the_assembler_does() {
    let mut samples = Vec::new();
    let bits = [
        (Code::And, "vandpd"),
        (Code::AndNot, "vandnpd"),
        (Code::Or, "vorpd"),
        (Code::Xor, "vxorpd"),
        (Code::AddInt, "vpaddq"),
        (Code::SubInt, "vpsubq"),
    ];
    for (evex, length, registers) in machines() {
        for (i, rm) in operands(bytes(length), evex, registers).into_iter().enumerate() {
            let (to, a) = others(i, registers);
            let (first, second, third) = (name(to, length), name(a, length), text(rm, length));
            let mut add = |mnemonic: &str, operands: String, write: &dyn Fn(&mut Encoder)| {
                samples.push(sample(evex, mnemonic, &operands, write));
            };
            for (code, mnemonic) in bits {
                add(mnemonic, format!("{first}, {second}, {third}"), &|e| {
                    e.vector(forms::binary(code), length, to, a, rm);
                });
            }
            if evex {
                for table in forms::XOR_AND {
                    add("vpternlogq", format!("{first}, {second}, {third}, {table}"), &|e| {
                        e.evex(forms::TERNARY, length, 0, to, a, rm);
                        e.immediate(table);
                    });
                }
            }
            add("vsqrtpd", format!("{first}, {third}"), &|e| e.vector(forms::SQRT, length, to, 0, rm));
            // Only the EVEX form shifts what lies in memory.
            let vex_form = |m: Memory| !m.broadcast && length != Length::L512;
            if !matches!(rm, Rm::Memory(m) if vex_form(m)) {
                for (mnemonic, extension) in [("vpsllq", 6), ("vpsrlq", 2)] {
                    add(mnemonic, format!("{first}, {third}, 63"), &|e| {
                        e.vector(forms::SHIFT, length, extension, to, rm);
                        e.immediate(63);
                    });
                }
            }
            for mode in [8, 9] {
                let mut encoder = Encoder::new(Vec::new(), evex);
                encoder.vector(forms::ROUND, length, to, 0, rm);
                let mnemonic = if encoder.bytes[0] == 0x62 { "vrndscalepd" } else { "vroundpd" };
                add(mnemonic, format!("{first}, {third}, {mode}"), &|e| {
                    e.vector(forms::ROUND, length, to, 0, rm);
                    e.immediate(mode);
                });
            }
            match rm {
                Rm::Register(from) => {
                    add("vmovapd", format!("{first}, {third}"), &|e| e.copy(length, to, from));
                }
                Rm::Memory(m) if !m.broadcast => {
                    add("vmovupd", format!("{first}, {third}"), &|e| {
                        e.vector(forms::LOAD, length, to, 0, rm)
                    });
                    add("vmovupd", format!("{third}, {first}"), &|e| {
                        e.vector(forms::STORE, length, to, 0, rm);
                    });
                }
                Rm::Memory(_) => {}
            }
        }
    }
    let l = Length::L128;
    for (evex, registers) in [(false, 16), (true, 32)] {
        for (i, rm) in operands(8, false, registers).into_iter().enumerate() {
            let (to, a) = others(i, registers);
            let (first, second, third) = (name(to, l), name(a, l), text(rm, l));
            let mut add = |mnemonic: &str, operands: String, write: &dyn Fn(&mut Encoder)| {
                samples.push(sample(evex, mnemonic, &operands, write));
            };
            add("vsqrtsd", format!("{first}, {second}, {third}"), &|e| {
                e.vector(forms::scalar(forms::SQRT), l, to, a, rm);
            });
            add("vucomisd", format!("{first}, {third}"), &|e| e.vector(forms::COMPARE_FLAGS, l, to, 0, rm));
            let mut encoder = Encoder::new(Vec::new(), evex);
            encoder.vector(forms::ROUND_SCALAR, l, to, a, rm);
            let mnemonic = if encoder.bytes[0] == 0x62 { "vrndscalesd" } else { "vroundsd" };
            add(mnemonic, format!("{first}, {second}, {third}, 9"), &|e| {
                e.vector(forms::ROUND_SCALAR, l, to, a, rm);
                e.immediate(9);
            });
            if matches!(rm, Rm::Memory(_)) {
                add("vmovsd", format!("{first}, {third}"), &|e| {
                    e.vector(forms::scalar(forms::LOAD), l, to, 0, rm);
                });
                add("vmovsd", format!("{third}, {first}"), &|e| {
                    e.vector(forms::scalar(forms::STORE), l, to, 0, rm);
                });
                if evex {
                    add("vbroadcastsd", format!("{}, {third}", name(to, Length::L512)), &|e| {
                        e.evex(forms::broadcast(Length::L512), Length::L512, 0, to, 0, rm);
                    });
                }
            }
        }
    }
    compare("bits", &samples);
}

#[test]
fn comparisons_and_blends_are_encoded_as_the_assembler_does() {
    const PREDICATES: [(Test, &str, &str); 6] = [
        (Test::Less, "lt_oq", "gt_oq"),
        (Test::LessEqual, "le_oq", "ge_oq"),
        (Test::Equal, "eq", "eq"),
        (Test::Differ, "neq", "neq"),
        (Test::NotLess, "nlt_uq", "ngt_uq"),
        (Test::NotLessEqual, "nle_uq", "nge_uq"),
    ];
    let mut samples = Vec::new();
    for (evex, length, registers) in machines() {
        for (i, rm) in operands(bytes(length), evex, registers).into_iter().enumerate() {
            let (to, a) = others(i, registers);
            let (first, second, third) = (name(to, length), name(a, length), text(rm, length));
            let mut add = |mnemonic: &str, operands: String, write: &dyn Fn(&mut Encoder)| {
                samples.push(sample(evex, mnemonic, &operands, write));
            };
            for (test, plain, swapped) in PREDICATES {
                for (predicate, name) in
                    [(forms::predicate(test, false), plain), (forms::predicate(test, true), swapped)]
                {
                    if evex {
                        add(&format!("vcmp{name}pd"), format!("k1, {second}, {third}"), &|e| {
                            e.evex(forms::CMP, length, 0, 1, a, rm);
                            e.immediate(predicate);
                        });
                    } else {
                        add(&format!("vcmp{name}pd"), format!("{first}, {second}, {third}"), &|e| {
                            e.vector(forms::CMP, length, to, a, rm);
                            e.immediate(predicate);
                        });
                    }
                }
            }
            if evex {
                add("vblendmpd", format!("{first}{{k1}}, {second}, {third}"), &|e| {
                    e.evex(forms::BLEND_MASK, length, 1, to, a, rm);
                });
            } else {
                add(
                    "vblendvpd",
                    format!("{first}, {second}, {third}, {}", name(i as u8 % 16, length)),
                    &|e| {
                        e.vector(forms::BLEND_SIGN, length, to, a, rm);
                        e.immediate((i as u8 % 16) << 4);
                    },
                );
            }
            if let Rm::Register(register) = rm {
                if evex {
                    add("vpmovq2m", format!("k1, {third}"), &|e| {
                        e.evex(forms::SIGN_MASK, length, 0, 1, 0, rm)
                    });
                } else {
                    add("vmovmskpd", format!("r11d, {}", name(register, length)), &|e| {
                        e.vex(forms::SIGNS, length, General::R11 as u8, 0, rm);
                    });
                }
            }
        }
    }
    let l = Length::L128;
    for rm in operands(8, false, 32) {
        samples.push(sample(true, "vcmplt_oqsd", &format!("k1, xmm19, {}", text(rm, l)), |e| {
            e.evex(forms::scalar(forms::CMP), l, 0, 1, 19, rm);
            e.immediate(forms::predicate(Test::Less, false));
        }));
    }
    for rm in operands(8, false, 16) {
        samples.push(sample(false, "vcmplt_oqsd", &format!("xmm3, xmm9, {}", text(rm, l)), |e| {
            e.vector(forms::scalar(forms::CMP), l, 3, 9, rm);
            e.immediate(forms::predicate(Test::Less, false));
        }));
    }
    compare("comparisons", &samples);
}

#[test]
fn the_frame_is_encoded_as_the_assembler_does() {
    use General::{R8, R11, Rax, Rcx, Rdi, Rdx, Rsi, Rsp};
    let mut samples: Vec<Sample> = Vec::new();
    let mut add = |text: String, write: &dyn Fn(&mut Encoder)| {
        let mut encoder = Encoder::new(Vec::new(), true);
        write(&mut encoder);
        samples.push((encoder.bytes, text));
    };
    let general = [
        (Rax, "rax", "eax"),
        (Rcx, "rcx", "ecx"),
        (Rdx, "rdx", "edx"),
        (Rsp, "rsp", "esp"),
        (Rsi, "rsi", "esi"),
        (Rdi, "rdi", "edi"),
        (R8, "r8", "r8d"),
        (R11, "r11", "r11d"),
    ];
    for (register, wide, low) in general {
        for value in [1, -8, 127, -128, 129, 1024, -70_000] {
            // The form for rax alone is a byte shorter with large values, and not worth a case.
            if register != Rax || (-128..128).contains(&value) {
                add(format!("add {wide}, {value}"), &|e| e.add(register, value));
            }
        }
        add(format!("sub {wide}, -128"), &|e| e.add(register, 128));
        add(format!("mov {low}, 77"), &|e| e.move_value(register, 77));
        add(format!("movabs {wide}, 0x123456789abcdef"), &|e| e.move_wide(register, 0x0123_4567_89AB_CDEF));
        add(format!("dec {wide}"), &|e| e.decrement(register));
        add(format!("push {wide}"), &|e| e.push(register));
        add(format!("pop {wide}"), &|e| e.pop(register));
        add(format!("test {wide}, {wide}"), &|e| e.test(register));
        add(format!("test {low}, {low}"), &|e| e.test_low(register));
        for (other, name, _) in general {
            add(format!("mov {wide}, {name}"), &|e| e.move_register(register, other));
        }
    }
    add("call rax".into(), &Encoder::call_rax);
    add("ret".into(), &Encoder::ret);
    add("vzeroupper".into(), &Encoder::zero_upper);
    add("kmovb r11d, k1".into(), &Encoder::mask_to_r11);
    add("kmovb k1, r11d".into(), &Encoder::r11_to_mask);
    add("kmovb k2, r11d".into(), &Encoder::r11_to_second_mask);
    add("kortestb k1, k1".into(), &Encoder::test_mask);
    compare("frame", &samples);
}

#[test]
fn vectors_of_single_numbers_are_encoded_as_the_assembler_does() {
    let mut samples = Vec::new();
    for (evex, registers) in [(false, 16), (true, 32)] {
        let mut add = |mnemonic: &str, operands: String, write: &dyn Fn(&mut Encoder)| {
            samples.push(sample(evex, mnemonic, &operands, write));
        };
        let prefix = |write: &dyn Fn(&mut Encoder)| {
            let mut encoder = Encoder::new(Vec::new(), evex);
            write(&mut encoder);
            encoder.bytes[0]
        };
        for (i, rm) in operands(8, false, registers).into_iter().enumerate() {
            let (to, a) = others(i, registers);
            let lengths = [Length::L128, Length::L256, Length::L512];
            for length in lengths.into_iter().filter(|&length| evex || length != Length::L512) {
                let mnemonic = if length == Length::L128 { "vmovddup" } else { "vbroadcastsd" };
                add(mnemonic, format!("{}, {}", name(to, length), text(rm, Length::L128)), &|e| {
                    e.vector(forms::broadcast(length), length, to, 0, rm);
                });
            }
            let [low, high] = [to, a].map(|register| name(register, Length::L128));
            match rm {
                Rm::Memory(_) => add("vmovhpd", format!("{low}, {high}, {}", text(rm, Length::L128)), &|e| {
                    e.vector(forms::LOAD_UPPER, Length::L128, to, a, rm);
                }),
                Rm::Register(_) => {
                    let write = |e: &mut Encoder| {
                        e.vector(forms::INSERT, Length::L256, to, a, rm);
                        e.immediate(1);
                    };
                    let mnemonic = if prefix(&write) == 0x62 { "vinsertf64x2" } else { "vinsertf128" };
                    let [to, a] = [to, a].map(|register| name(register, Length::L256));
                    add(mnemonic, format!("{to}, {a}, {}, 1", text(rm, Length::L128)), &write);
                }
            }
        }
        for to in 0..registers {
            let write = |e: &mut Encoder| {
                e.load_table(forms::LOAD_INTEGERS, Length::L256, to);
            };
            let mnemonic = if prefix(&write) == 0x62 { "vmovdqu64" } else { "vmovdqu" };
            add(mnemonic, format!("ymm{to}, [rip+0]"), &write);
        }
    }
    for (base, base_name) in BASES {
        for (i, displacement) in DISPLACEMENTS.into_iter().enumerate() {
            let (to, index) = ((7 * i % 32) as u8, ((7 * i + 13 + i % 3) % 32) as u8);
            let operands = format!("zmm{to}{{k2}}, [{base_name}+ymm{index}*8+{displacement}]");
            // Without a displacement the assembler leaves its byte out; it is there always here.
            if displacement != 0 {
                samples.push(sample(true, "vgatherdpd", &operands, |e| {
                    e.gather(forms::GATHER, Length::L512, to, index, base, displacement);
                }));
            }
            let memory = Memory { base, displacement, size: 64, broadcast: false };
            for (form, mnemonic) in [(forms::PERMUTE, "vpermpd"), (forms::PERMUTE_TWO, "vpermi2pd")] {
                let operands = format!("zmm{to}, zmm{index}, [{base_name}+{displacement}]");
                samples.push(sample(true, mnemonic, &operands, |e| {
                    e.evex(form, Length::L512, 0, to, index, Rm::Memory(memory));
                }));
            }
            let operands = format!("[{base_name}+{displacement}]{{k2}}, zmm{to}");
            samples.push(sample(true, "vmovupd", &operands, |e| {
                e.evex(forms::STORE, Length::L512, 2, to, 0, Rm::Memory(memory));
            }));
        }
    }
    compare("vectors", &samples);
}

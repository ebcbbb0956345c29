//! Orders instructions so that independent chains run side by side.
//!
//! A processor looks ahead only so far for instructions whose arguments are ready. Expansions of functions are long chains, and
//! written one after the other they leave it waiting. List scheduling (Gibbons and Muchnick,
//! doi:10.1145/12276.13312) within a window takes, of the instructions that are ready, the one with the longest
//! chain behind it. The window bounds how far an instruction moves, and so how many values are alive.

use crate::fuse::moved;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Instructions that start in one cycle.
const WIDTH: u32 = 2;

/// How many instructions ahead of the first that waits may be taken.
const WINDOW: usize = 64;

pub(crate) fn schedule(program: Program) -> Program {
    let order = order(&program.body);
    let mut places = vec![Operand::Temporary(0); program.body.len()];
    for (place, &at) in order.iter().enumerate() {
        places[at as usize] = Operand::Temporary(place as u32);
    }
    let body = order.iter().map(|&at| program.body[at as usize].map(|o| moved(o, &places))).collect();
    let outputs = program.outputs.iter().map(|&o| moved(o, &places)).collect();
    Program { body, outputs, ..program }
}

/// Cycles until a result can be used.
fn latency(code: Code) -> u32 {
    match code {
        Code::Div => 16,
        Code::Sqrt => 20,
        Code::Add | Code::Sub | Code::Mul | Code::MulAdd | Code::MulSub | Code::NegMulAdd | Code::NegMulSub => 4,
        Code::Min | Code::Max | Code::Select(_) | Code::SelectSign => 4,
        Code::Round | Code::Floor => 8,
        _ => 1,
    }
}

/// The temporaries that an instruction reads, each once.
fn read(instruction: &Instruction) -> impl Iterator<Item = usize> {
    let arguments = instruction.arguments();
    let fresh = move |i: usize, a: &Operand| !arguments[..i].contains(a);
    arguments.iter().enumerate().filter(move |(i, a)| fresh(*i, a)).filter_map(|(_, a)| match a {
        Operand::Temporary(t) => Some(*t as usize),
        _ => None,
    })
}

fn order(body: &[Instruction]) -> Vec<u32> {
    // The longest chain that waits for each instruction.
    let mut height = vec![0u32; body.len()];
    for (at, instruction) in body.iter().enumerate().rev() {
        let own = height[at] + latency(instruction.code);
        height[at] = own;
        for t in read(instruction) {
            height[t] = height[t].max(own);
        }
    }
    let mut first_use = vec![0u32; body.len() + 1];
    for instruction in body {
        read(instruction).for_each(|t| first_use[t + 1] += 1);
    }
    for t in 0..body.len() {
        first_use[t + 1] += first_use[t];
    }
    let mut fill = first_use.clone();
    let mut users = vec![0u32; first_use[body.len()] as usize];
    let mut missing = vec![0u32; body.len()];
    for (at, instruction) in body.iter().enumerate() {
        for t in read(instruction) {
            users[fill[t] as usize] = at as u32;
            fill[t] += 1;
            missing[at] += 1;
        }
    }

    let mut ready_at = vec![0u32; body.len()];
    let mut done = vec![false; body.len()];
    // Instructions of the window whose arguments are scheduled: not ready yet by time, and ready by height.
    let mut waiting: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut ready: BinaryHeap<(u32, Reverse<u32>)> = BinaryHeap::new();
    let (mut entered, mut first, mut cycle, mut started) = (0, 0, 0, 0);
    let mut order = Vec::with_capacity(body.len());
    while order.len() < body.len() {
        while entered < body.len() && entered < first + WINDOW {
            if missing[entered] == 0 {
                waiting.push(Reverse((ready_at[entered], entered as u32)));
            }
            entered += 1;
        }
        while let Some(&Reverse((time, at))) = waiting.peek()
            && time <= cycle
        {
            waiting.pop();
            ready.push((height[at as usize], Reverse(at)));
        }
        let Some((_, Reverse(at))) = ready.pop() else {
            // Nothing is ready: go on to when something is.
            match waiting.peek() {
                Some(&Reverse((time, _))) => cycle = time,
                None => break,
            }
            started = 0;
            continue;
        };
        order.push(at);
        done[at as usize] = true;
        while first < body.len() && done[first] {
            first += 1;
        }
        let finish = cycle + latency(body[at as usize].code);
        for &user in &users[first_use[at as usize] as usize..first_use[at as usize + 1] as usize] {
            let user = user as usize;
            ready_at[user] = ready_at[user].max(finish);
            missing[user] -= 1;
            if missing[user] == 0 && user < entered {
                waiting.push(Reverse((ready_at[user], user as u32)));
            }
        }
        started += 1;
        if started == WIDTH {
            cycle += 1;
            started = 0;
        }
    }
    order
}

//! Orders instructions so that independent chains run side by side.
//!
//! A processor looks ahead only so far for instructions whose arguments are ready. Expansions of functions are long
//! chains, and written one after the other they leave it waiting. List scheduling (Gibbons and Muchnick,
//! doi:10.1145/12276.13312) takes, of the instructions that are ready, the one with the longest chain behind it. A
//! window bounds how far an instruction moves; and while too many values are alive, the program's own order holds.

use crate::fuse::moved;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Instructions that start in one cycle.
const WIDTH: u32 = 2;

/// How many instructions beyond the first that is left may be taken.
const WINDOW: usize = 256;

/// The program in an order that keeps at most about `alive` temporaries alive where it departs from its own.
pub(super) fn schedule(program: &Program, alive: usize) -> Program {
    let order = Schedule::new(&program.body).order(alive);
    let mut places = vec![Operand::Temporary(0); program.body.len()];
    for (place, &at) in order.iter().enumerate() {
        places[at] = Operand::Temporary(place as u32);
    }
    let body = order.iter().map(|&at| program.body[at].map(|o| moved(o, &places))).collect();
    let outputs = program.outputs.iter().map(|&o| moved(o, &places)).collect();
    Program { body, outputs, ..program.clone() }
}

/// Cycles until a result can be used.
fn latency(code: Code) -> u32 {
    match code {
        Code::Div | Code::Sqrt => 16,
        Code::Round | Code::Floor => 8,
        Code::And | Code::AndNot | Code::Or | Code::Xor | Code::XorAnd => 1,
        Code::AddInt | Code::SubInt | Code::ShiftLeft(_) | Code::ShiftRight(_) => 1,
        Code::Repair { .. } => 1,
        _ => 4,
    }
}

/// The temporaries that an instruction reads, each once.
fn temporaries(instruction: &Instruction) -> impl Iterator<Item = usize> {
    let arguments = instruction.arguments();
    arguments.iter().enumerate().filter_map(|(i, argument)| match argument {
        Operand::Temporary(t) if !arguments[..i].contains(argument) => Some(*t as usize),
        _ => None,
    })
}

struct Schedule<'a> {
    body: &'a [Instruction],
    /// The longest chain that begins with each instruction, in cycles.
    height: Vec<u32>,
    /// The instructions that read each result: `users[first_user[t]..first_user[t + 1]]`.
    users: Vec<usize>,
    first_user: Vec<usize>,
    /// For each instruction, how many of its arguments are not scheduled yet.
    missing: Vec<u32>,
    /// When its arguments are ready.
    ready_at: Vec<u32>,
}

impl Schedule<'_> {
    fn new(body: &[Instruction]) -> Schedule<'_> {
        let mut height = vec![0; body.len()];
        let mut first_user = vec![0; body.len() + 1];
        for (at, instruction) in body.iter().enumerate().rev() {
            height[at] += latency(instruction.code);
            for t in temporaries(instruction) {
                height[t] = height[t].max(height[at]);
                first_user[t + 1] += 1;
            }
        }
        for t in 0..body.len() {
            first_user[t + 1] += first_user[t];
        }
        let mut next = first_user.clone();
        let mut users = vec![0; first_user[body.len()]];
        let mut missing = vec![0; body.len()];
        for (at, instruction) in body.iter().enumerate() {
            for t in temporaries(instruction) {
                users[next[t]] = at;
                next[t] += 1;
                missing[at] += 1;
            }
        }
        Schedule { body, height, users, first_user, missing, ready_at: vec![0; body.len()] }
    }

    fn order(mut self, most_alive: usize) -> Vec<usize> {
        let count = self.body.len();
        let mut order = Vec::with_capacity(count);
        let mut done = vec![false; count];
        let mut unread: Vec<usize> = self.first_user.windows(2).map(|w| w[1] - w[0]).collect();
        // Instructions of the window whose arguments are scheduled: by the time when those are ready, then by height.
        let mut waiting: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
        let mut ready: BinaryHeap<(u32, Reverse<usize>)> = BinaryHeap::new();
        let (mut entered, mut first, mut alive) = (0, 0, 0);
        let (mut cycle, mut started) = (0, 0);
        while order.len() < count {
            while entered < count && entered < first + WINDOW {
                if self.missing[entered] == 0 {
                    waiting.push(Reverse((self.ready_at[entered], entered)));
                }
                entered += 1;
            }
            while let Some(&Reverse((time, at))) = waiting.peek()
                && (time <= cycle || done[at])
            {
                waiting.pop();
                ready.push((self.height[at], Reverse(at)));
            }
            // The first instruction left always has its arguments: they stand before it.
            let chosen =
                if alive >= most_alive { Some(first) } else { ready.pop().map(|(_, Reverse(at))| at) };
            let Some(at) = chosen else {
                cycle = waiting.peek().map_or(cycle, |&Reverse((time, _))| time);
                started = 0;
                if waiting.is_empty() {
                    break; // not reached: an instruction whose arguments are scheduled waits or is ready
                }
                continue;
            };
            if std::mem::replace(&mut done[at], true) {
                continue; // taken before, in the program's own order
            }
            order.push(at);
            while first < count && done[first] {
                first += 1;
            }
            alive += usize::from(unread[at] > 0);
            for t in temporaries(&self.body[at]) {
                unread[t] -= 1;
                alive -= usize::from(unread[t] == 0);
            }
            cycle = cycle.max(self.ready_at[at]);
            let finished = cycle + latency(self.body[at].code);
            for &user in &self.users[self.first_user[at]..self.first_user[at + 1]] {
                self.ready_at[user] = self.ready_at[user].max(finished);
                self.missing[user] -= 1;
                if self.missing[user] == 0 && user < entered {
                    waiting.push(Reverse((self.ready_at[user], user)));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn arguments_stay_before_what_reads_them_and_nothing_is_lost() {
        for seed in 0..300 {
            let program = random::program(&mut random::Random::new(seed));
            for alive in [0, 6, 22] {
                let order = Schedule::new(&program.body).order(alive);
                let mut place = vec![usize::MAX; program.body.len()];
                for (i, &at) in order.iter().enumerate() {
                    assert_eq!(place[at], usize::MAX, "instruction {at} stands twice");
                    assert!(temporaries(&program.body[at]).all(|t| place[t] < i));
                    place[at] = i;
                }
                assert_eq!(order.len(), program.body.len());
            }
        }
    }

    #[test]
    fn without_room_for_values_the_order_stays() {
        let program = random::program(&mut random::Random::new(7));
        let order = Schedule::new(&program.body).order(0);
        assert!(order.iter().copied().eq(0..program.body.len()));
    }
}

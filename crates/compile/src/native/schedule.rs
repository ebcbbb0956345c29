//! Orders instructions so that independent chains run side by side.
//!
//! A processor looks ahead only so far for instructions whose arguments are ready. Expansions of functions are long
//! chains, and written one after the other they leave it waiting. List scheduling (Gibbons and Muchnick,
//! doi:10.1145/12276.13312) takes, of the instructions that are ready, the one with the longest chain behind it. A
//! window bounds how far an instruction moves; and while too many values are alive, the program's own order holds.

use super::sequence::{Action, Sequence, Step};
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
    let order = Schedule::of_program(&program.body).order(alive);
    let mut places = vec![Operand::Temporary(0); program.body.len()];
    for (place, &at) in order.iter().enumerate() {
        places[at] = Operand::Temporary(place as u32);
    }
    let body = order.iter().map(|&at| program.body[at].map(|o| moved(o, &places))).collect();
    let outputs = program.outputs.iter().map(|&o| moved(o, &places)).collect();
    Program { body, outputs, ..program.clone() }
}

/// The same for a sequence.
pub(super) fn schedule_steps(sequence: &mut Sequence, alive: usize) {
    let order = Schedule::of_sequence(sequence).order(alive);
    let (first, count) = (sequence.leaves.len() as u32, sequence.steps.len() as u32);
    let mut places = vec![0; order.len()];
    for (place, &at) in order.iter().enumerate() {
        places[at] = place as u32;
    }
    let moved = |value: u32| match value.checked_sub(first) {
        Some(at) if at < count => first + places[at as usize],
        _ => value,
    };
    sequence.steps.iter_mut().for_each(|step| step.arguments = step.arguments.map(moved));
    sequence.outputs.iter_mut().for_each(|output| *output = output.map(moved));
    sequence.steps = order.iter().map(|&at| sequence.steps[at]).collect();
    sequence.lanes = order.iter().map(|&at| sequence.lanes[at]).collect();
    sequence.rows = order.iter().map(|&at| sequence.rows[at]).collect();
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

struct Schedule {
    latency: Vec<u32>,
    /// What each instruction reads, each once: `reads[first_read[i]..first_read[i + 1]]`.
    reads: Vec<u32>,
    first_read: Vec<u32>,
    /// The longest chain that begins with each instruction, in cycles.
    height: Vec<u32>,
    /// The instructions that read each result: `users[first_user[t]..first_user[t + 1]]`.
    users: Vec<u32>,
    first_user: Vec<u32>,
    /// For each instruction, how many of its arguments are not scheduled yet.
    missing: Vec<u32>,
    /// When its arguments are ready.
    ready_at: Vec<u32>,
}

impl Schedule {
    fn of_program(body: &[Instruction]) -> Schedule {
        let reads = |at: usize, reads: &mut Vec<u32>| reads.extend(temporaries(&body[at]).map(|t| t as u32));
        Schedule::new(body.iter().map(|i| latency(i.code)).collect(), reads)
    }

    fn of_sequence(sequence: &Sequence) -> Schedule {
        let (first, count) = (sequence.leaves.len(), sequence.steps.len());
        let mut whole = vec![0; sequence.lane_count as usize];
        for (at, (step, &lane)) in sequence.steps.iter().zip(&sequence.lanes).enumerate() {
            if step.width > 1 {
                whole[lane as usize..][..step.width as usize].fill(at as u32);
            }
        }
        let reads = |at: usize, reads: &mut Vec<u32>| {
            let begin = reads.len();
            for &argument in sequence.steps[at].arguments() {
                let read = match (argument as usize).checked_sub(first) {
                    None => continue,
                    Some(step) if step < count => step as u32,
                    Some(lane) => whole[lane - count],
                };
                if !reads[begin..].contains(&read) {
                    reads.push(read);
                }
            }
        };
        let latency = |step: &Step| match step.action {
            Action::Operate(code) => latency(code),
            Action::Collect => 20,
            Action::Spread => 3,
        };
        Schedule::new(sequence.steps.iter().map(latency).collect(), reads)
    }

    fn new(latency: Vec<u32>, read: impl Fn(usize, &mut Vec<u32>)) -> Schedule {
        let count = latency.len();
        let mut reads = Vec::with_capacity(2 * count);
        let mut first_read = Vec::with_capacity(count + 1);
        first_read.push(0);
        for at in 0..count {
            read(at, &mut reads);
            first_read.push(reads.len() as u32);
        }
        let of = |at: usize| first_read[at] as usize..first_read[at + 1] as usize;
        let mut height = vec![0; count];
        let mut first_user = vec![0; count + 1];
        for at in (0..count).rev() {
            height[at] += latency[at];
            for &t in &reads[of(at)] {
                height[t as usize] = height[at].max(height[t as usize]);
                first_user[t as usize + 1] += 1;
            }
        }
        for t in 0..count {
            first_user[t + 1] += first_user[t];
        }
        let mut next = first_user.clone();
        let mut users = vec![0; reads.len()];
        let mut missing = vec![0; count];
        for at in 0..count {
            for &t in &reads[of(at)] {
                users[next[t as usize] as usize] = at as u32;
                next[t as usize] += 1;
                missing[at] += 1;
            }
        }
        Schedule { latency, reads, first_read, height, users, first_user, missing, ready_at: vec![0; count] }
    }

    fn order(mut self, most_alive: usize) -> Vec<usize> {
        let count = self.latency.len();
        let mut order = Vec::with_capacity(count);
        let mut done = vec![false; count];
        let mut unread: Vec<u32> = self.first_user.windows(2).map(|w| w[1] - w[0]).collect();
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
                assert!(
                    !waiting.is_empty(),
                    "an instruction whose arguments are scheduled waits or is ready"
                );
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
            for &t in &self.reads[self.first_read[at] as usize..self.first_read[at + 1] as usize] {
                unread[t as usize] -= 1;
                alive -= usize::from(unread[t as usize] == 0);
            }
            cycle = cycle.max(self.ready_at[at]);
            let finished = cycle + self.latency[at];
            for &user in &self.users[self.first_user[at] as usize..self.first_user[at + 1] as usize] {
                let user = user as usize;
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
                let order = Schedule::of_program(&program.body).order(alive);
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
        let order = Schedule::of_program(&program.body).order(0);
        assert!(order.iter().copied().eq(0..program.body.len()));
    }
}

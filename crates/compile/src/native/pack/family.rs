//! Families of equal instructions, and their lanes.

use super::{NONE, collecting, cost, cut};
use crate::builder::Builder;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The most families.
const FAMILIES: usize = 8;
/// How many kinds of instructions are tried as the beginning of a family.
const TRIALS: usize = 96;
/// How many bundles back the gain of a trial counts: many lanes count more than a long history.
const NEAR: usize = 48;
/// How many bundles back a family reaches.
const REACH: usize = 4096;

/// One instruction of each lane of a family, all of the same code; [`NONE`] where a lane has none.
#[derive(Clone)]
pub(super) struct Bundle {
    pub(super) family: usize,
    pub(super) code: Code,
    pub(super) members: Vec<u32>,
}

/// What was found.
#[derive(Clone)]
pub(super) struct Families {
    pub(super) bundles: Vec<Bundle>,
    /// For each instruction, its bundle and its lane.
    pub(super) homes: Vec<(u32, u32)>,
    /// Whether an instruction's first two arguments stand for each other's.
    pub(super) swapped: Vec<bool>,
    /// The number of lanes of each family.
    pub(super) lanes: Vec<usize>,
}

impl Families {
    /// An argument of an instruction, as its bundle orders them.
    pub(super) fn argument(&self, instruction: &Instruction, at: u32, i: usize) -> Operand {
        instruction.operands[if i < 2 && self.swapped[at as usize] { 1 - i } else { i }]
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Finds families.
pub(super) fn find(program: &Program, width: usize, eager: bool) -> Families {
    let mut search = Search::new(program, width, eager);
    let mut candidates = search.candidates();
    while search.families.lanes.len() < FAMILIES {
        // What a candidate promises only falls as other families take instructions.
        let Some(at) = (0..candidates.len()).max_by_key(|&i| candidates[i].0) else { break };
        let (score, members) = candidates.swap_remove(at);
        if score <= 0 {
            break;
        }
        let members: Vec<u32> =
            members.into_iter().filter(|&m| search.families.homes[m as usize].0 == NONE).collect();
        if members.len() < 2 {
            continue;
        }
        let now = search.score(&members);
        if now < score && now < candidates.iter().map(|c| c.0).max().unwrap_or(0) {
            candidates.push((now, members));
        } else if now > 0 {
            let trial = search.trial(&members, REACH);
            search.accept(members.len(), trial);
            search.sweep();
        }
    }
    search.families
}

struct Search<'a> {
    program: &'a Program,
    width: usize,
    eager: bool,
    /// The same for instructions that are the same function of inputs and shared values, whichever.
    colours: Vec<u64>,
    /// The size of the expression that an instruction stands for.
    sizes: Vec<u32>,
    uses: Vec<u32>,
    /// What was taken into a lane for an instruction that reads it.
    claimed: Vec<bool>,
    /// What several lanes read.
    shared: Vec<bool>,
    families: Families,
}

/// A family in the making: its bundles, and what they gain.
struct Trial {
    bundles: Vec<Vec<u32>>,
    swapped: Vec<u32>,
    gain: i64,
}

impl Search<'_> {
    fn new(program: &Program, width: usize, eager: bool) -> Search<'_> {
        let count = program.body.len();
        let mut colours: Vec<u64> = Vec::with_capacity(count);
        let mut sizes: Vec<u32> = Vec::with_capacity(count);
        for instruction in &program.body {
            let mut kinds = [0; 4];
            let mut size = 1u32;
            for (kind, &operand) in kinds.iter_mut().zip(instruction.arguments()) {
                *kind = colour(&colours, operand);
                if let Operand::Temporary(t) = operand {
                    size = size.saturating_add(sizes[t as usize]);
                }
            }
            if Builder::commutes(instruction.code) {
                kinds[..2].sort_unstable();
            }
            colours.push(hash((instruction.code, kinds)));
            sizes.push(size);
        }
        let uses = crate::fuse::use_counts(&program.body, &program.outputs);
        let families = Families {
            bundles: Vec::new(),
            homes: vec![(NONE, 0); count],
            swapped: vec![false; count],
            lanes: Vec::new(),
        };
        Search {
            program,
            width,
            eager,
            colours,
            sizes,
            uses,
            claimed: vec![false; count],
            shared: vec![false; count],
            families,
        }
    }

    /// Sets of equal instructions with what each promises.
    fn candidates(&self) -> Vec<(i64, Vec<u32>)> {
        let mut classes: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (at, &colour) in self.colours.iter().enumerate() {
            if !matches!(self.program.body[at].code, Code::Call(_)) {
                classes.entry(colour).or_default().push(at as u32);
            }
        }
        let mut classes: Vec<Vec<u32>> = classes.into_values().filter(|c| c.len() > 1).collect();
        let size = |class: &Vec<u32>| class.len() * self.sizes[class[0] as usize].min(64) as usize;
        classes.sort_unstable_by_key(|class| (std::cmp::Reverse(size(class)), class[0]));
        classes.truncate(TRIALS);
        classes.into_iter().map(|class| (self.score(&class), class)).collect()
    }

    /// What a family that begins with these instructions promises. What it will take in is not known yet; it gains the more
    /// the more lanes there are.
    fn score(&self, members: &[u32]) -> i64 {
        self.trial(members, NEAR).gain * members.len() as i64
    }

    /// A family that begins with these instructions and takes in what they are computed from.
    fn trial(&self, members: &[u32], reach: usize) -> Trial {
        let body = &self.program.body;
        let chunks = cut(members.len(), self.width);
        let mut trial = Trial { bundles: vec![members.to_vec()], swapped: Vec::new(), gain: 0 };
        let mut claimed: FxHashMap<u32, (usize, usize)> =
            members.iter().enumerate().map(|(lane, &m)| (m, (0, lane))).collect();
        let mut collected: Vec<Vec<Operand>> = Vec::new();
        let mut next = 0;
        while next < trial.bundles.len() {
            let bundle = trial.bundles[next].clone();
            next += 1;
            let code = body[bundle[0] as usize].code;
            trial.gain += (bundle.len() as u32 * cost(code, 1)) as i64;
            trial.gain -= chunks.iter().map(|&(_, width)| i64::from(cost(code, width))).sum::<i64>();
            let mut operands: Vec<[Operand; 4]> = bundle.iter().map(|&m| body[m as usize].operands).collect();
            if Builder::commutes(code) {
                let first = colour(&self.colours, operands[0][0]);
                for (operands, &m) in operands.iter_mut().zip(&bundle) {
                    if colour(&self.colours, operands[0]) != first {
                        operands.swap(0, 1);
                        trial.swapped.push(m);
                    }
                }
            }
            for i in 0..code.arity() {
                let arguments: Vec<Operand> = operands.iter().map(|o| o[i]).collect();
                if self.extend(&mut trial, &mut claimed, &arguments, reach) {
                    continue;
                }
                let one = arguments.iter().all(|a| *a == arguments[0]);
                let row = |(l, a): (usize, &Operand)| matches!((a, arguments[0]), (Operand::Input(i), Operand::Input(first)) if *i == first + l as u32);
                if one {
                    trial.gain -= i64::from(!arguments[0].is_uniform());
                } else if !arguments.iter().enumerate().all(row) && !collected.contains(&arguments) {
                    trial.gain -= chunks.iter().map(|&(_, width)| i64::from(collecting(width))).sum::<i64>();
                    collected.push(arguments);
                }
            }
        }
        if self.eager {
            trial.gain = trial.gain.max(1);
        }
        trial
    }

    /// Makes arguments a bundle if they can be one. Says whether they are one.
    fn extend(
        &self,
        trial: &mut Trial,
        claimed: &mut FxHashMap<u32, (usize, usize)>,
        arguments: &[Operand],
        reach: usize,
    ) -> bool {
        let mut members = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            let Operand::Temporary(t) = argument else { return false };
            members.push(t);
        }
        let code = self.program.body[members[0] as usize].code;
        if let Some(&(bundle, 0)) = claimed.get(&members[0]) {
            let aligned = |(lane, m): (usize, &u32)| claimed.get(m) == Some(&(bundle, lane));
            return members.iter().enumerate().all(aligned);
        }
        let fits = |&m: &u32| {
            self.program.body[m as usize].code == code
                && self.families.homes[m as usize].0 == NONE
                && !claimed.contains_key(&m)
        };
        if matches!(code, Code::Call(_)) || trial.bundles.len() >= reach || !members.iter().all(fits) {
            return false;
        }
        for (lane, &m) in members.iter().enumerate() {
            if claimed.insert(m, (trial.bundles.len(), lane)).is_some() {
                // One instruction in two lanes: they share it.
                for m in &members[..lane] {
                    claimed.remove(m);
                }
                return false;
            }
        }
        trial.bundles.push(members);
        true
    }

    fn accept(&mut self, lanes: usize, trial: Trial) {
        let family = self.families.lanes.len();
        self.families.lanes.push(lanes);
        for members in trial.bundles {
            let bundle = self.families.bundles.len() as u32;
            for (lane, &m) in members.iter().enumerate() {
                self.families.homes[m as usize] = (bundle, lane as u32);
            }
            let code = self.program.body[members[0] as usize].code;
            self.families.bundles.push(Bundle { family, code, members });
        }
        trial.swapped.iter().for_each(|&m| self.families.swapped[m as usize] = true);
    }

    /// Takes into the last family what is computed from it lane by lane, and what is only computed for that.
    fn sweep(&mut self) {
        let program = self.program;
        let family = self.families.lanes.len() - 1;
        let mut seen: FxHashMap<(u64, u32), u32> = FxHashMap::default();
        let mut bundles: FxHashMap<(u64, u32), u32> = FxHashMap::default();
        // What joins lanes, such as a sum over them.
        let mut joint = vec![false; program.body.len()];
        for (at, instruction) in program.body.iter().enumerate() {
            if self.families.homes[at].0 != NONE || matches!(instruction.code, Code::Call(_)) {
                continue;
            }
            let (lane, agree) = self.lane(instruction, family, &joint);
            let Some(lane) = lane else { continue };
            if !agree {
                joint[at] = true;
                continue;
            }
            let mut kinds = [0u64; 4];
            for (kind, &operand) in kinds.iter_mut().zip(instruction.arguments()) {
                *kind = match operand {
                    Operand::Temporary(t) => match self.families.homes[t as usize] {
                        (bundle, l) if self.is_in(bundle, family) && l == lane => u64::from(bundle),
                        (bundle, _) => {
                            // Claimed for one lane and wanted in another: it is shared.
                            if self.is_in(bundle, family) {
                                let (bundle, l) =
                                    std::mem::replace(&mut self.families.homes[t as usize], (NONE, 0));
                                self.families.bundles[bundle as usize].members[l as usize] = NONE;
                                self.shared[t as usize] = true;
                            }
                            hash(program.body[t as usize].code) | 1 << 63
                        }
                    },
                    Operand::Input(_) => 1 << 62,
                    _ => 2 << 62,
                };
            }
            let swapped = Builder::commutes(instruction.code) && kinds[0] > kinds[1];
            if swapped {
                kinds.swap(0, 1);
            }
            let key = hash((instruction.code, kinds));
            let times = seen.entry((key, lane)).or_insert(0);
            *times += 1;
            let bundle = bundles.get(&(key, *times)).copied();
            let bundle = self.join(bundle, family, lane, at as u32);
            if let Some(bundle) = bundle {
                bundles.insert((key, *times), bundle);
                self.families.swapped[at] = swapped;
                self.claim(&mut bundles, bundle, lane, at as u32);
            }
        }
    }

    fn is_in(&self, bundle: u32, family: usize) -> bool {
        bundle != NONE && self.families.bundles[bundle as usize].family == family
    }

    /// The lane of an instruction by its arguments, and whether they agree. What was only claimed has no say if others have.
    fn lane(&self, instruction: &Instruction, family: usize, joint: &[bool]) -> (Option<u32>, bool) {
        let (mut lane, mut agree) = (None, true);
        let (mut claimed, mut claims_agree) = (None, true);
        for &operand in instruction.arguments() {
            let Operand::Temporary(t) = operand else { continue };
            let t = t as usize;
            let (bundle, l) = self.families.homes[t];
            // A sum over lanes that goes on, not one that is shared by them.
            agree &= !(joint[t] && self.uses[t] == 1);
            if !self.is_in(bundle, family) {
                continue;
            }
            let (lane, agree) =
                if self.claimed[t] { (&mut claimed, &mut claims_agree) } else { (&mut lane, &mut agree) };
            *agree &= lane.is_none_or(|lane| lane == l);
            *lane = Some(l);
        }
        if lane.is_some() { (lane, agree) } else { (claimed, agree && claims_agree) }
    }

    /// Puts an instruction into a lane of a bundle, or of a new one. Returns the bundle.
    fn join(&mut self, bundle: Option<u32>, family: usize, lane: u32, at: u32) -> Option<u32> {
        let code = self.program.body[at as usize].code;
        let place = bundle.unwrap_or(self.families.bundles.len() as u32);
        if bundle.is_none() {
            let members = vec![NONE; self.families.lanes[family]];
            self.families.bundles.push(Bundle { family, code, members });
        }
        let bundle = &mut self.families.bundles[place as usize];
        if bundle.code != code || bundle.members[lane as usize] != NONE {
            return None;
        }
        bundle.members[lane as usize] = at;
        self.families.homes[at as usize] = (place, lane);
        Some(place)
    }

    /// Takes into a lane what an instruction there reads and no family has.
    fn claim(&mut self, bundles: &mut FxHashMap<(u64, u32), u32>, bundle: u32, lane: u32, at: u32) {
        let mut open = vec![(bundle, at, false)];
        while let Some((bundle, at, only)) = open.pop() {
            let instruction = self.program.body[at as usize];
            for i in 0..instruction.code.arity() {
                let Operand::Temporary(t) = self.families.argument(&instruction, at, i) else { continue };
                let code = self.program.body[t as usize].code;
                let free = self.families.homes[t as usize].0 == NONE && !self.shared[t as usize];
                if !free || matches!(code, Code::Call(_)) || only && self.uses[t as usize] > 1 {
                    continue;
                }
                let key = (hash((bundle, i as u32, code)) ^ 0x5555, NONE);
                let family = self.families.bundles[bundle as usize].family;
                let place = bundles.get(&key).copied();
                if let Some(place) = self.join(place, family, lane, t) {
                    bundles.insert(key, place);
                    self.claimed[t as usize] = true;
                    open.push((place, t, true));
                }
            }
        }
    }
}

fn colour(colours: &[u64], operand: Operand) -> u64 {
    match operand {
        Operand::Temporary(t) => colours[t as usize],
        Operand::Input(_) => 1,
        _ => 2,
    }
}

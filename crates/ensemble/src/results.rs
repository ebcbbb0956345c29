//! What a study found, from one run or from the directories of its shards.

use crate::bytes::Reader;
use crate::reduce::{Bound, Context, Overview, Reduction, Summary, View};
use crate::run::{gaps, overview, reduced};
use crate::sample::Sampling;
use crate::store::{Manifest, ManifestError, Part, Sheet, Source, Store, StoreError, StoredChunk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a study found.
pub struct Results {
    harvest: Harvest,
    manifest: Manifest,
    /// Trajectories that are done, of this shard.
    pub done: u64,
    /// Of how many.
    pub total: u64,
    /// Whether it was broken off before its end.
    pub interrupted: bool,
    /// Files of chunks that were found damaged when the run began, so that their trajectories were run again.
    pub damaged: Vec<PathBuf>,
}

/// What one reduction found.
pub enum Finding {
    /// Something of bounded size.
    Summary(Box<dyn Summary>),
    /// Rows of numbers.
    Rows(Sheet),
}

impl Results {
    pub(crate) fn new(
        harvest: Harvest,
        manifest: Manifest,
        done: u64,
        total: u64,
        interrupted: bool,
    ) -> Results {
        Results { harvest, manifest, done, total, interrupted, damaged: Vec::new() }
    }

    /// How trajectories ended.
    #[must_use]
    pub fn overview(&self) -> &Overview {
        &self.harvest.overview
    }

    /// What was run.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The reductions, and what each found, in their order.
    pub fn findings(&self) -> impl ExactSizeIterator<Item = (&Reduction, &Finding)> {
        self.harvest.list.iter().map(|(reduction, _, finding)| (reduction, finding))
    }

    /// What a reduction found, by its place, if it is of this kind.
    #[must_use]
    pub fn summary<S: 'static>(&self, place: usize) -> Option<&S> {
        match &self.harvest.list.get(place)?.2 {
            Finding::Summary(summary) => summary.as_any().downcast_ref(),
            Finding::Rows(_) => None,
        }
    }

    /// The rows of a reduction, by its place, if it has any.
    #[must_use]
    pub fn rows(&self, place: usize) -> Option<&Sheet> {
        match &self.harvest.list.get(place)?.2 {
            Finding::Rows(sheet) => Some(sheet),
            Finding::Summary(_) => None,
        }
    }

    /// Puts the shards of a study together: the results have the bits of the study run as a whole.
    ///
    /// # Errors
    /// [`StoreError`] if they are not of the same study, have chunks twice, or not all of them.
    pub fn merge<P: AsRef<Path>>(directories: &[P]) -> Result<Results, StoreError> {
        let mut stores = Vec::new();
        for directory in directories {
            stores.push((directory.as_ref().to_owned(), Store::open(directory.as_ref())?));
        }
        let (first, one) = stores.first().ok_or(StoreError::Nothing)?;
        let manifest = one.manifest().clone();
        for (directory, store) in &stores {
            store.manifest().check_same(&manifest, directory, false)?;
        }
        let wrong = |source| StoreError::BadManifest { path: first.join(Manifest::NAME), source };
        let whole = |key| manifest.whole(key).ok_or_else(|| wrong(ManifestError::Lacks(key)));
        let (count, chunk) = (whole("count")?, whole("chunk")?.max(1));
        let all = count.div_ceil(chunk);
        let mut owners: BTreeMap<u64, &(PathBuf, Store)> = BTreeMap::new();
        let reach = |number: u64| (number * chunk, ((number + 1) * chunk).min(count) - 1);
        for owner in &stores {
            for number in owner.1.numbers()?.into_iter().filter(|&number| number < all) {
                if let Some((one, _)) = owners.insert(number, owner) {
                    let (one, other, (first, last)) = (one.clone(), owner.0.clone(), reach(number));
                    return Err(StoreError::Overlap { one, other, first, last });
                }
            }
        }
        let there: Vec<u64> = owners.keys().copied().collect();
        let missing: Vec<(u64, u64)> = gaps(&(0..all), &there)
            .into_iter()
            .map(|gap| (reach(gap.start).0, reach(gap.end - 1).1))
            .collect();
        if !missing.is_empty() {
            return Err(StoreError::Missing { missing });
        }
        let mut harvest = Harvest::read(&manifest, count).map_err(wrong)?;
        for (number, (_, store)) in owners {
            harvest.take_stored(store.read(number)?)?;
        }
        Ok(Results::new(harvest, manifest.of_the_whole(), count, count, false))
    }
}

/// What is known so far.
pub(crate) struct Harvest {
    overview: Overview,
    list: Vec<(Reduction, Bound, Finding)>,
}

impl Harvest {
    pub(crate) fn new(bound: Vec<(Reduction, Bound)>, events: usize) -> Harvest {
        let blank = |(reduction, bound): (Reduction, Bound)| {
            let finding = match &bound {
                Bound::Summary(blank) => Finding::Summary(blank()),
                Bound::Rows(rows) => Finding::Rows(Sheet::new(&**rows)),
            };
            (reduction, bound, finding)
        };
        Harvest { overview: Overview::new(events), list: bound.into_iter().map(blank).collect() }
    }

    /// What a manifest says is reduced, without the system.
    fn read(manifest: &Manifest, count: u64) -> Result<Harvest, ManifestError> {
        let events: Vec<String> = manifest.get("event").map(str::to_owned).collect();
        let sampled = manifest.get("drawn").map(|text| {
            let (name, place) = text.rsplit_once(' ')?;
            Some((name.to_owned(), place.parse().ok()?))
        });
        let states = manifest.get("states").flat_map(str::split_whitespace).map(str::to_owned);
        let mut context = Context {
            dynamics: None,
            states: states.collect(),
            events: events.clone(),
            sampled: sampled.collect::<Option<_>>().ok_or(ManifestError::Lacks("sampled parameters"))?,
            grids: Sampling::read(manifest.get("grid"))?,
            count,
            times: Vec::new(),
            observed: Vec::new(),
            followed: Vec::new(),
        };
        let mut bound = Vec::new();
        for text in manifest.get("reduce") {
            let reduction: Reduction = text.parse()?;
            let known = reduction.bind(&mut context)?;
            bound.push((reduction, known));
        }
        Ok(Harvest::new(bound, events.len()))
    }

    /// What all reductions make of a chunk.
    pub(crate) fn reduce(&self, view: &View<'_>) -> Vec<Part> {
        let first = overview(self.overview.ended.len(), view);
        std::iter::once(first).chain(self.list.iter().map(|(_, bound, _)| reduced(bound, view))).collect()
    }

    /// Takes in a chunk.
    pub(crate) fn take(&mut self, parts: Vec<Part>) -> Result<(), StoreError> {
        let parts = parts.into_iter().map(|part| (part.summary, Source::Memory(part.columns)));
        self.absorb(parts.collect()).ok_or(StoreError::Damaged { path: PathBuf::from("memory") })
    }

    /// Takes in a chunk that was read.
    pub(crate) fn take_stored(&mut self, chunk: StoredChunk) -> Result<(), StoreError> {
        self.absorb(chunk.parts).ok_or(StoreError::Damaged { path: chunk.path })
    }

    fn absorb(&mut self, parts: Vec<(Vec<u8>, Source)>) -> Option<()> {
        if parts.len() != self.list.len() + 1 {
            return None;
        }
        let mut parts = parts.into_iter();
        read_into(&mut self.overview, &parts.next()?.0)?;
        for ((_, _, finding), (summary, source)) in self.list.iter_mut().zip(parts) {
            match finding {
                Finding::Summary(total) => read_into(&mut **total, &summary)?,
                Finding::Rows(sheet) => sheet.push(source),
            }
        }
        Some(())
    }
}

fn read_into(total: &mut dyn Summary, bytes: &[u8]) -> Option<()> {
    let mut reader = Reader(bytes);
    total.absorb(&mut reader)?;
    reader.is_done().then_some(())
}

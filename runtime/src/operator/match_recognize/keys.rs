//! Keys by number, and what is kept of each.
//!
//! **Invariant:** a number is given out by the order of first arrival alone. Numbers of keys of which nothing is kept
//! are taken back when they are the most, all at once: the others move up, in order.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use tidemark_state::key_table::KeyTable;

use super::automaton::Automaton;
use super::partition::{Partition, Row, Search};
use super::program::Program;
use crate::error::OperatorError;

/// Numbers without anything kept that may lie around.
const SLACK_KEYS: usize = 16_384;

/// The keys that have been met, and their partitions.
#[derive(Debug)]
pub struct Keys {
    types: Vec<DataType>,
    table: KeyTable,
    slots: Vec<Slot>,
    /// How many slots hold something.
    used: usize,
    found: Vec<u32>,
}

#[derive(Debug, Default)]
struct Slot {
    partition: Option<Box<Partition>>,
    /// Rows of the key that wait for the watermark.
    expected: u32,
    is_touched: bool,
}

impl Slot {
    fn is_used(&self) -> bool {
        self.partition.is_some() || self.expected > 0
    }
}

impl Keys {
    /// No keys yet, of columns of these types.
    pub fn new(types: Vec<DataType>) -> Result<Self, OperatorError> {
        let table = KeyTable::new(&types)?;
        Ok(Self { types, table, slots: vec![], used: 0, found: vec![] })
    }

    /// The numbers of the keys of some rows.
    pub fn find(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<u32>, OperatorError> {
        self.found.clear();
        self.table.intern(columns, rows, &mut self.found)?;
        self.slots.resize_with(self.table.len(), Slot::default);
        Ok(std::mem::take(&mut self.found))
    }

    /// How many numbers have been given out.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// A row of the key waits.
    pub fn expect_row(&mut self, slot: u32) {
        let slot = &mut self.slots[slot as usize];
        self.used += usize::from(!slot.is_used());
        slot.expected += 1;
    }

    /// A row of the key has been released.
    pub fn row_came(&mut self, slot: u32) {
        let slot = &mut self.slots[slot as usize];
        slot.expected -= 1;
        self.used -= usize::from(!slot.is_used());
    }

    /// What is kept of a key.
    pub fn get(&self, slot: u32) -> Option<&Partition> {
        self.slots[slot as usize].partition.as_deref()
    }

    /// What is kept of a key.
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut Partition> {
        self.slots[slot as usize].partition.as_deref_mut()
    }

    /// A key's partition, made if there is none, and whether this is the first touch since [`Keys::end_touch`].
    pub fn touch(&mut self, slot: u32, by_cohorts: bool) -> (&mut Partition, bool) {
        let slot = &mut self.slots[slot as usize];
        self.used += usize::from(!slot.is_used());
        let is_first = !std::mem::replace(&mut slot.is_touched, true);
        (slot.partition.get_or_insert_with(|| Box::new(Partition::new(by_cohorts))), is_first)
    }

    /// The keys that were touched are untouched again.
    pub fn end_touch(&mut self, touched: &[u32]) {
        touched.iter().for_each(|slot| self.slots[*slot as usize].is_touched = false);
    }

    /// Keeps nothing of the key.
    pub fn drop_partition(&mut self, slot: u32) {
        let slot = &mut self.slots[slot as usize];
        if slot.partition.take().is_some() {
            self.used -= usize::from(!slot.is_used());
        }
    }

    /// The keys of which something is kept, in order of their first rows.
    pub fn occupied(&self) -> Vec<u32> {
        let mut occupied: Vec<u32> = (0..self.slots.len() as u32).filter(|slot| self.get(*slot).is_some()).collect();
        self.sort_by_first_row(&mut occupied);
        occupied
    }

    /// Puts keys in the order of the rows that are kept of them. Their numbers do not tell: they depend on which keys
    /// have been forgotten.
    pub fn sort_by_first_row(&self, slots: &mut [u32]) {
        slots.sort_unstable_by_key(|slot| (self.get(*slot).and_then(Partition::first_row), *slot));
    }

    /// The key columns of some keys.
    pub fn columns(&self, slots: &[u32]) -> Result<Vec<ArrayRef>, OperatorError> {
        Ok(self.table.keys(slots)?)
    }

    /// Keeps `partition` of a key of which nothing is kept.
    pub fn put(&mut self, slot: u32, partition: Partition) {
        let slot = &mut self.slots[slot as usize];
        self.used += usize::from(!slot.is_used());
        slot.partition = Some(Box::new(partition));
    }

    /// All rows that are kept, key by key.
    pub fn for_each_row(&mut self, mut change: impl FnMut(&mut Row)) {
        for partition in self.slots.iter_mut().filter_map(|slot| slot.partition.as_deref_mut()) {
            partition.rows_mut().for_each(&mut change);
        }
    }

    /// Are most numbers those of keys of which nothing is kept?
    pub fn is_sparse(&self) -> bool {
        self.slots.len() > 2 * self.used + SLACK_KEYS
    }

    /// Takes numbers back. Returns the new number of each old one that is in use.
    pub fn compact(&mut self) -> Result<Vec<u32>, OperatorError> {
        let used: Vec<u32> = (0..self.slots.len() as u32).filter(|n| self.slots[*n as usize].is_used()).collect();
        let mut numbers = vec![u32::MAX; self.slots.len()];
        let mut table = KeyTable::new(&self.types)?;
        if !used.is_empty() {
            let keys = self.table.keys(&used)?;
            self.found.clear();
            table.intern(&keys, used.len(), &mut self.found)?;
            self.found.clear();
        }
        let mut slots = Vec::with_capacity(used.len());
        for (new, old) in used.iter().enumerate() {
            numbers[*old as usize] = new as u32;
            slots.push(std::mem::take(&mut self.slots[*old as usize]));
        }
        (self.table, self.slots, self.used) = (table, slots, used.len());
        Ok(numbers)
    }

    /// Forgets the states of the pattern that no key is in.
    pub fn renew_states(&mut self, program: &Program, automaton: &mut Automaton) {
        let mut kept = vec![];
        self.for_each_state(|state| kept.push(automaton.steps_of(*state)));
        automaton.clear();
        automaton.begin(program, false);
        let mut kept = kept.into_iter();
        self.for_each_state(|state| {
            if let Some(steps) = kept.next() {
                *state = automaton.state_of(&steps);
            }
        });
    }

    fn for_each_state(&mut self, mut change: impl FnMut(&mut u32)) {
        for partition in self.slots.iter_mut().filter_map(|slot| slot.partition.as_deref_mut()) {
            if let Search::Cohorts(cohorts) = &mut partition.search {
                cohorts.states_mut().for_each(&mut change);
            }
        }
    }
}

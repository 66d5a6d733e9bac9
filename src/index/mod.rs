//! stub
use crate::trace::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    Found(T),
    Nothing,
    NotYet,
}
impl<T> Answer<T> {
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Answer::Found(t) => Answer::Found(f(t)),
            Answer::Nothing => Answer::Nothing,
            Answer::NotYet => Answer::NotYet,
        }
    }
    pub fn found(self) -> Option<T> {
        todo!()
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Tracepoint(i32),
    Pc(u64),
    Range { low: u64, high: u64 },
    Outside { low: u64, high: u64 },
}
pub struct Progress {
    pub frames: u64,
    pub complete: bool,
}
impl Progress {
    pub fn fraction(&self) -> f64 {
        todo!()
    }
}
pub struct Index;
pub type Inspector = Box<dyn FnMut(u64, &Frame<'_>) + Send>;
impl Index {
    pub fn start(_: Arc<dyn Recording>, _: Option<Inspector>) -> Arc<Index> {
        todo!()
    }
    pub fn progress(&self) -> Progress {
        todo!()
    }
    pub fn wait(&self) -> Progress {
        todo!()
    }
    pub fn cancel(&self) {}
    pub fn poll_change(&self, _: u64, _: &mut Context<'_>) -> Poll<u64> {
        todo!()
    }
    pub fn locate(&self, _: u64) -> Answer<Location> {
        todo!()
    }
    pub fn find(&self, _: u64, _: &Query) -> Answer<u64> {
        todo!()
    }
    pub fn tracepoint(&self, _: u64) -> Answer<i32> {
        todo!()
    }
    pub fn counts_by_tracepoint(&self) -> BTreeMap<i32, u64> {
        todo!()
    }
    pub fn damage(&self) -> DamageList {
        todo!()
    }
    pub fn last_value(&self, _: i32) -> Answer<i64> {
        todo!()
    }
    pub fn end(&self) -> Answer<Location> {
        todo!()
    }
}

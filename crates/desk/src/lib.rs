// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs and traces as tables of columns, which other programs take: events as they are ([`events`]), and what people
//! look for in them, in the words of LISA ([`frames`]).
//!
//! No files and no formats: a host hands the columns on.

pub mod dataset;
pub mod events;
pub mod files;
pub mod frames;
pub mod lines;
pub mod rows;
pub mod subject;
pub mod table;

pub use table::{Column, Table, Values};

// SPDX-License-Identifier: GPL-2.0-or-later
//! Distances between nodes that a machine here can have: the same there and back, at most two to other nodes, and such
//! that the nodes within any distance are groups that do not overlap.

use std::collections::BTreeSet;

/// Distance of a node to itself.
const LOCAL: u32 = 10;
/// Longest distance that a file can state.
const FAR_MAX: u32 = 254;
/// Distances to other nodes that a machine may have.
const REMOTE_MAX: usize = 2;

/// Distances made such, and what was changed, in words.
pub fn nested(rows: &[Vec<u32>]) -> (Vec<Vec<u32>>, Vec<String>) {
    let mut changed = Vec::new();
    let mut note = |before: &[Vec<u32>], after: &[Vec<u32>], why: &str| {
        if before != after {
            changed.push(format!("{before:?} became {after:?}: {why}"));
        }
    };
    let even = symmetric(rows);
    note(
        rows,
        &even,
        "of ways there and back that differ the longer one holds, and 10 is a node's distance to itself alone",
    );
    let whole = without_overlaps(even.clone());
    note(&even, &whole, "rings and meshes, whose groups of near nodes overlap, are not modelled");
    let few = with_few_levels(whole.clone());
    note(&whole, &few, "two distances to other nodes are modelled; near ones are made equal");
    (few, changed)
}

fn symmetric(rows: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let far = |a: usize, b: usize| if a == b { LOCAL } else { rows[a][b].max(rows[b][a]).clamp(LOCAL + 1, FAR_MAX) };
    (0..rows.len()).map(|a| (0..rows.len()).map(|b| far(a, b)).collect()).collect()
}

fn levels(rows: &[Vec<u32>]) -> Vec<u32> {
    let all: BTreeSet<u32> = rows.iter().flatten().copied().filter(|&far| far != LOCAL).collect();
    all.into_iter().collect()
}

/// Distances of one level become those of the next.
fn raise(rows: &mut [Vec<u32>], from: u32, to: u32) {
    rows.iter_mut().flatten().filter(|far| **far == from).for_each(|far| *far = to);
}

/// True if the nodes within a distance make groups that do not overlap.
fn is_nested(rows: &[Vec<u32>], far: u32) -> bool {
    let near = |row: &[u32]| row.iter().map(|d| *d <= far).collect::<Vec<bool>>();
    let is_same = |a: usize, b: usize| rows[a][b] > far || near(&rows[a]) == near(&rows[b]);
    (0..rows.len()).all(|a| (0..rows.len()).all(|b| is_same(a, b)))
}

/// A distance whose groups overlap becomes the next longer one; at the longest, all nodes are one group.
fn without_overlaps(mut rows: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let all = levels(&rows);
    for pair in all.windows(2) {
        if !is_nested(&rows, pair[0]) {
            raise(&mut rows, pair[0], pair[1]);
        }
    }
    rows
}

/// The two levels that are nearest to each other become one, until few are left.
fn with_few_levels(mut rows: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    loop {
        let all = levels(&rows);
        if all.len() <= REMOTE_MAX {
            return rows;
        }
        let Some(pair) = all.windows(2).min_by_key(|pair| pair[1] - pair[0]) else { return rows };
        raise(&mut rows, pair[0], pair[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_becomes_one_distance_and_boards_of_nodes_stay() {
        let ring = vec![vec![10, 16, 22, 16], vec![16, 10, 16, 22], vec![22, 16, 10, 16], vec![16, 22, 16, 10]];
        let (rows, changed) = nested(&ring);
        assert_eq!((rows[0].clone(), changed.len()), (vec![10, 22, 22, 22], 1), "{changed:?}");
        let boards = vec![vec![10, 12, 32, 32], vec![12, 10, 32, 32], vec![32, 32, 10, 12], vec![32, 32, 12, 10]];
        assert_eq!(nested(&boards), (boards.clone(), vec![]));
    }

    #[test]
    fn many_levels_become_two_and_ways_are_the_same_there_and_back() {
        let far = |a: u32, b: u32| if a == b { 10 } else { 11 + 10 * (a ^ b).ilog2() };
        let tree: Vec<Vec<u32>> = (0..8).map(|a| (0..8).map(|b| far(a, b)).collect()).collect();
        assert_eq!(levels(&nested(&tree).0), [21, 31]);
        let (rows, _) = nested(&[vec![10, 20], vec![255, 0]]);
        assert_eq!(rows, [[10, 254], [254, 10]]);
    }
}

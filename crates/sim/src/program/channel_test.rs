// SPDX-License-Identifier: GPL-2.0-or-later
//! Capacities as measured on a 6.18 kernel, and every short history of calls against a plain account of the bytes.

use super::*;

/// Messages of this size that go in before a writer has to wait.
fn messages(spec: ChannelSpec, bytes: u32) -> u32 {
    let mut ch = Channel::new(spec);
    (0..).find(|_| !ch.accepts(bytes, false) || ch.put(bytes, false).0 < bytes).expect("it fills")
}

#[test]
fn a_stream_holds_as_many_messages_as_the_kernel_takes() {
    for (bytes, count) in [(1, 278), (100, 278), (192, 278), (193, 167), (1000, 93), (4096, 44), (8192, 24)] {
        assert_eq!(messages(ChannelSpec::STREAM, bytes), count, "{bytes} bytes");
    }
}

#[test]
fn a_pipe_holds_as_many_messages_as_the_kernel_takes() {
    for (bytes, count) in [(4, 16384), (100, 640), (1000, 64), (4096, 16)] {
        assert_eq!(messages(ChannelSpec::PIPE, bytes), count, "{bytes} bytes");
    }
}

#[test]
fn sleeping_senders_of_a_full_stream_are_woken_at_a_quarter() {
    for (bytes, reads) in [(100, 209), (193, 126), (1000, 70), (4096, 34), (8192, 19)] {
        let mut ch = Channel::new(ChannelSpec::STREAM);
        while ch.accepts(bytes, false) {
            assert_eq!(ch.put(bytes, false).0, bytes);
        }
        ch.wait_to_write(7);
        ch.wait_to_write(8);
        let first = (1..).find(|_| ch.take(bytes).1 == [8, 7]).expect("woken");
        assert_eq!(first, reads, "{bytes} bytes");
    }
}

#[test]
fn the_writer_of_a_full_pipe_is_woken_when_a_page_is_read() {
    let mut ch = Channel::new(ChannelSpec::PIPE);
    while ch.accepts(100, false) {
        ch.put(100, false);
    }
    (1..=3).for_each(|t| ch.wait_to_write(t));
    let first = (1..).find(|_| ch.take(100).1 == [1]).expect("woken");
    assert_eq!(first, 40, "messages in a page");
    assert_eq!(ch.take(100).1, Woken::new(), "no longer full");
    assert_eq!(ch.put(100, false), (100, Woken::new()));
    assert_eq!(ch.pass_on_write(), Woken::new(), "full again");
}

#[test]
fn only_the_first_byte_in_an_empty_pipe_wakes_and_only_one_reader() {
    let mut ch = Channel::new(ChannelSpec::PIPE);
    ch.wait_to_read(1);
    ch.wait_to_read(2);
    ch.wait_to_poll(3);
    ch.wait_to_poll(4);
    assert_eq!(ch.put(4, false).1, [4, 3, 1]);
    assert_eq!(ch.put(4, false).1, Woken::new());
    assert_eq!(ch.take(4), (4, Woken::new()));
    assert_eq!(ch.pass_on_read(), [2], "the woken reader passes the rest on");
}

#[test]
fn large_writes_go_in_pieces() {
    let mut ch = Channel::new(ChannelSpec::PIPE);
    assert_eq!(ch.put(100_000, false).0, 65_536);
    assert!(!ch.accepts(34_464, true));
    assert_eq!(ch.take(5000).0, 5000);
    assert_eq!(ch.put(34_464, true).0, 4096, "one page is free, and a begun write does not merge");
    let mut ch = Channel::new(ChannelSpec::STREAM);
    let sent = ch.put(1_000_000, false).0;
    assert!(sent > 200_000 && sent < 1_000_000, "{sent}");
}

/// All histories of six calls of these sizes on a pipe of two pages and on a small socket.
#[test]
fn no_byte_is_lost_or_invented_in_any_short_history() {
    const SIZES: [u32; 5] = [1, 100, 4000, 4096, 9000];
    for spec in [ChannelSpec::Pipe { pages: 2 }, ChannelSpec::Stream { send_buffer_bytes: 6000 }] {
        for history in 0..(2 * SIZES.len()).pow(6) {
            let (mut ch, mut held, mut rest) = (Channel::new(spec), 0, history);
            for _ in 0..6 {
                let (size, write) = (SIZES[rest % SIZES.len()], (rest / SIZES.len()).is_multiple_of(2));
                rest /= 2 * SIZES.len();
                if write {
                    let accepts = ch.accepts(size, false);
                    let done = ch.put(size, false).0;
                    assert_eq!(done > 0, accepts, "{spec:?} {history}");
                    held += done;
                } else {
                    let done = ch.take(size).0;
                    assert_eq!(done, size.min(held), "{spec:?} {history}");
                    held -= done;
                }
                assert_eq!(held, ch.parts.iter().map(|p| p.len).sum::<u32>());
                assert_eq!(ch.charged, ch.parts.iter().map(|p| p.true_size).sum::<u32>());
                assert_eq!(ch.is_empty(), held == 0);
                if let ChannelSpec::Pipe { pages } = spec {
                    assert!(ch.parts.len() as u32 <= pages && ch.parts.iter().all(|p| p.end <= PAGE_BYTES));
                }
            }
        }
    }
}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a trace with Perfetto's own messages and prints the events that are in it, in order of time.

Switches and wake-ups in columns, packets packed with zlib, a bundle that lost events, an event without meaning, and
counters on a clock of their sequence: what our own exporter never writes.
"""

import sys
import zlib

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

lines = []


def deltas(times):
    return [time - before for before, time in zip([0] + times[:-1], times)]


def compact(trace, cpu, start, lost):
    """Alternates three tasks; the first switch of a CPU does not say who ran."""
    packet = trace.packet.add()
    packet.trusted_packet_sequence_id = 1
    bundle = packet.ftrace_events
    bundle.cpu = cpu
    bundle.lost_events = lost
    columns = bundle.compact_sched
    columns.intern_table.extend(["task-a", "task-b", "task-c"])
    times = [start + 1000 * step for step in range(50)]
    columns.switch_timestamp.extend(deltas(times))
    if lost:
        lines.append((times[0], f"{times[0]} lost {cpu}"))
    for step, time in enumerate(times):
        columns.switch_prev_state.append(step % 3)
        columns.switch_next_pid.append(100 + step % 3)
        columns.switch_next_prio.append(120)
        columns.switch_next_comm_index.append(step % 3)
        if step > 0:
            prev = 100 + (step - 1) % 3
            lines.append((time, f"{time} switch {cpu} {prev} 120 {step % 3} {100 + step % 3} 120"))
    wakings = [time + 500 for time in times]
    columns.waking_timestamp.extend(deltas(wakings))
    for step, time in enumerate(wakings):
        columns.waking_pid.append(100 + step % 3)
        columns.waking_target_cpu.append(cpu)
        columns.waking_prio.append(120)
        columns.waking_comm_index.append(step % 3)
        columns.waking_common_flags.append(0)
        lines.append((time, f"{time} waking {cpu} {100 + step % 3} 120 {cpu}"))


def counters(trace):
    packet = trace.packet.add()
    packet.trusted_packet_sequence_id = 9
    packet.sequence_flags = 1
    packet.trace_packet_defaults.timestamp_clock_id = 64
    for clock_id, shown in ((6, 500_000), (64, 0)):
        clock = packet.clock_snapshot.clocks.add()
        clock.clock_id = clock_id
        clock.timestamp = shown
        if clock_id == 64:
            clock.is_incremental = True
            clock.unit_multiplier_ns = 10
    for uuid, name in ((7, "CPU0 util_avg"), (8, "ui-main-104 util_avg"), (9, "other")):
        packet = trace.packet.add()
        packet.trusted_packet_sequence_id = 9
        packet.track_descriptor.uuid = uuid
        packet.track_descriptor.name = name
        packet.track_descriptor.counter.unit = 1
    time = 500_000
    for step, uuid in enumerate((7, 8, 7, 9)):
        packet = trace.packet.add()
        packet.trusted_packet_sequence_id = 9
        packet.timestamp = 100
        time += 1000
        packet.track_event.type = pb.TrackEvent.TYPE_COUNTER
        packet.track_event.track_uuid = uuid
        if step == 2:
            packet.track_event.double_counter_value = 300.0
        else:
            packet.track_event.counter_value = 100 * (step + 1)
        value = 100 * (step + 1)
        if uuid != 9:
            kind = f"cfs 0 {value}" if uuid == 7 else f"se 104 {value}"
            lines.append((time, f"{time} {kind}"))


def main():
    plain, packed, outer = pb.Trace(), pb.Trace(), pb.Trace()
    packet = plain.packet.add()
    event = packet.ftrace_events.event.add()
    event.timestamp = 1
    event.kprobe_event.name = "probe"
    compact(plain, 0, 100_001, False)
    counters(plain)
    compact(packed, 1, 100_102, True)
    compact(packed, 0, 160_003, False)
    outer.packet.add().compressed_packets = zlib.compress(packed.SerializeToString())
    with open(sys.argv[1], "wb") as file:
        file.write(plain.SerializeToString() + outer.SerializeToString())
    # The bundle that goes on where CPU 0 was knows who ran.
    last = 100 + 49 % 3
    lines.append((160_003, f"160003 switch 0 {last} 120 0 100 120"))
    for _, line in sorted(lines, key=lambda entry: entry[0]):
        print(line)


if __name__ == "__main__":
    main()

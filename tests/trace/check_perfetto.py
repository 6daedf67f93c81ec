#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Decodes a Perfetto trace with Perfetto's own protobuf classes and compares it with the events of the same run.

usage: check_perfetto.py RUN.pftrace RUN.jsonl

RUN.jsonl is the run as `pelton_trace::JsonLines` writes it. Nothing here knows our encoder: field names come from the
`perfetto` package, expectations from the events. Ends with 0 when everything agrees, 1 when something differs (the first
difference of each kind is shown), 2 on wrong usage. Without the package it prints `not measured` and ends with 0.

Only the protobuf classes are used. Perfetto's trace processor is a separate program that the package would download.
"""

import collections
import json
import sys

PROCESS_PID = 1000
UINT32_MAX = 2**32 - 1

FTRACE_KINDS = (
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "cpu_frequency",
    "cpu_idle",
    "irq_handler_entry",
    "irq_handler_exit",
)


def pid_of(tid):
    return 0 if tid == 0 else PROCESS_PID + tid


def prio_of(prio):
    """The deadline class has priority -1 in the kernel; the events hold it as an unsigned number."""
    return -1 if prio == UINT32_MAX else prio


# --- what the events say ---------------------------------------------------------------------------------------------


def expected_payload(event):
    """Fields of the ftrace message for one event, by the names of Perfetto's protobufs."""
    kind = event["event"]
    if kind == "sched_switch":
        return {
            "prev_pid": pid_of(event["prev_tid"]),
            "prev_prio": prio_of(event["prev_prio"]),
            "prev_state": event["prev_state"],
            "next_pid": pid_of(event["next_tid"]),
            "next_prio": prio_of(event["next_prio"]),
        }
    if kind in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
        return {
            "pid": pid_of(event["tid"]),
            "prio": prio_of(event["prio"]),
            "target_cpu": event["target_cpu"],
        }
    if kind == "sched_migrate_task":
        return {
            "pid": pid_of(event["tid"]),
            "prio": prio_of(event["prio"]),
            "orig_cpu": event["orig_cpu"],
            "dest_cpu": event["dest_cpu"],
        }
    if kind == "cpu_frequency":
        return {"state": event["freq_khz"], "cpu_id": event["cpu"]}
    if kind == "cpu_idle":
        return {"state": event["state"], "cpu_id": event["cpu"]}
    return {"irq": event["irq"]}


def expected_counters(event):
    """(family, number, track name, value) of every counter the event feeds."""
    kind = event["event"]
    if kind == "pelt_se":
        return [("task", event["tid"], name, event[name]) for name in ("util_avg", "util_est")]
    if kind == "pelt_cfs":
        return [("cpu", event["cpu"], name, event[name]) for name in ("util_avg", "util_est", "runnable_avg")]
    if kind in ("pelt_rt", "pelt_dl", "pelt_irq"):
        return [("cpu", event["cpu"], kind.removeprefix("pelt_") + " util_avg", event["util_avg"])]
    if kind == "pelt_hw":
        return [("cpu", event["cpu"], "hw load_avg", event["load_avg"])]
    if kind == "freq_decision" and event["gate"] == 0:
        return [
            ("domain", event["domain"], "performance target", event["perf"]),
            ("domain", event["domain"], "requested frequency", event["raw_khz"]),
            ("domain", event["domain"], "resolved frequency", event["resolved_khz"]),
        ]
    if kind == "domain_power":
        return [("domain", event["domain"], "power", event["power_uw"])]
    return []


class Expected:
    """What a trace of these events must contain."""

    def __init__(self, lines):
        self.ftrace = collections.defaultdict(list)  # cpu -> [(time, pid, kind, payload)]
        self.counters = collections.defaultdict(list)  # (family, number, name) -> [(time, value)]
        self.activations = collections.defaultdict(list)  # tid -> [(end time, index, slack)]
        running = collections.defaultdict(int)
        for line in lines:
            event = json.loads(line)
            if "units" in event:
                continue
            self.add(event, running)

    def add(self, event, running):
        time_ns, kind = event["time_ns"], event["event"]
        if kind in FTRACE_KINDS:
            cpu = event["cpu"]
            self.ftrace[cpu].append((time_ns, pid_of(running[cpu]), kind, expected_payload(event)))
            if kind == "sched_switch":
                running[cpu] = event["next_tid"]
        for family, number, name, value in expected_counters(event):
            values = self.counters[family, number, name]
            if not values or values[-1][1] != value:
                values.append((time_ns, value))
        if kind == "task_activation":
            self.activations[event["tid"]].append((time_ns, event["index"], event["slack_ns"]))


# --- what the trace says ---------------------------------------------------------------------------------------------


class Found:
    """The same facts, decoded."""

    def __init__(self, trace):
        self.ftrace = collections.defaultdict(list)
        self.values = collections.defaultdict(list)  # track uuid -> [(time, value)]
        self.slices = collections.defaultdict(list)  # track uuid -> [(begin, end, annotations)]
        self.tracks = {}
        self.threads = {}
        self.event_names = {}
        self.note_names = {}
        self.problems = []
        for packet in trace.packet:
            self.packet(packet)

    def packet(self, packet):
        for name in packet.interned_data.event_names:
            self.event_names[name.iid] = name.name
        for name in packet.interned_data.debug_annotation_names:
            self.note_names[name.iid] = name.name
        if packet.HasField("ftrace_events"):
            self.bundle(packet.ftrace_events)
        elif packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            self.check(track.uuid not in self.tracks, f"track {track.uuid} is declared twice")
            known = track.parent_uuid == 0 or track.parent_uuid in self.tracks
            self.check(known, f"track {track.uuid} is declared before its parent")
            self.tracks[track.uuid] = track
        elif packet.HasField("track_event"):
            self.check(packet.trusted_packet_sequence_id != 0, "a track event without a sequence")
            self.track_event(packet)
        elif packet.HasField("process_tree"):
            for thread in packet.process_tree.threads:
                self.threads[thread.tid] = thread

    def bundle(self, bundle):
        last_ns = 0
        for event in bundle.event:
            kind = event.WhichOneof("event")
            self.check(event.timestamp >= last_ns, f"CPU {bundle.cpu}: times go backwards in a bundle")
            last_ns = event.timestamp
            payload = {field.name: value for field, value in getattr(event, kind).ListFields()}
            self.ftrace[bundle.cpu].append((event.timestamp, event.pid, kind, payload))

    def track_event(self, packet):
        time_ns, event = packet.timestamp, packet.track_event
        self.check(event.track_uuid in self.tracks, f"an event on undeclared track {event.track_uuid}")
        if event.type == event.TYPE_COUNTER:
            self.values[event.track_uuid].append((time_ns, event.counter_value))
        elif event.type == event.TYPE_SLICE_BEGIN:
            self.check(self.event_names.get(event.name_iid) == "activation", "a slice without its name")
            self.check(packet.sequence_flags == packet.SEQ_NEEDS_INCREMENTAL_STATE, "a slice without its names' flag")
            notes = {self.note_names[note.name_iid]: note.int_value for note in event.debug_annotations}
            self.slices[event.track_uuid].append([time_ns, None, notes])
        elif event.type == event.TYPE_SLICE_END:
            slices = self.slices[event.track_uuid]
            self.check(bool(slices) and slices[-1][1] is None, "a slice ends that has not begun")
            slices[-1][1] = time_ns

    def check(self, holds, text):
        if not holds and text not in self.problems:
            self.problems.append(text)

    def owner(self, uuid):
        """(family, title of the group) of a track, from its ancestors."""
        group = self.tracks[self.tracks[uuid].parent_uuid]
        family = {"CPU utilization": "cpu", "Task utilization": "task", "Frequency domains": "domain"}
        return family.get(self.tracks[group.parent_uuid].name), group


# --- the comparison --------------------------------------------------------------------------------------------------


def number_of(family, group):
    """CPU, task or domain number of a group of tracks."""
    if family == "task":
        return int(group.name.rsplit(" ", 1)[1]) - PROCESS_PID
    return group.sibling_order_rank


def first_difference(expected, found):
    for index, (left, right) in enumerate(zip(expected, found)):
        if left != right:
            return f"entry {index}: events say {left}, trace says {right}"
    return f"events say {len(expected)} entries, trace says {len(found)}"


def without_names(payload):
    return {name: value for name, value in payload.items() if name not in ("comm", "prev_comm", "next_comm", "name")}


def explicit(payload, names):
    """Absent numbers are zero; ours are always written, so they must be there."""
    return {name: payload.get(name, "absent") for name in names}


def compare_ftrace(expected, found):
    problems = []
    for cpu in sorted(set(expected.ftrace) | set(found.ftrace)):
        left = expected.ftrace.get(cpu, [])
        right = []
        for entry, (time_ns, pid, kind, payload) in zip(left, found.ftrace.get(cpu, [])):
            names = entry[3] if kind == entry[2] else without_names(payload)
            right.append((time_ns, pid, kind, explicit(payload, names)))
        if left != right or len(left) != len(found.ftrace.get(cpu, [])):
            problems.append(f"ftrace of CPU {cpu}: {first_difference(left, right)}")
    return problems


def compare_names(found):
    """Thread names in events are the names of the process tree, cut as the kernel cuts them."""
    problems = set()
    for cpu, events in found.ftrace.items():
        for _, _, kind, payload in events:
            pairs = [("comm", "pid"), ("prev_comm", "prev_pid"), ("next_comm", "next_pid")]
            for comm, pid in ((payload[c], payload[p]) for c, p in pairs if c in payload):
                name = f"swapper/{cpu}" if pid == 0 else found.threads[pid].name if pid in found.threads else None
                if name is None or comm != name.encode()[:15].decode(errors="ignore"):
                    problems.add(f"{kind}: thread {pid} is called {comm!r}, its process tree entry {name!r}")
    return sorted(problems)


def compare_counters(expected, found):
    problems, counters = [], {}
    for uuid, values in found.values.items():
        family, group = found.owner(uuid)
        track = found.tracks[uuid]
        if not track.counter.unit_name:
            problems.append(f"counter {track.name!r} has no unit")
        counters[family, number_of(family, group), track.name] = values
    for key in sorted(set(expected.counters) | set(counters)):
        left, right = expected.counters.get(key, []), counters.get(key, [])
        if left != right:
            problems.append(f"counter {key}: {first_difference(left, right)}")
    return problems


def compare_activations(expected, found):
    problems, activations = [], {}
    for uuid, slices in found.slices.items():
        tid = number_of("task", found.owner(uuid)[1])
        activations[tid] = [(end, notes.get("index"), notes.get("slack_ns")) for _, end, notes in slices]
        for (_, end, _), (begin, _, _) in zip(slices, slices[1:]):
            if end is None or begin < end:
                problems.append(f"activations of task {tid} overlap at {begin}")
    for tid in sorted(set(expected.activations) | set(activations)):
        left, right = expected.activations.get(tid, []), activations.get(tid, [])
        if left != right:
            problems.append(f"activations of task {tid}: {first_difference(left, right)}")
    return problems


def compare_preamble(trace):
    fields = {field for packet in trace.packet[:8] for field, _ in ((f.name, v) for f, v in packet.ListFields())}
    wanted = {"clock_snapshot", "system_info", "cpu_info", "process_tree", "trace_uuid"}
    problems = [f"no {name} at the start" for name in sorted(wanted - fields)]
    clocks = next((p.clock_snapshot for p in trace.packet if p.HasField("clock_snapshot")), None)
    if clocks is not None and (clocks.primary_trace_clock != 6 or {c.clock_id for c in clocks.clocks} != {3, 6}):
        problems.append("the clock snapshot does not name the boot clock")
    unknown = sum(1 for packet in trace.packet if len(packet.ListFields()) == 0)
    return problems + ([f"{unknown} packets with no known field"] if unknown else [])


def main(args):
    if len(args) != 2:
        print(__doc__.strip().splitlines()[2], file=sys.stderr)
        return 2
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        print(f"not measured: Perfetto traces against Perfetto's own protobufs ({error})")
        return 0
    trace = perfetto_trace_pb2.Trace()
    with open(args[0], "rb") as file:
        trace.ParseFromString(file.read())
    with open(args[1], encoding="utf-8") as file:
        expected = Expected(file)
    found = Found(trace)
    problems = found.problems + compare_preamble(trace) + compare_ftrace(expected, found) + compare_names(found)
    problems += compare_counters(expected, found) + compare_activations(expected, found)
    for text in problems:
        print(f"differs: {text}")
    events = sum(map(len, expected.ftrace.values()))
    values = sum(map(len, expected.counters.values()))
    slices = sum(map(len, expected.activations.values()))
    print(f"compared: {events} ftrace events, {values} counter values, {slices} activations, {len(problems)} differences")
    return 1 if problems or events + values + slices == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

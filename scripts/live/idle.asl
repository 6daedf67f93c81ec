// SPDX-License-Identifier: GPL-2.0-or-later
// Idle states for the eight CPUs of QEMU's PC, so that the kernel's own ACPI driver and its idle governor choose among them in
// the guest. All are of type C1 in fixed hardware that is not the processor's own waiting: the kernel enters each by HLT, as it
// does without any, and knows another latency of each. Nothing takes that long.
DefinitionBlock ("", "SSDT", 2, "PELTON", "CSTATES", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)
    External (\_SB.CPUS.C002, DeviceObj)
    External (\_SB.CPUS.C003, DeviceObj)
    External (\_SB.CPUS.C004, DeviceObj)
    External (\_SB.CPUS.C005, DeviceObj)
    External (\_SB.CPUS.C006, DeviceObj)
    External (\_SB.CPUS.C007, DeviceObj)

    // Where, type, latency in us, mW.
    Name (\CSTA, Package () {
        3,
        Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0, ) }, 1,   2, 1000 },
        Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0, ) }, 1,  50,  500 },
        Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0, ) }, 1, 200,  100 }
    })

    Scope (\_SB.CPUS.C000) { Method (_CST) { Return (\CSTA) } }
    Scope (\_SB.CPUS.C001) { Method (_CST) { Return (\CSTA) } }
    Scope (\_SB.CPUS.C002) { Method (_CST) { Return (\CSTA) } }
    Scope (\_SB.CPUS.C003) { Method (_CST) { Return (\CSTA) } }
    Scope (\_SB.CPUS.C004) { Method (_CST) { Return (\CSTA) } }
    Scope (\_SB.CPUS.C005) { Method (_CST) { Return (\CSTA) } }
    Scope (\_SB.CPUS.C006) { Method (_CST) { Return (\CSTA) } }
    Scope (\_SB.CPUS.C007) { Method (_CST) { Return (\CSTA) } }
}

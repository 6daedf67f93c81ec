// SPDX-License-Identifier: GPL-2.0-or-later
// Performance states for the two CPUs of QEMU's PC, so that the kernel's own acpi-cpufreq driver and schedutil run in the
// guest. Writing the I/O port has no effect: nothing runs faster or slower, as on a machine without frequency invariance
// the kernel does not expect it to.
DefinitionBlock ("", "SSDT", 2, "PELTON", "PSTATES", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)

    // Control and status: an I/O port that no device of the guest has.
    Name (\PCTR, Package () {
        ResourceTemplate () { Register (SystemIO, 16, 0, 0x0A80, ) },
        ResourceTemplate () { Register (SystemIO, 16, 0, 0x0A80, ) }
    })

    // MHz, mW, latency and bus latency in us, control value, status value.
    Name (\PSTA, Package () {
        Package () { 2400, 6000, 10, 10, 2400, 2400 },
        Package () { 2000, 4500, 10, 10, 2000, 2000 },
        Package () { 1600, 3200, 10, 10, 1600, 1600 },
        Package () { 1200, 2200, 10, 10, 1200, 1200 },
        Package () {  800, 1400, 10, 10,  800,  800 },
        Package () {  400,  800, 10, 10,  400,  400 }
    })

    Scope (\_SB.CPUS.C000)
    {
        Method (_PCT) { Return (\PCTR) }
        Method (_PSS) { Return (\PSTA) }
        Method (_PPC) { Return (0) }
    }

    Scope (\_SB.CPUS.C001)
    {
        Method (_PCT) { Return (\PCTR) }
        Method (_PSS) { Return (\PSTA) }
        Method (_PPC) { Return (0) }
    }
}

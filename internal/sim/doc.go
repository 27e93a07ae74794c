// Package sim is a world that tries to break the contract. It runs the cores of the
// server and of its agents - dispatch.Core, registry.Seat, liveness.Pings,
// runner.Core, spool.Memory: the very code of the product - on one scheduler, with a
// network, disks, clocks, desktops and people that it makes up. A Plan, drawn from a
// seed, says what is submitted and what goes wrong when; nothing else is left to
// chance, so a seed replays exactly. After every step the invariants of the
// contract's sections 3 and 4 are checked, and in the end, when nothing goes wrong
// any more, every replay must come to its own end.
//
// What is made up here are the thin wrappers alone: goroutines, timers, gRPC, the
// files. They have tests of their own, in bubbles and with real processes.
package sim

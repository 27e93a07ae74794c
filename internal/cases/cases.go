// Package cases holds the contract's cases as tests: real server and real agent
// code over gRPC, with the fault made to happen. Where time matters both run in
// one synctest bubble, over a relay that aims at single messages; where a process
// must die they run as programs that are killed with SIGKILL.
package cases

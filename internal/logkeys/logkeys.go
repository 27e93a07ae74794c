// Package logkeys names the keys of structured log lines, so that one thing has
// one key in every program. It decides no message and no level.
package logkeys

// The keys. Ids are the schema's; times are durations.
const (
	Replay   = "replay"   // replay id
	Machine  = "machine"  // machine id
	Session  = "session"  // session id, the life of one stream
	Action   = "action"   // action id
	Attempt  = "attempt"  // attempt id
	Step     = "step"     // index of an action in its workflow, from 0
	Kind     = "kind"     // kind of action, by its name in the schema
	Delivery = "delivery" // number of a delivery, from 1
	Pause    = "pause"    // pause id
	Boot     = "boot"     // boot id of an agent's process
	Spool    = "spool"    // id of an agent's memory
	State    = "state"    // state of a machine, replay, action or desktop
	Reason   = "reason"   // why something happened, in the contract's words
	Code     = "code"     // error code of a report, or of an RPC
	Error    = "error"    // an error's text
	Verdict  = "verdict"  // how a report was taken
	Peer     = "peer"     // address of the other side
	Method   = "method"   // full name of an RPC
	Path     = "path"     // file or directory
	Digest   = "digest"   // SHA-256 of a picture
	Count    = "count"    // number of things
	Elapsed  = "elapsed"  // how long something took
	After    = "after"    // how long something waits
	Stack    = "stack"    // stack of a panic
	Revision = "revision" // position in a replay's journal
	Detail   = "detail"   // more about it, for people
)

// Package faultpoint marks the places where a test may stop a process dead. It
// is empty unless the program is built with `-tags faultpoint`.
//
// A test listens on a loopback address and names the points it wants in the
// environment of the process (see Address and Names). A process that comes to
// such a point connects, says where it is and waits: the test may look at disks
// and desktops, cut links, send `kill -9`, or let it go on. So a fault happens
// at a point that both sides agreed on, never by chance.
package faultpoint

// Environment of a process that is built with `-tags faultpoint`.
const (
	// Address names the variable with the test's loopback address.
	Address = "REPRISE_FAULTPOINT_ADDRESS"
	// Names names the variable with the wanted points, separated by commas.
	Names = "REPRISE_FAULTPOINT_NAMES"
)

// The points, in the order of an action's life: before and after each write, each
// send and each input event.
const (
	DispatchDecided   = "server.dispatch_decided"   // server: taken off the queue, not yet durable
	DispatchJournaled = "server.dispatch_journaled" // server: durable, not yet sent
	DispatchSent      = "server.dispatch_sent"      // server: handed to the stream
	AgentReceived     = "agent.received"            // agent: read from the stream, not yet in the spool
	AgentBegins       = "agent.begins"              // agent: about to write "started"
	AgentStarted      = "agent.started"             // agent: "started" is on disk, no input yet
	AgentInputEvent   = "agent.input_event"         // agent: one input event is sent; the subject says which
	AgentMidInput     = "agent.mid_input"           // agent: some of the gesture has its effect, and something is still down
	AgentInputDone    = "agent.input_done"          // agent: all input is sent, and nothing was looked at yet
	AgentResultReady  = "agent.result_ready"        // agent: the result is known and not on disk
	AgentResultStored = "agent.result_stored"       // agent: the result is on disk, not yet sent
	AgentReportSent   = "agent.report_sent"         // agent: sent, not yet acknowledged
	ReportReceived    = "server.report_received"    // server: read from the stream, not yet decided on
	ReportDecided     = "server.report_decided"     // server: decided on, not yet durable
	ReportJournaled   = "server.report_journaled"   // server: durable, not yet acknowledged
	ReportAcked       = "server.report_acked"       // server: the acknowledgement is handed to the stream
	AgentAcknowledged = "agent.acknowledged"        // agent: read the acknowledgement, not yet noted it
	AgentForgot       = "agent.forgot"              // agent: noted that it need not say it again
)

// Points returns all points, in the order of an action's life.
func Points() []string {
	return []string{
		DispatchDecided, DispatchJournaled, DispatchSent,
		AgentReceived, AgentBegins, AgentStarted, AgentInputEvent, AgentMidInput, AgentInputDone,
		AgentResultReady, AgentResultStored, AgentReportSent,
		ReportReceived, ReportDecided, ReportJournaled, ReportAcked,
		AgentAcknowledged, AgentForgot,
	}
}

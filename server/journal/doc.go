// Package journal keeps the records of all replays on disk, in an SQLite
// database of its own, and gives them back. It decides when a record is durable
// and who wrote first; what a record means is decided by package replay.
//
// Append returns when its records are on disk. The appends of all callers that
// wait at the same moment share one commit: the first of them to get the turn
// writes for the others, so the package needs no goroutine and nothing has to be
// started. A caller whose position is taken is refused alone; a commit that
// fails (a full disk, say) fails for all of its callers, leaves nothing behind,
// and the next append tries again from the start.
//
// Every record has a position in the journal as a whole, which grows in the
// order of commits and is never given twice, also when the newest records are
// purged. A reader goes on after the last position that it knows, waits for
// Committed in between, and needs no buffer here; it is told when something
// behind its position was purged. Whose the newest records are is remembered, so
// that a reader to whom nothing happened is told so without reading the disk.
//
// Damage on disk is told when the journal is opened: it stays closed when what
// live replays or new records need is hit, and otherwise says in the log which
// ended replays are lost.
//
// One process has a data directory at a time. Dump and Verify only read, and
// may look at the directory of a running server.
//
// Nothing of SQLite shows in the API but the name of a file system for tests,
// so that another engine can take this one's place. What SQLite cannot promise
// is in docs/adr/journal-sqlite.md.
package journal

// Package interceptors puts the chain around every call of the server together.
// Each concern is a package of its own that holds our choices; the work is done by
// go-grpc-middleware v2 wherever it fits. From the outside to the handler:
//
//  1. clock: the server's time, which refused callers may know as well
//  2. logging: outside of all that refuses, so that no call escapes it
//  3. metrics: counts what logging sees
//  4. auth: who calls and what they may call; strangers get no further
//  5. validation: the schema's limits; handlers see only messages that keep them
//  6. recovery: innermost, so that all of the above see a panic as an error
//
// Limits per caller and masking of fields have their place here as well: the
// former after auth, the latter in logging.
package interceptors

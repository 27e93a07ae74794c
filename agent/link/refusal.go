package link

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errorDomain is whose the reasons below are.
const errorDomain = "reprise.v1"

// remedy is what follows from an upload that failed.
type remedy int

const (
	askAgain remedy = iota // ask what the server has of it, and try again
	waitAll                // there is no connection, or no room: all of them wait
	letGo                  // the server will never take this picture
)

// remedies are those that a reason names. What is none of them, or none that this
// agent knows, goes by its code.
var remedies = map[string]remedy{
	"EVIDENCE_FULL":     waitAll,
	"UPLOAD_OFFSET":     askAgain,
	"UPLOAD_UNDER_WAY":  askAgain,
	"PICTURE_TOO_LARGE": letGo,
	"PICTURE_NOT_PNG":   letGo,
	"DIGEST_INVALID":    letGo,
	"DIGEST_MISMATCH":   letGo,
	"INVALID_FIELD":     letGo,
	"INVALID_MESSAGE":   letGo,
}

// remedyFor decides what follows from how an upload ended. In doubt a picture waits:
// it can be lost only once.
func remedyFor(err error) remedy {
	s := status.Convert(err)
	for _, d := range s.Details() {
		info, ok := d.(*errdetails.ErrorInfo)
		if !ok || info.GetDomain() != errorDomain {
			continue
		}
		if known, ok := remedies[info.GetReason()]; ok {
			return known
		}
	}
	switch s.Code() {
	case codes.Unavailable, codes.Canceled:
		return waitAll
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unimplemented:
		return letGo
	}
	return askAgain
}

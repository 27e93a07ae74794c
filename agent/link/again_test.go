package link

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/agenttest"
)

func TestWhatTheServerWillNeverTakeIsLostAndHoldsUpNoOther(t *testing.T) {
	for _, refusal := range []error{
		status.Error(codes.InvalidArgument, "no"),
		agenttest.Refusal(codes.ResourceExhausted, "PICTURE_TOO_LARGE"),
		agenttest.Refusal(codes.InvalidArgument, "PICTURE_NOT_PNG"),
		agenttest.Refusal(codes.InvalidArgument, "DIGEST_INVALID"),
		agenttest.Refusal(codes.InvalidArgument, "DIGEST_MISMATCH"),
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAtServer(t)
			defer a.end()
			bad, good := noise(1, 10), noise(2, 10)
			a.server.FailUpload(1, refusal)
			a.keep(bad, good)
			a.connect(enough)
			a.expect(good)
			synctest.Wait()
			if left := a.waiting.Waiting(9); len(left) != 0 || len(a.server.Uploads()) != 2 {
				t.Errorf("%v: %d wait after %d uploads", refusal, len(left), len(a.server.Uploads()))
			}
		})
	}
}

func TestAPictureWithAFaultThatMayPassHoldsUpNoOtherAndIsTriedAgain(t *testing.T) {
	for _, fault := range []error{
		status.Error(codes.Internal, "later"), status.Error(codes.ResourceExhausted, "no reason given"),
		agenttest.Refusal(codes.Aborted, "UPLOAD_UNDER_WAY"), agenttest.Refusal(codes.OutOfRange, "UPLOAD_OFFSET"),
		agenttest.Refusal(codes.FailedPrecondition, "A_REASON_OF_A_NEWER_SERVER"),
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAtServer(t)
			defer a.end()
			first, second := noise(1, 10), noise(2, 10)
			a.server.FailUpload(1, fault)
			a.keep(first, second)
			began := time.Now()
			a.connect(enough)
			a.expect(second, first)
			if waited := time.Since(began); waited > uploadRetry {
				t.Errorf("%v: tried again after %v", fault, waited)
			}
		})
	}
}

// Somebody else's upload came between: what the server has of it then is another
// share.
func TestAnUploadThatIsTriedAgainBeginsWhereTheServerIsThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		picture := noise(1, 4*chunk)
		a.server.FailUpload(1, agenttest.Refusal(codes.Aborted, "UPLOAD_UNDER_WAY"))
		a.keep(picture)
		a.connect(enough)
		synctest.Wait()
		a.server.PutPart(digest(picture), picture[:3*chunk])
		a.expect(picture)
		if up := a.server.Uploads(); len(up) != 2 || up[1].Offset != 3*chunk {
			t.Errorf("uploads %+v", up)
		}
	})
}

func TestAFullServerLosesNoPictureAndIsAskedForOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		first, second := noise(1, 10), noise(2, 10)
		a.server.FailUpload(1, agenttest.Refusal(codes.ResourceExhausted, "EVIDENCE_FULL"))
		a.keep(first, second)
		a.connect(enough)
		synctest.Wait()
		if left := a.waiting.Waiting(9); len(left) != 2 || len(a.server.Uploads()) != 1 {
			t.Errorf("%d wait after %d uploads", len(left), len(a.server.Uploads()))
		}
		began := time.Now()
		a.expect(first, second)
		if waited := time.Since(began); waited != uploadRetry {
			t.Errorf("tried again after %v", waited)
		}
	})
}

// A power cut of the server leaves the length of what it had, and zeros.
func TestAnUploadThatGoesOnFromWhatIsTornIsBroughtWholeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		picture := noise(1, 2*chunk)
		a.server.PutPart(digest(picture), make([]byte, chunk))
		a.keep(picture)
		a.connect(enough)
		a.expect(picture)
		if ups := a.server.Uploads(); len(ups) != 2 || ups[0].Offset != chunk || ups[1].Offset != 0 {
			t.Errorf("uploads %+v", ups)
		}
		forged := strings.Repeat("ab", 32) // no content of ours has this digest
		a.server.PutPart(forged, picture[:5])
		a.Keep(forged, picture)
		synctest.Wait()
		if ups := a.server.Uploads(); len(ups) != 4 || len(a.waiting.Waiting(9)) != 0 {
			t.Errorf("%d wait after the uploads %+v", len(a.waiting.Waiting(9)), ups)
		}
	})
}

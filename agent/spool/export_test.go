package spool

import "testing"

// EncodeForTest returns a record's frame.
func EncodeForTest(t *testing.T, r Record) []byte {
	t.Helper()
	frame, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// FrameForTest returns the frame of any bytes, be they a record or not.
func FrameForTest(body []byte) []byte { return frame(body) }

package link

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"testing"
)

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestAnchorsAreForgottenByHowLongTheyWereNotUsed(t *testing.T) {
	e := NewEvidence(nil, nil)
	half := maxAnchors / 2
	for _, name := range []string{"a", "b"} {
		e.remember(&anchor{sha256: name, picture: image.Black, size: half})
	}
	if _, err := e.Anchor(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	e.remember(&anchor{sha256: "c", picture: image.Black, size: half})
	if _, err := e.Anchor(t.Context(), "b"); !errors.Is(err, errOffline) {
		t.Errorf("b = %v, want that it was forgotten", err)
	}
	if _, err := e.Anchor(t.Context(), "a"); err != nil {
		t.Errorf("a = %v", err)
	}
}

func TestAPictureIsUnpackedOnlyIfItIsWhatWasAskedFor(t *testing.T) {
	var packed bytes.Buffer
	if err := png.Encode(&packed, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	if picture, err := unpack(packed.Bytes(), digest(packed.Bytes())); err != nil || picture.Bounds().Dx() != 3 {
		t.Errorf("a sound one: %v", err)
	}
	if _, err := unpack(packed.Bytes(), digest([]byte("other"))); err == nil {
		t.Error("one of another digest was taken")
	}
	if _, err := unpack([]byte("GIF89a"), digest([]byte("GIF89a"))); err == nil {
		t.Error("one that is no PNG was taken")
	}
	bomb := bytes.Clone(packed.Bytes())
	copy(bomb[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536×65536
	if _, err := unpack(bomb, digest(bomb)); err == nil {
		t.Error("one of 65536×65536 pixels was taken")
	}
}

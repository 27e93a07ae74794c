package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestTheSameRegistryTakesTheCollectorsOnce(t *testing.T) {
	reg := prometheus.NewRegistry()
	if _, err := New(reg); err != nil {
		t.Fatal(err)
	}
	if _, err := New(reg); err == nil {
		t.Error("registered twice")
	}
}

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The front desk's whole day, by HTTP.
func TestTheFrontDeskIsServedByHTTP(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		call := func(method, path, body string, want int) string {
			t.Helper()
			rec := httptest.NewRecorder()
			w.intakes.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(w.ctx, method, path, strings.NewReader(body)))
			if rec.Code != want {
				t.Errorf("%s %s: %d %s, want %d", method, path, rec.Code, rec.Body, want)
			}
			return rec.Body.String()
		}
		call("POST", "/intakes", `{"case":"c-17","name":"Anna Berg"}`, http.StatusBadRequest)
		call("POST", "/intakes", `{"case":"c-17","nome":"Anna Berg"}`, http.StatusBadRequest)
		call("POST", "/intakes", `{"case":"c-17","name":"Anna Berg","born":"1958-03-14"}`, http.StatusAccepted)
		call("POST", "/intakes", `{"case":"c-17","name":"Otto Berg","born":"1958-03-14"}`, http.StatusConflict)
		n := w.need(time.Second, "user_request")
		var s Status
		w.must(json.Unmarshal([]byte(call("GET", "/intakes/c-17", "", http.StatusOK)), &s))
		if s.State != "paused" || s.Done != 3 || s.Need.PauseID != n.PauseID {
			t.Errorf("the status is %+v", s)
		}
		call("GET", "/intakes/c-18", "", http.StatusNotFound)
		call("POST", "/intakes/c-17/decision", `{"pause_id":"`+n.PauseID+`","decision":"perhaps"}`, http.StatusBadRequest)
		call("POST", "/intakes/c-17/decision", `{"pause_id":"`+n.PauseID+`"}`, http.StatusUnprocessableEntity)
		call("POST", "/intakes/c-17/decision", `{"pause_id":"an older one","checks":["identity"]}`, http.StatusConflict)
		call("POST", "/intakes/c-17/decision", `{"pause_id":"`+n.PauseID+`","checks":["identity"]}`, http.StatusOK)
		if s := w.status(time.Second); s.State != "completed" {
			t.Errorf("at the end: %+v", s)
		}
		call("DELETE", "/intakes/c-17?why=too+late", "", http.StatusConflict)
		w.must(w.Stop())
		short, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		w.ctx = short
		call("DELETE", "/intakes/c-17", "", http.StatusServiceUnavailable)
	})
}

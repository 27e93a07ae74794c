package main

import (
	"encoding/json"
	"errors"
	"net/http"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// maxBody is the most that a request may hold.
const maxBody = 64 << 10

// Handler serves the front desk:
//
//	POST   /intakes                  a Form; the same one twice is one intake
//	GET    /intakes/{case}           its Status
//	POST   /intakes/{case}/decision  what a person has decided about a pause
//	DELETE /intakes/{case}           cancel it
func (s *Intakes) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /intakes", func(w http.ResponseWriter, r *http.Request) {
		var form Form
		if read(w, r, &form) {
			answer(w, http.StatusAccepted, nil, s.Start(r.Context(), form))
		}
	})
	mux.HandleFunc("GET /intakes/{case}", func(w http.ResponseWriter, r *http.Request) {
		status, err := s.Get(r.PathValue("case"))
		answer(w, http.StatusOK, status, err)
	})
	mux.HandleFunc("POST /intakes/{case}/decision", s.decide)
	mux.HandleFunc("DELETE /intakes/{case}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, nil, s.Cancel(r.Context(), r.PathValue("case"), r.URL.Query().Get("why")))
	})
	return mux
}

// decision is the body of a decision.
type decision struct {
	PauseID  string   `json:"pause_id"` // of the pause that the person has seen
	Decision string   `json:"decision"` // retry or skip; empty where there is nothing to decide on
	Checks   []string `json:"checks"`   // what was confirmed
}

func (s *Intakes) decide(w http.ResponseWriter, r *http.Request) {
	var d decision
	if !read(w, r, &d) {
		return
	}
	choices := map[string]reprisev1.ResumeDecision{
		"":      reprisev1.ResumeDecision_RESUME_DECISION_UNSPECIFIED,
		"retry": reprisev1.ResumeDecision_RESUME_DECISION_RETRY,
		"skip":  reprisev1.ResumeDecision_RESUME_DECISION_SKIP,
	}
	choice, known := choices[d.Decision]
	if !known {
		http.Error(w, "decision must be retry or skip", http.StatusBadRequest)
		return
	}
	answer(w, http.StatusOK, nil, s.Decide(r.Context(), r.PathValue("case"), d.PauseID, choice, d.Checks))
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

// httpCodes are what the front desk's errors are in HTTP. All others are ours or the
// server's: try again later.
var httpCodes = map[error]int{
	ErrBadForm: http.StatusBadRequest, ErrUnknown: http.StatusNotFound,
	ErrOther: http.StatusConflict, ErrTooLate: http.StatusConflict, ErrNoChecks: http.StatusUnprocessableEntity,
}

func answer(w http.ResponseWriter, code int, body any, err error) {
	if err != nil {
		code = http.StatusServiceUnavailable
		for known, itsCode := range httpCodes {
			if errors.Is(err, known) {
				code = itsCode
			}
		}
		http.Error(w, err.Error(), code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // who asked is gone
	}
}

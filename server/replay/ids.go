package replay

import (
	"fmt"
	"strconv"
)

// actionID is the id of a decision to run a step. It is derived, not drawn: the
// same journal gives the same ids.
func actionID(replayID string, step, resumes, retries int) string {
	id := replayID + "-" + strconv.Itoa(step+1)
	switch {
	case resumes == 1:
		id += "_resume"
	case resumes > 1:
		id += fmt.Sprintf("_resume%d", resumes)
	}
	if retries > 0 {
		id += fmt.Sprintf("_retry%d", retries)
	}
	return id
}

func pauseID(replayID string, n int) string { return fmt.Sprintf("%s-pause%d", replayID, n) }

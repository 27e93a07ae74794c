package journal

// Committed returns a channel that is closed when something is committed after
// the call, and when the journal is closed. Who takes the channel, then reads,
// then waits for it misses nothing; a read that finds nothing new may happen.
func (j *Journal) Committed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.told == nil {
		j.told = make(chan struct{})
		if j.closed {
			close(j.told) // and stays: nothing is committed any more
		}
	}
	return j.told
}

// tell wakes those who wait for a commit. The caller holds mu.
func (j *Journal) tell() {
	if j.told != nil && !j.closed {
		close(j.told)
		j.told = nil
	}
}

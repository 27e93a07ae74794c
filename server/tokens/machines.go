package tokens

// MachineIDs lists the ids of all registered machines, in order.
func (s *Store) MachineIDs() []string {
	var ids []string
	for _, m := range s.Machines() {
		ids = append(ids, m.ID)
	}
	return ids
}

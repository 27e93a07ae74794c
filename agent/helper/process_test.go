package helper_test

// runAsHelper is filled in where helpers are processes.
func runAsHelper() bool { return false }

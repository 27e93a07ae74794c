package winapi

// System is this Windows, as the user's programs see it. Its methods may be called
// from several goroutines at once; those that open the clipboard then get in each
// other's way as two programs do.
type System struct{}

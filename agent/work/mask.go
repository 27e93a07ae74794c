package work

// Mask is a rectangle of a monitor that no picture shows, in fractions of the
// monitor's size.
type Mask struct {
	Monitor                  int // the monitor's index
	Left, Top, Width, Height float64
}

package work

// Mask is a rectangle of a monitor that no picture shows, in fractions of the
// monitor's size.
type Mask struct {
	Monitor int     `json:"monitor"` // the monitor's index
	Left    float64 `json:"left"`
	Top     float64 `json:"top"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
}

// Begun is an action whose input may have left, and what no picture of it shows.
type Begun struct {
	Ref
	Masks []Mask
}

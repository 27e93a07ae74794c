package workflow

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// suggestion names the field that was probably meant: the nearest one, if at
// most two letters are wrong and most are right.
func suggestion(key string, fields protoreflect.FieldDescriptors) string {
	best, least := "", 3
	for i := range fields.Len() {
		name := fields.Get(i).JSONName()
		if n := distance(strings.ToLower(key), strings.ToLower(name)); n < least && 2*n < len(name) {
			best, least = name, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; %s is meant?", best)
}

// distance counts the letters to insert, drop or replace to turn a into b; it
// gives up on lengths that differ by more than suggestion cares for.
func distance(a, b string) int {
	if gap := len(a) - len(b); gap > 2 || gap < -2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

package mask

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-rpa/reprise/agent/work"
)

// errForm says how rectangles are written.
var errForm = errors.New("must be rectangles such as 0:0.1,0.2,0.3,0.4;1:0,0,1,0.05, each monitor:left,top,width,height in fractions")

// Parse reads masks, or other rectangles of that form: monitor:left,top,width,height
// each, with a semicolon between two of them. An empty text holds none. An error quotes
// the one of several that it is about.
func Parse(text string) ([]work.Mask, error) {
	var masks []work.Mask
	alone := !strings.Contains(text, ";")
	for one := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		m, err := parseOne(one)
		switch {
		case err != nil && alone:
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%q: %w", strings.TrimSpace(one), err)
		}
		masks = append(masks, m)
	}
	return masks, nil
}

func parseOne(text string) (work.Mask, error) {
	index, rest, ok := strings.Cut(text, ":")
	monitor, err := strconv.Atoi(strings.TrimSpace(index))
	fractions := strings.Split(rest, ",")
	m := work.Mask{Monitor: monitor}
	into := [...]*float64{&m.Left, &m.Top, &m.Width, &m.Height}
	if !ok || err != nil || len(fractions) != len(into) {
		return work.Mask{}, errForm
	}
	for i, text := range fractions {
		if *into[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
			return work.Mask{}, errForm
		}
	}
	return m, Check(m)
}

// Format writes masks as Parse reads them.
func Format(masks []work.Mask) string {
	texts := make([]string, len(masks))
	for i, m := range masks {
		number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
		texts[i] = fmt.Sprintf("%d:%s,%s,%s,%s", m.Monitor, number(m.Left), number(m.Top), number(m.Width), number(m.Height))
	}
	return strings.Join(texts, ";")
}

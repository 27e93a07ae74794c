package virtualdesktop

import (
	"image"
	"time"
)

// startTime is how long the database client takes to start.
const startTime = 700 * time.Millisecond

// launcher is the row of programs that "Activities" shows.
func launcher() Widget {
	row := Widget{ID: "launcher", Shape: Panel, Hidden: true, Bounds: image.Rect(244, 590, 854, 680), Colour: slate}
	for i, program := range []struct{ id, glyph string }{
		{"launch_files", "folder"}, {"launch_browser", "globe"}, {"launch_terminal", "terminal"},
		{"launch_database", "database"}, {"launch_mail", "mail"}, {"launch_settings", "gear"}, {"launch_editor", "pencil"},
	} {
		icon := Widget{
			ID: program.id, Shape: Button, Glyph: program.glyph, Zoom: 4, Colour: slate,
			Bounds: image.Rect(5, 5, 85, 85).Add(image.Pt(i*86, 0)), Does: []Deed{{Do: Hide, ID: "launcher"}},
		}
		if program.id == "launch_database" {
			icon.Does = append(icon.Does, Deed{Do: Show, ID: "client", After: startTime})
		}
		row.Parts = append(row.Parts, icon)
	}
	return row
}

// databaseClient is the program: its connections at the left, the editor of the
// chosen database at the right.
func databaseClient() Widget {
	return Widget{
		ID: "client", Shape: Panel, Hidden: true, Grows: true, Bounds: growsFrom(30, 50), Colour: paper,
		Parts: []Widget{
			{ID: "client_bar", Shape: Panel, Bounds: image.Rect(0, 0, 210, 76), Colour: sand, Parts: []Widget{
				{ID: "client_logo", Shape: Label, Glyph: "logo", Zoom: 4, Bounds: image.Rect(8, 6, 72, 70)},
				{ID: "client_name", Shape: Label, Text: "Database", Bounds: image.Rect(84, 16, 208, 36)},
				{ID: "client_version", Shape: Label, Text: "client 8.0", Bounds: image.Rect(84, 38, 208, 58)},
			}},
			{
				ID: "hospital", Shape: Button, Text: "hospital", Glyph: "server", Zoom: 1, Bounds: image.Rect(10, 90, 200, 122), Colour: paper,
				Does: []Deed{{Do: Show, ID: "patients"}, {Do: Show, ID: "billing"}},
			},
			{
				ID: "patients", Shape: Button, Text: "patients", Glyph: "table", Zoom: 1, Hidden: true, Bounds: image.Rect(30, 126, 200, 158), Colour: paper,
				Does: []Deed{{Do: Show, ID: "statement"}},
			},
			{ID: "billing", Shape: Button, Text: "billing", Glyph: "table", Zoom: 1, Hidden: true, Bounds: image.Rect(30, 162, 200, 194), Colour: paper},
			{ID: "archive", Shape: Button, Text: "archive", Glyph: "server", Zoom: 1, Bounds: image.Rect(10, 200, 200, 232), Colour: paper},
			{ID: "statement", Shape: Panel, Hidden: true, Grows: true, Bounds: growsFrom(216, 8), Colour: grey, Parts: []Widget{
				{
					ID: "sql", Shape: Editor, Text: "SQL statement", Glyph: "pencil", Zoom: 1,
					Grows: true, Executes: true, Bounds: growsFrom(8, 8),
				},
			}},
		},
	}
}

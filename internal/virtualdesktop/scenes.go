package virtualdesktop

import (
	"image"
	"image/color"
	"maps"
	"slices"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

var (
	paper = color.RGBA{0xfa, 0xfa, 0xf7, 0xff}
	grey  = color.RGBA{0xd8, 0xdb, 0xe0, 0xff}
	slate = color.RGBA{0x2b, 0x30, 0x3b, 0xff}
	teal  = color.RGBA{0x1d, 0x5c, 0x63, 0xff}
	plum  = color.RGBA{0x4a, 0x2b, 0x4f, 0xff}
	sand  = color.RGBA{0xef, 0xe6, 0xd2, 0xff}
)

var scenes = map[string]func() Scene{"linux_db": linuxDB, "simple": simple}

// SceneNames lists the built-in scenes, sorted.
func SceneNames() []string { return slices.Sorted(maps.Keys(scenes)) }

// BuiltIn returns a built-in scene; false says that there is none of that name.
func BuiltIn(name string) (Scene, bool) {
	build, ok := scenes[name]
	if !ok {
		return Scene{}, false
	}
	return build(), true
}

// simple has two monitors, the second one left of the first and lower, so that
// there are negative places and places that are on neither; two windows, a
// button and a text field.
func simple() Scene {
	primary, second := image.Rect(0, 0, 1280, 800), image.Rect(-800, 100, 0, 700)
	return Scene{
		Name:     "simple",
		Monitors: []wire.Monitor{{Bounds: primary, Scale: 1}, {Bounds: second, Scale: 1}},
		Surface: Window{
			ID: "surface", Bounds: primary.Union(second), Colour: teal,
			Widgets: []Widget{
				{ID: "trash", Shape: Icon, Text: "Trash", Glyph: "trash", Zoom: 3, Bounds: image.Rect(1620, 20, 1740, 108)},
			},
		},
		Windows: []Window{
			{
				ID: "notes", Title: "Notes", Class: "Notes", Process: "notes.exe", Bounds: image.Rect(80, 80, 580, 420), Colour: paper,
				FullScreenKey: "f11",
				Widgets:       []Widget{{ID: "note", Shape: Editor, Grows: true, Bounds: growsFrom(margin, margin)}},
			},
			{
				ID: "tools", Title: "Tools", Class: "Tools", Process: "tools.exe", Bounds: image.Rect(640, 120, 1000, 400), Colour: grey,
				Widgets: []Widget{
					{ID: "save", Shape: Button, Text: "Save", Glyph: "disk", Zoom: 2, Bounds: image.Rect(40, 40, 200, 88), Colour: paper},
				},
			},
		},
	}
}

// linuxDB is a machine that shows another one in a remote viewer. In the viewer
// a database client is started, a connection and a database are chosen, and a
// statement is executed full screen.
func linuxDB() Scene {
	monitor := image.Rect(0, 0, 1280, 800)
	return Scene{
		Name:     "linux_db",
		Monitors: []wire.Monitor{{Bounds: monitor, Scale: 1}},
		Surface: Window{
			ID: "surface", Bounds: monitor, Colour: teal,
			Widgets: []Widget{
				{
					ID: "remote_viewer", Shape: Icon, Text: "Remote viewer", Glyph: "viewer", Zoom: 3,
					Bounds: image.Rect(10, 20, 130, 108), Does: []Deed{{Do: Show, ID: "viewer"}},
				},
				{ID: "documents", Shape: Icon, Text: "Documents", Glyph: "folder", Zoom: 3, Bounds: image.Rect(10, 124, 130, 212)},
				{ID: "trash", Shape: Icon, Text: "Trash", Glyph: "trash", Zoom: 3, Bounds: image.Rect(10, 228, 130, 316)},
			},
		},
		Windows: []Window{{
			ID: "viewer", Title: "dbhost - Remote Viewer", Class: "RemoteViewer", Process: "viewer.exe",
			Bounds: image.Rect(150, 40, 1250, 760), Closed: true, FullScreenKey: "f11", Colour: plum,
			Widgets: []Widget{
				{ID: "top_bar", Shape: Panel, Bounds: image.Rect(0, 0, 1280, 30), Colour: slate, Parts: []Widget{
					{
						ID: "activities", Shape: Button, Text: "Activities", Bounds: image.Rect(0, 0, 110, 30), Colour: slate,
						Does: []Deed{{Do: Show, ID: "launcher"}},
					},
				}},
				databaseClient(),
				launcher(),
			},
		}},
		Walk: databaseWalk(),
	}
}

func databaseWalk() []Step {
	return []Step{
		{Anchor: "remote_viewer", Widget: "remote_viewer", Crop: image.Rect(8, 4, 112, 84), Act: DoubleClick, Effect: wire.Opened},
		{Anchor: "activities", Widget: "activities", Crop: image.Rect(3, 3, 107, 27), Act: Click, Effect: wire.Clicked},
		{Anchor: "launch_database", Widget: "launch_database", Crop: image.Rect(6, 6, 74, 74), Act: Click, Effect: wire.Clicked},
		{Anchor: "client_logo", Widget: "client_logo", Act: Await, Effect: wire.Shown, On: "client"},
		{Anchor: "connection_hospital", Widget: "hospital", Crop: image.Rect(4, 4, 186, 28), Act: Click, Effect: wire.Clicked},
		{Anchor: "database_patients", Widget: "patients", Crop: image.Rect(4, 4, 166, 28), Act: Click, Effect: wire.Clicked},
		{Anchor: "sql_editor", Widget: "sql", Crop: image.Rect(4, 4, 150, 28), Act: Click, Effect: wire.Focused},
		{Act: Press, Keys: []string{"ctrl", "f11"}, Effect: wire.FullScreen, On: "viewer"},
		{Act: Insert, Text: "SELECT name, ward FROM patients WHERE discharged IS NULL;", Effect: wire.Pasted, On: "sql"},
		{Act: Press, Keys: []string{"ctrl", "enter"}, Effect: wire.Executed, On: "sql"},
	}
}

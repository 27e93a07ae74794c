package helper

import (
	"image"
	"log/slog"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

func encodeSettings(s Settings) *helperv1.Settings {
	return &helperv1.Settings{
		TypeMode: s.TypeMode, TypePace: durationpb.New(s.TypePace), RestoreClipboard: durationpb.New(s.RestoreClipboard),
		PasteKeys: s.PasteKeys, MinWidth: int64(s.MinDisplay.X), MinHeight: int64(s.MinDisplay.Y), LogLevel: int32(s.LogLevel),
		StopKey: s.StopKey, OwnInput: s.OwnInput, Language: s.Language,
	}
}

func decodeSettings(s *helperv1.Settings) Settings {
	return Settings{
		TypeMode: s.GetTypeMode(), TypePace: s.GetTypePace().AsDuration(), RestoreClipboard: s.GetRestoreClipboard().AsDuration(),
		PasteKeys: s.GetPasteKeys(), MinDisplay: image.Pt(int(s.GetMinWidth()), int(s.GetMinHeight())), LogLevel: slog.Level(s.GetLogLevel()),
		StopKey: s.GetStopKey(), OwnInput: s.GetOwnInput(), Language: s.GetLanguage(),
	}
}

func encodeMonitors(all []driver.Monitor) []*helperv1.Monitor {
	var out []*helperv1.Monitor
	for _, m := range all {
		out = append(out, &helperv1.Monitor{
			Index: int64(m.Index), Bounds: encodeRectangle(m.Bounds), Scale: m.Scale, Primary: m.Primary,
		})
	}
	return out
}

func decodeMonitors(all []*helperv1.Monitor) []driver.Monitor {
	var out []driver.Monitor
	for _, m := range all {
		out = append(out, driver.Monitor{
			Index: int(m.GetIndex()), Bounds: decodeRectangle(m.GetBounds()), Scale: m.GetScale(), Primary: m.GetPrimary(),
		})
	}
	return out
}

func encodeWindows(all []driver.Window) []*helperv1.Window {
	var out []*helperv1.Window
	for _, w := range all {
		out = append(out, &helperv1.Window{
			Id: []byte(w.ID), Title: []byte(w.Title), Class: []byte(w.Class), Process: []byte(w.Process),
			Bounds: encodeRectangle(w.Bounds), Active: w.Active,
		})
	}
	return out
}

func decodeWindows(all []*helperv1.Window) []driver.Window {
	var out []driver.Window
	for _, w := range all {
		out = append(out, driver.Window{
			ID: string(w.GetId()), Title: string(w.GetTitle()), Class: string(w.GetClass()), Process: string(w.GetProcess()),
			Bounds: decodeRectangle(w.GetBounds()), Active: w.GetActive(),
		})
	}
	return out
}

func encodeElement(e driver.Element) *helperv1.Element {
	return &helperv1.Element{Name: []byte(e.Name), AutomationId: []byte(e.AutomationID), ControlType: []byte(e.ControlType)}
}

func decodeElement(e *helperv1.Element) driver.Element {
	return driver.Element{Name: string(e.GetName()), AutomationID: string(e.GetAutomationId()), ControlType: string(e.GetControlType())}
}

func encodeFound(all []driver.Found) []*helperv1.Found {
	var out []*helperv1.Found
	for _, f := range all {
		e := &helperv1.Found{
			Element: encodeElement(f.Element), Bounds: encodeRectangle(f.Bounds), OnScreen: f.OnScreen, Enabled: f.Enabled,
		}
		if f.Clickable != nil {
			e.Clickable = encodePoint(*f.Clickable)
		}
		out = append(out, e)
	}
	return out
}

func decodeFound(all []*helperv1.Found) []driver.Found {
	var out []driver.Found
	for _, f := range all {
		d := driver.Found{
			Element: decodeElement(f.GetElement()), Bounds: decodeRectangle(f.GetBounds()), OnScreen: f.GetOnScreen(), Enabled: f.GetEnabled(),
		}
		if f.Clickable != nil {
			at := decodePoint(f.Clickable)
			d.Clickable = &at
		}
		out = append(out, d)
	}
	return out
}

func encodeAct(a driver.Act) *helperv1.Act {
	return &helperv1.Act{Kind: int64(a.Kind), By: valid(a.By), At: timestamppb.New(a.At)}
}

func decodeAct(a *helperv1.Act) driver.Act {
	return driver.Act{Kind: driver.ActKind(a.GetKind()), By: a.GetBy(), At: a.GetAt().AsTime().Local()}
}

func encodeNotice(n driver.Notice) *helperv1.ShowPauseRequest {
	return &helperv1.ShowPauseRequest{
		PauseId: valid(n.PauseID), Reason: valid(n.Reason), Message: []byte(n.Message), Checks: encodeTexts(n.Checks),
	}
}

func decodeNotice(n *helperv1.ShowPauseRequest) driver.Notice {
	return driver.Notice{
		PauseID: n.GetPauseId(), Reason: n.GetReason(), Message: string(n.GetMessage()), Checks: decodeTexts(n.GetChecks()),
	}
}

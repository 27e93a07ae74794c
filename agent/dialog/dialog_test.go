package dialog

import (
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func TestADialogOfTheSystemIsRecognised(t *testing.T) {
	for name, tt := range map[string]struct {
		window           driver.Window
		category, signal string
	}{
		"consent by its process":            {driver.Window{Process: "CONSENT.EXE", Class: "Anything"}, UACConsent, "process"},
		"consent by its English title":      {driver.Window{Title: "User Account Control", Class: "#32770"}, UACConsent, "window_title"},
		"consent by its French title":       {driver.Window{Title: "Contrôle de compte d’utilisateur", Class: "#32770"}, UACConsent, "window_title"},
		"credentials by the process":        {driver.Window{Process: "CredentialUIBroker.exe"}, CredentialPrompt, "process"},
		"credentials by the class":          {driver.Window{Class: "Credential Dialog Xaml Host"}, CredentialPrompt, "window_class"},
		"credentials by an English title":   {driver.Window{Title: "Windows Security", Class: "#32770"}, CredentialPrompt, "window_title"},
		"credentials by a French title":     {driver.Window{Title: "Sécurité Windows", Class: "#32770"}, CredentialPrompt, "window_title"},
		"SmartScreen by its process":        {driver.Window{Process: "smartscreen.exe"}, SmartScreen, "process"},
		"SmartScreen by its French title":   {driver.Window{Title: "Windows a protégé votre ordinateur", Class: "#32770"}, SmartScreen, "window_title"},
		"SmartScreen by its own title":      {driver.Window{Title: "Microsoft Defender SmartScreen", Class: "#32770"}, SmartScreen, "window_title"},
		"a share that is connected to":      {driver.Window{Title: "Connect to files.example", Class: "#32770", Process: "Explorer.EXE"}, CredentialPrompt, "window_title"},
		"the same in French":                {driver.Window{Title: "Connexion à files.example", Class: "#32770", Process: "mstsc.exe"}, CredentialPrompt, "window_title"},
		"a program that connects":           {driver.Window{Title: "Connect to database", Class: "#32770", Process: "his.exe"}, "", ""},
		"a French program that connects":    {driver.Window{Title: "Connexion à la base patients", Class: "#32770", Process: "dossier.exe"}, "", ""},
		"a program that nobody knows":       {driver.Window{Title: "Connect to database", Class: "#32770"}, "", ""},
		"the settings of the consents":      {driver.Window{Title: "User Account Control Settings", Class: "#32770", Process: "UserAccountControlSettings.exe"}, "", ""},
		"a program of that name":            {driver.Window{Title: "SmartScreen - new patient", Class: "#32770", Process: "smart.exe"}, "", ""},
		"a page that tells of SmartScreen":  {driver.Window{Title: "What is SmartScreen? - Browser", Class: "Chrome_WidgetWin_1", Process: "chrome.exe"}, "", ""},
		"a document named Windows Security": {driver.Window{Title: "Windows Security", Class: "Notepad", Process: "notepad.exe"}, "", ""},
		"a dialog of a program":             {driver.Window{Title: "Save As", Class: "#32770", Process: "notepad.exe", Active: true}, "", ""},
	} {
		below := driver.Window{Title: "Patients", Class: "Main", Process: "his.exe"}
		got, ok := Find([]driver.Window{tt.window, below}, nil)
		if got.Category != tt.category || got.Signal != tt.signal || ok != (tt.category != "") {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
		if ok && (got.Value == "" || got.Reason == "" || !strings.Contains(got.Context, `"Patients" of his.exe`)) {
			t.Errorf("%s does not say enough: %+v", name, got)
		}
	}
}

func TestATitleAloneIsNoReasonAgainstAWindowThatIsExpected(t *testing.T) {
	all := func(driver.Window) bool { return true }
	titled := driver.Window{Title: "Windows Security", Class: "#32770", Process: "explorer.exe"}
	broker := driver.Window{Title: "Windows Security", Process: "CredentialUIBroker.exe"}
	if got, ok := Find([]driver.Window{titled}, all); ok {
		t.Errorf("a window that is expected: %+v", got)
	}
	if got, ok := Find([]driver.Window{titled, broker}, all); !ok || got.Signal != "process" {
		t.Errorf("a prompt that is expected: %+v, %v", got, ok)
	}
	if _, ok := Find([]driver.Window{titled}, func(w driver.Window) bool { return w.Title != titled.Title }); !ok {
		t.Error("a window beside the one that is expected is none")
	}
}

func TestTheDialogInFrontIsWhyAnActionDidNotFindWhatItExpected(t *testing.T) {
	main := driver.Window{Title: "Patients", Class: "Main", Process: "his.exe"}
	box := driver.Window{Title: "Printer is out of paper", Class: "#32770", Process: "spooler.exe"}
	if got, ok := InFront([]driver.Window{box, main}); ok {
		t.Errorf("a dialog without the keyboard is taken for what is in front: %+v", got)
	}
	box.Active = true
	got, ok := InFront([]driver.Window{box, main})
	if !ok || got.Category != Modal || !strings.Contains(got.Reason, "out of paper") {
		t.Errorf("%+v, %v", got, ok)
	}
	main.Active, box.Active = true, false
	if _, ok := InFront([]driver.Window{main}); ok {
		t.Error("a window is taken for a dialog")
	}
}

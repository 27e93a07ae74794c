// Package dialog recognises dialogs of the system that only a person can answer, by
// what can be seen of their windows: the process that shows them, the window's class and
// its title, in French and English. It looks at nothing itself and decides nothing about
// the action: its caller does. Windows that a workflow or a machine's configuration names
// as popups never get here; they are closed by rule.
//
// A secure desktop, which most consents of User Account Control take, cannot be looked at
// at all; it is a state of the desktop (package desktop).
package dialog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

// The categories, as a report names them.
const (
	UACConsent       = "uac_consent"
	CredentialPrompt = "credential_prompt"
	SmartScreen      = "smartscreen"
	// Modal is any other dialog that is in front where the action expected something
	// else.
	Modal = "modal_dialog"
)

// signature is what one kind of dialog is recognised by: any of its signals.
type signature struct {
	category string
	reason   string
	process  []string // names of executables, in lower case
	class    []string
	// title is one that Windows alone gives its dialogs, whole. Some of them are shown by
	// the program that asks, so it counts with Windows' own class of dialogs.
	title *regexp.Regexp
	// vague is a title that other programs give their dialogs as well. It counts with
	// that class and a process of the system.
	vague *regexp.Regexp
}

// Sources: the executables are those of Windows 10 and 11 (consent.exe shows the consent
// of UAC, CredentialUIBroker.exe and CredUI's dialog ask for credentials, smartscreen.exe
// shows "Windows protected your PC"), the titles what these show in English and French.
// CredUIPromptForCredentials shows its dialog within the program that calls it, under the
// title "Connect to" and what it is for.
var signatures = []signature{
	{
		category: UACConsent, reason: "Windows asks whether a program may change this device",
		process: []string{"consent.exe"},
		title:   regexp.MustCompile(`(?i)^(user account control|contrôle de compte d.utilisateur)$`),
	},
	{
		category: CredentialPrompt, reason: "Windows asks for a user's name and password",
		process: []string{"credentialuibroker.exe"},
		class:   []string{"Credential Dialog Xaml Host"},
		title:   regexp.MustCompile(`(?i)^(windows security|sécurité (de )?windows|enter network credentials|entrer les informations d.identification réseau)$`),
		vague:   regexp.MustCompile(`(?i)^(connect to .+|connexion à .+)$`),
	},
	{
		category: SmartScreen, reason: "Windows holds back a program that it does not know",
		process: []string{"smartscreen.exe"},
		title:   regexp.MustCompile(`(?i)^((microsoft defender|windows( defender)?) smartscreen|windows protected your pc|windows a protégé votre ordinateur)$`),
		vague:   regexp.MustCompile(`(?i)smartscreen`),
	},
}

// systems are the executables of Windows in which its dialogs are shown beside their own:
// the desktop, what connects drives and printers, and the remote desktop.
var systems = []string{"explorer.exe", "rundll32.exe", "dllhost.exe", "mstsc.exe", "taskhostw.exe", "svchost.exe", "lsass.exe"}

// classDialog is the class of the dialogs that Windows itself draws: WC_DIALOG.
const classDialog = "#32770"

// Find returns the topmost window that is a dialog of the system; false: there is none.
// By its title alone no window is one that expected, which may be nil, says yes to: the
// action names it and works in it. What a process or a class tells counts all the same.
func Find(windows []driver.Window, expected func(driver.Window) bool) (work.Dialog, bool) {
	for _, w := range windows {
		for _, s := range signatures {
			signal, value := s.match(w)
			if signal == "" || signal == signalTitle && expected != nil && expected(w) {
				continue
			}
			return work.Dialog{Category: s.category, Signal: signal, Value: value, Reason: s.reason, Context: around(windows)}, true
		}
	}
	return work.Dialog{}, false
}

const signalTitle = "window_title"

// match returns which signal matched, and by which value.
func (s signature) match(w driver.Window) (signal, value string) {
	for _, p := range s.process {
		if strings.EqualFold(p, w.Process) {
			return "process", w.Process
		}
	}
	for _, c := range s.class {
		if c == w.Class {
			return "window_class", w.Class
		}
	}
	if w.Class != classDialog {
		return "", ""
	}
	ofSystem := slices.Contains(systems, strings.ToLower(w.Process))
	if s.title.MatchString(w.Title) || s.vague != nil && ofSystem && s.vague.MatchString(w.Title) {
		return signalTitle, w.Title
	}
	return "", ""
}

// InFront returns the dialog that is in front, of whatever program; false: what is in
// front is none. It is asked when an action did not find what it expected: then the
// dialog is why.
func InFront(windows []driver.Window) (work.Dialog, bool) {
	for _, w := range windows {
		if w.Active && w.Class == classDialog {
			return work.Dialog{
				Category: Modal, Signal: "window_class", Value: classDialog,
				Reason: fmt.Sprintf("the dialog %q is in front", w.Title), Context: around(windows),
			}, true
		}
	}
	return work.Dialog{}, false
}

// maxAround is how many windows the context names.
const maxAround = 5

// around says which windows there are, the topmost first.
func around(windows []driver.Window) string {
	var names []string
	for _, w := range windows[:min(len(windows), maxAround)] {
		names = append(names, fmt.Sprintf("%q of %s (%s)", w.Title, orUnknown(w.Process), w.Class))
	}
	return strings.Join(names, ", ")
}

func orUnknown(process string) string {
	if process == "" {
		return "an unknown program"
	}
	return process
}

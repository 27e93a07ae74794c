package person

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// words are what the person reads, in one language.
type words struct {
	paused, check, more, goOnHint string
	stop, goOn                    string
	states                        map[state]string
	reasons                       map[string]string // by the contract's words
	other                         string            // for a reason that is none of them
}

// langFrench is LANG_FRENCH of winnt.h.
const langFrench = 0x0C

// wordsOf are those of the language that is set, or of the user's Windows.
func wordsOf(setting string, system uint16) *words {
	if setting == French || setting == "" && system == langFrench {
		return &french
	}
	return &english
}

// Bounds of what one notice holds: what a workflow may say is longer.
const (
	mostRunes  = 600
	mostChecks = 8
)

// page is a notice from the top: that the work is paused, why, what the workflow says
// to it, what to check, and how to go on.
func (w *words) page(n driver.Notice) []paragraph {
	why, ok := w.reasons[n.Reason]
	if !ok {
		why = w.other
	}
	list := []paragraph{{w.paused, heading}, {why, sentence}}
	if text := strings.TrimSpace(n.Message); text != "" {
		list = append(list, paragraph{shortened(text), message})
	}
	if len(n.Checks) > 0 {
		list = append(list, paragraph{w.check, sentence})
	}
	for i, c := range n.Checks {
		if i == mostChecks {
			list = append(list, paragraph{strings.ReplaceAll(w.more, "#", strconv.Itoa(len(n.Checks)-i)), check})
			break
		}
		list = append(list, paragraph{"• " + shortened(c), check})
	}
	return append(list, paragraph{w.goOnHint, hint})
}

// shortened cuts a text that is far too long.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= mostRunes {
		return text
	}
	return string([]rune(text)[:mostRunes]) + "…"
}

var english = words{
	paused:   "The work on this machine is paused",
	check:    "Please check:",
	more:     "… and # more",
	goOnHint: "When you are done: “Go on” in the menu of the icon near the clock.",
	stop:     "Stop now", goOn: "Go on",
	states: map[state]string{
		idle: "reprise: nothing to do", working: "reprise: working", paused: "reprise: paused, a person is needed",
		stopped: "reprise: stopped by you", unconnected: "reprise: no connection to the server",
	},
	reasons: map[string]string{
		"user_request":         "The workflow asks for a person here.",
		"system_dialog":        "Windows asks for something that only a person may answer.",
		"wrong_window":         "The wrong window is in front.",
		"target_not_found":     "What was to be clicked is not on the screen.",
		"orphan_max_resends":   "The agent did not answer, so it is not known what was done last.",
		"dead_client":          "The agent was gone for too long.",
		"delivery_failed":      "A step could not be brought to this machine.",
		"input_swallowed":      "Clicks and keys change nothing: the viewer looks frozen. Please restart it.",
		"outcome_unknown":      "It is not known whether the last step was done.",
		"needs_human":          "A step needs a person.",
		"operator":             "A person has paused it.",
		"server_action_failed": "A step on the server failed.",
		"verify_failed":        "The last step did not have the effect that it should.",
		"input_blocked":        "Windows kept the input from the program.",
		"target_off_screen":    "What was to be clicked lies off the screen.",
		"guard_refused":        "Something that must hold for the next step does not.",
		"timeout":              "A step took too long.",
		"internal":             "Something went wrong in the agent.",
		"invalid_action":       "A step can't be done as it is written.",
		"interrupted":          "A step was interrupted.",
	},
	other: "A person is needed.",
}

var french = words{
	paused:   "Le travail sur ce poste est en pause",
	check:    "À vérifier :",
	more:     "… et # de plus",
	goOnHint: "Quand vous aurez terminé : « Continuer », dans le menu de l’icône près de l’horloge.",
	stop:     "Arrêter maintenant", goOn: "Continuer",
	states: map[state]string{
		idle: "reprise : rien à faire", working: "reprise : au travail", paused: "reprise : en pause, quelqu’un doit intervenir",
		stopped: "reprise : arrêté par vous", unconnected: "reprise : pas de connexion au serveur",
	},
	reasons: map[string]string{
		"user_request":         "Le scénario demande ici l’intervention d’une personne.",
		"system_dialog":        "Windows pose une question à laquelle seule une personne peut répondre.",
		"wrong_window":         "Ce n’est pas la bonne fenêtre qui est au premier plan.",
		"target_not_found":     "L’élément sur lequel cliquer n’est pas à l’écran.",
		"orphan_max_resends":   "L’agent n’a pas répondu : on ne sait pas ce qui a été fait en dernier.",
		"dead_client":          "L’agent a été absent trop longtemps.",
		"delivery_failed":      "Une étape n’a pas pu être transmise à ce poste.",
		"input_swallowed":      "Les clics et les touches restent sans effet : la visionneuse semble figée. Veuillez la relancer.",
		"outcome_unknown":      "On ne sait pas si la dernière étape a été faite.",
		"needs_human":          "Une étape demande l’intervention d’une personne.",
		"operator":             "Une personne l’a mis en pause.",
		"server_action_failed": "Une étape sur le serveur a échoué.",
		"verify_failed":        "La dernière étape n’a pas eu l’effet attendu.",
		"input_blocked":        "Windows n’a pas transmis la saisie au programme.",
		"target_off_screen":    "L’élément sur lequel cliquer est hors de l’écran.",
		"guard_refused":        "Une condition de l’étape suivante n’est pas remplie.",
		"timeout":              "Une étape a duré trop longtemps.",
		"internal":             "Une erreur s’est produite dans l’agent.",
		"invalid_action":       "Une étape ne peut pas être exécutée telle qu’elle est écrite.",
		"interrupted":          "Une étape a été interrompue.",
	},
	other: "Une personne doit intervenir.",
}

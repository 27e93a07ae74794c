package windesktop

import "github.com/reprise-rpa/reprise/agent/winapi"

var _ elementsSystem = winapi.System{}

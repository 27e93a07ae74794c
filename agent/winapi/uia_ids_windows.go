package winapi

import "unsafe"

// guid is GUID of guiddef.h.
type guid struct {
	data1        uint32
	data2, data3 uint16
	data4        [8]byte
}

var _ = [1]byte{}[unsafe.Sizeof(guid{})-16]

// The classes and interfaces of UIAutomationClient.h.
var (
	classAutomation      = guid{0xff48dba4, 0x60ef, 0x4201, [8]byte{0xaa, 0x87, 0x54, 0x10, 0x3e, 0xef, 0x59, 0x4e}} // CLSID_CUIAutomation
	classAutomation8     = guid{0xe22ad333, 0xb25f, 0x460c, [8]byte{0x83, 0xd0, 0x05, 0x81, 0x10, 0x73, 0x95, 0xc9}} // CLSID_CUIAutomation8
	interfaceAutomation  = guid{0x30cbe57d, 0xd9d0, 0x452a, [8]byte{0xab, 0x13, 0x7a, 0xc5, 0xac, 0x48, 0x25, 0xee}} // IID_IUIAutomation
	interfaceAutomation2 = guid{0x34723aff, 0x0c9d, 0x49d0, [8]byte{0x98, 0x96, 0x7a, 0xb5, 0x2d, 0xf8, 0xcd, 0x8a}} // IID_IUIAutomation2
)

// Properties: UIA_…PropertyId of UIAutomationClient.h.
const (
	propertyRuntimeID         = 30000
	propertyBoundingRectangle = 30001
	propertyControlType       = 30003
	propertyName              = 30005
	propertyIsEnabled         = 30010
	propertyAutomationID      = 30011
	propertyClickablePoint    = 30014
	propertyIsOffscreen       = 30022
)

const (
	scopeDescendants = 4 // TreeScope_Descendants
	// modeNone is AutomationElementMode_None: what is found holds what was asked for
	// and no way back to the program, which need not be asked again to let go of it.
	modeNone = 0
)

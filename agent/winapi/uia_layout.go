package winapi

import "unsafe"

// variant is VARIANT of oaidl.h. The union is as large as two pointers on both word
// sizes, and begins at 8.
type variant struct {
	kind  uint16
	_     [3]uint16
	value [2]uintptr
}

// Kinds of a variant: VT_… of wtypes.h.
const (
	kindInt32       = 3      // VT_I4
	kindText        = 8      // VT_BSTR
	kindArrayInt32  = 0x2003 // VT_ARRAY | VT_I4
	kindArrayDouble = 0x2005 // VT_ARRAY | VT_R8
)

var (
	_ = [1]byte{}[unsafe.Offsetof(variant{}.value)-8]
	_ = [1]byte{}[unsafe.Sizeof(variant{})-(8+2*unsafe.Sizeof(uintptr(0)))]
)

// method is the place of a method in an interface's table. The places are those of the
// C declarations (…Vtbl) in UIAutomationClient.h of the Windows SDK; IUnknown's three
// come first everywhere.
type method int

const (
	release method = 2 // IUnknown

	automationElementFromHandle       method = 6 // IUIAutomation
	automationCreateCacheRequest      method = 20
	automationCreateTrueCondition     method = 21
	automationCreatePropertyCondition method = 23
	automationCreateAndCondition      method = 25
	automationPutConnectionTimeout    method = 61 // IUIAutomation2
	automationPutTransactionTimeout   method = 63

	cacheAddProperty    method = 3 // IUIAutomationCacheRequest
	cachePutElementMode method = 11

	elementFindAllBuildCache          method = 8 // IUIAutomationElement
	elementGetCachedPropertyValue     method = 12
	elementGetCachedControlType       method = 53
	elementGetCachedName              method = 55
	elementGetCachedIsEnabled         method = 60
	elementGetCachedAutomationID      method = 61
	elementGetCachedIsOffscreen       method = 70
	elementGetCachedBoundingRectangle method = 75

	arrayGetLength  method = 3 // IUIAutomationElementArray
	arrayGetElement method = 4

	mostMethods = 85 // IUIAutomationElement has the most
)

package winapi

import (
	"errors"
	"image"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

func TestFailuresOfCallsAreToldApart(t *testing.T) {
	for number, want := range map[uint32]error{
		0: nil, 1: nil, 0x40201: nil, 0x80040154: ErrNotHere, 0x80070005: ErrDenied, 0x80040201: ErrGone, 0x800706ba: ErrGone, 0x80131505: ErrHung,
	} {
		if got := hresult(number).failed("Call"); !errors.Is(got, want) {
			t.Errorf("0x%08x: %v, want %v", number, got, want)
		}
	}
	got := hresult(-2147467259).failed("FindAll") // E_FAIL
	if got == nil || got.Error() != "FindAll: 0x80004005" {
		t.Errorf("E_FAIL: %v", got)
	}
	for _, known := range []error{ErrNotHere, ErrDenied, ErrGone, ErrHung} {
		if errors.Is(got, known) {
			t.Errorf("E_FAIL is taken for %v", known)
		}
	}
}

func TestOnlyAPointIsTakenForOne(t *testing.T) {
	for _, c := range []struct {
		numbers []float64
		want    *image.Point
	}{
		{[]float64{10, 20}, &image.Point{X: 10, Y: 20}},
		{[]float64{-0.5, 20.99}, &image.Point{X: -1, Y: 20}},
		{nil, nil},
		{[]float64{1}, nil},
		{[]float64{1, 2, 3, 4}, nil},
		{[]float64{math.NaN(), 1}, nil},
		{[]float64{1, math.Inf(-1)}, nil},
		{[]float64{1e300, 1}, nil},
	} {
		if diff := cmp.Diff(c.want, pointOf(c.numbers)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.numbers, diff)
		}
	}
}

func TestElementsAreTheSameByTheirWholeID(t *testing.T) {
	ids := map[string]bool{}
	for _, numbers := range [][]int32{nil, {42}, {42, 1}, {421}, {4, 21}, {42, -1}} {
		if id := idOf(numbers); ids[id] || (id == "") != (numbers == nil) {
			t.Errorf("%v is %q, as another is", numbers, id)
		} else {
			ids[id] = true
		}
	}
}

// The methods of each interface, in the order of its declaration in
// UIAutomationClient.h, as far as the last one that is called.
var declared = map[string][]string{
	"automation": words(`QueryInterface AddRef Release
		CompareElements CompareRuntimeIds GetRootElement ElementFromHandle ElementFromPoint GetFocusedElement
		GetRootElementBuildCache ElementFromHandleBuildCache ElementFromPointBuildCache GetFocusedElementBuildCache
		CreateTreeWalker get_ControlViewWalker get_ContentViewWalker get_RawViewWalker
		get_RawViewCondition get_ControlViewCondition get_ContentViewCondition CreateCacheRequest
		CreateTrueCondition CreateFalseCondition CreatePropertyCondition CreatePropertyConditionEx
		CreateAndCondition CreateAndConditionFromArray CreateAndConditionFromNativeArray
		CreateOrCondition CreateOrConditionFromArray CreateOrConditionFromNativeArray CreateNotCondition
		AddAutomationEventHandler RemoveAutomationEventHandler
		AddPropertyChangedEventHandlerNativeArray AddPropertyChangedEventHandler RemovePropertyChangedEventHandler
		AddStructureChangedEventHandler RemoveStructureChangedEventHandler
		AddFocusChangedEventHandler RemoveFocusChangedEventHandler RemoveAllEventHandlers
		IntNativeArrayToSafeArray IntSafeArrayToNativeArray RectToVariant VariantToRect SafeArrayToRectNativeArray
		CreateProxyFactoryEntry get_ProxyFactoryMapping
		GetPropertyProgrammaticName GetPatternProgrammaticName PollForPotentialSupportedPatterns PollForPotentialSupportedProperties
		CheckNotSupported get_ReservedNotSupportedValue get_ReservedMixedAttributeValue
		ElementFromIAccessible ElementFromIAccessibleBuildCache
		get_AutoSetFocus put_AutoSetFocus get_ConnectionTimeout put_ConnectionTimeout get_TransactionTimeout put_TransactionTimeout`),
	"cache": words(`QueryInterface AddRef Release
		AddProperty AddPattern Clone get_TreeScope put_TreeScope get_TreeFilter put_TreeFilter
		get_AutomationElementMode put_AutomationElementMode`),
	"element": words(`QueryInterface AddRef Release
		SetFocus GetRuntimeId FindFirst FindAll FindFirstBuildCache FindAllBuildCache BuildUpdatedCache
		GetCurrentPropertyValue GetCurrentPropertyValueEx GetCachedPropertyValue GetCachedPropertyValueEx
		GetCurrentPatternAs GetCachedPatternAs GetCurrentPattern GetCachedPattern GetCachedParent GetCachedChildren
		get_CurrentProcessId get_CurrentControlType get_CurrentLocalizedControlType get_CurrentName get_CurrentAcceleratorKey
		get_CurrentAccessKey get_CurrentHasKeyboardFocus get_CurrentIsKeyboardFocusable get_CurrentIsEnabled
		get_CurrentAutomationId get_CurrentClassName get_CurrentHelpText get_CurrentCulture get_CurrentIsControlElement
		get_CurrentIsContentElement get_CurrentIsPassword get_CurrentNativeWindowHandle get_CurrentItemType
		get_CurrentIsOffscreen get_CurrentOrientation get_CurrentFrameworkId get_CurrentIsRequiredForForm
		get_CurrentItemStatus get_CurrentBoundingRectangle get_CurrentLabeledBy get_CurrentAriaRole get_CurrentAriaProperties
		get_CurrentIsDataValidForForm get_CurrentControllerFor get_CurrentDescribedBy get_CurrentFlowsTo get_CurrentProviderDescription
		get_CachedProcessId get_CachedControlType get_CachedLocalizedControlType get_CachedName get_CachedAcceleratorKey
		get_CachedAccessKey get_CachedHasKeyboardFocus get_CachedIsKeyboardFocusable get_CachedIsEnabled
		get_CachedAutomationId get_CachedClassName get_CachedHelpText get_CachedCulture get_CachedIsControlElement
		get_CachedIsContentElement get_CachedIsPassword get_CachedNativeWindowHandle get_CachedItemType
		get_CachedIsOffscreen get_CachedOrientation get_CachedFrameworkId get_CachedIsRequiredForForm
		get_CachedItemStatus get_CachedBoundingRectangle get_CachedLabeledBy get_CachedAriaRole get_CachedAriaProperties
		get_CachedIsDataValidForForm get_CachedControllerFor get_CachedDescribedBy get_CachedFlowsTo get_CachedProviderDescription
		GetClickablePoint`),
	"array": words(`QueryInterface AddRef Release get_Length GetElement`),
}

func words(s string) []string { return strings.Fields(s) }

func TestMethodsAreCalledAtTheirPlaceOfTheHeader(t *testing.T) {
	for of, methods := range map[string]map[string]method{
		"automation": {
			"Release": release, "ElementFromHandle": automationElementFromHandle, "CreateCacheRequest": automationCreateCacheRequest,
			"CreateTrueCondition": automationCreateTrueCondition, "CreatePropertyCondition": automationCreatePropertyCondition,
			"CreateAndCondition": automationCreateAndCondition, "put_ConnectionTimeout": automationPutConnectionTimeout,
			"put_TransactionTimeout": automationPutTransactionTimeout,
		},
		"cache": {"AddProperty": cacheAddProperty, "put_AutomationElementMode": cachePutElementMode},
		"element": {
			"FindAllBuildCache": elementFindAllBuildCache, "GetCachedPropertyValue": elementGetCachedPropertyValue,
			"get_CachedControlType": elementGetCachedControlType, "get_CachedName": elementGetCachedName,
			"get_CachedIsEnabled": elementGetCachedIsEnabled, "get_CachedAutomationId": elementGetCachedAutomationID,
			"get_CachedIsOffscreen": elementGetCachedIsOffscreen, "get_CachedBoundingRectangle": elementGetCachedBoundingRectangle,
		},
		"array": {"get_Length": arrayGetLength, "GetElement": arrayGetElement},
	} {
		if len(declared[of]) > mostMethods {
			t.Errorf("%s has %d methods", of, len(declared[of]))
		}
		for name, at := range methods {
			if got := declared[of][at]; got != name {
				t.Errorf("%s of %s is called as %s", name, of, got)
			}
		}
	}
}

func TestAVariantIsLaidOutAsWindowsReadsIt(t *testing.T) {
	v := variant{kind: kindText, value: [2]uintptr{0x01020304}}
	b := (*[16]byte)(unsafe.Pointer(&v))
	want := [16]byte{8, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1}
	if *b != want {
		t.Errorf("% x, want % x", *b, want)
	}
}

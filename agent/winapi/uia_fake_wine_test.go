//go:build windows && wine && !386

package winapi

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

// fakeCOM is a UI Automation whose interfaces are made of Go, as UIAutomationClient.h
// declares them: they are called as those of Windows are, by their tables of methods.
type fakeCOM struct {
	objects []*fakeObject // all that were made
	calls   int           // that can fail
	failing int           // the call that fails, from 1 on; 0: none
	said    []string      // what was asked of it, in short
	found   []Element     // what a search finds
}

// fakeObject is an interface as its callers see it: the table comes first.
type fakeObject struct {
	methods *[mostMethods]uintptr
	of      *fakeCOM
	refs    int
	name    string  // what it is, in short
	element Element // what an element says
}

// textVariant is a variant as one that holds a text.
type textVariant struct {
	kind uint16
	_    [3]uint16
	text *uint16
	_    uintptr
}

func (v *textVariant) String() string {
	if v.kind == kindText {
		return fmt.Sprintf("the text %q", string(utf16.Decode(unsafe.Slice(v.text, win.SysStringLen(v.text)))))
	}
	return fmt.Sprintf("%d of kind %d", (*variant)(unsafe.Pointer(v)).value[0], v.kind)
}

const failed = 0x80004005 // E_FAIL

// fails counts a call that can fail, and says whether it does.
func (c *fakeCOM) fails(format string, args ...any) bool {
	c.calls++
	if c.calls == c.failing {
		return true
	}
	c.said = append(c.said, fmt.Sprintf(format, args...))
	return false
}

func (c *fakeCOM) object(methods *[mostMethods]uintptr, name string) *fakeObject {
	o := &fakeObject{methods: methods, of: c, refs: 1, name: name}
	c.objects = append(c.objects, o)
	return o
}

// make puts a new interface where the caller wants it.
func (c *fakeCOM) make(out **fakeObject, methods *[mostMethods]uintptr, name string) uintptr {
	*out = nil
	if c.fails("%s", name) {
		return failed
	}
	*out = c.object(methods, name)
	return 0
}

// automation is the fake's first interface, as the caller holds it.
func (c *fakeCOM) automation() *object {
	return (*object)(unsafe.Pointer(c.object(&fakeAutomation, "automation")))
}

// leaks are the interfaces that were not given back, or more often than they were held.
func (c *fakeCOM) leaks() []string {
	var names []string
	for _, o := range c.objects {
		if o.refs != 0 {
			names = append(names, fmt.Sprintf("%s: %d", o.name, o.refs))
		}
	}
	return names
}

// The tables. Windows never gives a callback back, so there is one of each.
var fakeAutomation, fakeUnknown, fakeCache, fakeElement, fakeArray [mostMethods]uintptr

func init() {
	fakeUnknown = table(nil)
	fakeAutomation = table(map[method]any{
		automationElementFromHandle: func(o *fakeObject, w uintptr, out **fakeObject) uintptr {
			return o.of.make(out, &fakeElement, fmt.Sprintf("element of window %#x", w))
		},
		automationCreateCacheRequest:  func(o *fakeObject, out **fakeObject) uintptr { return o.of.make(out, &fakeCache, "cache request") },
		automationCreateTrueCondition: func(o *fakeObject, out **fakeObject) uintptr { return o.of.make(out, &fakeUnknown, "any") },
		automationCreatePropertyCondition: func(o *fakeObject, property uintptr, v *textVariant, out **fakeObject) uintptr {
			return o.of.make(out, &fakeUnknown, fmt.Sprintf("%d is %s", property, v))
		},
		automationCreateAndCondition: func(o, first, second *fakeObject, out **fakeObject) uintptr {
			return o.of.make(out, &fakeUnknown, "("+first.name+" and "+second.name+")")
		},
	})
	fakeCache = table(map[method]any{
		cacheAddProperty:    func(o *fakeObject, property uintptr) uintptr { return o.set("add %d", property) },
		cachePutElementMode: func(o *fakeObject, mode uintptr) uintptr { return o.set("mode %d", mode) },
	})
	fakeArray = table(map[method]any{
		arrayGetLength: func(o *fakeObject, out *int32) uintptr { return o.get(out, int32(len(o.of.found))) },
		arrayGetElement: func(o *fakeObject, i uintptr, out **fakeObject) uintptr {
			r := o.of.make(out, &fakeElement, fmt.Sprintf("element %d", i))
			if r == 0 {
				(*out).element = o.of.found[i]
			}
			return r
		},
	})
	fakeElement = table(map[method]any{
		elementFindAllBuildCache: func(o *fakeObject, scope uintptr, condition, cache *fakeObject, out **fakeObject) uintptr {
			return o.of.make(out, &fakeArray, fmt.Sprintf("all %s in scope %d by a %s", condition.name, scope, cache.name))
		},
		elementGetCachedControlType:       func(o *fakeObject, out *int32) uintptr { return o.get(out, int32(o.element.ControlType)) },
		elementGetCachedIsEnabled:         func(o *fakeObject, out *int32) uintptr { return o.get(out, truth(o.element.Enabled)) },
		elementGetCachedIsOffscreen:       func(o *fakeObject, out *int32) uintptr { return o.get(out, truth(o.element.OffScreen)) },
		elementGetCachedBoundingRectangle: (*fakeObject).bounds,
		elementGetCachedName:              func(o *fakeObject, out *uintptr) uintptr { return text(out, o.element.Name) },
		elementGetCachedAutomationID:      func(o *fakeObject, out *uintptr) uintptr { return text(out, o.element.AutomationID) },
		elementGetCachedPropertyValue:     (*fakeObject).value,
	})
}

// table is an interface's methods; what nobody should call ends the test.
func table(methods map[method]any) [mostMethods]uintptr {
	var t [mostMethods]uintptr
	for i := range t {
		t[i] = windows.NewCallback(func(o *fakeObject) uintptr { panic(fmt.Sprintf("method %d of %s was called", i, o.name)) })
	}
	t[release] = windows.NewCallback(func(o *fakeObject) uintptr {
		o.refs--
		return uintptr(o.refs)
	})
	for m, f := range methods {
		t[m] = windows.NewCallback(f)
	}
	return t
}

func truth(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func (o *fakeObject) set(format string, value uintptr) uintptr {
	if o.of.fails(format, value) {
		return failed
	}
	return 0
}

func (o *fakeObject) get(out *int32, value int32) uintptr {
	if o.of.fails("a number") {
		return failed
	}
	*out = value
	return 0
}

func (o *fakeObject) bounds(out *rect) uintptr {
	if o.of.fails("bounds") {
		return failed
	}
	b := o.element.Bounds
	*out = rect{int32(b.Min.X), int32(b.Min.Y), int32(b.Max.X), int32(b.Max.Y)}
	return 0
}

// text gives a text as a provider does: none at all where it is empty.
func text(out *uintptr, s string) uintptr {
	*out = 0
	if s != "" {
		units := utf16.Encode([]rune(s))
		*out = ask(procSysAllocStringLen, uintptr(unsafe.Pointer(&units[0])), uintptr(len(units)))
	}
	return 0
}

var (
	procSafeArrayCreateVector = oleaut32.NewProc("SafeArrayCreateVector")
	procSafeArrayPutElement   = oleaut32.NewProc("SafeArrayPutElement")
)

// value gives a property that is an array; another kind of variant where there is none.
func (o *fakeObject) value(property uintptr, out *variant) uintptr {
	switch {
	case property == propertyRuntimeID && o.element.ID != "":
		var numbers []int32
		for part := range strings.SplitSeq(o.element.ID, ".") {
			var n int32
			if _, err := fmt.Sscanf(part, "%x", &n); err != nil {
				return failed
			}
			numbers = append(numbers, n)
		}
		*out = vector(kindArrayInt32, numbers)
	case property == propertyClickablePoint && o.element.Clickable != nil:
		*out = vector(kindArrayDouble, []float64{float64(o.element.Clickable.X), float64(o.element.Clickable.Y)})
	case property == propertyClickablePoint:
		*out = variant{kind: kindInt32, value: [2]uintptr{7}}
	}
	return 0
}

func vector[N int32 | float64](kind uint16, numbers []N) variant {
	a := ask(procSafeArrayCreateVector, uintptr(kind&^0x2000), 0, uintptr(len(numbers)))
	for i, n := range numbers {
		index := int32(i)
		ask(procSafeArrayPutElement, a, uintptr(unsafe.Pointer(&index)), uintptr(unsafe.Pointer(&n)))
	}
	return variant{kind: kind, value: [2]uintptr{a}}
}

// noLeaks says that everything was given back, once.
func noLeaks(t *testing.T, c *fakeCOM, when string) {
	t.Helper()
	if left := c.leaks(); left != nil {
		t.Errorf("%s: left %v", when, left)
	}
}

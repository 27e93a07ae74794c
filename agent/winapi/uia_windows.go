package winapi

import (
	"context"
	"errors"
	"image"
	"syscall"
	"time"
	"unicode/utf16"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	ole32    = windows.NewLazySystemDLL("ole32.dll")
	oleaut32 = windows.NewLazySystemDLL("oleaut32.dll")

	procCoInitializeEx      = ole32.NewProc("CoInitializeEx")
	procCoCreateInstance    = ole32.NewProc("CoCreateInstance")
	procSysAllocStringLen   = oleaut32.NewProc("SysAllocStringLen")
	procVariantClear        = oleaut32.NewProc("VariantClear")
	procSafeArrayGetDim     = oleaut32.NewProc("SafeArrayGetDim")
	procSafeArrayGetLBound  = oleaut32.NewProc("SafeArrayGetLBound")
	procSafeArrayGetUBound  = oleaut32.NewProc("SafeArrayGetUBound")
	procSafeArrayGetElement = oleaut32.NewProc("SafeArrayGetElement")
)

// How long a program has to let itself be asked, and to answer; both less than
// treeBound, so that Windows gives up before the thread is.
const (
	connectionTime  = 2 * time.Second
	transactionTime = 4 * time.Second
)

// elements is the process's UI Automation. Its thread ends with the process.
var elements = newAutomation(openTree, treeBound, mostLost)

// Elements are the elements of UI Automation below a window that match the query, in the
// order of the tree; a dialog that a window owns counts as below it. It waits for the
// window's program for 5 s at most. ErrGone: there is no such window. ErrHung: its
// program does not answer. ErrDenied: it has more rights. ErrNotHere: this Windows has
// no UI Automation.
//
// Wine 8 has none. There the calls have met objects of a test that are made as
// UIAutomationClient.h says; they have not met those of a Windows.
func (System) Elements(ctx context.Context, w HWND, q ElementQuery) ([]Element, error) {
	if !windows.IsWindow(windows.HWND(w)) {
		return nil, ErrGone
	}
	return elements.find(ctx, w, q)
}

// object is a COM interface: its first word points to the table of its methods.
type object struct{ methods *[mostMethods]uintptr }

//go:uintptrescapes
func (o *object) call(m method, args ...uintptr) hresult {
	all := make([]uintptr, 0, 8)
	all = append(append(all, uintptr(unsafe.Pointer(o))), args...)
	r, _, _ := syscall.SyscallN(o.methods[m], all...)
	return hresult(r)
}

// release gives an interface back; there may be none.
func (o *object) release() {
	if o != nil {
		o.call(release)
	}
}

// automationTree is UI Automation as it was opened on this thread.
type automationTree struct {
	automation, cache *object
	leave             func()
}

// openTree opens UI Automation on the thread that it is called on. It joins the
// apartment of all threads, as Microsoft asks of clients whose calls must not wait for
// a window of their own.
func openTree() (tree, error) {
	const multithreaded = 0 // COINIT_MULTITHREADED
	if err := result(procCoInitializeEx, 0, multithreaded); err != nil {
		return nil, err
	}
	automation, err := createAutomation()
	if err != nil {
		windows.CoUninitialize()
		return nil, err
	}
	t, err := treeOf(automation)
	if err != nil {
		windows.CoUninitialize()
		return nil, err
	}
	t.leave = windows.CoUninitialize
	return t, nil
}

// createAutomation makes the one of Windows 8, which gives up on programs by itself,
// else the first one.
func createAutomation() (*object, error) {
	if o, err := create(&classAutomation8, &interfaceAutomation2); err == nil {
		// What cannot be set stays as it is: 2 s and 20 s.
		o.call(automationPutConnectionTimeout, uintptr(connectionTime.Milliseconds()))
		o.call(automationPutTransactionTimeout, uintptr(transactionTime.Milliseconds()))
		return o, nil
	}
	return create(&classAutomation, &interfaceAutomation)
}

func create(class, as *guid) (*object, error) {
	const inProcess = 1 // CLSCTX_INPROC_SERVER
	var o *object
	err := result(procCoCreateInstance, uintptr(unsafe.Pointer(class)), 0, inProcess,
		uintptr(unsafe.Pointer(as)), uintptr(unsafe.Pointer(&o)))
	return o, err
}

// treeOf takes over automation, and gives it back should it fail.
func treeOf(automation *object) (*automationTree, error) {
	t := &automationTree{automation: automation, leave: func() {}}
	if err := t.request(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// request says which properties come with what is found, in one answer of the program.
// The request keeps to the control view, as new ones do: what a person counts as a
// control, without the parts that it is drawn of.
func (t *automationTree) request() error {
	r := t.automation.call(automationCreateCacheRequest, uintptr(unsafe.Pointer(&t.cache)))
	if err := r.failed("CreateCacheRequest"); err != nil {
		return err
	}
	for _, property := range []uintptr{
		propertyRuntimeID, propertyName, propertyAutomationID, propertyControlType,
		propertyBoundingRectangle, propertyIsOffscreen, propertyIsEnabled, propertyClickablePoint,
	} {
		if err := t.cache.call(cacheAddProperty, property).failed("AddProperty"); err != nil {
			return err
		}
	}
	return t.cache.call(cachePutElementMode, modeNone).failed("put_AutomationElementMode")
}

func (t *automationTree) close() {
	t.cache.release()
	t.automation.release()
	t.leave()
}

func (t *automationTree) find(w HWND, q ElementQuery) ([]Element, error) {
	var root, list *object
	r := t.automation.call(automationElementFromHandle, uintptr(w), uintptr(unsafe.Pointer(&root)))
	defer func() { root.release() }()
	if err := r.failed("ElementFromHandle"); err != nil || root == nil {
		return nil, errors.Join(err, missing(root))
	}
	condition, err := t.condition(q)
	defer condition.release()
	if err != nil {
		return nil, err
	}
	r = root.call(elementFindAllBuildCache, scopeDescendants, uintptr(unsafe.Pointer(condition)),
		uintptr(unsafe.Pointer(t.cache)), uintptr(unsafe.Pointer(&list)))
	defer func() { list.release() }()
	if err := r.failed("FindAllBuildCache"); err != nil {
		return nil, err
	}
	return elementsOf(list)
}

// missing says that an interface that should be there is not.
func missing(o *object) error {
	if o == nil {
		return ErrGone
	}
	return nil
}

// elementsOf reads a list; none: nothing was found.
func elementsOf(list *object) ([]Element, error) {
	if list == nil {
		return nil, nil
	}
	var count int32
	if err := list.call(arrayGetLength, uintptr(unsafe.Pointer(&count))).failed("get_Length"); err != nil {
		return nil, err
	}
	found := make([]Element, 0, max(count, 0))
	for i := range count {
		e, err := elementAt(list, i)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

func elementAt(list *object, i int32) (Element, error) {
	var o *object
	r := list.call(arrayGetElement, uintptr(i), uintptr(unsafe.Pointer(&o)))
	defer func() { o.release() }()
	if err := r.failed("GetElement"); err != nil || o == nil {
		return Element{}, errors.Join(err, missing(o))
	}
	return read(o)
}

// read takes from an element what came with it. What a program does not say of it is
// empty: it then matches less, and is no error.
func read(o *object) (Element, error) {
	var kind, enabled, offscreen int32
	var bounds rect
	r := min(
		o.call(elementGetCachedControlType, uintptr(unsafe.Pointer(&kind))),
		o.call(elementGetCachedIsEnabled, uintptr(unsafe.Pointer(&enabled))),
		o.call(elementGetCachedIsOffscreen, uintptr(unsafe.Pointer(&offscreen))),
		o.call(elementGetCachedBoundingRectangle, uintptr(unsafe.Pointer(&bounds))),
	)
	if err := r.failed("read an element"); err != nil {
		return Element{}, err
	}
	e := Element{
		Name: o.text(elementGetCachedName), AutomationID: o.text(elementGetCachedAutomationID),
		ControlType: int(kind), Enabled: enabled != 0, OffScreen: offscreen != 0,
	}
	if bounds.left < bounds.right && bounds.top < bounds.bottom {
		e.Bounds = image.Rect(int(bounds.left), int(bounds.top), int(bounds.right), int(bounds.bottom))
	}
	e.ID = idOf(array[int32](o, propertyRuntimeID, kindArrayInt32))
	e.Clickable = pointOf(array[float64](o, propertyClickablePoint, kindArrayDouble))
	return e, nil
}

// text reads a text property; empty when there is none.
func (o *object) text(m method) string {
	var s *uint16
	r := o.call(m, uintptr(unsafe.Pointer(&s)))
	defer func() { win.SysFreeString(s) }()
	if r < 0 || s == nil {
		return ""
	}
	return string(utf16.Decode(unsafe.Slice(s, win.SysStringLen(s))))
}

// array reads a property that is an array of numbers; nil when it is none, as that of a
// program which does not have the property.
func array[N int32 | float64](o *object, property uintptr, kind uint16) []N {
	var v variant
	r := o.call(elementGetCachedPropertyValue, property, uintptr(unsafe.Pointer(&v)))
	defer func() { ask(procVariantClear, uintptr(unsafe.Pointer(&v))) }()
	if r < 0 || v.kind != kind || ask(procSafeArrayGetDim, v.value[0]) != 1 {
		return nil
	}
	var low, high int32
	if result(procSafeArrayGetLBound, v.value[0], 1, uintptr(unsafe.Pointer(&low))) != nil ||
		result(procSafeArrayGetUBound, v.value[0], 1, uintptr(unsafe.Pointer(&high))) != nil {
		return nil
	}
	var out []N
	for i := low; i <= high; i++ {
		var n N
		if result(procSafeArrayGetElement, v.value[0], uintptr(unsafe.Pointer(&i)), uintptr(unsafe.Pointer(&n))) != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// result calls a procedure that answers with an HRESULT.
//
//go:uintptrescapes
func result(p *windows.LazyProc, args ...uintptr) error {
	if err := p.Find(); err != nil {
		return errors.Join(ErrNotHere, err)
	}
	r, _, _ := p.Call(args...)
	return hresult(r).failed(p.Name)
}

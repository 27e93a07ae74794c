package winapi

import (
	"errors"
	"unicode/utf16"
	"unsafe"
)

var errMemory = errors.New("out of memory")

// condition is what an element must be to match a query. Its caller gives it back; it
// is nil with an error.
func (t *automationTree) condition(q ElementQuery) (*object, error) {
	var all *object
	for _, c := range []struct {
		property uintptr
		text     string
		number   int
	}{
		{propertyControlType, "", q.ControlType}, // the quickest to compare comes first
		{propertyAutomationID, q.AutomationID, 0},
		{propertyName, q.Name, 0},
	} {
		if c.text == "" && c.number == 0 {
			continue
		}
		one, err := t.equal(c.property, c.text, c.number)
		if err == nil {
			all, err = t.both(all, one)
		}
		if err != nil {
			all.release()
			return nil, err
		}
	}
	if all != nil {
		return all, nil
	}
	err := t.automation.call(automationCreateTrueCondition, uintptr(unsafe.Pointer(&all))).failed("CreateTrueCondition")
	return all, err
}

// equal is the condition that a property is a text, or a number if the text is empty.
func (t *automationTree) equal(property uintptr, text string, number int) (*object, error) {
	v := variant{kind: kindInt32, value: [2]uintptr{uintptr(uint32(number))}}
	if text != "" {
		units := utf16.Encode([]rune(text))
		s := ask(procSysAllocStringLen, uintptr(unsafe.Pointer(&units[0])), uintptr(len(units)))
		if s == 0 {
			return nil, errMemory
		}
		v = variant{kind: kindText, value: [2]uintptr{s}}
		defer func() { ask(procVariantClear, uintptr(unsafe.Pointer(&v))) }()
	}
	var c *object
	var r hresult
	if unsafe.Sizeof(v) > 16 {
		// A struct of this size goes by its address, on amd64 and on arm64.
		r = t.automation.call(automationCreatePropertyCondition, property, uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&c)))
	} else {
		words := (*[4]uintptr)(unsafe.Pointer(&v)) // on the stack, word by word
		r = t.automation.call(automationCreatePropertyCondition, property, words[0], words[1], words[2], words[3], uintptr(unsafe.Pointer(&c)))
	}
	return c, r.failed("CreatePropertyCondition")
}

// both is the condition that two hold. It gives back the two; the first may be nil.
func (t *automationTree) both(first, second *object) (*object, error) {
	if first == nil {
		return second, nil
	}
	defer first.release()
	defer second.release()
	var c *object
	err := t.automation.call(automationCreateAndCondition, uintptr(unsafe.Pointer(first)),
		uintptr(unsafe.Pointer(second)), uintptr(unsafe.Pointer(&c))).failed("CreateAndCondition")
	return c, err
}

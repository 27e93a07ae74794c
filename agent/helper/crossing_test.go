package helper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// anyOf draws a value of a type, every exported field of it, so that a field that is
// added one day is not forgotten here. Texts may be any bytes unless clean.
func anyOf(t *rapid.T, typ reflect.Type, clean bool) reflect.Value {
	v := reflect.New(typ).Elem()
	switch {
	case typ == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))))
	case typ == reflect.TypeFor[slog.Level]():
		v.SetInt(rapid.Int64Range(-8, 12).Draw(t, "level"))
	case typ.Kind() == reflect.Int:
		v.SetInt(int64(rapid.Int32().Draw(t, "int")))
	case typ.Kind() == reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int64"))
	case typ.Kind() == reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	case typ.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case typ.Kind() == reflect.String && clean:
		v.SetString(rapid.String().Draw(t, "text"))
	case typ.Kind() == reflect.String:
		v.SetString(string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "text")))
	case typ.Kind() == reflect.Slice:
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			v.Set(reflect.Append(v, anyOf(t, typ.Elem(), clean)))
		}
	case typ.Kind() == reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(typ.Elem()))
			v.Elem().Set(anyOf(t, typ.Elem(), clean))
		}
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			v.Field(i).Set(anyOf(t, typ.Field(i).Type, clean))
		}
	default:
		t.Fatalf("no value of %v: say here how to draw one", typ)
	}
	return v
}

// crosses checks that values of a type come out of a message as they went in.
func crosses[T any, M proto.Message](clean bool, encode func(T) M, decode func(M) T) func(*rapid.T) {
	return func(t *rapid.T) {
		in := anyOf(t, reflect.TypeFor[T](), clean).Interface().(T)
		got := decode(across(t, encode(in)))
		if diff := cmp.Diff(in, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-in +out):\n%s", diff)
		}
	}
}

// across brings a message over the wire.
func across[M proto.Message](t *rapid.T, m M) M {
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	out := m.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out.(M)
}

// gestureCrosses checks it of one kind of gesture.
func gestureCrosses[T driver.Input]() func(*rapid.T) {
	return crosses(false, func(in T) *helperv1.Gesture {
		g, err := encodeGesture(7, in)
		if err != nil {
			panic(err)
		}
		return g
	}, func(g *helperv1.Gesture) T {
		in, err := decodeGesture(g)
		if err != nil || g.GetNumber() != 7 {
			panic(fmt.Sprintf("gesture %d: %v", g.GetNumber(), err))
		}
		return in.(T)
	})
}

func TestNothingIsLostOfWhatCrosses(t *testing.T) {
	for name, check := range map[string]func(*rapid.T){
		"click": gestureCrosses[driver.Click](), "move": gestureCrosses[driver.Move](), "drag": gestureCrosses[driver.Drag](),
		"type": gestureCrosses[driver.Type](), "paste": gestureCrosses[driver.Paste](), "combo": gestureCrosses[driver.Combo](),
		"scroll": gestureCrosses[driver.Scroll](), "focus": gestureCrosses[driver.Focus](),
		"settings": crosses(true, encodeSettings, decodeSettings),
		"notice":   crosses(true, encodeNotice, decodeNotice), "act": crosses(true, encodeAct, decodeAct),
		"monitors": crosses(false, func(all []driver.Monitor) *helperv1.MonitorsResponse {
			return &helperv1.MonitorsResponse{Monitors: encodeMonitors(all)}
		}, func(m *helperv1.MonitorsResponse) []driver.Monitor { return decodeMonitors(m.GetMonitors()) }),
		"windows": crosses(false, func(all []driver.Window) *helperv1.WindowsResponse {
			return &helperv1.WindowsResponse{Windows: encodeWindows(all)}
		}, func(m *helperv1.WindowsResponse) []driver.Window { return decodeWindows(m.GetWindows()) }),
		"element": crosses(false, encodeElement, decodeElement),
		"found": crosses(false, func(all []driver.Found) *helperv1.ElementsResponse {
			return &helperv1.ElementsResponse{Found: encodeFound(all)}
		}, func(m *helperv1.ElementsResponse) []driver.Found { return decodeFound(m.GetFound()) }),
	} {
		t.Run(name, func(t *testing.T) { rapid.Check(t, check) })
	}
}

func TestAGestureThatIsNoneIsRefusedAtBothEnds(t *testing.T) {
	if _, err := encodeGesture(1, nil); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("encode: %v", err)
	}
	if _, err := decodeGesture(&helperv1.Gesture{Number: 1}); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("decode: %v", err)
	}
}

func driversErrors() []error {
	var all []error
	for _, k := range kinds {
		if k.err != errCalledOff { //nolint:errorlint // a row of the table
			all = append(all, k.err)
		}
	}
	return all
}

// An error is to its reader what it was where it arose: its text, what it is, and how
// much was sent.
func TestAnErrorKeepsWhatItIs(t *testing.T) {
	all := driversErrors()
	rapid.Check(t, func(t *rapid.T) {
		err := errors.New(rapid.String().Draw(t, "text"))
		for range rapid.IntRange(0, 5).Draw(t, "depth") {
			switch rapid.IntRange(0, 4).Draw(t, "around") {
			case 0:
				err = rapid.SampledFrom(all).Draw(t, "kind")
			case 1:
				err = fmt.Errorf("%s: %w", rapid.String().Draw(t, "more"), err)
			case 2:
				err = &driver.InputError{Sent: rapid.IntRange(0, 1000).Draw(t, "sent"), Err: err}
			case 3:
				err = errors.Join(err, rapid.SampledFrom(all).Draw(t, "joined"))
			case 4:
				err = driver.Tellable(err)
			}
		}
		got := decodeFault(context.Background(), across(t, encodeFault(err)))
		if got.Error() != err.Error() {
			t.Fatalf("%q became %q", err, got)
		}
		for _, kind := range all {
			if errors.Is(got, kind) != errors.Is(err, kind) {
				t.Fatalf("%q is %q: %v; was %v", err, kind, errors.Is(got, kind), errors.Is(err, kind))
			}
		}
		var was, is *driver.InputError
		if errors.As(err, &was) != errors.As(got, &is) || was != nil && was.Sent != is.Sent || driver.NothingSent(err) != driver.NothingSent(got) {
			t.Fatalf("%q: %+v became %+v", err, was, is)
		}
		wasTold, could := driver.Telling(err)
		isTold, can := driver.Telling(got)
		if wasTold != isTold || could != can {
			t.Fatalf("%q may be told %q %v; now %q %v", err, wasTold, could, isTold, can)
		}
	})
	if encodeFault(nil) != nil || decodeFault(t.Context(), nil) != nil {
		t.Error("no error became one")
	}
}

// That a gesture was called off is to its caller what ended his context.
func TestWhatCallsAGestureOffIsTheCallersCause(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, said := range []error{errCalledOff, context.Canceled, fmt.Errorf("typing: %w", errCalledOff), errors.Join(errCalledOff, driver.ErrBlocked)} {
		got := decodeFault(ctx, encodeFault(&driver.InputError{Sent: 2, Err: said}))
		var in *driver.InputError
		if !errors.Is(got, why) || !errors.As(got, &in) || in.Sent != 2 || errors.Is(got, driver.ErrBlocked) != errors.Is(said, driver.ErrBlocked) {
			t.Errorf("%v became %v", said, got)
		}
	}
}

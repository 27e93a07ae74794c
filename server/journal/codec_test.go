package journal

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	journalv1 "github.com/reprise-rpa/reprise/gen/reprise/journal/v1"
	"github.com/reprise-rpa/reprise/server/replay"
)

// generate draws a T with every field filled, by reflection: a field that is
// added to an event and forgotten in the mapping does not come back.
func generate[T replay.Event](t *rapid.T) replay.Event {
	return rapid.MakeCustom[T](rapid.MakeConfig{
		Kinds: map[reflect.Kind]*rapid.Generator[any]{reflect.Int: rapid.IntRange(-1, 1<<31-2).AsAny()},
		Types: map[reflect.Type]*rapid.Generator[any]{
			reflect.TypeFor[replay.Reason]():     between(replay.FirstDelivery, replay.DesktopUnavailable),
			reflect.TypeFor[replay.Outcome]():    between(replay.OutcomeAcked, replay.OutcomeRecorded),
			reflect.TypeFor[replay.State]():      between(replay.Completed, replay.Cancelled),
			reflect.TypeFor[replay.GiveUp]():     between(replay.GiveUpByKind, replay.GiveUpFail),
			reflect.TypeFor[replay.Completion](): between(replay.CompletionUnknown, replay.CompletionCompleted),
			reflect.TypeFor[[]byte]():            rapid.SliceOfN(rapid.Byte(), 0, 8).AsAny(),
			reflect.TypeFor[[]string]():          rapid.SliceOfN(rapid.String(), 0, 3).AsAny(),
			reflect.TypeFor[map[string]string](): rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).AsAny(),
			reflect.TypeFor[[]replay.Check]():    rapid.SliceOfN(rapid.Make[replay.Check](), 0, 3).AsAny(),
		},
	}).Draw(t, "event")
}

func between[T ~int](first, last T) *rapid.Generator[any] {
	return rapid.Map(rapid.IntRange(int(first), int(last)), func(n int) T { return T(n) }).AsAny()
}

// events draws one event of each type.
var events = map[string]func(*rapid.T) replay.Event{
	"created": generate[replay.Created], "appended": generate[replay.Appended], "closed": generate[replay.Closed], "started": generate[replay.Started], "dispatched": generate[replay.Dispatched],
	"adopted": generate[replay.Adopted], "requeued": generate[replay.Requeued], "reported": generate[replay.Reported],
	"lost_memory": generate[replay.LostMemory], "gave_up": generate[replay.GaveUp], "paused_by": generate[replay.PausedBy],
	"gate_passed": generate[replay.GatePassed], "resumed": generate[replay.Resumed], "ended": generate[replay.Ended],
}

func TestEveryEventComesBackAsItWas(t *testing.T) {
	for name, draw := range events {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			rec := replay.Record{
				ReplayID: rapid.String().Draw(t, "replay"), Seq: rapid.Int64Min(1).Draw(t, "seq"),
				At:     time.Unix(0, rapid.Int64().Draw(t, "at")).UTC(),
				Events: []replay.Event{draw(t), replay.Started{}},
			}
			data, err := encode(rec)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rec, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the record changed on its way (-written +read):\n%s", diff)
			}
		}))
	}
}

// The schema of the disk and the list above name the same events.
func TestEveryEventOnDiskHasAValue(t *testing.T) {
	fields := (&journalv1.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("event").Fields()
	if fields.Len() != len(events) {
		t.Errorf("the schema has %d events, the test knows %d", fields.Len(), len(events))
	}
	for i := range fields.Len() {
		if name := string(fields.Get(i).Name()); events[name] == nil {
			t.Errorf("no test of the event %s", name)
		}
	}
}

func TestUnknownMeaningOnDiskIsAnError(t *testing.T) {
	future := &journalv1.Event{}
	future.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 500, protowire.BytesType), []byte("from the future")))
	for name, ev := range map[string]*journalv1.Event{
		"an event of a later version": future,
		"no event":                    {},
		"a reason":                    {Event: &journalv1.Event_Dispatched{Dispatched: &journalv1.Dispatched{Reason: 99}}},
		"an outcome":                  {Event: &journalv1.Event_Reported{Reported: &journalv1.Reported{}}},
		"a completion":                {Event: &journalv1.Event_Reported{Reported: &journalv1.Reported{Outcome: 1, Summary: &journalv1.ReportSummary{Completion: 3}}}},
		"an end":                      {Event: &journalv1.Event_Ended{Ended: &journalv1.Ended{State: int32(replay.Running)}}},
		"a give-up rule":              {Event: &journalv1.Event_Created{Created: &journalv1.Created{Steps: []*journalv1.Step{{OnGiveUp: -1}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := proto.Marshal(&journalv1.Record{ReplayId: "r", Seq: 1, Events: []*journalv1.Event{ev}})
			if err != nil {
				t.Fatal(err)
			}
			if rec, err := decode(data); !errors.Is(err, errUnknown) {
				t.Errorf("decode = %v, %v; want %v", rec, err, errUnknown)
			}
		})
	}
}

func TestBytesThatAreNoRecordAreAnError(t *testing.T) {
	if rec, err := decode([]byte{0xff, 0xff, 0xff}); err == nil {
		t.Errorf("decode = %v, want an error", rec)
	}
}

type foreign struct{ replay.Event }

func TestAnEventWithoutAPlaceOnDiskIsRefused(t *testing.T) {
	if _, err := encode(replay.Record{ReplayID: "r", Seq: 1, Events: []replay.Event{foreign{}}}); err == nil {
		t.Error("encode took an event that decode cannot give back")
	}
}

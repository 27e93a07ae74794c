package winapi

// Hive is a part of the registry.
type Hive int

// The hives.
const (
	CurrentUser  Hive = iota // what is set for the user of this process
	LocalMachine             // what is set for the machine
)

// PowerGUID is a group of power settings or one of them, by its GUID in winnt.h.
type PowerGUID struct {
	Data1 uint32
	Data2 uint16
	Data3 uint16
	Data4 [8]byte
}

// Groups of power settings, and settings of theirs that count seconds of idleness; 0
// seconds mean never.
var (
	PowerVideo     = PowerGUID{0x7516b95f, 0xf776, 0x4464, [8]byte{0x8c, 0x53, 0x06, 0x16, 0x7f, 0x40, 0xcc, 0x99}} // GUID_VIDEO_SUBGROUP
	PowerVideoOff  = PowerGUID{0x3c0bc021, 0xc8a8, 0x4e07, [8]byte{0xa9, 0x73, 0x6b, 0x14, 0xcb, 0xcb, 0x2b, 0x7e}} // GUID_VIDEO_POWERDOWN_TIMEOUT
	PowerSleep     = PowerGUID{0x238c9fa8, 0x0aad, 0x41ed, [8]byte{0x83, 0xf4, 0x97, 0xbe, 0x24, 0x2c, 0x8f, 0x20}} // GUID_SLEEP_SUBGROUP
	PowerStandby   = PowerGUID{0x29f6c1db, 0x86da, 0x48c5, [8]byte{0x9f, 0xdb, 0xf2, 0xb6, 0x7b, 0x1f, 0x44, 0xda}} // GUID_STANDBY_TIMEOUT
	PowerHibernate = PowerGUID{0x9d7815a6, 0x7ee4, 0x497e, [8]byte{0x88, 0x88, 0x51, 0x5a, 0x05, 0xf0, 0x23, 0x64}} // GUID_HIBERNATE_TIMEOUT
)

// Integrity levels of a process: SECURITY_MANDATORY_…_RID of winnt.h.
const (
	IntegrityLow    = 0x1000
	IntegrityMedium = 0x2000
	IntegrityHigh   = 0x3000
	IntegritySystem = 0x4000
)

// Grant is one entry of a file's access list that allows something.
type Grant struct {
	SID    string
	Rights uint32 // ACCESS_MASK of winnt.h
}

// Rights that let a file be read: FILE_READ_DATA, GENERIC_READ and GENERIC_ALL of winnt.h.
const readingRights = 0x1 | 0x80000000 | 0x10000000

// Reads says whether it lets the content be read.
func (g Grant) Reads() bool { return g.Rights&readingRights != 0 }

package winapi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// pipeBuffer is the size of a pipe's buffer in each direction, in bytes.
const pipeBuffer = 1 << 20

// PipeListener is a named pipe that waits for one client.
type PipeListener struct {
	name       string
	pipe       windows.Handle // 0: given away or closed
	overlapped windows.Overlapped
}

// ListenPipe makes a named pipe with one instance, for a client who is the user of that
// SID and on this machine. A pipe of that name must not be there yet.
func (s System) ListenPipe(name, client string) (*PipeListener, error) {
	server, err := s.OwnSID()
	if err != nil {
		return nil, err
	}
	descriptor, err := windows.SecurityDescriptorFromString(pipeSecurity(server, client))
	if err != nil {
		return nil, fmt.Errorf("security of a pipe: %w", err)
	}
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	l := &PipeListener{name: name}
	if l.overlapped.HEvent, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, fmt.Errorf("make an event: %w", err)
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: descriptor}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	l.pipe, err = windows.CreateNamedPipe(text,
		windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_READMODE_BYTE|windows.PIPE_WAIT|windows.PIPE_REJECT_REMOTE_CLIENTS,
		1, pipeBuffer, pipeBuffer, 0, &attributes)
	if err != nil {
		l.pipe = 0
		l.Close()
		return nil, fmt.Errorf("make the pipe %s: %w", name, err)
	}
	return l, nil
}

// Close closes the pipe, unless Accept has given it away.
func (l *PipeListener) Close() {
	for _, h := range []*windows.Handle{&l.pipe, &l.overlapped.HEvent} {
		if *h != 0 {
			_ = windows.CloseHandle(*h)
			*h = 0
		}
	}
}

// Accept waits until the process of that number has opened the pipe, and returns our
// end of it. Any other process is thrown out again, and the waiting goes on; an error
// says how many there were.
func (l *PipeListener) Accept(ctx context.Context, client uint32) (*os.File, error) {
	for strangers := 0; ; strangers++ {
		var pid uint32
		err := l.wait(ctx)
		if err == nil {
			err = windows.GetNamedPipeClientProcessId(l.pipe, &pid)
		}
		gone := errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
		switch {
		case err != nil && !gone:
			if strangers > 0 {
				err = fmt.Errorf("%w (%d times another program called)", err, strangers)
			}
			return nil, fmt.Errorf("wait for process %d on %s: %w", client, l.name, err)
		case err == nil && pid == client:
			pipe := l.pipe
			l.pipe = 0
			l.Close()
			return os.NewFile(uintptr(pipe), l.name), nil
		}
		if err = windows.DisconnectNamedPipe(l.pipe); err != nil && !errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED) {
			return nil, fmt.Errorf("throw process %d out of %s: %w", pid, l.name, err)
		}
	}
}

// wait waits until some process has opened the pipe.
func (l *PipeListener) wait(ctx context.Context) error {
	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return fmt.Errorf("make an event: %w", err)
	}
	defer func() { _ = windows.CloseHandle(stop) }()
	told := make(chan struct{})
	untell := context.AfterFunc(ctx, func() {
		defer close(told)
		_ = windows.SetEvent(stop) // an event of our own: it cannot fail
	})
	defer func() {
		if !untell() {
			<-told // the event is closed after it was used
		}
	}()
	switch err = windows.ConnectNamedPipe(l.pipe, &l.overlapped); {
	case err == nil, errors.Is(err, windows.ERROR_PIPE_CONNECTED):
		return nil
	case !errors.Is(err, windows.ERROR_IO_PENDING):
		return err
	}
	which, err := windows.WaitForMultipleObjects([]windows.Handle{l.overlapped.HEvent, stop}, false, windows.INFINITE)
	if err != nil || which != windows.WAIT_OBJECT_0 {
		_ = windows.CancelIoEx(l.pipe, &l.overlapped) // it may have come to its end
	}
	// Windows writes into the struct until this returns.
	var none uint32
	done := windows.GetOverlappedResult(l.pipe, &l.overlapped, &none, true)
	switch {
	case err != nil:
		return err
	case which != windows.WAIT_OBJECT_0:
		return context.Cause(ctx)
	}
	return done
}

// busyPause is how long to wait until a pipe is tried again that another client holds.
const busyPause = 20 * time.Millisecond

// DialPipe opens a pipe that the process server holds and the user of the SID owner
// owns. One that another program holds is tried again until ctx ends.
func (System) DialPipe(ctx context.Context, name string, server uint32, owner string) (*os.File, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	pause := time.NewTimer(busyPause)
	defer pause.Stop()
	for {
		// The server may learn who we are, and not act in our name.
		pipe, err := windows.CreateFile(text, pipeClientRights, 0, nil, windows.OPEN_EXISTING,
			windows.FILE_FLAG_OVERLAPPED|windows.SECURITY_SQOS_PRESENT|windows.SECURITY_IDENTIFICATION, 0)
		switch {
		case err == nil:
			if err = checkServer(pipe, server, owner); err != nil {
				_ = windows.CloseHandle(pipe)
				return nil, fmt.Errorf("pipe %s: %w", name, err)
			}
			return os.NewFile(uintptr(pipe), name), nil
		case !errors.Is(err, windows.ERROR_PIPE_BUSY):
			return nil, fmt.Errorf("open the pipe %s: %w", name, err)
		}
		select {
		case <-pause.C:
			pause.Reset(busyPause)
		case <-ctx.Done():
			return nil, fmt.Errorf("open the pipe %s: %w (%w)", name, context.Cause(ctx), err)
		}
	}
}

// checkServer says whether a pipe is whose it should be.
func checkServer(pipe windows.Handle, server uint32, owner string) error {
	var pid uint32
	if err := windows.GetNamedPipeServerProcessId(pipe, &pid); err != nil {
		return fmt.Errorf("its server: %w", err)
	}
	if pid != server {
		return fmt.Errorf("process %d holds it, not %d", pid, server)
	}
	descriptor, err := windows.GetSecurityInfo(pipe, windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("its owner: %w", err)
	}
	sid, _, err := descriptor.Owner()
	if err != nil {
		return fmt.Errorf("its owner: %w", err)
	}
	if got := sid.String(); got != owner {
		return fmt.Errorf("%s owns it, not %s", got, owner)
	}
	return nil
}

package winapi

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Process is a process that was started, in a job that ends with this process.
type Process struct {
	pid  uint32
	said chan string

	mu          sync.Mutex // guards the handles
	handle, job windows.Handle
}

// keepOfSaid is how much of what a process writes on its standard error is kept, in
// bytes from the beginning: where a panic says what it is.
const keepOfSaid = 8 << 10

// Start starts a program on the user's desktop, without a window, and gives it input
// to read on its standard input, which must be short enough for a pipe's buffer. The
// process and what it starts are in a job that Windows ends when this process has
// ended, in whatever way.
func (u *SessionUser) Start(command []string, input []byte) (*Process, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	std, err := openStandard(input)
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	defer std.closeTheirs()
	info, err := u.create(command, std, job)
	if err != nil {
		_ = std.said.Close()
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	p := &Process{pid: info.ProcessId, handle: info.Process, job: job, said: make(chan string, 1)}
	go p.listen(std.said)
	return p, nil
}

// attributeJobList is PROC_THREAD_ATTRIBUTE_JOB_LIST of winbase.h: a process begins its
// life in a job. Windows 10 has it.
const attributeJobList = 0x2000d

// newJob makes a job whose processes end when its last handle is closed. Each process
// has one of its own: those of one job must be of one session.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("make a job: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("make a job end with this process: %w", err)
	}
	return job, nil
}

// standard is what a process has as its standard input, output and error.
type standard struct {
	in, out windows.Handle // theirs
	said    *os.File       // the end of out that is read
}

// openStandard opens the pipes and writes the input into one of them.
func openStandard(input []byte) (s standard, err error) {
	var inWrite, outRead windows.Handle
	if err = windows.CreatePipe(&s.in, &inWrite, nil, uint32(len(input))+1); err != nil {
		return s, fmt.Errorf("make a pipe: %w", err)
	}
	_, err = windows.Write(inWrite, input)
	_ = windows.CloseHandle(inWrite) // the input ends there
	if err == nil {
		err = windows.CreatePipe(&outRead, &s.out, nil, 0)
	}
	if err != nil {
		s.closeTheirs()
		return s, fmt.Errorf("make a pipe: %w", err)
	}
	s.said = os.NewFile(uintptr(outRead), "standard error")
	for _, theirs := range []windows.Handle{s.in, s.out} {
		if err = windows.SetHandleInformation(theirs, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			s.closeTheirs()
			_ = s.said.Close()
			return s, fmt.Errorf("let a pipe be inherited: %w", err)
		}
	}
	return s, nil
}

func (s *standard) closeTheirs() {
	for _, h := range []*windows.Handle{&s.in, &s.out} {
		if *h != 0 {
			_ = windows.CloseHandle(*h)
			*h = 0
		}
	}
}

// create makes the process. It inherits its standard handles and nothing else, and is
// in the job from its first moment on; where Windows does not know how to do that, from
// before its first instruction on.
func (u *SessionUser) create(command []string, std standard, job windows.Handle) (*windows.ProcessInformation, error) {
	info, err := u.createWith(command, std, job, 0)
	if err != nil && !errors.Is(err, windows.ERROR_INVALID_PARAMETER) && !errors.Is(err, windows.ERROR_NOT_SUPPORTED) {
		return nil, err
	}
	if err != nil {
		if info, err = u.createWith(command, std, 0, windows.CREATE_SUSPENDED); err != nil {
			return nil, err
		}
		if err = windows.AssignProcessToJobObject(job, info.Process); err == nil {
			_, err = windows.ResumeThread(info.Thread)
		}
	}
	_ = windows.CloseHandle(info.Thread)
	if err != nil {
		_ = windows.TerminateProcess(info.Process, 1)
		_ = windows.CloseHandle(info.Process)
		return nil, fmt.Errorf("tie it to this process: %w", err)
	}
	return info, nil
}

// createWith makes the process in a job, or in none.
func (u *SessionUser) createWith(command []string, std standard, job windows.Handle, flags uint32) (*windows.ProcessInformation, error) {
	exe, err := windows.UTF16PtrFromString(command[0])
	if err != nil {
		return nil, err
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(command))
	if err != nil {
		return nil, err
	}
	attributes, err := windows.NewProcThreadAttributeList(2)
	if err != nil {
		return nil, fmt.Errorf("attributes of a process: %w", err)
	}
	defer attributes.Delete()
	inherited := [2]windows.Handle{std.in, std.out}
	err = attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&inherited[0]), unsafe.Sizeof(inherited))
	if err == nil && job != 0 {
		jobs := [1]windows.Handle{job}
		err = attributes.Update(attributeJobList, unsafe.Pointer(&jobs[0]), unsafe.Sizeof(jobs))
	}
	if err != nil {
		return nil, err
	}
	desktop, err := windows.UTF16PtrFromString(`winsta0\default`)
	if err != nil {
		return nil, err
	}
	start := windows.StartupInfoEx{
		StartupInfo: windows.StartupInfo{
			Cb: uint32(unsafe.Sizeof(windows.StartupInfoEx{})), Desktop: desktop, Flags: windows.STARTF_USESTDHANDLES,
			StdInput: std.in, StdOutput: std.out, StdErr: std.out,
		},
		ProcThreadAttributeList: attributes.List(),
	}
	flags |= windows.CREATE_NO_WINDOW | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT
	return u.createAs(exe, line, flags, &start)
}

// createAs makes the process as the user, in that user's environment.
func (u *SessionUser) createAs(exe, line *uint16, flags uint32, start *windows.StartupInfoEx) (*windows.ProcessInformation, error) {
	info := new(windows.ProcessInformation)
	if u.token == 0 {
		return info, windows.CreateProcess(exe, line, nil, nil, true, flags, nil, nil, &start.StartupInfo, info)
	}
	var environment *uint16
	if err := windows.CreateEnvironmentBlock(&environment, u.token, false); err != nil {
		return nil, fmt.Errorf("the user's environment: %w", err)
	}
	defer func() { _ = windows.DestroyEnvironmentBlock(environment) }()
	return info, windows.CreateProcessAsUser(u.token, exe, line, nil, nil, true, flags, environment, nil, &start.StartupInfo, info)
}

// PID is the number of the process; no other one has it before Wait has returned.
func (p *Process) PID() uint32 { return p.pid }

// listen keeps the beginning of what the process says, and reads all of it.
func (p *Process) listen(out *os.File) {
	defer func() { _ = out.Close() }()
	kept, _ := io.ReadAll(io.LimitReader(out, keepOfSaid)) // what came before a fault counts
	_, _ = io.Copy(io.Discard, out)
	p.said <- string(kept)
}

// Wait waits until the process has ended, ends what it started, and returns its exit
// code and the beginning of what it wrote on its standard error. It is called once.
func (p *Process) Wait() (code uint32, said string, err error) {
	_, err = windows.WaitForSingleObject(p.handle, windows.INFINITE)
	if err == nil {
		err = windows.GetExitCodeProcess(p.handle, &code)
	}
	p.mu.Lock()
	_ = windows.CloseHandle(p.job)
	_ = windows.CloseHandle(p.handle)
	p.handle, p.job = 0, 0
	p.mu.Unlock()
	if said = <-p.said; err != nil {
		err = fmt.Errorf("end of process %d: %w", p.pid, err)
	}
	return code, said, err
}

// Kill ends the process and what it started. One that has ended already stays so.
func (p *Process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job == 0 {
		return nil
	}
	if err := windows.TerminateJobObject(p.job, 1); err != nil {
		return fmt.Errorf("end process %d: %w", p.pid, err)
	}
	return nil
}

package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"net"
	"sync"
	"time"
)

// maxBlob is the largest picture that a client takes: 8K, four bytes a pixel.
const maxBlob = 7680 * 4320 * 4

// Request is one line to the desktop.
type Request struct {
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Reply is one line from the desktop; Blob raw bytes follow it.
type Reply struct {
	Error  *Error          `json:"error,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Blob   int             `json:"blob,omitempty"`
}

// conn is one connection; its calls come one after the other. After a fault of
// the line, which leaves it unknown what was read, it is of no further use.
type conn struct {
	mu     sync.Mutex
	net    net.Conn
	reader *bufio.Reader
	broken error
}

func dial(ctx context.Context, address string) (*conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("virtual desktop: %w", err)
	}
	return &conn{net: c, reader: bufio.NewReaderSize(c, 64<<10)}, nil
}

// Close ends the connection. Keys and buttons that are down stay down.
func (c *conn) Close() error { return c.net.Close() }

// call makes one request. An *Error says that the desktop refused; any other
// error that the line failed, and the request may or may not have arrived.
func (c *conn) call(ctx context.Context, op string, args, result any) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, c.broken
	}
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	blob, err := c.exchange(op, args, result)
	if !stop() {
		c.broken = fmt.Errorf("virtual desktop: an earlier call ended early: %w", context.Cause(ctx))
		defer func() { _ = c.net.Close() }()
	}
	if refused := (*Error)(nil); err != nil && !errors.As(err, &refused) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		c.broken = fmt.Errorf("virtual desktop: %s: %w", op, err)
		_ = c.net.Close()
		return nil, c.broken
	}
	return blob, err
}

func (c *conn) exchange(op string, args, result any) ([]byte, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(Request{Op: op, Args: raw})
	if err != nil {
		return nil, err
	}
	if _, err := c.net.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	line, err = c.reader.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var reply Reply
	if err := json.Unmarshal(line, &reply); err != nil {
		return nil, err
	}
	if reply.Error != nil {
		return nil, reply.Error
	}
	if reply.Blob < 0 || reply.Blob > maxBlob {
		return nil, fmt.Errorf("a picture of %d bytes", reply.Blob)
	}
	blob := make([]byte, reply.Blob)
	if _, err := io.ReadFull(c.reader, blob); err != nil {
		return nil, err
	}
	if result == nil {
		return blob, nil
	}
	return blob, json.Unmarshal(reply.Result, result)
}

// Capture takes a picture of the whole virtual desktop, without the pointer.
func (c *conn) Capture(ctx context.Context) (*image.RGBA, error) {
	var bounds image.Rectangle
	blob, err := c.call(ctx, "capture", nil, &bounds)
	if err != nil {
		return nil, err
	}
	if bounds.Dx()*bounds.Dy()*4 != len(blob) {
		return nil, fmt.Errorf("virtual desktop: a picture of %v in %d bytes", bounds, len(blob))
	}
	return &image.RGBA{Pix: blob, Stride: 4 * bounds.Dx(), Rect: bounds}, nil
}

// Windows returns the windows, the topmost first.
func (c *conn) Windows(ctx context.Context) ([]Window, error) {
	var windows []Window
	_, err := c.call(ctx, "windows", nil, &windows)
	return windows, err
}

// Down names the buttons and keys that are down, sorted.
func (c *conn) Down(ctx context.Context) ([]string, error) {
	var down []string
	_, err := c.call(ctx, "down", nil, &down)
	return down, err
}

// InputClient is a connection to the input door.
type InputClient struct{ *conn }

// DialInput connects to the input door.
func DialInput(ctx context.Context, address string) (InputClient, error) {
	c, err := dial(ctx, address)
	return InputClient{c}, err
}

// Send delivers one event and returns when the desktop has taken it.
func (c InputClient) Send(ctx context.Context, e Event) error {
	_, err := c.call(ctx, "input", e, nil)
	return err
}

// Condition says whether the desktop takes input.
func (c InputClient) Condition(ctx context.Context) (Condition, error) {
	var condition Condition
	_, err := c.call(ctx, "condition", nil, &condition)
	return condition, err
}

// Monitors returns the monitors, the primary one first.
func (c InputClient) Monitors(ctx context.Context) ([]Monitor, error) {
	var monitors []Monitor
	_, err := c.call(ctx, "monitors", nil, &monitors)
	return monitors, err
}

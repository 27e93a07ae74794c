package windesktop

import (
	"errors"
	"time"
)

func (w *fakeWindows) answer(call string) error {
	err := func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.refuses == nil {
			return nil
		}
		return w.refuses(call)
	}()
	if errors.Is(err, errHourly) {
		time.Sleep(time.Hour)
		return nil
	}
	return err
}

// onClipboard sets what the clipboard answers from now on.
func (w *fakeWindows) onClipboard(refuses func(call string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuses = refuses
}

func (w *fakeWindows) ClipboardText() (string, bool, error) {
	if err := w.answer("read"); err != nil {
		return "", false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text, w.hasText, nil
}

func (w *fakeWindows) SetClipboardText(text string, mark uint64) error {
	if err := w.answer("set"); err != nil {
		return err
	}
	w.copied(text, true)
	w.mu.Lock()
	w.mark = mark
	behindUs := w.behindUs
	w.mu.Unlock()
	if behindUs != nil {
		behindUs()
	}
	return nil
}

func (w *fakeWindows) ClipboardMark() (uint64, error) {
	if err := w.answer("mark"); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mark, nil
}

func (w *fakeWindows) ReplaceClipboard(mark uint64, text string, has bool) (bool, error) {
	if err := w.answer("replace"); err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mark != mark {
		return false, nil
	}
	w.text, w.hasText, w.mark = text, has, 0
	return true, nil
}

// copied is a change of the clipboard, also by another program.
func (w *fakeWindows) copied(text string, has bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text, w.hasText, w.mark = text, has, 0
}

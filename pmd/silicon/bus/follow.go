package bus

import (
	"log/slog"
	"os"
	"strconv"
	"time"
)

const (
	// lookEvery is how often the program's memory is looked at when nothing is missed.
	lookEvery = time.Second
	// seekEvery is how often the program is looked for.
	seekEvery = 20 * time.Millisecond
)

// Follow finds the process that maps the registers' file, and keeps its huge pages
// mapped, until Stop. What goes wrong for longer is logged.
func (m *Memory) Follow(device, inode uint64, log *slog.Logger) {
	m.done.Add(1)
	go func() {
		defer m.done.Done()
		pid := 0
		for {
			m.begun.Add(1)
			pid = m.look(pid, device, inode, log)
			m.ended.Store(m.begun.Load())
			pause := lookEvery
			if pid == 0 {
				pause = seekEvery
			}
			timer := time.NewTimer(pause)
			select {
			case <-m.stop:
				return
			case <-m.miss:
			case <-timer.C:
			}
			timer.Stop()
		}
	}()
}

// look finds the program, which was a process before, and maps its memory. It returns the
// process; 0: none.
func (m *Memory) look(before int, device, inode uint64, log *slog.Logger) int {
	pid := before
	if pid == 0 || !maps(pid, device, inode) {
		pid = findUser(device, inode)
	}
	var err error
	if pid == 0 {
		err = m.forgetAll()
	} else {
		err = m.scan(pid)
	}
	if err != nil && exists(pid) {
		log.Warn("the program's memory cannot be reached", "pid", pid, "error", err)
	}
	return pid
}

func exists(pid int) bool {
	_, err := os.Stat("/proc/" + strconv.Itoa(pid))
	return err == nil
}

// Stop ends Follow.
func (m *Memory) Stop() {
	close(m.stop)
	m.done.Wait()
}

// findUser finds the process, other than this one, that maps a file; 0: none.
func findUser(device, inode uint64) int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for i := len(entries) - 1; i >= 0; i-- { // the youngest come last
		pid, err := strconv.Atoi(entries[i].Name())
		if err == nil && pid != os.Getpid() && maps(pid, device, inode) {
			return pid
		}
	}
	return 0
}

// maps says whether a process maps a file.
func maps(pid int, device, inode uint64) (found bool) {
	_ = EachMapping(pid, func(m Mapping) error {
		found = found || m.Device == device && m.Inode == inode
		return nil
	})
	return found
}

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
		for {
			pause := lookEvery
			pid := findUser(device, inode)
			if pid == 0 {
				pause = seekEvery
			} else if err := m.scan(pid); err != nil {
				if _, gone := os.Stat("/proc/" + strconv.Itoa(pid)); gone == nil {
					log.Warn("the program's memory cannot be reached", "pid", pid, "error", err)
				}
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
		if err != nil || pid == os.Getpid() {
			continue
		}
		found := false
		_ = eachMapping(pid, func(m mapping) error {
			found = found || m.device == device && m.inode == inode
			return nil
		})
		if found {
			return pid
		}
	}
	return 0
}

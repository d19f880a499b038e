package bus

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Mapping is a line of /proc/PID/maps: what a process has at addresses Start to End.
type Mapping struct {
	Start, End    uint64
	Offset        uint64 // of Start in the file
	Device, Inode uint64 // of the file; 0: none
	Shared        bool
	Path          string // or a name in brackets; may be empty
}

// EachMapping visits the mappings of a process, by ascending addresses, until visit fails.
func EachMapping(pid int, visit func(Mapping) error) error {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return fmt.Errorf("the program's mappings: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		m, ok := parseMapping(lines.Text())
		if !ok {
			continue
		}
		if err := visit(m); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the program's mappings: %w", err)
	}
	return nil
}

// parseMapping reads "start-end perms offset major:minor inode path" (proc(5)).
func parseMapping(line string) (m Mapping, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 || len(fields[1]) < 4 {
		return m, false
	}
	start, end, _ := strings.Cut(fields[0], "-")
	major, minor, _ := strings.Cut(fields[3], ":")
	numbers := [5]uint64{}
	for i, text := range []string{start, end, fields[2], major, minor} {
		n, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return m, false
		}
		numbers[i] = n
	}
	inode, err := strconv.ParseUint(fields[4], 10, 64)
	if err != nil {
		return m, false
	}
	return Mapping{
		Start: numbers[0], End: numbers[1], Offset: numbers[2],
		Device: unix.Mkdev(uint32(numbers[3]), uint32(numbers[4])), Inode: inode,
		Shared: fields[1][3] == 's', Path: strings.Join(fields[5:], " "),
	}, true
}

package pmd

import "strings"

// ealLong are EAL's long options and whether a value follows: 1 always, 2 only
// after "=" (getopt_long's rules; eal_common_options.c of 22.11 and 24.11).
var ealLong = map[string]int{
	"allow": 1, "base-virtaddr": 1, "block": 1, "create-uio-dev": 0, "file-prefix": 1,
	"force-max-simd-bitwidth": 1, "help": 0, "huge-dir": 1, "huge-unlink": 2,
	"huge-worker-stack": 2, "in-memory": 0, "iova-mode": 1, "lcores": 1, "legacy-mem": 0,
	"log-color": 2, "log-level": 1, "log-timestamp": 2, "main-lcore": 1,
	"match-allocations": 0, "mbuf-pool-ops-name": 1, "no-hpet": 0, "no-huge": 0,
	"no-pci": 0, "no-shconf": 0, "no-telemetry": 0, "proc-type": 1,
	"single-file-segments": 0, "socket-limit": 1, "socket-mem": 1, "syslog": 2,
	"telemetry": 0, "trace": 1, "trace-bufsz": 1, "trace-dir": 1, "trace-mode": 1,
	"vdev": 1, "vfio-intr": 1, "vfio-vf-token": 1, "vmware-tsc-map": 0,
}

// ealShort are EAL's short options that take a value.
const ealShort = "abcsdlSmnr"

// ealOptions are EAL's options by long name, or by letter; last value last.
type ealOptions map[string][]string

// parseEALOptions reads arguments as EAL does. What it does not know it skips:
// EAL says what is wrong with it.
func parseEALOptions(args []string) ealOptions {
	options := ealOptions{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, inline := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return options
		case strings.HasPrefix(arg, "--"):
			name = longName(name[2:])
			if ealLong[name] == 1 && !inline && i+1 < len(args) {
				i++
				value = args[i]
			}
		case len(arg) >= 2 && arg[0] == '-':
			name, value = arg[1:2], arg[2:]
			if strings.Contains(ealShort, name) && value == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
		default:
			continue
		}
		options[name] = append(options[name], value)
	}
	return options
}

// longName completes an abbreviated option, which getopt_long accepts when only
// one option begins so.
func longName(name string) string {
	if _, ok := ealLong[name]; ok {
		return name
	}
	var found []string
	for full := range ealLong {
		if strings.HasPrefix(full, name) {
			found = append(found, full)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return name
}

func (o ealOptions) has(name string) bool { return len(o[name]) > 0 }

// last is the value that counts when an option is given more than once.
func (o ealOptions) last(name string) string {
	if values := o[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

func (o ealOptions) filePrefix() string {
	if prefix := o.last("file-prefix"); prefix != "" {
		return prefix
	}
	return "rte"
}

// secondary says whether the process may be a secondary one, which lives in the
// memory of another.
func (o ealOptions) secondary() bool {
	kind := o.last("proc-type")
	return kind == "secondary" || kind == "auto"
}

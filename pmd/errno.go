package pmd

import (
	"fmt"
	"syscall"
)

// Errno is an error number of DPDK: an errno of the system, or one of DPDK's own
// above 1000 (rte_errno.h). errors.Is finds the same syscall.Errno in it, and
// ErrNotSupported in ENOTSUP and ENOSYS.
type Errno int

// DPDK's own error numbers (rte_errno.h).
const (
	errnoSecondary Errno = 1001 // E_RTE_SECONDARY
	errnoNoConfig  Errno = 1002 // E_RTE_NO_CONFIG
)

// Error is the text of the number.
func (e Errno) Error() string {
	switch e {
	case errnoSecondary:
		return "not allowed in a secondary process"
	case errnoNoConfig:
		return "EAL has no configuration"
	}
	return syscall.Errno(e).Error()
}

// Is says whether target names the same failure.
func (e Errno) Is(target error) bool {
	if number, ok := target.(syscall.Errno); ok {
		return syscall.Errno(e) == number
	}
	return target == ErrNotSupported && (e == Errno(syscall.ENOTSUP) || e == Errno(syscall.ENOSYS))
}

// failed turns the result of a C function (a negative errno) into an error that
// begins with what was being done; nil when rc is 0 or more.
func failed(rc int, format string, args ...any) error {
	if rc >= 0 {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, Errno(-rc))...)
}

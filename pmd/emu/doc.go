// Package emu is an inline NIC without the hardware.
package emu

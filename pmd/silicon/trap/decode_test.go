//go:build linux && amd64

package trap

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	for _, row := range []struct {
		name string
		code []byte
		want operation
	}{
		{"mov [rdi], esi", []byte{0x89, 0x37}, operation{known: true, write: true, length: 2, register: 6}},
		{"mov [rax+0x8900], r12d", []byte{0x44, 0x89, 0xa0, 0, 0x89, 0, 0}, operation{known: true, write: true, length: 7, register: 12}},
		{"mov [rax+rbx*4], ecx", []byte{0x89, 0x0c, 0x98}, operation{known: true, write: true, length: 3, register: 1}},
		{"mov dword [rax+4], 0xffff0000", []byte{0xc7, 0x40, 4, 0, 0, 0xff, 0xff}, operation{known: true, write: true, length: 7, register: -1, immediate: 0xffff0000}},
		{"mov eax, [rdi]", []byte{0x8b, 0x07}, operation{known: true, length: 2, register: 0}},
		{"mov r15d, [rip+16]", []byte{0x44, 0x8b, 0x3d, 16, 0, 0, 0}, operation{known: true, length: 7, register: 15}},
		{"movnti [rax], ecx", []byte{0x0f, 0xc3, 0x08}, operation{known: true, write: true, length: 3, register: 1}},
		{"mov [rdi], rsi: 8 octets", []byte{0x48, 0x89, 0x37}, operation{}},
		{"mov [rdi], sil: 1 octet", []byte{0x40, 0x88, 0x37}, operation{}},
		{"mov ax, [rdi]: 2 octets", []byte{0x66, 0x8b, 0x07}, operation{}},
		{"or dword [rdi], 1", []byte{0x83, 0x0f, 1}, operation{}},
		{"xchg [rdi], esi", []byte{0x87, 0x37}, operation{}},
		{"mov eax, ebx", []byte{0x89, 0xd8}, operation{}},
		{"nothing", []byte{0xff, 0xff, 0xff}, operation{}},
		{"half of one", []byte{0xc7, 0x40, 4}, operation{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			code := append(append([]byte(nil), row.code...), make([]byte, maxInstruction)...)
			if row.name == "half of one" {
				code = row.code
			}
			require.Equal(t, row.want, decode(code))
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x89, 0x37})
	f.Add([]byte{0xc7, 0x40, 4, 0, 0, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, code []byte) {
		op := decode(code)
		if op.known {
			require.LessOrEqual(t, op.length, uint64(maxInstruction))
			require.Less(t, op.register, 16)
		}
	})
}

package pmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fakeHost is a host of two NUMA nodes with four CPUs, of which one is offline,
// and 512 free huge pages of 2 MiB on node 0.
func fakeHost(t *testing.T) host {
	h := host{root: t.TempDir(), caps: ^uint64(0), lcoreMax: 128, env: func(string) string { return "" }}
	for name, content := range map[string]string{
		"/sys/devices/system/cpu/online":                                           "0-2",
		"/sys/devices/system/node/online":                                          "0-1",
		"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages":                 "512",
		"/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages":                 "0",
		"/sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages": "512",
		"/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages":   "512",
		"/sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages": "0",
		"/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages":   "0",
		"/proc/meminfo":           "MemTotal: 1 kB\nHugepagesize:       2048 kB\n",
		"/proc/mounts":            "proc /proc proc rw 0 0\nhugetlbfs /dev/hugepages hugetlbfs rw,relatime 0 0\n",
		"/dev/net/tun":            "",
		"/sys/class/net/eth9/mtu": "1500",
	} {
		h.write(t, name, content)
	}
	for _, dir := range []string{"/dev/hugepages", "/var/run", "/tmp", "/sys/bus/pci/devices"} {
		require.NoError(t, os.MkdirAll(h.path(dir), 0o755))
	}
	return h
}

func (h host) write(t *testing.T, name, content string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
	require.NoError(t, os.WriteFile(h.path(name), []byte(content), 0o644))
}

func (h host) pci(t *testing.T, address, driver string) {
	device := "/sys/bus/pci/devices/" + address
	require.NoError(t, os.MkdirAll(h.path(device), 0o755))
	if driver != "" {
		require.NoError(t, os.Symlink("../../../bus/pci/drivers/"+driver, h.path(device+"/driver")))
	}
}

func TestPreflight(t *testing.T) {
	const huge = "/sys/kernel/mm/hugepages/hugepages-2048kB/"
	tests := []struct {
		name    string
		args    string
		prepare func(*testing.T, *host)
		want    []string // words of each finding; none: it may start
	}{
		{"all is there", "-l 0-2 --socket-mem 512", nil, nil},
		{"nothing is asked for", "", nil, nil},
		{"help needs nothing", "--help -l 77", nil, nil},
		{"lcore without CPU", "-l 0,7", nil, []string{"-l 0,7 asks for CPU 7, which is not there or not online: this host has 0-2"}},
		{"offline CPU", "-l 0-3", nil, []string{"asks for CPU 3"}},
		{"CPU of a mask", "-c 0x9", nil, []string{"-c 0x9 asks for CPU 3"}},
		{"lcores on other CPUs", "--lcores=(0-3)@(0,1),7@2", nil, nil},
		{"lcore map onto a missing CPU", "--lcores 0@0,1@9", nil, []string{"asks for CPU 9"}},
		{"lcore number too high", "--lcores 200@1", nil, []string{"lcore 200 is too high"}},
		{"main lcore elsewhere", "-l 0,1 --main-lcore 2", nil, []string{"--main-lcore 2 is not among the lcores of -l 0,1"}},
		{"malformed list is EAL's to refuse", "-l 0-", nil, nil},
		{"no huge pages free", "", func(t *testing.T, h *host) {
			h.write(t, huge+"free_hugepages", "0")
		}, []string{"no huge pages are free (NUMA node 0: 512 of 2048 kB reserved, none free, NUMA node 1: 0 of 2048 kB"}},
		{"overcommitted pages count", "", func(t *testing.T, h *host) {
			h.write(t, huge+"free_hugepages", "0")
			h.write(t, huge+"nr_overcommit_hugepages", "8")
		}, nil},
		{"pages in files of an earlier process count", "-m 4", func(t *testing.T, h *host) {
			h.write(t, huge+"free_hugepages", "0")
			h.write(t, "/dev/hugepages/rtemap_0", strings.Repeat("x", 4<<20))
		}, nil},
		{"reserved pages do not count", "-m 4", func(t *testing.T, h *host) {
			h.write(t, huge+"resv_hugepages", "511")
		}, []string{"-m 4 asks for more than the 2 MiB of huge pages that are free"}},
		{"no huge pages needed", "--no-huge -m 64", func(t *testing.T, h *host) {
			h.write(t, huge+"free_hugepages", "0")
		}, nil},
		{"abbreviated option", "--no-hu", func(t *testing.T, h *host) {
			h.write(t, huge+"free_hugepages", "0")
		}, nil},
		{"node without pages", "--socket-mem 64,64", nil, []string{"--socket-mem asks for 64 MiB on NUMA node 1, where 0 MiB"}},
		{"more than there is", "-m 2048", nil, []string{"-m 2048 asks for more than the 1024 MiB"}},
		{"hugetlbfs not mounted", "", func(t *testing.T, h *host) {
			h.write(t, "/proc/mounts", "proc /proc proc rw 0 0\n")
		}, []string{"no hugetlbfs is mounted"}},
		{"in-memory needs no mount", "--in-memory", func(t *testing.T, h *host) {
			h.write(t, "/proc/mounts", "")
		}, nil},
		{"huge-dir outside", "--huge-dir /mnt/h", nil, []string{"no hugetlbfs is mounted at /mnt/h"}},
		{"modes that exclude each other", "--no-huge --in-memory", nil, []string{"--no-huge or --in-memory, not both"}},
		{"socket-mem without huge pages", "--no-huge --socket-mem 64", nil, []string{"--socket-mem is about huge pages"}},
		{"PCI device that is not there", "-a 0000:01:00.0", nil, []string{"-a 0000:01:00.0: there is no such PCI device"}},
		{"PCI device in another folder", "-a 0000:01:00.0", func(t *testing.T, h *host) {
			require.NoError(t, os.MkdirAll(h.path("/run/bus/0000:01:00.0"), 0o755))
			require.NoError(t, os.Symlink("/sys/bus/pci/drivers/igb_uio", h.path("/run/bus/0000:01:00.0/driver")))
			h.env = func(name string) string { return map[string]string{"SYSFS_PCI_DEVICES": "/run/bus"}[name] }
		}, nil},
		{"PCI device not in the other folder", "-a 0000:01:00.1", func(t *testing.T, h *host) {
			h.pci(t, "0000:01:00.1", "vfio-pci")
			h.env = func(name string) string { return map[string]string{"SYSFS_PCI_DEVICES": "/run/bus"}[name] }
		}, []string{"there is no such PCI device"}},
		{"PCI not looked at", "--no-pci -a 0000:01:00.0", nil, nil},
		{
			"PCI device of the kernel", "-a 01:00.1,x=y", func(t *testing.T, h *host) { h.pci(t, "0000:01:00.1", "ixgbe") },
			[]string{"-a 0000:01:00.1: the device belongs to the kernel's driver ixgbe"},
		},
		{
			"PCI device without driver", "--allow 0000:01:00.1", func(t *testing.T, h *host) { h.pci(t, "0000:01:00.1", "") },
			[]string{"the device has no driver"},
		},
		{"bifurcated driver", "-a 0000:01:00.1", func(t *testing.T, h *host) { h.pci(t, "0000:01:00.1", "mlx5_core") }, nil},
		{
			"vfio without IOMMU", "-a 0000:01:00.1", func(t *testing.T, h *host) { h.pci(t, "0000:01:00.1", "vfio-pci") },
			[]string{"there is no IOMMU for it"},
		},
		{"vfio without IOMMU, allowed", "-a 0000:01:00.1", func(t *testing.T, h *host) {
			h.pci(t, "0000:01:00.1", "vfio-pci")
			h.write(t, "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n")
		}, nil},
		{"vfio, memory may not be locked", "-a 0000:01:00.1 -m 512", func(t *testing.T, h *host) {
			h.pci(t, "0000:01:00.1", "vfio-pci")
			require.NoError(t, os.Symlink("../../../kernel/iommu_groups/12", h.path("/sys/bus/pci/devices/0000:01:00.1/iommu_group")))
			h.write(t, "/dev/vfio/12", "")
			h.uid, h.caps, h.memlock = 1000, 0, 64<<20
		}, []string{"512 MiB are to be locked for the device, the limit is 64 MiB"}},
		{
			"tap without rights", "--vdev net_tap0,iface=x", func(t *testing.T, h *host) { h.caps = 0 },
			[]string{"--vdev net_tap0: needs the capability CAP_NET_ADMIN"},
		},
		{"tap without tun", "--vdev=net_tap_lan", func(t *testing.T, h *host) {
			require.NoError(t, os.Remove(h.path("/dev/net/tun")))
		}, []string{"--vdev net_tap_lan: /dev/net/tun is not there"}},
		{
			"interface that is not there", "--vdev net_af_packet0,iface=eth7,blocksz=4096", nil,
			[]string{`--vdev net_af_packet0: there is no network interface "eth7"`},
		},
		{"interface that is there", "--vdev net_af_packet0,iface=eth9", nil, nil},
		{
			"capture that is not there", "--vdev net_pcap0,rx_pcap=/nowhere/x.pcap,tx_pcap=/nowhere/y.pcap", nil,
			[]string{"the capture /nowhere/x.pcap cannot be read: no such file", "the folder of /nowhere/y.pcap cannot be written"},
		},
		{"no peer to connect to", "--vdev net_virtio_user0,path=/nowhere/s", nil, []string{"/nowhere/s cannot be opened"}},
		{"virtio-user waits itself", "--vdev net_virtio_user0,path=/nowhere/s,server=1", nil, nil},
		{
			"several at once", "-l 9 --vdev net_af_packet0,iface=eth7 -m 4000", nil,
			[]string{"CPU 9", "-m 4000", "eth7"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := fakeHost(t)
			if test.prepare != nil {
				test.prepare(t, &h)
			}
			err := preflight(strings.Fields(test.args), h)
			found := Findings(err)
			require.Len(t, found, len(test.want), "%q", found)
			if len(test.want) == 0 {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrPreflight)
			for i, words := range test.want {
				require.Contains(t, found[i], words)
				require.ErrorContains(t, err, words)
			}
		})
	}
}

func TestPreflightRuntimeFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("as root every folder can be written; only the lock is tested")
	}
	h := fakeHost(t)
	require.NoError(t, preflight(nil, h))

	config := "/var/run/dpdk/rte/config"
	h.write(t, config, "")
	require.NoError(t, preflight(nil, h), "a file that an earlier process left")
	f, err := os.OpenFile(h.path(config), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	require.Zero(t, h.lockHolder(config), "this process' own lock is not in its way")

	if os.Getuid() != 0 {
		require.NoError(t, os.Chmod(h.path("/var/run/dpdk"), 0o555))
		defer os.Chmod(h.path("/var/run/dpdk"), 0o755)
		err := preflight([]string{"--file-prefix", "other"}, h)
		require.ErrorContains(t, err, "the runtime folder /var/run/dpdk/other cannot be written")
		require.NoError(t, preflight([]string{"--file-prefix", "other", "--no-shconf"}, h))
	}
}

func TestRuntimeParent(t *testing.T) {
	env := map[string]string{}
	h := host{uid: 0, env: func(name string) string { return env[name] }}
	require.Equal(t, "/var/run", h.runtimeParent())
	h.uid = 1000
	require.Equal(t, "/tmp", h.runtimeParent())
	env["XDG_RUNTIME_DIR"] = "/run/user/1000"
	require.Equal(t, "/run/user/1000", h.runtimeParent())
	env["RUNTIME_DIRECTORY"] = "/run/espgw"
	require.Equal(t, "/run/espgw", h.runtimeParent())
}

func TestParseEALOptions(t *testing.T) {
	o := parseEALOptions(strings.Fields("-l0-1 -m 64 --file-prefix=a --file-p b --vdev net_null0,size=64 --vdev=net_null1 --no-huge --huge-unlink never -n 4 -- -l 9 --in-memory"))
	require.Equal(t, "0-1", o.last("l"))
	require.Equal(t, "64", o.last("m"))
	require.Equal(t, "b", o.filePrefix(), "the last one counts")
	require.Equal(t, []string{"net_null0,size=64", "net_null1"}, o["vdev"])
	require.True(t, o.has("no-huge"))
	require.True(t, o.has("huge-unlink"))
	require.Equal(t, "", o.last("huge-unlink"), "its value comes behind = only")
	require.False(t, o.has("in-memory"), "behind the -- are the program's own")
	require.Equal(t, "rte", parseEALOptions(nil).filePrefix())
}

func TestMountSizes(t *testing.T) {
	h := fakeHost(t)
	h.write(t, "/proc/mounts", "none /mnt/1g hugetlbfs rw,pagesize=1024M 0 0\nnone /mnt/2m hugetlbfs rw,pagesize=2M 0 0\n")
	require.Equal(t, "/mnt/1g", h.hugeMount(1<<30, ealOptions{}))
	require.Equal(t, "/mnt/2m", h.hugeMount(2<<20, ealOptions{}))
	require.Equal(t, "/mnt/2m/mine", h.hugeMount(2<<20, ealOptions{"huge-dir": {"/mnt/2m/mine"}}))
	require.Equal(t, "", h.hugeMount(1<<30, ealOptions{"huge-dir": {"/mnt/2m/mine"}}))
}

func TestThisHostKnowsItself(t *testing.T) {
	h := thisHost()
	require.Equal(t, os.Getuid(), h.uid)
	require.GreaterOrEqual(t, h.lcoreMax, 64)
	if os.Getuid() == 0 {
		require.True(t, h.capable(unix.CAP_CHOWN) || h.caps == 0)
	}
}

func FuzzParseEALOptions(f *testing.F) {
	f.Add("-l 0-3 --lcores (0-3)@(0,1),7@2 --socket-mem=1,2 -a 01:00.0")
	f.Add("--lcores )(@,@ -c 0xfff -m -1 --huge-dir= --vdev net_pcap0,rx_pcap= - -- x")
	f.Add("-l 0-65535,1-2 --lcores 1@ --file-prefix")
	f.Fuzz(func(t *testing.T, text string) {
		o := parseEALOptions(strings.Fields(text))
		lcores, cpus, _ := o.lcores()
		require.Equal(t, len(lcores) > 0, len(cpus) > 0)
		for _, n := range append(lcores, cpus...) {
			require.GreaterOrEqual(t, n, 0)
			require.Less(t, n, 1<<16)
		}
		o.memory()
		require.NotEmpty(t, o.filePrefix())
	})
}

package pmd

// #include "security.h"
import "C"

import (
	"fmt"
	"net/netip"
	"unsafe"
)

// SessionConf is what a session is made of: one SA in transport mode with ESP.
type SessionConf struct {
	Action    SecurityAction
	Egress    bool   // else ingress
	SPI       uint32 // host order
	Src, Dst  netip.Addr
	Algorithm AEAD
	Key       []byte // of the cipher: 16, 24 or 32 octets
	Salt      []byte // 4 octets
	ICVLen    int    // octets
	ESN       bool
	// UDPEncap says that ESP is in UDP between these ports (RFC 3948).
	UDPEncap       bool
	UDPSrc, UDPDst uint16
	// Stats asks for counters of this session.
	Stats bool

	// For InlineProtocol, where these are the device's business. Sequence is the
	// last number used or the highest accepted, ReplayWindow is in packets (0: no
	// check), and the limits count the session's packets and octets (0: none).
	Sequence                 uint64
	ReplayWindow             uint32
	SoftPackets, HardPackets uint64
	SoftBytes, HardBytes     uint64
	// UserData comes with received packets (Mbuf.SecurityUserData) and events.
	UserData uint64
}

// SecuritySession is an SA in a device.
type SecuritySession struct {
	security *Security
	action   SecurityAction
	egress   bool
	// The worker's way to it: what the lane hands to the driver. An integer, which
	// cgo does not inspect; 0 when closed.
	handle uintptr
	c      *C.struct_pmd_sec_session
	id     uint64
}

// SessionStats count an InlineProtocol session's packets and octets.
type SessionStats struct {
	InPackets, OutPackets, InBytes, OutBytes, InErrors, OutErrors uint64
}

// Open puts an SA into the device: the session and, for ingress, the flow rule
// that steers its packets there. The key is copied to C memory, where its salt
// stands right behind it, and wiped there when the device has it.
//
// Errors: ErrConfig for settings that no device takes, ErrNotSupported or an Errno
// where the driver refuses; most drivers give no reason.
func (s *Security) Open(conf SessionConf) (*SecuritySession, error) {
	what := "ingress"
	if conf.Egress {
		what = "egress"
	}
	session, err := s.open(&conf)
	if err != nil {
		return nil, fmt.Errorf("opening an %s session of SPI 0x%08x on port %s: %w", what, conf.SPI, s.port, err)
	}
	return session, nil
}

func (s *Security) open(conf *SessionConf) (*SecuritySession, error) {
	if err := conf.check(); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	if len(s.sessions) >= s.capacity {
		return nil, fmt.Errorf("%w: %d sessions are open", ErrConfig, s.capacity)
	}
	c := C.pmd_sec_session_new()
	if c == nil {
		return nil, errNoMemory
	}
	conf.fill(&c.conf)
	why := make([]byte, 128)
	rc := C.pmd_sec_open(C.uint16_t(s.port.id), s.port.standIn, s.ctx, s.pool, c, (*C.char)(unsafe.Pointer(&why[0])), C.int(len(why)))
	if rc < 0 {
		C.pmd_sec_session_free(c)
		if text := C.GoString((*C.char)(unsafe.Pointer(&why[0]))); text != "" {
			return nil, fmt.Errorf("the driver refuses the flow rule (%s): %w", text, Errno(-rc))
		}
		return nil, fmt.Errorf("the driver refuses it: %w", Errno(-rc))
	}
	if conf.Action == InlineCrypto {
		C.pmd_sec_wipe_key(c)
	}
	session := &SecuritySession{
		security: s, c: c, action: conf.Action, egress: conf.Egress, handle: uintptr(c.session),
	}
	session.id = own(session, fmt.Sprintf("session of SPI 0x%08x on port %s", conf.SPI, s.port))
	s.sessions[session] = struct{}{}
	return session, nil
}

// begin takes the port and the context for one call, until end.
func (s *Security) begin() error {
	s.port.life.RLock()
	s.mu.Lock()
	if err := s.port.usable(); err != nil {
		s.end()
		return err
	}
	if s.ctx == nil {
		s.end()
		return ErrPortClosed
	}
	return nil
}

func (s *Security) end() {
	s.mu.Unlock()
	s.port.life.RUnlock()
}

func (conf *SessionConf) check() error {
	switch {
	case conf.Action != InlineCrypto && conf.Action != InlineProtocol:
		return fmt.Errorf("%w: action %v", ErrConfig, conf.Action)
	case conf.Algorithm == AEADAESGCM && (len(conf.Key) != 16 && len(conf.Key) != 24 && len(conf.Key) != 32),
		conf.Algorithm == AEADChaCha20Poly1305 && len(conf.Key) != 32:
		return fmt.Errorf("%w: %v with a key of %d octets", ErrConfig, conf.Algorithm, len(conf.Key))
	case conf.Algorithm != AEADAESGCM && conf.Algorithm != AEADChaCha20Poly1305:
		return fmt.Errorf("%w: algorithm %v", ErrConfig, conf.Algorithm)
	case len(conf.Salt) != C.PMD_SEC_SALT:
		return fmt.Errorf("%w: salt of %d octets", ErrConfig, len(conf.Salt))
	case conf.SPI == 0:
		return fmt.Errorf("%w: SPI 0", ErrConfig)
	case conf.Src.Is4() != conf.Dst.Is4() || !conf.Dst.IsValid() || !conf.Src.IsValid():
		return fmt.Errorf("%w: from %v to %v", ErrConfig, conf.Src, conf.Dst)
	}
	return nil
}

// fill writes the settings to C memory, for as long as the session lives; the key
// in it is wiped.
func (conf *SessionConf) fill(c *C.struct_pmd_sec_conf) {
	flag := func(on bool) C.uint8_t {
		if on {
			return 1
		}
		return 0
	}
	c.action, c.algorithm = C.uint8_t(conf.Action), C.uint8_t(conf.Algorithm)
	c.egress, c.esn, c.stats = flag(conf.Egress), flag(conf.ESN), flag(conf.Stats)
	c.v6 = flag(conf.Dst.Is6())
	c.key_len, c.icv_len = C.uint8_t(len(conf.Key)), C.uint8_t(conf.ICVLen)
	c.spi = C.uint32_t(conf.SPI)
	c.replay_window = C.uint32_t(conf.ReplayWindow)
	c.sequence = C.uint64_t(conf.Sequence)
	c.udp_encap, c.udp_src, c.udp_dst = flag(conf.UDPEncap), C.uint16_t(conf.UDPSrc), C.uint16_t(conf.UDPDst)
	c.user_data = C.uint64_t(conf.UserData)
	conf.fillLimits(c)
	copy(bytesOf(&c.src), conf.Src.AsSlice())
	copy(bytesOf(&c.dst), conf.Dst.AsSlice())
	key := unsafe.Slice((*byte)(unsafe.Pointer(&c.key)), len(c.key))
	copy(key[copy(key, conf.Key):], conf.Salt)
}

func (conf *SessionConf) fillLimits(c *C.struct_pmd_sec_conf) {
	c.soft_packets, c.hard_packets = C.uint64_t(conf.SoftPackets), C.uint64_t(conf.HardPackets)
	c.soft_bytes, c.hard_bytes = C.uint64_t(conf.SoftBytes), C.uint64_t(conf.HardBytes)
}

func bytesOf(a *[16]C.uint8_t) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(a)), len(a)) }

// Action says how deep the session is.
func (s *SecuritySession) Action() SecurityAction { return s.action }

// UpdateLimits gives an InlineProtocol session other limits, counted from its
// start. The error is ErrNotSupported where the driver cannot.
func (s *SecuritySession) UpdateLimits(softPackets, hardPackets, softBytes, hardBytes uint64) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.security.end()
	limits := SessionConf{SoftPackets: softPackets, HardPackets: hardPackets, SoftBytes: softBytes, HardBytes: hardBytes}
	limits.fillLimits(&s.c.conf)
	return failed(int(C.pmd_sec_update(s.security.ctx, s.c)), "updating a session on port %s", s.security.port)
}

// Stats reads what the device counts for the session.
func (s *SecuritySession) Stats() (SessionStats, error) {
	if err := s.begin(); err != nil {
		return SessionStats{}, err
	}
	defer s.security.end()
	var c C.struct_pmd_sec_stats
	if rc := C.pmd_sec_stats(s.security.ctx, s.c, &c); rc < 0 {
		return SessionStats{}, failed(int(rc), "reading the counters of a session on port %s", s.security.port)
	}
	return SessionStats{
		InPackets: uint64(c.in_packets), OutPackets: uint64(c.out_packets),
		InBytes: uint64(c.in_bytes), OutBytes: uint64(c.out_bytes),
		InErrors: uint64(c.in_errors), OutErrors: uint64(c.out_errors),
	}, nil
}

// holdsKey says whether C memory still holds the key; for tests.
func (s *SecuritySession) holdsKey() bool {
	for _, octet := range s.c.conf.key {
		if octet != 0 {
			return true
		}
	}
	return false
}

// begin is that of Security, for a session that is open.
func (s *SecuritySession) begin() error {
	if err := s.security.begin(); err != nil {
		return err
	}
	if s.c == nil {
		s.security.end()
		return ErrPortClosed
	}
	return nil
}

// Close takes the SA out of the device and wipes what is left of its key. No packet
// that was marked for it may be on its way any more. It may be called twice; when
// the driver fails to find the session, its memory is lost, and counted.
func (s *SecuritySession) Close() error {
	if err := s.begin(); err != nil {
		return nil //nolint:nilerr // closed already, or gone with its port
	}
	defer s.security.end()
	return s.closeLocked()
}

func (s *SecuritySession) closeLocked() error {
	security := s.security
	var flow C.int
	rc := C.pmd_sec_close(C.uint16_t(security.port.id), security.port.standIn, security.ctx, s.c, &flow)
	C.pmd_sec_session_free(s.c)
	s.c, s.handle = nil, 0
	delete(security.sessions, s)
	disown(s.id)
	if flow < 0 {
		// ixgbe up to 24.11.4 cannot remove such a rule; it has no effect without the SA.
		log().Debug("a flow rule stays", "port", security.port.String(), "error", Errno(-flow))
	}
	if rc < 0 {
		security.lost++
	}
	return failed(int(rc), "closing a session on port %s", security.port)
}

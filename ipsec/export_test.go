package ipsec

// SetReserveStep changes how many numbers a device gets at a time; it returns how to
// put it back.
func SetReserveStep(n uint64) (back func()) {
	old := reserveStep
	reserveStep = n
	return func() { reserveStep = old }
}

// DeviceReserve is how many numbers the device may still use of the SA with that SPI.
func DeviceReserve(g *Gateway, spi uint32) uint64 {
	for i := range g.sessions {
		s := g.sessions[i].Load()
		if s == nil || s.sa.SPI() != spi {
			continue
		}
		if is := s.place.inline.Load(); is != nil {
			return is.end.Load() - s.sa.LastSent()
		}
	}
	return 0
}

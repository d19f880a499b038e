package pmd

// For the external tests.
var (
	HoldsKey  = (*SecuritySession).holdsKey
	PCIDevice = pciDevice
)

package main

import (
	"errors"
	"fmt"

	"espgw/pmd/silicon"
	"espgw/pmd/silicon/wire"
)

// wireKinds tells what --wire may be.
const wireKinds = "pair | " + wire.Kinds

// wires are what the cards are plugged into, by port.
type wires struct{ list []wire.Wire }

// openWires plugs the ports into what the specifications name; those that have none into
// nothing. "pair" joins a port with the next.
func openWires(ports int, specs []string) (w *wires, err error) {
	w = &wires{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	for len(w.list) < ports {
		i := len(w.list)
		spec := "none"
		if i < len(specs) {
			spec = specs[i]
		}
		if spec == "pair" {
			if i+1 == ports {
				return w, fmt.Errorf("--wire pair: port %d has no next port", i)
			}
			if i+1 < len(specs) && specs[i+1] != "pair" {
				return w, fmt.Errorf("--wire pair: port %d is to be plugged into %s, too", i+1, specs[i+1])
			}
			a, b := wire.Pair()
			w.list = append(w.list, a, b)
			continue
		}
		opened, err := wire.Open(spec)
		if err != nil {
			return w, fmt.Errorf("port %d: %w", i, err)
		}
		w.list = append(w.list, opened)
	}
	return w, nil
}

func (w *wires) close() error {
	var errs []error
	for i, one := range w.list {
		if err := one.Close(); err != nil {
			errs = append(errs, fmt.Errorf("the wire of port %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// lost is how many frames a port's wire did not take.
func (w *wires) lost(port int) uint64 { return w.list[port].Lost() }

// tape records the wires; nil: nothing does.
type tape struct{ *wire.Recorder }

func openTape(name string, addresses []string) (*tape, error) {
	if name == "" {
		return nil, nil
	}
	r, err := wire.NewRecorder(name, addresses)
	if err != nil {
		return nil, err
	}
	return &tape{r}, nil
}

func (t *tape) port(i int) silicon.Recorder { return t.Port(i) }
func (t *tape) close() error                { return t.Close() }

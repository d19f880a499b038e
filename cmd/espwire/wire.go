package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"espgw/pmd"
)

// overhead is the room of a buffer beyond the IP packet, in octets: Ethernet, two
// tags and the checksum, and what virtio puts in front of a frame (12).
const overhead = 14 + 2*4 + 4 + 12

// patience is how long frames wait for a port that takes none. A gateway whose
// link is up may still be starting, and a wire that loses frames by itself would
// spoil what it is there to show.
const patience = 10 * time.Second

// wire is two ports and the two lanes between them, both of one worker.
type wire struct {
	options *options
	pool    *pmd.Pool
	ports   [2]*pmd.Port
	lanes   [2]*pmd.Lane // lane i receives from port i
	record  *recorder
	frames  uint64 // of both directions
	err     error  // of a mishap that could not be done
}

func openWire(o *options) (_ *wire, err error) {
	w := &wire{options: o, record: &recorder{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if o.record != "" {
		file, err := os.Create(o.record)
		if err != nil {
			return nil, fmt.Errorf("recording: %w", err)
		}
		w.record = newRecorder(file)
	}
	room := o.mtu + overhead
	for i, name := range o.pair {
		if w.ports[i], err = pmd.FindPort(name); err != nil {
			return nil, err
		}
		room = max(room, w.ports[i].Info().MinDataRoom)
	}
	w.pool, err = pmd.NewPool(pmd.PoolConfig{Name: "espwire", Mbufs: 8191, DataRoom: room, Socket: pmd.SocketAny})
	if err != nil {
		return nil, err
	}
	for i, name := range o.pair {
		if err = w.startPort(w.ports[i]); err != nil {
			return nil, fmt.Errorf("port %s: %w", name, err)
		}
	}
	for i := range w.lanes {
		w.lanes[i], err = pmd.NewLane(pmd.LaneConfig{RxPort: w.ports[i], TxPort: w.ports[1-i], Patience: patience})
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *wire) startPort(port *pmd.Port) error {
	_, err := port.Configure(pmd.PortConfig{RxQueues: 1, TxQueues: 1, RxDesc: 1024, TxDesc: 1024, MTU: w.options.mtu, Pool: w.pool})
	if err != nil {
		return err
	}
	if err := port.Start(); err != nil {
		return err
	}
	if err := port.SetPromiscuous(true); err != nil && !errors.Is(err, pmd.ErrNotSupported) {
		return err
	}
	return nil
}

// waitLinks waits until both links are up: a frame for a link that is down would
// be lost. It is false when that does not happen in time.
func (w *wire) waitLinks(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !w.linksUp() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

func (w *wire) linksUp() bool {
	for _, port := range w.ports {
		if link, err := port.Link(); err != nil || !link.Up {
			return false
		}
	}
	return true
}

// forward moves frames until ctx ends, then sends what it still holds.
func (w *wire) forward(ctx context.Context) {
	for ctx.Err() == nil {
		idle := true
		for _, lane := range w.lanes {
			lane.Exchange()
			for _, m := range lane.Rx() {
				w.pass(lane, m)
				idle = false
			}
			idle = idle && lane.Held() == 0
		}
		if idle {
			w.record.flush()
			pmd.IdleSleep(w.options.idleBackoff)
		}
	}
	for _, lane := range w.lanes {
		lane.Flush(100 * time.Millisecond)
	}
}

// pass records one frame and sends it on, or lets its mishap happen.
func (w *wire) pass(lane *pmd.Lane, m *pmd.Mbuf) {
	w.frames++
	if w.frames == w.options.drop {
		lane.Drop(m)
		return
	}
	if w.frames == w.options.flip.frame {
		w.err = w.options.flip.apply(m.Data())
	}
	w.record.frame(time.Now(), m.AppendTo(nil))
	m.ClearTx()
	if !lane.Send(m) {
		lane.Drop(m)
	}
}

// finish is what went wrong while the wire was up.
func (w *wire) finish() error {
	err := w.err
	if w.options.flip.frame > w.frames {
		err = errors.Join(err, fmt.Errorf("--flip: only %d frames came", w.frames))
	}
	return errors.Join(err, w.record.close())
}

// close undoes openWire.
func (w *wire) close() error {
	var errs []error
	for _, lane := range w.lanes {
		if lane != nil {
			errs = append(errs, lane.Close())
		}
	}
	for _, port := range w.ports {
		if port != nil {
			errs = append(errs, port.Close())
		}
	}
	if w.pool != nil {
		errs = append(errs, w.pool.Close())
	}
	return errors.Join(append(errs, w.record.close())...)
}

package main

import (
	"context"
	"time"
)

// pause is how long a sender sleeps when nothing is due.
const pause = 200 * time.Microsecond

// patience bounds what a sender that was kept from running makes up for: more
// would be a burst that only fills queues.
const patience = 10 * time.Millisecond

// batch is how many frames go out with one call at most.
const batch = 64

// paced calls put for one frame after the other, rate times a second, and flush
// after each few, until put says that there are no more, or ctx ends.
func paced(ctx context.Context, rate float64, put func() (more bool, err error), flush func() error) error {
	next := time.Now() // when the next one is due
	each := time.Duration(float64(time.Second) / rate)
	for ctx.Err() == nil {
		now := time.Now()
		if late := now.Add(-patience); next.Before(late) {
			next = late
		}
		if now.Before(next) {
			time.Sleep(pause)
			continue
		}
		more := true
		for range min(batch, now.Sub(next)/each+1) {
			var err error
			if more, err = put(); err != nil {
				return err
			}
			if !more {
				break
			}
			next = next.Add(each)
		}
		if err := flush(); err != nil || !more {
			return err
		}
	}
	return nil
}

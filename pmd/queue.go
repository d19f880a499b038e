package pmd

import (
	"fmt"
	"sync"
)

// queues knows which queues belong to a lane.
var queues = queueTable{taken: map[queue]bool{}}

type queue struct {
	port, number int
	tx           bool
}

type queueTable struct {
	mu    sync.Mutex
	taken map[queue]bool
}

func (cfg LaneConfig) queues() []queue {
	var list []queue
	if cfg.RxPort != nil {
		list = append(list, queue{port: cfg.RxPort.id, number: cfg.RxQueue})
	}
	if cfg.TxPort != nil {
		list = append(list, queue{port: cfg.TxPort.id, number: cfg.TxQueue, tx: true})
	}
	return list
}

func (t *queueTable) take(cfg LaneConfig) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range cfg.queues() {
		if t.taken[q] {
			way := "receive"
			if q.tx {
				way = "transmit"
			}
			return fmt.Errorf("%s queue %d of port %d: %w", way, q.number, q.port, ErrQueueTaken)
		}
	}
	for _, q := range cfg.queues() {
		t.taken[q] = true
	}
	return nil
}

func (t *queueTable) give(cfg LaneConfig) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range cfg.queues() {
		delete(t.taken, q)
	}
}

package ipsec

import (
	"cmp"
	"fmt"
	"slices"
)

// QueueAssignment is one triple of --queue-map: a receive queue of a port and
// the lcore that polls it.
type QueueAssignment struct{ Port, Queue, Lcore int }

// PlanPort is what the plan has to know of a port.
type PlanPort struct {
	ID                       int
	MaxRxQueues, MaxTxQueues int
}

// Plan says how many queues each port needs and which lcore polls which.
type Plan struct {
	Queues []QueueAssignment // ordered by lcore, port, queue
	// RxQueues and TxQueues count the queues of each port, by port number.
	RxQueues, TxQueues map[int]int
	// TxQueue is the transmit queue that an lcore uses on a port.
	TxQueue map[PortLcore]int
}

// PortLcore is a pair of port number and lcore id.
type PortLcore struct{ Port, Lcore int }

// MakePlan assigns receive queues to lcores. pairs lists the two ports of each
// pair; asked is --queue-map and may be empty: then each worker lcore gets a
// receive queue of every port that has enough of them, and the ports that have
// not get one queue, the lcores taking turns. Every lcore that sends on a port
// gets a transmit queue of its own there.
func MakePlan(pairs [][2]PlanPort, lcores []int, asked []QueueAssignment) (*Plan, error) {
	if len(lcores) == 0 {
		return nil, fmt.Errorf("no lcore is left for a worker")
	}
	queues := slices.Clone(asked)
	if len(queues) == 0 {
		queues = defaultQueues(pairs, lcores)
	}
	if err := checkQueues(pairs, lcores, queues); err != nil {
		return nil, err
	}
	slices.SortFunc(queues, func(a, b QueueAssignment) int {
		return cmp.Or(cmp.Compare(a.Lcore, b.Lcore), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Queue, b.Queue))
	})
	plan := &Plan{Queues: queues, RxQueues: map[int]int{}, TxQueues: map[int]int{}, TxQueue: map[PortLcore]int{}}
	for _, q := range queues {
		plan.RxQueues[q.Port]++
		out := PortLcore{peerOf(pairs, q.Port).ID, q.Lcore}
		if _, ok := plan.TxQueue[out]; !ok {
			plan.TxQueue[out] = plan.TxQueues[out.Port]
			plan.TxQueues[out.Port]++
		}
	}
	for _, pair := range pairs {
		for _, p := range pair {
			if n := plan.TxQueues[p.ID]; n > p.MaxTxQueues {
				return nil, fmt.Errorf("%d lcores would send on port %d, which has %d transmit queues: give its pair fewer lcores with --queue-map", n, p.ID, p.MaxTxQueues)
			}
		}
	}
	return plan, nil
}

func defaultQueues(pairs [][2]PlanPort, lcores []int) []QueueAssignment {
	var queues []QueueAssignment
	next := 0
	for _, pair := range pairs {
		for side, p := range pair {
			if p.MaxRxQueues >= len(lcores) && pair[1-side].MaxTxQueues >= len(lcores) {
				for i, lcore := range lcores {
					queues = append(queues, QueueAssignment{p.ID, i, lcore})
				}
				continue
			}
			queues = append(queues, QueueAssignment{p.ID, 0, lcores[next%len(lcores)]})
			next++
		}
	}
	return queues
}

// checkQueues refuses triples that name what is not there, a queue twice, and
// ports whose queues have a gap or that nobody polls.
func checkQueues(pairs [][2]PlanPort, lcores []int, queues []QueueAssignment) error {
	polled := map[int][]int{}
	for _, q := range queues {
		p := findPort(pairs, q.Port)
		switch {
		case p == nil:
			return fmt.Errorf("(%d,%d,%d): port %d is in no --pair", q.Port, q.Queue, q.Lcore, q.Port)
		case q.Queue < 0 || q.Queue >= p.MaxRxQueues:
			return fmt.Errorf("(%d,%d,%d): port %d has receive queues 0 to %d", q.Port, q.Queue, q.Lcore, q.Port, p.MaxRxQueues-1)
		case !slices.Contains(lcores, q.Lcore):
			return fmt.Errorf("(%d,%d,%d): lcore %d is no worker lcore; those are %v (EAL option -l)", q.Port, q.Queue, q.Lcore, q.Lcore, lcores)
		case slices.Contains(polled[q.Port], q.Queue):
			return fmt.Errorf("(%d,%d,%d): queue %d of port %d is assigned twice: a queue has exactly one lcore", q.Port, q.Queue, q.Lcore, q.Queue, q.Port)
		}
		polled[q.Port] = append(polled[q.Port], q.Queue)
	}
	for _, pair := range pairs {
		for _, p := range pair {
			n := len(polled[p.ID])
			if n == 0 {
				return fmt.Errorf("no lcore polls port %d: add (%d,0,LCORE) to --queue-map", p.ID, p.ID)
			}
			if top := slices.Max(polled[p.ID]); top != n-1 {
				return fmt.Errorf("port %d: queues up to %d are named but only %d of them: what arrives on the others would be lost", p.ID, top, n)
			}
		}
	}
	return nil
}

func findPort(pairs [][2]PlanPort, id int) *PlanPort {
	for i := range pairs {
		for j := range pairs[i] {
			if pairs[i][j].ID == id {
				return &pairs[i][j]
			}
		}
	}
	return nil
}

func peerOf(pairs [][2]PlanPort, id int) PlanPort {
	for _, pair := range pairs {
		if pair[0].ID == id {
			return pair[1]
		}
		if pair[1].ID == id {
			return pair[0]
		}
	}
	return PlanPort{ID: -1}
}

// Lcores returns the lcores that poll a queue, ascending.
func (p *Plan) Lcores() []int {
	var lcores []int
	for _, q := range p.Queues {
		if len(lcores) == 0 || lcores[len(lcores)-1] != q.Lcore {
			lcores = append(lcores, q.Lcore)
		}
	}
	return lcores
}

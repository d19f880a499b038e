package ipsec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func pairOf(a, b PlanPort) [][2]PlanPort { return [][2]PlanPort{{a, b}} }

func TestDefaultPlan(t *testing.T) {
	wide := func(id int) PlanPort { return PlanPort{ID: id, MaxRxQueues: 16, MaxTxQueues: 16} }
	narrow := func(id int) PlanPort { return PlanPort{ID: id, MaxRxQueues: 1, MaxTxQueues: 1} }
	tests := []struct {
		name   string
		pairs  [][2]PlanPort
		lcores []int
		queues []QueueAssignment
		tx     map[PortLcore]int
	}{
		{
			"one lcore serves both directions", pairOf(wide(0), wide(1)),
			[]int{1},
			[]QueueAssignment{{0, 0, 1}, {1, 0, 1}},
			map[PortLcore]int{{0, 1}: 0, {1, 1}: 0},
		},
		{
			"two lcores, a queue each on each port", pairOf(wide(0), wide(1)),
			[]int{1, 2},
			[]QueueAssignment{{0, 0, 1}, {1, 0, 1}, {0, 1, 2}, {1, 1, 2}},
			map[PortLcore]int{{0, 1}: 0, {1, 1}: 0, {0, 2}: 1, {1, 2}: 1},
		},
		{
			"two lcores, single queues: a direction each", pairOf(narrow(0), narrow(1)),
			[]int{1, 2},
			[]QueueAssignment{{0, 0, 1}, {1, 0, 2}},
			map[PortLcore]int{{1, 1}: 0, {0, 2}: 0},
		},
		{
			"many receive queues are no use where the peer cannot send on as many", pairOf(wide(0), narrow(1)),
			[]int{1, 2},
			[]QueueAssignment{{0, 0, 1}, {1, 0, 2}},
			map[PortLcore]int{{1, 1}: 0, {0, 2}: 0},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := MakePlan(tt.pairs, tt.lcores, nil)
			require.NoError(t, err)
			require.Equal(t, tt.queues, plan.Queues)
			require.Equal(t, tt.tx, plan.TxQueue)
		})
	}
}

func TestPlanErrors(t *testing.T) {
	pairs := pairOf(PlanPort{0, 2, 2}, PlanPort{1, 2, 1})
	lcores := []int{1, 2}
	tests := []struct {
		name  string
		asked []QueueAssignment
		want  string
	}{
		{"unknown port", []QueueAssignment{{7, 0, 1}}, "port 7 is in no --pair"},
		{"unknown queue", []QueueAssignment{{0, 2, 1}}, "receive queues 0 to 1"},
		{"unknown lcore", []QueueAssignment{{0, 0, 9}}, "lcore 9 is no worker lcore"},
		{"queue twice", []QueueAssignment{{0, 0, 1}, {0, 0, 2}}, "assigned twice"},
		{"port without a poller", []QueueAssignment{{0, 0, 1}}, "no lcore polls port 1"},
		{"gap", []QueueAssignment{{0, 1, 1}, {1, 0, 1}}, "would be lost"},
		{"too few transmit queues", []QueueAssignment{{0, 0, 1}, {0, 1, 2}, {1, 0, 1}}, "2 lcores would send on port 1, which has 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := MakePlan(pairs, lcores, tt.asked)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := MakePlan(pairs, nil, nil)
	require.ErrorContains(t, err, "no lcore")
}

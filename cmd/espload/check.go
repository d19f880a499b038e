package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
)

// checkCommand judges captures of one wire. The files are read in the order
// given, which must be that of time.
func checkCommand(f *pflag.FlagSet) action {
	config := f.String("xfrm", "", "`FILE` of ip xfrm commands with the SAs and their keys")
	marks := f.String("marks", "", "`FILE` of lines SECONDS kill|early|clean: when, in Unix seconds, the sender had ended")
	minimum := f.Float64("min-rate", 0, "fail when fewer `PACKETS` a second passed while the sender ran")
	wraps := f.Bool("wraps", false, "fail when no SA's numbers went over 2^32")
	return func(_ context.Context, words []string, stdout io.Writer) error {
		if len(words) == 0 || *config == "" {
			return usagef("captures and --xfrm FILE are needed")
		}
		sas, err := readSAs(*config)
		if err != nil {
			return usageError{err}
		}
		runs, err := readMarks(*marks)
		if err != nil {
			return usageError{err}
		}
		for _, name := range words {
			err := eachFrame(name, func(c captured) error {
				if p, ok := parseESP(c.frame); ok {
					runs.see(c.at, sas.see(p), p.sequence)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		faults := sas.report(stdout)
		if *wraps && !sas.wrapped() {
			faults = append(faults, "no sequence number went over 2^32")
		}
		faults = append(faults, runs.report(stdout, *minimum)...)
		for _, fault := range faults {
			fmt.Fprintf(stdout, "fault: %s\n", fault)
		}
		if len(faults) > 0 {
			return errFound
		}
		return nil
	}
}

// seconds prints Unix nanoseconds as what captures and marks show.
func seconds(at int64) string { return fmt.Sprintf("%.6f", float64(at)/float64(time.Second)) }

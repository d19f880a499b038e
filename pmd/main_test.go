package pmd_test

import (
	"os"
	"testing"

	"espgw/pmd/pmdtest"
)

func TestMain(m *testing.M) { os.Exit(pmdtest.Main(m)) }

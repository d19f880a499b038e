package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// check reads the imports of every Go file below root, whatever its build tags,
// and returns one line for each that the layers forbid, in the order of the files.
// It fails if there is no Go file: a gate that looks at nothing must not pass.
func check(root string) ([]string, error) {
	var faults []string
	files := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walking %s: %w", root, err)
		}
		if entry.IsDir() {
			if name != root && skipped(entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return fmt.Errorf("naming %s: %w", name, err)
		}
		found, err := checkFile(name, filepath.ToSlash(relative))
		faults = append(faults, found...)
		return err
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("no Go file below %s: %w", root, os.ErrNotExist)
	}
	return faults, err
}

// skipped are the folders that the go command does not look into either.
func skipped(folder string) bool {
	return folder == "testdata" || folder == "vendor" || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

// checkFile judges one file; relative is its path from the root, with slashes.
func checkFile(name, relative string) ([]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", relative, err)
	}
	folder, base := ".", relative
	if i := strings.LastIndexByte(relative, '/'); i >= 0 {
		folder, base = relative[:i], relative[i+1:]
	}
	var faults []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("parsing %s: import %s: %w", relative, spec.Path.Value, err)
		}
		if why := verdict(folder, path, strings.HasSuffix(base, "_test.go")); why != "" {
			line := set.Position(spec.Pos()).Line
			faults = append(faults, fmt.Sprintf("%s:%d: imports %q: %s", relative, line, path, why))
		}
	}
	return faults, nil
}

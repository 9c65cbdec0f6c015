// Tree walks in Go: walk METHOD ROOT RUNS. The protocol is in ../README.md.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

type tally struct {
	files, directories, bytes, errors int64
}

func (t *tally) add(o tally) {
	t.files += o.files
	t.directories += o.directories
	t.bytes += o.bytes
	t.errors += o.errors
}

// file counts an entry known to be a regular file.
func (t *tally) file(e fs.DirEntry) {
	info, err := e.Info()
	if err != nil {
		t.errors++
		return
	}
	t.files++
	t.bytes += info.Size()
}

func walkDir(root string) (t tally) {
	filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // a directory has been here before, without the error
			t.errors++
		case e.IsDir():
			t.directories++
		case e.Type().IsRegular():
			t.file(e)
		}
		return nil
	})
	return t
}

func walk(root string) (t tally) {
	filepath.Walk(root, func(_ string, info fs.FileInfo, err error) error {
		if err != nil {
			t.errors++
		}
		switch {
		case info == nil:
		case info.IsDir():
			t.directories++
		case info.Mode().IsRegular():
			t.files++
			t.bytes += info.Size()
		}
		return nil
	})
	return t
}

func readDir(path string) (t tally) {
	t.directories = 1
	entries, err := os.ReadDir(path)
	if err != nil {
		t.errors++
	}
	for _, e := range entries {
		if e.IsDir() {
			t.add(readDir(filepath.Join(path, e.Name())))
		} else if e.Type().IsRegular() {
			t.file(e)
		}
	}
	return t
}

func goroutines(root string) (sum tally) {
	var (
		wait  sync.WaitGroup
		lock  sync.Mutex
		slots = make(chan struct{}, runtime.GOMAXPROCS(0))
		visit func(path string)
	)
	visit = func(path string) {
		defer wait.Done()
		slots <- struct{}{}
		defer func() { <-slots }()
		t := tally{directories: 1}
		entries, err := os.ReadDir(path)
		if err != nil {
			t.errors++
		}
		for _, e := range entries {
			if e.IsDir() {
				wait.Add(1)
				go visit(filepath.Join(path, e.Name()))
			} else if e.Type().IsRegular() {
				t.file(e)
			}
		}
		lock.Lock()
		sum.add(t)
		lock.Unlock()
	}
	wait.Add(1)
	go visit(root)
	wait.Wait()
	return sum
}

var methods = map[string]func(root string) tally{
	"go-walkdir":    walkDir,
	"go-walk":       walk,
	"go-readdir":    readDir,
	"go-goroutines": goroutines,
}

func fail(code int, words ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"walk:"}, words...)...)
	os.Exit(code)
}

func main() {
	if len(os.Args) != 4 {
		fail(2, "usage: walk METHOD ROOT RUNS")
	}
	method, known := methods[os.Args[1]]
	if !known {
		fail(2, "unknown method:", os.Args[1])
	}
	root := os.Args[2]
	if info, err := os.Lstat(root); err != nil || !info.IsDir() {
		fail(1, "not a directory:", root)
	}
	runs, err := strconv.Atoi(os.Args[3])
	if err != nil {
		fail(2, err)
	}
	for ; runs > 0; runs-- {
		start := time.Now()
		t := method(root)
		fmt.Printf("{\"files\":%d,\"directories\":%d,\"bytes\":%d,\"errors\":%d,\"elapsed_ns\":%d}\n",
			t.files, t.directories, t.bytes, t.errors, time.Since(start).Nanoseconds())
	}
}

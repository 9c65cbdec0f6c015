// Tree walks in Go: walk METHOD ROOT RUNS [check]. The protocol is in ../README.md.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

type tally struct {
	files, directories, bytes, errors int64
	digest                            uint64
}

// check says whether to add up the digest of ../README.md.
var check = len(os.Args) == 5 && os.Args[4] == "check"

func (t *tally) note(path string, kind byte, size int64) {
	hash := uint64(0xcbf29ce484222325)
	add := func(octet byte) { hash = (hash ^ uint64(octet)) * 0x100000001b3 }
	path = strings.TrimPrefix(filepath.ToSlash(path[len(os.Args[2]):]), "/")
	for i := 0; i < len(path); i++ {
		add(path[i])
	}
	add(0)
	add(kind)
	for shift := 0; kind == 'f' && shift < 64; shift += 8 {
		add(byte(size >> shift))
	}
	t.digest += hash
}

func (t *tally) add(o tally) {
	t.files += o.files
	t.directories += o.directories
	t.bytes += o.bytes
	t.errors += o.errors
	t.digest += o.digest
}

// file counts an entry known to be a regular file. Its path is parent, and below it name, if that is not empty.
func (t *tally) file(parent, name string, e fs.DirEntry) {
	info, err := e.Info()
	if err != nil {
		t.errors++
		return
	}
	t.files++
	t.bytes += info.Size()
	if check {
		t.note(filepath.Join(parent, name), 'f', info.Size())
	}
}

func walkDir(root string) (t tally) {
	filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // a directory has been here before, without the error
			t.errors++
		case e.IsDir():
			t.directories++
			if check {
				t.note(path, 'd', 0)
			}
		case e.Type().IsRegular():
			t.file(path, "", e)
		}
		return nil
	})
	return t
}

func walk(root string) (t tally) {
	filepath.Walk(root, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			t.errors++
		}
		switch {
		case info == nil:
		case info.IsDir():
			t.directories++
			if check {
				t.note(path, 'd', 0)
			}
		case info.Mode().IsRegular():
			t.files++
			t.bytes += info.Size()
			if check {
				t.note(path, 'f', info.Size())
			}
		}
		return nil
	})
	return t
}

func readDir(path string) (t tally) {
	t.directories = 1
	if check {
		t.note(path, 'd', 0)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.errors++
	}
	for _, e := range entries {
		if e.IsDir() {
			t.add(readDir(filepath.Join(path, e.Name())))
		} else if e.Type().IsRegular() {
			t.file(path, e.Name(), e)
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
		if check {
			t.note(path, 'd', 0)
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			t.errors++
		}
		for _, e := range entries {
			if e.IsDir() {
				wait.Add(1)
				go visit(filepath.Join(path, e.Name()))
			} else if e.Type().IsRegular() {
				t.file(path, e.Name(), e)
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
	if len(os.Args) != 4 && !check {
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
		cpu := cpuTime()
		start := time.Now()
		t := method(root)
		elapsed := time.Since(start)
		cpu = cpuTime() - cpu
		digest := ""
		if check {
			digest = fmt.Sprintf("\"digest\":\"%016x\",", t.digest)
		}
		fmt.Printf("{%s\"files\":%d,\"directories\":%d,\"bytes\":%d,\"errors\":%d,\"elapsed_ns\":%d,\"cpu_ns\":%d}\n",
			digest, t.files, t.directories, t.bytes, t.errors, elapsed.Nanoseconds(), cpu)
	}
}

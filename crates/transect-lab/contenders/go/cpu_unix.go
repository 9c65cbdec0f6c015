//go:build unix

package main

import "syscall"

// cpuTime returns the CPU time of all threads of this process, in nanoseconds.
func cpuTime() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

package main

import "syscall"

// cpuTime returns the CPU time of all threads of this process, in nanoseconds.
func cpuTime() int64 {
	process, _ := syscall.GetCurrentProcess()
	var creation, exit, kernel, user syscall.Filetime
	syscall.GetProcessTimes(process, &creation, &exit, &kernel, &user)
	ticks := func(time syscall.Filetime) int64 { return int64(time.HighDateTime)<<32 | int64(time.LowDateTime) }
	return 100 * (ticks(kernel) + ticks(user))
}

// Tree walks with System.IO: Walk METHOD ROOT RUNS. The protocol is in ../README.md.
//
// The article let A17 and A18 enumerate "all directories" in one call. Such a call ends at the first directory
// that is refused and follows links; so here each directory is enumerated by itself.
//
// The language is C# 5, which the compiler in every Windows understands.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;

static class Walk
{
    const FileAttributes Link = FileAttributes.ReparsePoint;

    class Tally
    {
        public long Files, Directories, Bytes, Errors;

        // Sockets, pipes and devices are files to System.IO; on Mono they are told by no flag.
        public void File(FileInfo file)
        {
            try {
                Bytes += file.Length;
                Files++;
            } catch (IOException) {
                Errors++;
            } catch (UnauthorizedAccessException) {
                Errors++;
            }
        }

        public void Guard(Action read)
        {
            Directories++;
            try {
                read();
            } catch (IOException) {
                Errors++;
            } catch (UnauthorizedAccessException) {
                Errors++;
            }
        }
    }

    static bool IsLink(FileAttributes attributes) { return (attributes & Link) != 0; }
    static bool IsDirectory(FileAttributes attributes) { return (attributes & FileAttributes.Directory) != 0; }

    static void Enumerate(DirectoryInfo directory, Tally tally, Action<DirectoryInfo> found)
    {
        tally.Guard(() => {
            foreach (var sub in directory.EnumerateDirectories())
                if (!IsLink(sub.Attributes))
                    found(sub);
            foreach (var file in directory.EnumerateFiles())
                if (!IsLink(file.Attributes))
                    tally.File(file);
        });
    }

    static void EnumerateRecursive(DirectoryInfo directory, Tally tally)
    {
        Enumerate(directory, tally, sub => EnumerateRecursive(sub, tally));
    }

    static void EnumerateQueue(DirectoryInfo root, Tally tally)
    {
        var waiting = new Queue<DirectoryInfo>();
        waiting.Enqueue(root);
        while (waiting.Count > 0)
            Enumerate(waiting.Dequeue(), tally, waiting.Enqueue);
    }

    static void GetInfos(DirectoryInfo directory, Tally tally)
    {
        tally.Guard(() => {
            foreach (var info in directory.GetFileSystemInfos()) {
                if (IsLink(info.Attributes))
                    continue;
                if (IsDirectory(info.Attributes))
                    GetInfos((DirectoryInfo)info, tally);
                else
                    tally.File(new FileInfo(info.FullName));
            }
        });
    }

    static void EnumerateEntries(string directory, Tally tally)
    {
        tally.Guard(() => {
            foreach (var path in Directory.EnumerateFileSystemEntries(directory)) {
                FileAttributes attributes;
                try {
                    attributes = File.GetAttributes(path);
                } catch (IOException) {
                    tally.Errors++;
                    continue;
                } catch (UnauthorizedAccessException) {
                    tally.Errors++;
                    continue;
                }
                if (IsLink(attributes))
                    continue;
                if (IsDirectory(attributes))
                    EnumerateEntries(path, tally);
                else
                    tally.File(new FileInfo(path));
            }
        });
    }

    static void EnumerateInfos(DirectoryInfo directory, Tally tally)
    {
        tally.Guard(() => {
            foreach (var info in directory.EnumerateFileSystemInfos()) {
                if (IsLink(info.Attributes))
                    continue;
                if (IsDirectory(info.Attributes))
                    EnumerateInfos((DirectoryInfo)info, tally);
                else
                    tally.File(new FileInfo(info.FullName));
            }
        });
    }

    struct Timespec { public IntPtr Seconds, Nanoseconds; }

    const int ProcessCpuTime = 2;

    [DllImport("libc")]
    static extern int clock_gettime(int clock, out Timespec time);

    // CPU time of all threads in nanoseconds. Mono's own, from /proc, counts in ticks of 10 ms.
    static long CpuTime()
    {
        try {
            Timespec time;
            if (Environment.OSVersion.Platform == PlatformID.Unix && clock_gettime(ProcessCpuTime, out time) == 0)
                return (long)time.Seconds * 1000000000 + (long)time.Nanoseconds;
        } catch (TypeLoadException) {
            // No such library, or no such function in it.
        }
        return 100 * Process.GetCurrentProcess().TotalProcessorTime.Ticks;
    }

    static int Main(string[] arguments)
    {
        var methods = new Dictionary<string, Action<string, Tally>> {
            { "enumerate-recursive", (root, tally) => EnumerateRecursive(new DirectoryInfo(root), tally) },
            { "enumerate-queue", (root, tally) => EnumerateQueue(new DirectoryInfo(root), tally) },
            { "get-infos", (root, tally) => GetInfos(new DirectoryInfo(root), tally) },
            { "enumerate-entries", EnumerateEntries },
            { "enumerate-infos", (root, tally) => EnumerateInfos(new DirectoryInfo(root), tally) },
        };
        // What is before the first hyphen names the contender: csharp on Mono, dotnet on .NET.
        var name = arguments.Length == 3 ? arguments[0].Substring(arguments[0].IndexOf('-') + 1) : "";
        Action<string, Tally> method;
        if (!methods.TryGetValue(name, out method)) {
            Console.Error.WriteLine(arguments.Length != 3 ? "usage: Walk METHOD ROOT RUNS" : "Walk: unknown method: " + arguments[0]);
            return 2;
        }
        var start = new DirectoryInfo(arguments[1]);
        if (!start.Exists || IsLink(start.Attributes)) {
            Console.Error.WriteLine("Walk: not a directory: " + arguments[1]);
            return 1;
        }
        for (var runs = int.Parse(arguments[2]); runs > 0; runs--) {
            var tally = new Tally();
            var cpu = CpuTime();
            var watch = Stopwatch.StartNew();
            method(arguments[1], tally);
            var elapsed = (long)(watch.ElapsedTicks * (1e9 / Stopwatch.Frequency));
            cpu = CpuTime() - cpu;
            Console.WriteLine("{{\"files\":{0},\"directories\":{1},\"bytes\":{2},\"errors\":{3},\"elapsed_ns\":{4},\"cpu_ns\":{5}}}",
                tally.Files, tally.Directories, tally.Bytes, tally.Errors, elapsed, cpu);
            Console.Out.Flush();
        }
        return 0;
    }
}

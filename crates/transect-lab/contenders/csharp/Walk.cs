// Tree walks with System.IO: Walk METHOD ROOT RUNS. The protocol is in ../README.md.
//
// The article let A17 and A18 enumerate "all directories" in one call. Such a call ends at the first directory
// that is refused and follows links; so here each directory is enumerated by itself.
//
// Compiled with CHECK, it computes the digest of what it counted, too.
//
// The language is C# 5, which the compiler in every Windows understands.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

static class Walk
{
    const FileAttributes Link = FileAttributes.ReparsePoint;

    class Tally
    {
        public long Files, Directories, Bytes, Errors;
        public ulong Digest;
        public int RootLength;

        // Adds the hash of an entry. Calls of it are left out unless CHECK is defined.
        [Conditional("CHECK")]
        void Note(string path, byte kind, long length)
        {
            var relative = path.Substring(Math.Min(RootLength, path.Length)).Replace(Path.DirectorySeparatorChar, '/');
            var hashed = new List<byte>(Encoding.UTF8.GetBytes(relative.TrimStart('/')));
            hashed.Add(0);
            hashed.Add(kind);
            for (var shift = 0; kind == (byte)'f' && shift < 64; shift += 8)
                hashed.Add((byte)(length >> shift));
            var hash = 0xcbf29ce484222325;
            foreach (var octet in hashed)
                hash = (hash ^ octet) * 0x100000001b3;
            Digest += hash;
        }

        // Sockets, pipes and devices are files to System.IO; on Mono they are told by no flag.
        public void File(FileInfo file)
        {
            try {
                Bytes += file.Length;
                Files++;
                Note(file.FullName, (byte)'f', file.Length);
            } catch (IOException) {
                Errors++;
            } catch (UnauthorizedAccessException) {
                Errors++;
            }
        }

        public void Guard(string directory, Action read)
        {
            Directories++;
            Note(new DirectoryInfo(directory).FullName, (byte)'d', 0);
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
        tally.Guard(directory.FullName, () => {
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
        tally.Guard(directory.FullName, () => {
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
        tally.Guard(directory, () => {
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
        tally.Guard(directory.FullName, () => {
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

    // As the article prints it: all entries in one call, which follows links and ends at the first refusal.
    static void EntriesAsPrinted(string root, Tally tally)
    {
        tally.Guard(root, () => {
            foreach (var path in Directory.EnumerateFileSystemEntries(root, "*", SearchOption.AllDirectories))
                if (IsDirectory(File.GetAttributes(path)))
                    tally.Guard(path, () => {});
                else
                    tally.File(new FileInfo(path));
        });
    }

    static void InfosAsPrinted(string root, Tally tally)
    {
        tally.Guard(root, () => {
            foreach (var info in new DirectoryInfo(root).EnumerateFileSystemInfos("*", SearchOption.AllDirectories))
                if (IsDirectory(info.Attributes))
                    tally.Guard(info.FullName, () => {});
                else
                    tally.File(new FileInfo(info.FullName));
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
            { "entries-as-printed", EntriesAsPrinted },
            { "infos-as-printed", InfosAsPrinted },
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
            var tally = new Tally { RootLength = start.FullName.Length };
            var cpu = CpuTime();
            var watch = Stopwatch.StartNew();
            method(arguments[1], tally);
            var elapsed = (long)(watch.ElapsedTicks * (1e9 / Stopwatch.Frequency));
            cpu = CpuTime() - cpu;
#if CHECK
            Console.Write("{{\"digest\":\"{0:x16}\",", tally.Digest);
#else
            Console.Write("{");
#endif
            Console.WriteLine("\"files\":{0},\"directories\":{1},\"bytes\":{2},\"errors\":{3},\"elapsed_ns\":{4},\"cpu_ns\":{5}}}",
                tally.Files, tally.Directories, tally.Bytes, tally.Errors, elapsed, cpu);
            Console.Out.Flush();
        }
        return 0;
    }
}

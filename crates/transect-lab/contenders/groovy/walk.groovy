// Tree walks in Groovy: walk.groovy METHOD ROOT RUNS [check]. The protocol is in ../README.md.
import groovy.io.FileType
import java.nio.file.Files
import java.util.concurrent.locks.LockSupport

class Tally {
    static final long BASIS = 0xcbf29ce484222325L, PRIME = 0x100000001b3L

    long files, directories, bytes, errors, digest
    boolean isCheck
    int rootLength

    // Adds the hash of an entry.
    void note(File file, String kind, long length) {
        def relative = file.path.substring(rootLength).replace(File.separator, '/').replaceFirst('^/', '')
        List<Byte> octets = (relative + '\0' + kind).getBytes('UTF-8') as List
        if (kind == 'f') 8.times { octets << (byte) (length >> 8 * it) }
        long hash = BASIS
        octets.each { hash = (hash ^ (it & 0xff)) * PRIME }
        digest += hash
    }
}

// eachFileRecurse goes into links to directories, and no closure can keep it out: they are not counted, what
// is behind them is. Of a directory that is refused it says nothing, hence canRead.
def eachFileRecurse = { File root, Tally tally ->
    def directory = { File file ->
        tally.directories++
        if (tally.isCheck) tally.note(file, 'd', 0)
        if (!file.canRead()) tally.errors++
    }
    directory(root)
    root.eachFileRecurse(FileType.ANY) { file ->
        if (Files.isSymbolicLink(file.toPath())) return
        if (file.isDirectory()) {
            directory(file)
        } else if (file.isFile()) {
            tally.files++
            tally.bytes += file.length()
            if (tally.isCheck) tally.note(file, 'f', file.length())
        }
    }
}

// CPU time of all threads in nanoseconds; 0 where the system is not Linux. java.lang.management counts in ticks of
// 10 ms. The kernel brings the time of a thread up to date when the thread stops running.
def cpuTime = {
    LockSupport.parkNanos(50_000)
    long sum = 0
    new File('/proc/self/task').listFiles().each { thread ->
        try {
            sum += new File(thread, 'schedstat').text.tokenize(' ')[0] as long
        } catch (IOException ignored) { // it has ended
        }
    }
    sum
}

def methods = ['groovy-each-file-recurse': eachFileRecurse]
boolean isUsage = !(args.length in 3..4)
if (isUsage || !methods[args[0]]) {
    System.err.println(isUsage ? 'usage: walk.groovy METHOD ROOT RUNS [check]' : "walk.groovy: unknown method: ${args[0]}")
    System.exit(2)
}
def root = new File(args[1])
if (!root.isDirectory() || Files.isSymbolicLink(root.toPath())) {
    System.err.println("walk.groovy: not a directory: $root")
    System.exit(1)
}
args[2].toInteger().times {
    def tally = new Tally(isCheck: args.length > 3, rootLength: root.path.length())
    long cpu = cpuTime()
    long start = System.nanoTime()
    methods[args[0]](root, tally)
    long elapsed = System.nanoTime() - start
    cpu = cpuTime() - cpu
    def cpuOfRun = cpu > 0 ? ""","cpu_ns":$cpu""" : ''
    def digest = tally.isCheck ? String.format('"digest":"%016x",', tally.digest) : ''
    println """{$digest"files":$tally.files,"directories":$tally.directories,"bytes":$tally.bytes,"errors":$tally.errors,"elapsed_ns":$elapsed$cpuOfRun}"""
    System.out.flush()
}

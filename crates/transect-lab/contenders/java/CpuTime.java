import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** CPU time of all threads of this process, the compiler and the collector included. */
final class CpuTime {
    private static final Path THREADS = Path.of("/proc/self/task");

    /**
     * Returns it in nanoseconds. On Linux, the method of java.lang.management counts in ticks of 10 ms, so the
     * times of all threads are added. A thread that ends between two calls is missing.
     */
    static long nanos() {
        // The kernel brings the time of a thread up to date when the thread stops running.
        LockSupport.parkNanos(50_000);
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                try {
                    sum += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
                } catch (IOException e) {
                    // It has ended.
                }
            }
        } catch (IOException e) {
            // Not Linux.
        }
        return sum > 0 ? sum : ofManagement();
    }

    private static long ofManagement() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
    }
}

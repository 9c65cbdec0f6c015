import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Function;

/** Tree walks in Java: Walk METHOD ROOT RUNS. The protocol is in ../README.md. */
final class Walk {
    /** Whether to add up the digest of ../README.md: constant, so that timed walks are compiled without it. */
    private static final boolean CHECK = Boolean.getBoolean("check");

    private static Path root;

    private long files, directories, bytes, errors, digest;

    private void note(Path path, char type, long size) {
        // Paths keep the bytes of names; only as URIs do they show them. That of the root is empty.
        String from = root.toUri().getRawPath().replaceFirst("/$", "");
        String uri = path.toUri().getRawPath().replaceFirst("/$", "").substring(from.length());
        long hash = 0xcbf29ce484222325L;
        for (int i = 1; i < uri.length(); i++) {
            int octet = uri.charAt(i);
            if (octet == '%') {
                octet = Integer.parseInt(uri.substring(i + 1, i + 3), 16);
                i += 2;
            }
            hash = (hash ^ octet) * 0x100000001b3L;
        }
        hash = hash * 0x100000001b3L; // NUL
        hash = (hash ^ type) * 0x100000001b3L;
        for (int i = 0; type == 'f' && i < 64; i += 8) {
            hash = (hash ^ (size >>> i & 0xff)) * 0x100000001b3L;
        }
        digest += hash;
    }

    /** Counts what is in a directory; the directories in it go to {@code found}. */
    private void list(Path path, Consumer<Path> found) {
        directories++;
        if (CHECK) note(path, 'd', 0);
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            for (Path entry : entries) {
                if (Files.isDirectory(entry, NOFOLLOW_LINKS)) {
                    found.accept(entry);
                } else if (Files.isRegularFile(entry, NOFOLLOW_LINKS)) {
                    try {
                        long size = Files.size(entry);
                        bytes += size;
                        files++;
                        if (CHECK) note(entry, 'f', size);
                    } catch (IOException e) {
                        errors++;
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            errors++;
        }
    }

    private void recursive(Path path) {
        list(path, this::recursive);
    }

    private static Walk directoryStream(Path root) {
        Walk walk = new Walk();
        walk.recursive(root);
        return walk;
    }

    private static Walk directoryStreamQueue(Path root) {
        Walk walk = new Walk();
        Queue<Path> waiting = new ArrayDeque<>();
        waiting.add(root);
        for (Path path; (path = waiting.poll()) != null; ) {
            walk.list(path, waiting::add);
        }
        return walk;
    }

    /** Counts with java.io.File, which follows links: so one more call for each entry. */
    private void fileRecursive(File directory) {
        directories++;
        if (CHECK) note(directory.toPath(), 'd', 0);
        File[] entries = directory.listFiles();
        if (entries == null) {
            errors++;
            return;
        }
        for (File entry : entries) {
            if (Files.isSymbolicLink(entry.toPath())) {
                continue;
            }
            if (entry.isDirectory()) {
                fileRecursive(entry);
            } else if (entry.isFile()) {
                long size = entry.length();
                files++;
                bytes += size;
                if (CHECK) note(entry.toPath(), 'f', size);
            }
        }
    }

    private static Walk ioFile(Path root) {
        Walk walk = new Walk();
        walk.fileRecursive(root.toFile());
        return walk;
    }

    private static Walk walkFileTree(Path root) {
        Walk walk = new Walk();
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
                    walk.directories++;
                    if (CHECK) walk.note(path, 'd', 0);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                    if (attributes.isRegularFile()) {
                        walk.files++;
                        walk.bytes += attributes.size();
                        if (CHECK) walk.note(path, 'f', attributes.size());
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path path, IOException e) {
                    walk.errors++;
                    // A directory that cannot be opened comes here and nowhere else.
                    if (Files.isDirectory(path, NOFOLLOW_LINKS)) {
                        walk.directories++;
                        if (CHECK) walk.note(path, 'd', 0);
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path path, IOException e) {
                    if (e != null) {
                        walk.errors++;
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            walk.errors++;
        }
        return walk;
    }

    /** As the article prints it: the visitor follows links, and ends at the first refusal. */
    private static Walk walkFileTreeAsPrinted(Path root) {
        Walk walk = new Walk();
        try {
            Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
                    walk.directories++;
                    if (CHECK) walk.note(path, 'd', 0);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                    walk.files++;
                    walk.bytes += attributes.size();
                    if (CHECK) walk.note(path, 'f', attributes.size());
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            walk.errors++;
        }
        return walk;
    }

    private static void fail(int code, String message) {
        System.err.println("Walk: " + message);
        System.exit(code);
    }

    public static void main(String[] arguments) {
        Map<String, Function<Path, Walk>> methods = Map.of(
                "java-directory-stream", Walk::directoryStream,
                "java-directory-stream-queue", Walk::directoryStreamQueue,
                "java-io-file", Walk::ioFile,
                "java-walk-file-tree", Walk::walkFileTree,
                "java-walk-file-tree-as-printed", Walk::walkFileTreeAsPrinted);
        if (arguments.length != 3) {
            fail(2, "usage: Walk METHOD ROOT RUNS");
        }
        Function<Path, Walk> method = methods.get(arguments[0]);
        if (method == null) {
            fail(2, "unknown method: " + arguments[0]);
        }
        root = Path.of(arguments[1]);
        if (!Files.isDirectory(root, NOFOLLOW_LINKS)) {
            fail(1, "not a directory: " + root);
        }
        for (int runs = Integer.parseInt(arguments[2]); runs > 0; runs--) {
            long cpu = CpuTime.nanos();
            long start = System.nanoTime();
            Walk walk = method.apply(root);
            long elapsed = System.nanoTime() - start;
            cpu = CpuTime.nanos() - cpu;
            String digest = CHECK ? String.format("\"digest\":\"%016x\",", walk.digest) : "";
            System.out.println("{" + digest + "\"files\":" + walk.files + ",\"directories\":" + walk.directories
                    + ",\"bytes\":" + walk.bytes + ",\"errors\":" + walk.errors
                    + ",\"elapsed_ns\":" + elapsed + ",\"cpu_ns\":" + cpu + "}");
            System.out.flush();
        }
    }
}

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Function;

/** Tree walks in Java: Walk METHOD ROOT RUNS. The protocol is in ../README.md. */
final class Walk {
    private long files, directories, bytes, errors;

    /** Counts what is in a directory; the directories in it go to {@code found}. */
    private void list(Path path, Consumer<Path> found) {
        directories++;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            for (Path entry : entries) {
                if (Files.isDirectory(entry, NOFOLLOW_LINKS)) {
                    found.accept(entry);
                } else if (Files.isRegularFile(entry, NOFOLLOW_LINKS)) {
                    try {
                        bytes += Files.size(entry);
                        files++;
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

    private static Walk walkFileTree(Path root) {
        Walk walk = new Walk();
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
                    walk.directories++;
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                    if (attributes.isRegularFile()) {
                        walk.files++;
                        walk.bytes += attributes.size();
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path path, IOException e) {
                    walk.errors++;
                    // A directory that cannot be opened comes here and nowhere else.
                    if (Files.isDirectory(path, NOFOLLOW_LINKS)) {
                        walk.directories++;
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

    private static void fail(int code, String message) {
        System.err.println("Walk: " + message);
        System.exit(code);
    }

    public static void main(String[] arguments) {
        Map<String, Function<Path, Walk>> methods = Map.of(
                "java-directory-stream", Walk::directoryStream,
                "java-directory-stream-queue", Walk::directoryStreamQueue,
                "java-walk-file-tree", Walk::walkFileTree);
        if (arguments.length != 3) {
            fail(2, "usage: Walk METHOD ROOT RUNS");
        }
        Function<Path, Walk> method = methods.get(arguments[0]);
        if (method == null) {
            fail(2, "unknown method: " + arguments[0]);
        }
        Path root = Path.of(arguments[1]);
        if (!Files.isDirectory(root, NOFOLLOW_LINKS)) {
            fail(1, "not a directory: " + root);
        }
        for (int runs = Integer.parseInt(arguments[2]); runs > 0; runs--) {
            long start = System.nanoTime();
            Walk walk = method.apply(root);
            long elapsed = System.nanoTime() - start;
            System.out.println("{\"files\":" + walk.files + ",\"directories\":" + walk.directories
                    + ",\"bytes\":" + walk.bytes + ",\"errors\":" + walk.errors
                    + ",\"elapsed_ns\":" + elapsed + "}");
            System.out.flush();
        }
    }
}

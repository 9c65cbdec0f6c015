/* transect.h: walks directory trees, reads them into tables, finds what changed in them, and caches attributes of
 * files.
 *
 * Link with -ltransect. docs/C.md has an example for each task; crates/transect-c/samples has whole
 * programs in C and C++. The header works with C99, C++11 and everything later.
 *
 * STATUS. A function that can fail returns TRANSECT_OK (0) or another status, and takes a
 * `transect_error *` as its last argument, which may be NULL. If it fails, it writes status, error
 * number and message there, and nothing to its other results unless documented. There is no `errno`, and
 * calls share no state but the objects. A NULL where an object, a text or a result is required is
 * TRANSECT_INVALID_ARGUMENT. A bug in the library is TRANSECT_BUG: no function unwinds into its caller.
 *
 * ERRORS IN A TREE, such as a directory that denies access, do not end a walk. They are counted in
 * `transect_counts`: if `errors` is not 0, the result is partial.
 *
 * TEXTS. Paths, names and patterns are `char`s that end with a NUL. On Unix, paths and names are the
 * bytes of the system, which need not be UTF-8. On Windows they are WTF-8: UTF-8 in which a surrogate
 * without its partner is encoded like other characters. So every name round-trips, and names that are
 * Unicode are UTF-8. Messages are UTF-8.
 *
 * BUFFERS. A function that returns a path or a name writes it with a NUL into `buffer`, which has room
 * for `capacity` bytes, and returns its length without the NUL. If it does not fit (the length is not
 * less than the capacity), the buffer receives an empty text: nothing is cut. `buffer` may be NULL if
 * `capacity` is 0.
 *
 * OBJECTS. `..._free` accepts NULL. Freeing an object twice, or using it after it was freed, is
 * undefined, as with `free` of C. Do not unload the library while a walk is running.
 *
 * THREADS. Tables, caches, searches, controls and errors may be used by any number of threads at once; options
 * as long as no thread changes them. An object may be freed by any thread that is its last user.
 *
 * CALLBACKS may call all functions of this library. They must return: `longjmp` out of a callback is
 * undefined, and a C++ exception that leaves a callback ends the process.
 */

#ifndef TRANSECT_H
#define TRANSECT_H

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#if defined(_WIN32) && !defined(TRANSECT_STATIC)
#define TRANSECT_API __declspec(dllimport)
#else
#define TRANSECT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. Until 1.0, versions with another second number are not compatible. */
#define TRANSECT_VERSION "0.2.0"

/* Returns the version of the library. */
TRANSECT_API const char *transect_version(void);

/* ---- Status ------------------------------------------------------------------------------------ */

/* One of the constants below. Later versions may add more. */
typedef int32_t transect_status;

enum {
    TRANSECT_OK = 0,
    /* A NULL, a value out of range, a pattern that cannot be parsed. */
    TRANSECT_INVALID_ARGUMENT = 1,
    /* This system does not have what is needed, such as change notifications. */
    TRANSECT_UNSUPPORTED = 2,
    /* More entries than a table can hold: four thousand million. */
    TRANSECT_TOO_MANY_ENTRIES = 3,
    /* A thread could not be started. */
    TRANSECT_NO_THREAD = 4,
    /* The path is outside the roots of the cache. */
    TRANSECT_OUTSIDE_ROOTS = 5,
    /* A bug in the library. The object that was used should be freed. */
    TRANSECT_BUG = 7,
    /* `transect_walk_next` has returned all entries. */
    TRANSECT_END = 8,
    /* `transect_control_cancel` ended the walk. */
    TRANSECT_CANCELLED = 9,

    /* Errors of the system. `os_error` has its number. */
    TRANSECT_DENIED = 32,
    TRANSECT_NOT_FOUND = 33,
    TRANSECT_NOT_A_DIRECTORY = 34,
    TRANSECT_NAME_TOO_LONG = 35,
    TRANSECT_INVALID_NAME = 36,
    /* Another process has the file open and does not share it (Windows). */
    TRANSECT_SHARING_VIOLATION = 37,
    /* A loop of symbolic links. */
    TRANSECT_LOOP = 38,
    TRANSECT_TOO_MANY_OPEN = 39,
    /* The device or file system could not be read. */
    TRANSECT_IO = 40,
    /* The file system returned a malformed record, or a file is not a snapshot, or is damaged. */
    TRANSECT_INVALID_DATA = 41,
    /* A directory lists the entry, but the file system does not find it. */
    TRANSECT_INCONSISTENT = 42,
    TRANSECT_TIMED_OUT = 43,
    TRANSECT_OTHER = 44
};

/* Returns the word for a status: "ok", "not_found"; "unknown" for other numbers. */
TRANSECT_API const char *transect_status_name(transect_status status);

/* Why a call failed. The caller provides it; it need not be initialized. */
typedef struct transect_error {
    transect_status status;
    /* The system's number: `errno` on Unix, `GetLastError` on Windows; 0 if there is none. */
    int32_t os_error;
    /* One line with operation and path, such as "cannot open directory '/root': Permission denied".
     * Ends with "..." where it was too long. */
    char message[1016];
} transect_error;

/* ---- Attributes -------------------------------------------------------------------------------- */

/* Attributes to query: a sum of these is the value of `transect_options_set_fields`. */
enum {
    TRANSECT_FIELD_MODE = 0x0002,
    TRANSECT_FIELD_NLINK = 0x0004,
    TRANSECT_FIELD_UID = 0x0008,
    TRANSECT_FIELD_GID = 0x0010,
    TRANSECT_FIELD_ATIME = 0x0020,
    TRANSECT_FIELD_MTIME = 0x0040,
    TRANSECT_FIELD_CTIME = 0x0080,
    TRANSECT_FIELD_INODE = 0x0100,
    TRANSECT_FIELD_SIZE = 0x0200,
    TRANSECT_FIELD_ALLOCATED = 0x0400,
    TRANSECT_FIELD_BTIME = 0x0800,
    TRANSECT_FIELD_DEVICE = 0x1000,
    TRANSECT_FIELD_ATTRIBUTE_BITS = 0x2000,
    TRANSECT_FIELD_REPARSE_TAG = 0x4000
};

enum {
    TRANSECT_TYPE_UNKNOWN = 0,
    TRANSECT_TYPE_FILE = 1,
    TRANSECT_TYPE_DIRECTORY = 2,
    TRANSECT_TYPE_SYMLINK = 3,
    TRANSECT_TYPE_BLOCK = 4,
    TRANSECT_TYPE_CHAR = 5,
    TRANSECT_TYPE_FIFO = 6,
    TRANSECT_TYPE_SOCKET = 7
};

/* The attributes of an entry. Times are nanoseconds since 1970 UTC. */
typedef struct transect_attributes {
    /* One of TRANSECT_TYPE_... */
    uint32_t type;
    /* The fields that are known, as a sum of TRANSECT_FIELD_...; all others are 0. A field that was
     * not requested is known if it came for free. */
    uint32_t known;
    /* Length in bytes. */
    uint64_t size;
    /* Bytes occupied on the device. */
    uint64_t allocated;
    /* The number of the file on its device; on Windows the file id. */
    uint64_t inode;
    /* On Windows the serial number of the volume. */
    uint64_t device;
    /* Last change of the content. */
    int64_t mtime;
    /* Last change of the attributes. */
    int64_t ctime;
    /* Last access. */
    int64_t atime;
    /* Creation. */
    int64_t btime;
    /* Permission and type bits. */
    uint32_t mode;
    /* Number of names (hard links). */
    uint32_t nlink;
    uint32_t uid;
    uint32_t gid;
    /* FILE_ATTRIBUTE_... (Windows). */
    uint32_t attribute_bits;
    /* IO_REPARSE_TAG_... of a reparse point (Windows). */
    uint32_t reparse_tag;
    /* Zeros, for later versions. */
    uint64_t reserved[4];
} transect_attributes;

/* ---- Progress and cancellation ------------------------------------------------------------------- */

/* Shows how far walks are, and ends them: for other threads than those that walk. Takes effect on all walks and
 * tables with options that `transect_options_set_control` connected to it. */
typedef struct transect_control transect_control;

/* The counters of a control. */
typedef struct transect_progress {
    /* Entries found, directories included. */
    uint64_t entries;
    /* Directories read. */
    uint64_t directories;
    /* Bytes occupied by the entries of a table; 0 for other walks. */
    uint64_t bytes;
    /* Errors in the tree. */
    uint64_t errors;
    /* Zeros, for later versions. */
    uint64_t reserved[4];
} transect_progress;

TRANSECT_API transect_control *transect_control_new(void);
/* Frees a control. Walks that use it go on. */
TRANSECT_API void transect_control_free(transect_control *control);
/* Ends the walks of a control, also later ones: their functions return TRANSECT_CANCELLED. It only sets a flag, so
 * signal handlers may call it; a walk sees that after each batch of a directory. */
TRANSECT_API void transect_control_cancel(transect_control *control);
/* Writes the counters at this moment. They are updated once for each directory. */
TRANSECT_API transect_status transect_control_progress(const transect_control *control, transect_progress *progress,
                                                       transect_error *error);

/* ---- Options of walks and tables ----------------------------------------------------------------- */

typedef struct transect_options transect_options;

/* Returns the default options. */
TRANSECT_API transect_options *transect_options_new(void);
TRANSECT_API void transect_options_free(transect_options *options);

/* The attributes to query, a sum of TRANSECT_FIELD_...; by default size, allocated and mtime. With 0, a walk has names and
 * types, and takes no system call for each entry. */
TRANSECT_API transect_status transect_options_set_fields(transect_options *options, uint32_t fields,
                                                       transect_error *error);
/* The largest number of threads; 0 (default): one per core, more while devices are slow. With 1, callbacks run on
 * the thread of the caller. */
TRANSECT_API transect_status transect_options_set_threads(transect_options *options, uint32_t threads,
                                                       transect_error *error);
/* Whether a callback may run on several threads at once. By default one call at a time. */
TRANSECT_API transect_status transect_options_set_concurrent(transect_options *options, bool concurrent,
                                                       transect_error *error);
/* Directories at this depth or deeper are not read; the root has depth 0. No limit by default. */
TRANSECT_API transect_status transect_options_set_max_depth(transect_options *options, uint32_t max_depth,
                                                       transect_error *error);
/* Whether to follow symbolic links. Each directory is read once. */
TRANSECT_API transect_status transect_options_set_follow(transect_options *options, bool follow,
                                                       transect_error *error);
/* Whether a walk that follows links reads a directory through each link that leads to it, and not only once. */
TRANSECT_API transect_status transect_options_set_every_link(transect_options *options, bool every_link,
                                                       transect_error *error);
/* Whether to stay on the file system of the root. */
TRANSECT_API transect_status transect_options_set_one_file_system(transect_options *options, bool stay,
                                                       transect_error *error);
/* Whether to read pseudo file systems (/proc, /sys) below a root that is not one. */
TRANSECT_API transect_status transect_options_set_pseudo_file_systems(transect_options *options, bool read,
                                                       transect_error *error);
/* Whether to leave out entries whose names begin with a dot, with everything below them. */
TRANSECT_API transect_status transect_options_set_exclude_hidden(transect_options *options, bool exclude,
                                                       transect_error *error);
/* Whether to apply `.gitignore` files, and leave out `.git`. */
TRANSECT_API transect_status transect_options_set_gitignore(transect_options *options, bool apply,
                                                       transect_error *error);
/* Whether to ignore case in globs, regular expressions and extensions. */
TRANSECT_API transect_status transect_options_set_ignore_case(transect_options *options, bool ignore,
                                                       transect_error *error);

/* The control of walks with these options, which keep what they need of it. */
TRANSECT_API transect_status transect_options_set_control(transect_options *options, const transect_control *control,
                                                       transect_error *error);

/* An entry that was listed, and whose attributes are not queried yet. Valid during the call of the filter. Later
 * versions may add fields at the end. */
typedef struct transect_candidate {
    /* For `transect_candidate_path`. */
    const void *entry;
    /* Ends with a NUL. */
    const char *name;
    size_t name_length;
    /* Steps below the root, which has depth 0. */
    uint32_t depth;
    /* One of TRANSECT_TYPE_... */
    uint32_t type;
} transect_candidate;

/* Returns the path of a candidate: the root as given, then the names below it. 0 for NULL. */
TRANSECT_API size_t transect_candidate_path(const transect_candidate *candidate, char *buffer, size_t capacity);

/* Returns false to leave out an entry, of a directory with everything in it. */
typedef bool (*transect_filter)(void *context, const transect_candidate *candidate);

/* A filter for every entry but the root that the other options leave. A directory that it leaves out is never
 * opened, and the attributes of an entry that it leaves out are not queried, except where the directory does not
 * list types, or links are followed. Runs on any thread of the walk, and on several at once, whatever
 * `transect_options_set_concurrent` says: the context must allow that. */
TRANSECT_API transect_status transect_options_set_filter(transect_options *options, transect_filter filter,
                                                       void *context, transect_error *error);

/* Texts in UTF-8. Several of a kind are alternatives. Entries that do not match are left out; directories are
 * read nevertheless, unless they are excluded. Patterns are checked by the walk that uses them. */

/* "*.h"; with a leading "!", matching entries are excluded with everything below them. */
TRANSECT_API transect_status transect_options_add_glob(transect_options *options, const char *text,
                                                       transect_error *error);
/* Matches anywhere in a name, in the syntax of the Rust crate `regex`. */
TRANSECT_API transect_status transect_options_add_regex(transect_options *options, const char *text,
                                                       transect_error *error);
/* "h" or ".h". */
TRANSECT_API transect_status transect_options_add_extension(transect_options *options, const char *text,
                                                       transect_error *error);

/* ---- Walks --------------------------------------------------------------------------------------- */

/* A directory of a walk, valid as long as the entry that names it. */
typedef struct transect_directory transect_directory;

/* An entry, valid during the callback that receives it, or until the next call for its walker. Later versions may
 * add fields at the end. */
typedef struct transect_entry {
    /* The directory that holds it. The entries of one directory come one after another on one thread,
     * if they fit into one batch (about 64 KiB of names); other directories may come in between on other
     * threads. For the root it is a directory without a name. */
    const transect_directory *directory;
    /* Ends with a NUL; of the root, the path as given. */
    const char *name;
    size_t name_length;
    /* Steps below the root, which has depth 0. */
    uint32_t depth;
    /* 1: the entry is a symbolic link, and `attributes` are those of its target. */
    uint32_t followed;
    transect_attributes attributes;
} transect_entry;

/* What a callback returns. */
enum {
    TRANSECT_CONTINUE = 0,
    /* Do not read this directory. The same as TRANSECT_CONTINUE for other types. */
    TRANSECT_SKIP = 1,
    /* End the walk. No further callback begins. */
    TRANSECT_STOP = 2
};

/* Receives an entry, the directory before what is in it. Returns one of the constants above. */
typedef int32_t (*transect_on_entry)(void *context, const transect_entry *entry);

/* Receives an error that occurred in a tree, with its path. */
typedef void (*transect_on_error)(void *context, const char *path, size_t path_length, const transect_error *error);

typedef struct transect_counts {
    /* Entries delivered to the callback, or in the table; the root included. */
    uint64_t entries;
    /* Errors in the tree. If this is not 0, the result is partial. */
    uint64_t errors;
    /* Entries deleted between listing and reading. */
    uint64_t vanished;
    /* Entries left out, or directories not read, because the options require it. */
    uint64_t skipped;
    /* 1 if a callback returned TRANSECT_STOP. */
    uint64_t stopped;
    /* 1 if `transect_snapshot_update` compared the tree with an earlier snapshot. */
    uint64_t compared;
    /* Zeros, for later versions. */
    uint64_t reserved[3];
} transect_counts;

/* Walks a tree and calls `on_entry` for everything in it, the root included, in no particular order. By
 * default the callbacks run on any thread, one at a time: see `transect_options_set_threads`.
 *
 * After the walk calls `on_error` on the calling thread for the first errors, at most 1000 from each
 * thread, sorted by path; `counts->errors` counts all of them. Writes `counts` even if it fails.
 *
 * `options`, `on_error`, `context` and `counts` may be NULL.
 *
 * Fails if the root cannot be accessed, an option does not fit, or a callback returned something else
 * than the three constants. All threads and directories are closed when it returns. */
TRANSECT_API transect_status transect_walk(const char *path, const transect_options *options,
                                           transect_on_entry on_entry, transect_on_error on_error, void *context,
                                           transect_counts *counts, transect_error *error);

/* A walk of which the caller takes one entry at a time. Only one thread at a time may use it. */
typedef struct transect_walker transect_walker;

/* Prepares a walk of a tree; `options` may be NULL. The first `transect_walk_next` begins to read, on the thread
 * of the caller; a tree that takes longer than half a millisecond is continued by other threads, which wait
 * while the caller is some ten thousand entries behind. `transect_options_set_threads` with 1 starts none. */
TRANSECT_API transect_status transect_walk_open(const char *path, const transect_options *options,
                                                transect_walker **walker, transect_error *error);
/* Writes the next entry, the directory before what is in it. TRANSECT_END after the last one. Fails if the root
 * cannot be accessed; other errors are counted. To skip directories, use `transect_options_set_filter`: the walk is
 * ahead of its caller, so it has often read a directory when the caller sees that one. */
TRANSECT_API transect_status transect_walk_next(transect_walker *walker, transect_entry *entry,
                                                transect_error *error);
/* Writes the counts so far; `vanished` and `skipped` are 0 until the end. */
TRANSECT_API transect_status transect_walk_counts(const transect_walker *walker, transect_counts *counts,
                                                  transect_error *error);
/* Calls `on_error` for the first 1000 errors so far, sorted by path. */
TRANSECT_API transect_status transect_walk_errors(const transect_walker *walker, transect_on_error on_error,
                                                  void *context, transect_error *error);
/* Ends a walk, finished or not, and waits for its threads. */
TRANSECT_API void transect_walk_free(transect_walker *walker);

/* Returns the path of an entry: the root as given, then the names below it. 0 for NULL. */
TRANSECT_API size_t transect_entry_path(const transect_entry *entry, char *buffer, size_t capacity);
/* Returns the path of a directory; empty for the one that holds the root. 0 for NULL. */
TRANSECT_API size_t transect_directory_path(const transect_directory *directory, char *buffer, size_t capacity);

/* ---- Tables -------------------------------------------------------------------------------------- */

/* A tree in memory, with the totals of each directory: some 40 bytes an entry. */
typedef struct transect_table transect_table;

/* An entry of a table. The entries of a directory have consecutive numbers, sorted by the bytes of their
 * names. */
typedef uint32_t transect_row;

#define TRANSECT_NO_ROW UINT32_MAX

/* The totals of an entry and everything below it. A file with several names counts once, at one of
 * them, so the totals of siblings can be added. */
typedef struct transect_totals {
    /* Regular files: names, not inodes. */
    uint64_t files;
    uint64_t directories;
    uint64_t others;
    /* Lengths of everything but directories, in bytes. */
    uint64_t apparent;
    /* Bytes occupied by everything, directories included. */
    uint64_t disk_usage;
    /* Bytes that removing it would free: without files that have more names elsewhere. */
    uint64_t exclusive;
    /* Errors in and below it. With errors, it may hold more than these totals. */
    uint64_t errors;
    /* The newest change of any content; INT64_MIN if unknown. */
    int64_t newest;
    /* 1 for a directory that was not read, or not completely: an error, or an option. */
    uint64_t unread;
    /* Zeros, for later versions. */
    uint64_t reserved[4];
} transect_totals;

/* Reads a tree. `options` may be NULL. Fails if the root cannot be accessed; other errors are counted. If
 * filters leave out a directory that leads to other entries, it is in the table, but not in totals. */
TRANSECT_API transect_status transect_table_read(const char *path, const transect_options *options,
                                                 transect_table **table, transect_error *error);
TRANSECT_API void transect_table_free(transect_table *table);
TRANSECT_API transect_status transect_table_counts(const transect_table *table, transect_counts *counts,
                                                   transect_error *error);
/* Calls `on_error` for the first errors, as `transect_walk` does. */
TRANSECT_API transect_status transect_table_errors(const transect_table *table, transect_on_error on_error,
                                                   void *context, transect_error *error);

/* These return TRANSECT_NO_ROW if there is none, and for rows that the table does not have. */

/* Returns the root. */
TRANSECT_API transect_row transect_table_root(const transect_table *table);
/* Returns the directory that holds an entry; none for the root. */
TRANSECT_API transect_row transect_table_parent(const transect_table *table, transect_row row);
/* Returns the entry of a directory with this name. */
TRANSECT_API transect_row transect_table_child(const transect_table *table, transect_row directory, const char *name);
/* Returns the first entry of a directory; the others follow it in number. Writes how many there are, 0 if
 * it is not a directory or was not read. */
TRANSECT_API transect_row transect_table_children(const transect_table *table, transect_row directory,
                                                  uint32_t *count);
/* Returns the entry after `row` in and below `top`, a directory before its entries, siblings by name:
 *
 *     for (row = top; row != TRANSECT_NO_ROW; row = transect_table_next(table, top, row)) */
TRANSECT_API transect_row transect_table_next(const transect_table *table, transect_row top, transect_row row);

/* Return the length of the name or path; 0 for rows that the table does not have. */
TRANSECT_API size_t transect_table_name(const transect_table *table, transect_row row, char *buffer,
                                        size_t capacity);
TRANSECT_API size_t transect_table_path(const transect_table *table, transect_row row, char *buffer,
                                        size_t capacity);

TRANSECT_API transect_status transect_table_attributes(const transect_table *table, transect_row row,
                                                       transect_attributes *attributes, transect_error *error);
TRANSECT_API transect_status transect_table_totals(const transect_table *table, transect_row row,
                                                   transect_totals *totals, transect_error *error);

/* ---- Snapshots ----------------------------------------------------------------------------------- */

/* What happened to an entry. Later versions may add more. */
enum {
    /* It is new, with everything below it: nothing below it is a change of its own. */
    TRANSECT_CHANGE_ADDED = 0,
    /* It is gone, with everything below it. */
    TRANSECT_CHANGE_REMOVED = 1,
    /* Its attributes changed. */
    TRANSECT_CHANGE_MODIFIED = 2,
    /* It has another path; everything below it moved with it. Found if both trees have TRANSECT_FIELD_INODE,
     * TRANSECT_FIELD_DEVICE and TRANSECT_FIELD_MTIME or _BTIME; otherwise it is removed and added. */
    TRANSECT_CHANGE_RENAMED = 3,
    /* Another type of entry has its name. */
    TRANSECT_CHANGE_TYPE_CHANGED = 4,
    /* A directory could be read before, and not this time: what was in it may still exist. */
    TRANSECT_CHANGE_UNREADABLE = 5,
    /* A directory could not be read before: what is in it may have existed. */
    TRANSECT_CHANGE_READABLE = 6
};

/* A change, valid during the callback that receives it. Later versions may add fields at the end. */
typedef struct transect_change {
    /* One of TRANSECT_CHANGE_... */
    uint32_t kind;
    /* 1: a directory was modified only because its entries changed: its size, times or number of links. */
    uint32_t consequence;
    /* The absolute path; before the change if the entry is gone. Ends with a NUL. */
    const char *path;
    size_t path_length;
    /* The path before the change if it was another one, otherwise NULL. */
    const char *from;
    size_t from_length;
} transect_change;

/* Receives a change. */
typedef void (*transect_on_change)(void *context, const transect_change *change);

/* Reads a tree, compares it with the snapshot of it in the file `snapshot`, calls `on_change` for what changed, and
 * replaces the snapshot. If the file does not exist, there is nothing to compare with, `counts->compared` is 0, and
 * the file is created. It is a Parquet file that the program `transect` reads, too.
 *
 * Compared are types and those requested attributes that both trees have: of TRANSECT_FIELD_SIZE, _MTIME, _MODE, _UID,
 * _GID, _NLINK, _ATTRIBUTE_BITS and _REPARSE_TAG. Use the same options for each call: what a filter leaves out
 * is removed, and a snapshot of another tree is compared like one of this tree. If the snapshot lies inside
 * the tree, it is among the changes.
 *
 * The callbacks run on the calling thread after the walk, sorted by path. If one of them calls
 * `transect_control_cancel`, the others still follow, the snapshot stays as it was, and the function returns
 * TRANSECT_CANCELLED.
 *
 * Replaces the snapshot at once and only if everything succeeded; after a failure, the next call finds the same changes
 * again. Errors inside the tree are counted: `counts->errors`. `options`, `context` and `counts` may be NULL.
 *
 * Fails if the root cannot be accessed, if the file is not a snapshot (TRANSECT_INVALID_DATA), or if it cannot be
 * read or replaced. */
TRANSECT_API transect_status transect_snapshot_update(const char *snapshot, const char *path,
                                                      const transect_options *options,
                                                      transect_on_change on_change, void *context,
                                                      transect_counts *counts, transect_error *error);

/* ---- Watching ------------------------------------------------------------------------------------- */

/* A tree that is followed: it was read once, and its directories are watched. docs/LIVE.md lists the changes that are
 * noticed. Linux and Windows. Only one thread at a time may use it, except for `transect_watch_end`. */
typedef struct transect_watch transect_watch;

/* The counters of a watched tree. */
typedef struct transect_watch_counts {
    /* Entries, the root included. */
    uint64_t entries;
    /* Directories that could be read, but not watched: changes in them are not noticed. The system limits the number of
     * watches of a user (`sysctl fs.inotify.max_user_watches`). */
    uint64_t unwatched;
    /* Errors in the tree: as a rule, directories that cannot be opened. */
    uint64_t errors;
    /* How often the system lost notifications. Then the tree was compared, and only what was created and removed in
     * between was not reported. */
    uint64_t gaps;
    /* Zeros, for later versions. */
    uint64_t reserved[4];
} transect_watch_counts;

/* Reads a tree, and watches it. Every change after the call is reported, unless it is undone before it is looked at.
 * Fails if the root is not a directory or cannot be read; TRANSECT_UNSUPPORTED if the system offers no notifications. */
TRANSECT_API transect_status transect_watch_open(const char *path, transect_watch **watch, transect_error *error);
/* Waits until something changed, and calls `on_change` on this thread for what changed: `kind` is
 * TRANSECT_CHANGE_ADDED (a change for each new entry), _REMOVED, _MODIFIED or _RENAMED (a directory). In this order, the
 * changes lead from the names before to those of now. TRANSECT_END once the root is not at its path any more;
 * TRANSECT_CANCELLED after `transect_watch_end`. */
TRANSECT_API transect_status transect_watch_next(const transect_watch *watch, transect_on_change on_change,
                                                 void *context, transect_error *error);
/* Makes `transect_watch_next` return TRANSECT_CANCELLED, also one that waits on another thread. */
TRANSECT_API void transect_watch_end(const transect_watch *watch);
/* Writes the counters. */
TRANSECT_API transect_status transect_watch_read_counts(const transect_watch *watch, transect_watch_counts *counts,
                                                        transect_error *error);
TRANSECT_API void transect_watch_free(transect_watch *watch);

/* ---- The attribute cache ------------------------------------------------------------------------- */

/* Attributes of files, queried once and then answered from memory. docs/CACHE.md lists the changes that
 * each level detects. */
typedef struct transect_cache transect_cache;

enum {
    /* Nothing is queried twice, and changes are not seen until `transect_cache_clear`. */
    TRANSECT_LEVEL_FROZEN = 0,
    /* A listing is used while its directory is unchanged; attributes are always queried. */
    TRANSECT_LEVEL_CHECKED = 1,
    /* Nothing is cached. For comparison. */
    TRANSECT_LEVEL_VERIFIED = 3
};

typedef struct transect_cache_options transect_cache_options;

/* Returns the default options. */
TRANSECT_API transect_cache_options *transect_cache_options_new(void);
TRANSECT_API void transect_cache_options_free(transect_cache_options *options);

/* The attributes to cache, a sum of TRANSECT_FIELD_...; by default mode, size, mtime, ctime, inode and device. */
TRANSECT_API transect_status transect_cache_options_set_fields(transect_cache_options *options, uint32_t fields,
                                                               transect_error *error);
/* The memory limit in bytes. No limit by default. */
TRANSECT_API transect_status transect_cache_options_set_memory(transect_cache_options *options, size_t bytes,
                                                               transect_error *error);
/* The directory that relative paths refer to, an absolute path. Without it, they are refused. */
TRANSECT_API transect_status transect_cache_options_set_base(transect_cache_options *options, const char *path,
                                                             transect_error *error);
/* A directory below which lookups are allowed, an absolute path. Several are alternatives. Everywhere by
 * default. */
TRANSECT_API transect_status transect_cache_options_add_root(transect_cache_options *options, const char *path,
                                                             transect_error *error);

/* Opens an empty cache of a level, TRANSECT_LEVEL_... `options` may be NULL, and may be freed afterwards. */
TRANSECT_API transect_status transect_cache_open(int32_t level, const transect_cache_options *options,
                                                 transect_cache **cache, transect_error *error);
TRANSECT_API void transect_cache_free(transect_cache *cache);

/* Returns the attributes of a path, links followed, as `stat` does. Errors are cached, too: a missing
 * file is TRANSECT_NOT_FOUND or TRANSECT_NOT_A_DIRECTORY, and stays so as long as the level promises.
 * Pass NULL as `error` where a miss is normal: no message is made then. */
TRANSECT_API transect_status transect_cache_get(transect_cache *cache, const char *path,
                                                transect_attributes *attributes, transect_error *error);
/* The same, the last link not followed, as `lstat` does. */
TRANSECT_API transect_status transect_cache_get_link(transect_cache *cache, const char *path,
                                                     transect_attributes *attributes, transect_error *error);
/* Returns TRANSECT_OK if a path exists, and the error of a lookup otherwise. Cheaper than
 * `transect_cache_get`: a listing is enough. */
TRANSECT_API transect_status transect_cache_exists(transect_cache *cache, const char *path, transect_error *error);

/* The answer to one of many lookups. */
typedef struct transect_lookup {
    transect_status status;
    int32_t os_error;
    /* Zeros unless `status` is TRANSECT_OK. */
    transect_attributes attributes;
} transect_lookup;

/* Looks up `count` paths, and writes as many answers. Fast if paths of one directory come one after
 * another. At level checked, each directory is checked once. Fails only if an argument is invalid. */
TRANSECT_API transect_status transect_cache_get_many(transect_cache *cache, const char *const *paths, size_t count,
                                                     transect_lookup *answers, transect_error *error);
TRANSECT_API transect_status transect_cache_get_many_links(transect_cache *cache, const char *const *paths,
                                                           size_t count, transect_lookup *answers,
                                                           transect_error *error);

/* Switches to level frozen until `transect_cache_thaw`: for the time of a build or of loading a project. */
TRANSECT_API transect_status transect_cache_freeze(transect_cache *cache, transect_error *error);
/* Ends what `transect_cache_freeze` began. At level frozen, both do nothing. */
TRANSECT_API transect_status transect_cache_thaw(transect_cache *cache, transect_error *error);
/* Drops a path, and everything below it. */
TRANSECT_API transect_status transect_cache_invalidate(transect_cache *cache, const char *path,
                                                       transect_error *error);
/* Drops everything. */
TRANSECT_API transect_status transect_cache_clear(transect_cache *cache, transect_error *error);

/* The counters of a cache since it was opened. */
typedef struct transect_cache_counts {
    /* Lookups answered from memory. */
    uint64_t hits;
    /* Lookups that needed a query. */
    uint64_t misses;
    /* Directories listed. */
    uint64_t listings;
    /* Queries of one name. */
    uint64_t queries;
    /* Queries whether a listing is still valid. */
    uint64_t checks;
    /* Names and directories dropped because of a change. */
    uint64_t invalidations;
    /* Directories evicted to stay within the memory limit. */
    uint64_t evictions;
    /* Directories and names cached now. */
    uint64_t directories;
    uint64_t names;
    /* Bytes used now. */
    uint64_t memory;
    /* Zeros, for later versions. */
    uint64_t reserved[4];
} transect_cache_counts;

TRANSECT_API transect_status transect_cache_read_counts(const transect_cache *cache, transect_cache_counts *counts,
                                                        transect_error *error);

/* Directories to search in their order: include paths, library paths. Keeps its cache open, even if that
 * was freed. */
typedef struct transect_search transect_search;

/* Where a name was found. */
typedef struct transect_found {
    /* The index of the directory. */
    size_t index;
    /* The length of the path. */
    size_t path_length;
    /* Of the path, links followed. */
    transect_attributes attributes;
} transect_found;

TRANSECT_API transect_status transect_search_new(transect_cache *cache, const char *const *directories, size_t count,
                                                 transect_search **search, transect_error *error);
TRANSECT_API void transect_search_free(transect_search *search);
/* Finds the first directory that contains a name which is not a directory, as compilers search for
 * headers, and writes the path into `buffer`. The name may have several components. Returns
 * TRANSECT_NOT_FOUND if none contains it. `found` may be NULL. */
TRANSECT_API transect_status transect_search_find(const transect_search *search, const char *name, char *buffer,
                                                  size_t capacity, transect_found *found, transect_error *error);

#ifdef __cplusplus
}
#endif

#endif

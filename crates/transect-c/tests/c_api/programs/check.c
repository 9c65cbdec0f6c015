/* Calls every function, with good and bad arguments: check TREE
 *
 * The tree is that of `tests/c_api/compiled.rs`. Prints "checked" at the end; a line and exit code 1 at
 * the first thing that is not as expected. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>
#endif

#include <transect.h>

#define EXPECT(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "line %d: not as expected: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

/* A call that must succeed. */
#define OK(call) \
    do { \
        if ((call) != TRANSECT_OK) { \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, error.message); \
            exit(1); \
        } \
    } while (0)

static transect_error error;
static const char *root;
static transect_options *sizes;

static const char *below_root(const char *path) {
    static char buffers[4][4096];
    static int next;
    char *buffer = buffers[next++ % 4];
    EXPECT((size_t)snprintf(buffer, 4096, "%s/%s", root, path) < 4096);
    return buffer;
}

/* ---- Walks */

struct seen {
    uint64_t entries, files, bytes, errors, inside, flags;
    char skip[16], stop[16];
    char last_error[1024];
#ifdef __linux__
    pthread_t caller;
#endif
};

static int32_t on_entry(void *context, const transect_entry *entry) {
    struct seen *seen = context;
    char path[4096], directory[4096];
    size_t length;

    /* Holds only if calls do not overlap. */
    EXPECT(seen->inside++ == 0);
    seen->entries++;
    EXPECT(strlen(entry->name) == entry->name_length);
    length = transect_entry_path(entry, path, sizeof path);
    EXPECT(length == strlen(path) && length >= entry->name_length);
    EXPECT(strcmp(path + length - entry->name_length, entry->name) == 0);
    EXPECT(transect_entry_path(entry, path, length) == length && path[0] == '\0');
    EXPECT(transect_directory_path(entry->directory, directory, sizeof directory) == strlen(directory));
    EXPECT((directory[0] == '\0') == (entry->depth == 0));
    if (entry->attributes.type == TRANSECT_TYPE_FILE) {
        seen->files++;
        EXPECT(entry->attributes.known & TRANSECT_FIELD_SIZE);
        seen->bytes += entry->attributes.size;
    }
    if (seen->skip[0] == '/') {
        /* A walk inside of a walk. */
        struct seen inner = {0};
        seen->skip[0] = '\0';
        OK(transect_walk(root, sizes, on_entry, NULL, &inner, NULL, &error));
        EXPECT(inner.entries > 5);
        EXPECT(strcmp(entry->name + strlen(entry->name), "") == 0);
    }
    seen->inside--;
    if (strcmp(entry->name, seen->stop) == 0) {
        return TRANSECT_STOP;
    }
    return strcmp(entry->name, seen->skip) == 0 ? TRANSECT_SKIP : TRANSECT_CONTINUE;
}

static int32_t on_entry_wrong(void *context, const transect_entry *entry) {
    (void)entry;
    ++*(int *)context;
    return 17;
}

#ifdef __linux__
static int32_t on_same_thread(void *context, const transect_entry *entry) {
    struct seen *seen = context;
    (void)entry;
    seen->entries++;
    EXPECT(pthread_equal(pthread_self(), seen->caller));
    return TRANSECT_CONTINUE;
}
#endif

static void on_error(void *context, const char *path, size_t length, const transect_error *failed) {
    struct seen *seen = context;
    seen->errors++;
    EXPECT(strlen(path) == length && strstr(failed->message, path) != NULL);
    EXPECT(failed->status != TRANSECT_OK && failed->os_error != 0);
    strcpy(seen->last_error, transect_status_name(failed->status));
}

static transect_options *all_sizes(void) {
    transect_options *options = transect_options_new();
    OK(transect_options_set_fields(options, TRANSECT_FIELD_SIZE | TRANSECT_FIELD_INODE, &error));
    return options;
}

static void check_walks(void) {
    transect_options *options = all_sizes();
    transect_counts counts;
    struct seen seen = {0};
    int calls = 0;

    OK(transect_walk(root, options, on_entry, on_error, &seen, &counts, &error));
    EXPECT(seen.files == 5 && seen.bytes == 3 + 5 + 7 + 1);
    EXPECT(counts.entries == seen.entries && seen.entries == 5 + 4 && counts.errors == 0 && seen.errors == 0);
    EXPECT(counts.stopped == 0 && counts.skipped == 0 && counts.vanished == 0 && counts.reserved[2] == 0);

    memset(&seen, 0, sizeof seen);
    strcpy(seen.skip, "b");
    OK(transect_walk(root, options, on_entry, NULL, &seen, NULL, &error));
    EXPECT(seen.files == 3 && seen.entries == 3 + 3);

    memset(&seen, 0, sizeof seen);
    strcpy(seen.stop, "a");
    OK(transect_walk(root, options, on_entry, NULL, &seen, &counts, &error));
    EXPECT(counts.stopped == 1 && counts.entries == seen.entries && seen.entries < 9);

    memset(&seen, 0, sizeof seen);
    strcpy(seen.skip, "/");
    OK(transect_walk(root, options, on_entry, NULL, &seen, NULL, &error));
    EXPECT(seen.entries == 9);

    OK(transect_options_add_glob(options, "*.h", &error));
    memset(&seen, 0, sizeof seen);
    OK(transect_walk(root, options, on_entry, NULL, &seen, NULL, &error));
    EXPECT(seen.files == 2 && seen.entries == 2);
    transect_options_free(options);

    options = all_sizes();
    OK(transect_options_set_max_depth(options, 1, &error));
    OK(transect_options_set_exclude_hidden(options, 1, &error));
    OK(transect_options_set_follow(options, 1, &error));
    OK(transect_options_set_every_link(options, 0, &error));
    OK(transect_options_set_one_file_system(options, 1, &error));
    OK(transect_options_set_pseudo_file_systems(options, 0, &error));
    OK(transect_options_set_ignore_case(options, true, &error));
    OK(transect_options_set_concurrent(options, false, &error));
    memset(&seen, 0, sizeof seen);
    OK(transect_walk(root, options, on_entry, NULL, &seen, &counts, &error));
    EXPECT(seen.files == 0 && seen.entries == 3 && counts.skipped >= 2);

    /* What cannot be. */
    EXPECT(transect_walk(NULL, NULL, on_entry, NULL, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "path is NULL") == 0 && error.status == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_walk(root, NULL, NULL, NULL, NULL, NULL, NULL) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_walk(root, NULL, on_entry_wrong, NULL, &calls, &counts, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(calls == 1 && counts.entries == 1 && strstr(error.message, "on_entry") != NULL);
    EXPECT(transect_walk(below_root("none"), NULL, on_entry, NULL, &seen, &counts, &error) == TRANSECT_NOT_FOUND);
    EXPECT(error.os_error == 2 && strstr(error.message, "none") != NULL && counts.errors == 1);
    EXPECT(transect_options_set_follow(NULL, 1, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_options_set_fields(options, 0x8000, NULL) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_options_set_fields(options, 0x10200, NULL) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_options_add_glob(options, NULL, NULL) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_options_add_glob(options, "\xff", &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "text is not UTF-8") == 0);
    OK(transect_options_add_extension(options, "h", &error));
    OK(transect_options_add_regex(options, "[", &error));
    EXPECT(transect_walk(root, options, on_entry, NULL, &seen, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strstr(error.message, "'['") != NULL);
    EXPECT(transect_entry_path(NULL, NULL, 0) == 0 && transect_directory_path(NULL, NULL, 0) == 0);
    transect_options_free(options);
    transect_options_free(NULL);
}

static void check_walkers(void) {
    transect_options *options = all_sizes();
    transect_walker *walker;
    transect_entry entry;
    transect_counts counts;
    transect_status status;
    struct seen seen = {0};

    OK(transect_walk_open(root, options, &walker, &error));
    while ((status = transect_walk_next(walker, &entry, &error)) == TRANSECT_OK) {
        on_entry(&seen, &entry);
    }
    EXPECT(status == TRANSECT_END && transect_walk_next(walker, &entry, &error) == TRANSECT_END);
    OK(transect_walk_counts(walker, &counts, &error));
    EXPECT(seen.files == 5 && seen.bytes == 3 + 5 + 7 + 1 && seen.entries == 9);
    EXPECT(counts.entries == 9 && counts.errors == 0 && counts.stopped == 0);
    transect_walk_free(walker);

    /* Threads read a large tree; it is left early, then read to its end. */
    OK(transect_walk_open(below_root("../large"), options, &walker, &error));
    OK(transect_walk_next(walker, &entry, &error));
    EXPECT(entry.depth == 0);
    transect_walk_free(walker);
    OK(transect_walk_open(below_root("../large"), NULL, &walker, &error));
    for (seen.entries = 0; transect_walk_next(walker, &entry, &error) == TRANSECT_OK; seen.entries++) {
        EXPECT(entry.attributes.known & TRANSECT_FIELD_ALLOCATED);
    }
    EXPECT(seen.entries == 1 + 50 + 1500 + 1500);
    transect_walk_free(walker);

#ifdef __linux__
    OK(transect_options_set_gitignore(options, 1, &error));
    OK(transect_walk_open(below_root("../errors"), options, &walker, &error));
    while (transect_walk_next(walker, &entry, &error) == TRANSECT_OK) {
    }
    OK(transect_walk_counts(walker, &counts, &error));
    OK(transect_walk_errors(walker, on_error, &seen, &error));
    EXPECT(counts.errors == 1 && seen.errors == 1 && strcmp(seen.last_error, "loop") == 0);
    transect_walk_free(walker);
#endif
    OK(transect_walk_open(below_root("none"), options, &walker, &error));
    EXPECT(transect_walk_next(walker, &entry, &error) == TRANSECT_NOT_FOUND && error.os_error == 2);
    EXPECT(transect_walk_next(walker, &entry, &error) == TRANSECT_END);
    EXPECT(transect_walk_next(walker, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_walk_counts(walker, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_walk_errors(walker, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    transect_walk_free(walker);
    EXPECT(transect_walk_next(NULL, &entry, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_walk_open(NULL, NULL, &walker, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_walk_open(root, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    transect_walk_free(NULL);
    transect_options_free(options);
}

/* ---- Filters and controls */

struct chosen {
    const char *left_out;
    transect_control *cancelled;
};

static bool choose(void *context, const transect_candidate *candidate) {
    const struct chosen *chosen = context;
    char path[4096];
    size_t length = transect_candidate_path(candidate, path, sizeof path);
    EXPECT(length == strlen(path) && strncmp(path, root, strlen(root)) == 0);
    EXPECT(strlen(candidate->name) == candidate->name_length);
    EXPECT(strcmp(path + length - candidate->name_length, candidate->name) == 0);
    EXPECT(candidate->depth > 0 && candidate->type != TRANSECT_TYPE_UNKNOWN);
    transect_control_cancel(chosen->cancelled);
    return strcmp(candidate->name, chosen->left_out) != 0;
}

static void check_filters_and_controls(void) {
    transect_options *options = all_sizes();
    transect_control *control = transect_control_new();
    transect_progress progress;
    transect_counts counts;
    transect_table *table;
    transect_walker *walker;
    transect_entry entry;
    struct chosen chosen = {"b", NULL};
    struct seen seen = {0};
    uint64_t entries = 0;

    OK(transect_options_set_filter(options, choose, &chosen, &error));
    OK(transect_options_set_control(options, control, &error));
    OK(transect_walk(root, options, on_entry, NULL, &seen, NULL, &error));
    EXPECT(seen.entries == 5 && seen.files == 3);
    OK(transect_control_progress(control, &progress, &error));
    EXPECT(progress.entries == 5 && progress.directories == 2 && progress.bytes == 0 && progress.errors == 0);
    EXPECT(progress.reserved[3] == 0);
    OK(transect_table_read(root, options, &table, &error));
    OK(transect_table_counts(table, &counts, &error));
    EXPECT(counts.entries == 5 && transect_table_child(table, transect_table_root(table), "b") == TRANSECT_NO_ROW);
    transect_table_free(table);
    OK(transect_control_progress(control, &progress, &error));
    EXPECT(progress.entries == 10 && progress.directories == 4);
    OK(transect_walk_open(root, options, &walker, &error));
    for (; transect_walk_next(walker, &entry, &error) == TRANSECT_OK; entries++) {
        EXPECT(strcmp(entry.name, "b") != 0 && strcmp(entry.name, "deep") != 0);
    }
    EXPECT(entries == 5);
    transect_walk_free(walker);

    /* Cancelled inside of a walk, and before it begins. The options outlive their control. */
    OK(transect_walk_open(root, options, &walker, &error));
    OK(transect_walk_next(walker, &entry, &error));
    transect_control_cancel(control);
    EXPECT(transect_walk_next(walker, &entry, &error) == TRANSECT_CANCELLED);
    EXPECT(strcmp(error.message, "the walk was cancelled") == 0);
    transect_walk_free(walker);
    transect_control_free(control);
    memset(&seen, 0, sizeof seen);
    EXPECT(transect_walk(root, options, on_entry, NULL, &seen, &counts, &error) == TRANSECT_CANCELLED);
    EXPECT(counts.entries == seen.entries && seen.entries < 5);
    EXPECT(transect_table_read(root, options, &table, &error) == TRANSECT_CANCELLED);

    control = chosen.cancelled = transect_control_new();
    OK(transect_options_set_control(options, control, &error));
    EXPECT(transect_table_read(below_root("../tree"), options, &table, &error) == TRANSECT_CANCELLED);
    OK(transect_control_progress(control, &progress, &error));
    EXPECT(progress.directories <= 1);
    transect_control_free(control);

    EXPECT(transect_options_set_filter(options, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_options_set_control(options, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_control_progress(NULL, &progress, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_candidate_path(NULL, NULL, 0) == 0);
    transect_control_cancel(NULL);
    transect_control_free(NULL);
    transect_options_free(options);
}

#ifdef __linux__
/* Returns how many names a directory has. */
static int count_names(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    EXPECT(directory != NULL);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static void check_threads_and_descriptors(void) {
    transect_options *options = all_sizes();
    struct seen seen = {0};
    char errors[4096];
    int round, descriptors = count_names("/proc/self/fd");
    transect_counts counts;

    /* Threads of a walk have returned when it ends, but the kernel may list them a moment longer. */
    for (round = 0; round < 20; round++) {
        memset(&seen, 0, sizeof seen);
        strcpy(seen.stop, round % 2 == 0 ? "four" : "1499");
        OK(transect_walk(below_root(".."), sizes, on_entry, NULL, &seen, &counts, &error));
        EXPECT(counts.stopped == 1);
        EXPECT(count_names("/proc/self/fd") == descriptors);
    }
    while (count_names("/proc/self/task") != 3) {
        usleep(1000);
    }

    OK(transect_options_set_threads(options, 1, &error));
    memset(&seen, 0, sizeof seen);
    seen.caller = pthread_self();
    OK(transect_walk(below_root(".."), options, on_same_thread, NULL, &seen, NULL, &error));
    EXPECT(seen.entries > 3000);

    /* An error in the tree. */
    OK(transect_options_set_gitignore(options, 1, &error));
    memset(&seen, 0, sizeof seen);
    EXPECT((size_t)snprintf(errors, sizeof errors, "%s/../errors", root) < sizeof errors);
    OK(transect_walk(errors, options, on_entry, on_error, &seen, &counts, &error));
    EXPECT(counts.errors == 1 && seen.errors == 1 && strcmp(seen.last_error, "loop") == 0);
    transect_options_free(options);
}
#endif

/* ---- Tables */

static void check_tables(void) {
    transect_table *table;
    transect_options *options;
    transect_counts counts;
    transect_totals totals;
    transect_attributes attributes;
    transect_row top, row, a, first;
    uint32_t count;
    char text[4096];
    uint64_t entries = 0;
    struct seen seen = {0};

    OK(transect_table_read(root, NULL, &table, &error));
    OK(transect_table_counts(table, &counts, &error));
    EXPECT(counts.entries == 9 && counts.errors == 0);
    OK(transect_table_errors(table, on_error, &seen, &error));
    EXPECT(seen.errors == 0);
    top = transect_table_root(table);
    OK(transect_table_totals(table, top, &totals, &error));
    EXPECT(totals.files == 5 && totals.directories == 4 && totals.others == 0 && totals.apparent == 16);
    EXPECT(totals.unread == 0 && totals.errors == 0 && totals.newest > 1600000000000000000);
    EXPECT(totals.exclusive == totals.disk_usage);

    for (row = top; row != TRANSECT_NO_ROW; row = transect_table_next(table, top, row)) {
        size_t length = transect_table_path(table, row, text, sizeof text);
        EXPECT(length == strlen(text) && length > 0);
        EXPECT((transect_table_parent(table, row) == TRANSECT_NO_ROW) == (row == top));
        entries++;
    }
    EXPECT(entries == counts.entries);
    a = transect_table_child(table, top, "a");
    EXPECT(transect_table_name(table, a, text, sizeof text) == 1 && strcmp(text, "a") == 0);
    EXPECT(transect_table_next(table, a, a) == transect_table_child(table, a, "one.h"));
    EXPECT(transect_table_next(table, a, transect_table_child(table, a, "two.c")) == TRANSECT_NO_ROW);
    OK(transect_table_attributes(table, transect_table_child(table, a, "two.c"), &attributes, &error));
    EXPECT(attributes.type == TRANSECT_TYPE_FILE && attributes.size == 5 && attributes.inode == 0);
    EXPECT(attributes.known == (TRANSECT_FIELD_SIZE | TRANSECT_FIELD_ALLOCATED | TRANSECT_FIELD_MTIME));
    first = transect_table_children(table, a, &count);
    EXPECT(count == 2 && first == transect_table_child(table, a, "one.h"));
    EXPECT(transect_table_children(table, first, &count) == TRANSECT_NO_ROW && count == 0);
    EXPECT(transect_table_children(table, top, NULL) == transect_table_child(table, top, ".hidden"));

    EXPECT(transect_table_child(table, top, "c") == TRANSECT_NO_ROW);
    EXPECT(transect_table_child(table, top, NULL) == TRANSECT_NO_ROW);
    EXPECT(transect_table_parent(table, 9) == TRANSECT_NO_ROW);
    EXPECT(transect_table_parent(table, TRANSECT_NO_ROW) == TRANSECT_NO_ROW);
    EXPECT(transect_table_next(table, 70000, top) == TRANSECT_NO_ROW);
    EXPECT(transect_table_name(table, 9, text, sizeof text) == 0 && text[0] == '\0');
    EXPECT(transect_table_totals(table, 9, &totals, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "there is no row 9") == 0);
    EXPECT(transect_table_attributes(table, top, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    transect_table_free(table);

    /* With a filter, directories that lead to entries stay, and are not counted. */
    options = transect_options_new();
    OK(transect_options_add_glob(options, "*.h", &error));
    OK(transect_options_set_fields(options, TRANSECT_FIELD_INODE, &error));
    OK(transect_table_read(root, options, &table, &error));
    transect_options_free(options);
    top = transect_table_root(table);
    OK(transect_table_totals(table, top, &totals, &error));
    for (entries = 0, row = top; row != TRANSECT_NO_ROW; row = transect_table_next(table, top, row)) {
        entries++;
    }
    EXPECT(entries == 2 + 4 && totals.directories == 0);
    EXPECT(totals.files == 2 && totals.apparent == 3 + 7);
    transect_table_free(table);

    EXPECT(transect_table_root(NULL) == TRANSECT_NO_ROW && transect_table_path(NULL, 0, NULL, 0) == 0);
    EXPECT(transect_table_counts(NULL, &counts, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_table_errors(NULL, on_error, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_table_read(root, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_table_read(below_root("none"), NULL, &table, &error) == TRANSECT_NOT_FOUND);
    transect_table_free(NULL);
}

/* ---- Snapshots */

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

struct changes {
    int count;
    transect_control *cancelled;
    char last[8][4200], from[4200];
};

static void on_change(void *context, const transect_change *change) {
    struct changes *changes = context;
    EXPECT(change->path_length == strlen(change->path) && strlen(change->path) < 4096);
    EXPECT(change->from == NULL ? change->from_length == 0 : change->from_length == strlen(change->from));
    EXPECT(change->consequence <= 1);
    if (!change->consequence) {
        snprintf(changes->last[changes->count++ % 8], 4200, "%d %s", (int)change->kind, change->path);
    }
    if (change->from != NULL) {
        snprintf(changes->from, sizeof changes->from, "%s", change->from);
    }
    transect_control_cancel(changes->cancelled);
}

/* Returns whether a change is of a kind, at a path that ends like this. */
static int is_change(const char *text, int kind, const char *end) {
    size_t length = strlen(text);
    return text[0] == '0' + kind && length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static void check_snapshots(void) {
    char file[4096], invalid[4096], moved[4096];
    transect_options *options = transect_options_new();
    transect_control *control = transect_control_new();
    transect_counts counts;
    static struct changes changes;

    strcpy(file, below_root("../snapshot"));
    strcpy(invalid, below_root("../not-a-snapshot"));
    strcpy(moved, below_root("a/two.c"));
    OK(transect_snapshot_update(file, root, NULL, on_change, &changes, &counts, &error));
    EXPECT(counts.compared == 0 && counts.entries == 9 && counts.errors == 0 && changes.count == 0);
    OK(transect_snapshot_update(file, root, NULL, on_change, &changes, &counts, &error));
    EXPECT(counts.compared == 1 && counts.entries == 9 && changes.count == 0);
    write_file(below_root("a/new"), "1");
    write_file(below_root("b/four"), "longer");

    /* Cancelled by the callback, and before the walk: the snapshot stays as it was. */
    OK(transect_options_set_control(options, control, &error));
    changes.cancelled = control;
    EXPECT(transect_snapshot_update(file, root, options, on_change, &changes, NULL, &error) == TRANSECT_CANCELLED);
    EXPECT(changes.count == 2);
    EXPECT(transect_snapshot_update(file, root, options, on_change, &changes, NULL, &error) == TRANSECT_CANCELLED);
    transect_control_free(control);
    memset(&changes, 0, sizeof changes);
    OK(transect_snapshot_update(file, root, NULL, on_change, &changes, NULL, &error));
    EXPECT(changes.count == 2 && is_change(changes.last[0], TRANSECT_CHANGE_ADDED, "new"));
    EXPECT(is_change(changes.last[1], TRANSECT_CHANGE_MODIFIED, "four"));
    EXPECT(remove(below_root("a/new")) == 0);
    write_file(below_root("b/four"), "");
    OK(transect_snapshot_update(file, root, NULL, on_change, &changes, NULL, NULL));
    EXPECT(changes.count == 4 && is_change(changes.last[2], TRANSECT_CHANGE_REMOVED, "new"));

    /* Neither a file that is not a snapshot nor one that cannot be written is replaced. */
    write_file(invalid, "text");
    EXPECT(transect_snapshot_update(invalid, root, NULL, on_change, &changes, NULL, &error) == TRANSECT_INVALID_DATA);
    EXPECT(error.os_error == 0 && strstr(error.message, "not a snapshot: ") != NULL);
    write_file(invalid, "");
    EXPECT(transect_snapshot_update(invalid, root, NULL, on_change, &changes, NULL, &error) == TRANSECT_INVALID_DATA);
    EXPECT(transect_snapshot_update(below_root("../none/s"), root, NULL, on_change, &changes, NULL, &error)
           == TRANSECT_NOT_FOUND);
    EXPECT(error.os_error != 0 && strstr(error.message, "none") != NULL);
    EXPECT(transect_snapshot_update(root, root, NULL, on_change, &changes, NULL, &error) != TRANSECT_OK);
    EXPECT(transect_snapshot_update("", root, NULL, on_change, &changes, NULL, &error) != TRANSECT_OK);
    EXPECT(transect_snapshot_update(file, below_root("none"), NULL, on_change, &changes, NULL, &error)
           == TRANSECT_NOT_FOUND);
    EXPECT(transect_snapshot_update(file, "", NULL, on_change, &changes, NULL, &error) != TRANSECT_OK);
    EXPECT(transect_snapshot_update(NULL, root, NULL, on_change, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "snapshot is NULL") == 0);
    EXPECT(transect_snapshot_update(file, NULL, NULL, on_change, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_snapshot_update(file, root, NULL, NULL, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "on_change is NULL") == 0);
    EXPECT(changes.count == 4);
    /* Unchanged by all of this. */
    OK(transect_snapshot_update(file, root, NULL, on_change, &changes, &counts, &error));
    EXPECT(counts.compared == 1 && changes.count == 4);

    /* With file ids, what moved is found. */
    transect_options_free(options);
    options = transect_options_new();
    OK(transect_options_set_fields(options, TRANSECT_FIELD_INODE | TRANSECT_FIELD_DEVICE | TRANSECT_FIELD_MTIME, &error));
    OK(transect_snapshot_update(file, root, options, on_change, &changes, NULL, &error));
    EXPECT(rename(moved, below_root("b/moved")) == 0);
    OK(transect_snapshot_update(file, root, options, on_change, &changes, NULL, &error));
    EXPECT(changes.count == 5 && is_change(changes.last[4], TRANSECT_CHANGE_RENAMED, "moved"));
    EXPECT(strstr(changes.from, "two.c") != NULL);
    EXPECT(rename(below_root("b/moved"), moved) == 0);
    transect_options_free(options);
}

/* ---- Watching */

#ifdef __linux__
static void *end_watch(void *watch) {
    transect_watch_end((const transect_watch *)watch);
    return NULL;
}
#endif

#if defined __linux__ || defined _WIN32
/* Waits for a change. Other changes may be reported before and with it. */
static void wait_for_change(const transect_watch *watch, int kind, const char *end) {
    static struct changes changes;
    int index;

    for (;;) {
        memset(&changes, 0, sizeof changes);
        OK(transect_watch_next(watch, on_change, &changes, &error));
        EXPECT(changes.count > 0 && changes.count <= 8);
        for (index = 0; index < changes.count; index++) {
            if (is_change(changes.last[index], kind, end)) {
                return;
            }
        }
    }
}
#endif

static void check_watches(void) {
    transect_watch *watch;
    transect_watch_counts counts;

    EXPECT(transect_watch_open(NULL, &watch, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_watch_open(root, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_watch_next(NULL, on_change, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_watch_read_counts(NULL, &counts, &error) == TRANSECT_INVALID_ARGUMENT);
    transect_watch_end(NULL);
    transect_watch_free(NULL);
#ifdef __linux__
    static struct changes changes;
    pthread_t ending;

    EXPECT(transect_watch_open(below_root("none"), &watch, &error) == TRANSECT_NOT_FOUND);
    EXPECT(transect_watch_open(below_root("b/four"), &watch, &error) == TRANSECT_NOT_A_DIRECTORY);
    OK(transect_watch_open(root, &watch, &error));
    OK(transect_watch_read_counts(watch, &counts, &error));
    EXPECT(counts.entries == 9 && counts.unwatched == 0 && counts.errors == 0 && counts.gaps == 0);
    EXPECT(transect_watch_read_counts(watch, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_watch_next(watch, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    write_file(below_root("watched"), "1");
    wait_for_change(watch, TRANSECT_CHANGE_ADDED, "watched");
    EXPECT(remove(below_root("watched")) == 0);
    wait_for_change(watch, TRANSECT_CHANGE_REMOVED, "watched");
    EXPECT(rename(below_root("b"), below_root("renamed")) == 0);
    wait_for_change(watch, TRANSECT_CHANGE_RENAMED, "renamed");
    EXPECT(rename(below_root("renamed"), below_root("b")) == 0);
    wait_for_change(watch, TRANSECT_CHANGE_RENAMED, "b");

    /* A wait ends, also one on another thread. */
    EXPECT(pthread_create(&ending, NULL, end_watch, watch) == 0);
    while (transect_watch_next(watch, on_change, &changes, &error) == TRANSECT_OK) {
    }
    EXPECT(error.status == TRANSECT_CANCELLED);
    EXPECT(pthread_join(ending, NULL) == 0);
    EXPECT(transect_watch_next(watch, on_change, &changes, &error) == TRANSECT_CANCELLED);
    transect_watch_free(watch);
#elif defined _WIN32
    static struct changes changes;

    OK(transect_watch_open(root, &watch, &error));
    OK(transect_watch_read_counts(watch, &counts, &error));
    EXPECT(counts.entries == 9 && counts.unwatched == 0 && counts.errors == 0 && counts.gaps == 0);
    write_file(below_root("watched"), "1");
    wait_for_change(watch, TRANSECT_CHANGE_ADDED, "watched");
    EXPECT(remove(below_root("watched")) == 0);
    wait_for_change(watch, TRANSECT_CHANGE_REMOVED, "watched");
    transect_watch_end(watch);
    while (transect_watch_next(watch, on_change, &changes, &error) == TRANSECT_OK) {
    }
    EXPECT(error.status == TRANSECT_CANCELLED);
    transect_watch_free(watch);
#else
    EXPECT(transect_watch_open(root, &watch, &error) == TRANSECT_UNSUPPORTED);
#endif
}

/* ---- The cache */

static uint64_t hits(const transect_cache *cache) {
    transect_cache_counts counts;
    OK(transect_cache_read_counts(cache, &counts, &error));
    return counts.hits;
}

static void check_cache(void) {
    transect_cache_options *options = transect_cache_options_new();
    transect_cache *cache;
    transect_search *search;
    transect_attributes attributes;
    transect_lookup answers[3];
    transect_found found;
    char text[4096];
    const char *paths[3] = {"a/one.h", "a/none.h", "b"}, *directories[2] = {"a", "b/deep"}, *null = NULL;
    const char *changed = below_root("../changed");
    uint64_t before;

    OK(transect_cache_options_set_base(options, root, &error));
    OK(transect_cache_options_add_root(options, below_root(".."), &error));
    OK(transect_cache_options_set_fields(options, TRANSECT_FIELD_SIZE, &error));
    OK(transect_cache_options_set_memory(options, 1 << 20, &error));
    transect_cache_options_free(options);
    options = transect_cache_options_new();
    OK(transect_cache_options_set_base(options, root, &error));
    OK(transect_cache_open(TRANSECT_LEVEL_CHECKED, options, &cache, &error));

    OK(transect_cache_get(cache, "a/one.h", &attributes, &error));
    EXPECT(attributes.type == TRANSECT_TYPE_FILE && attributes.size == 3 && attributes.inode != 0);
    OK(transect_cache_get_link(cache, "a/one.h", &attributes, NULL));
    OK(transect_cache_exists(cache, "b", &error));
    EXPECT(transect_cache_get(cache, "a/none.h", &attributes, &error) == TRANSECT_NOT_FOUND);
    EXPECT(error.os_error == 2 && strncmp(error.message, "cannot access 'a/none.h': ", 26) == 0);
    EXPECT(transect_cache_exists(cache, "none", &error) == TRANSECT_NOT_FOUND);
    EXPECT(strcmp(error.message, "'none' does not exist") == 0);
    OK(transect_cache_get_many(cache, paths, 3, answers, &error));
    EXPECT(answers[0].status == TRANSECT_OK && answers[0].attributes.size == 3);
    EXPECT(answers[1].status == TRANSECT_NOT_FOUND && answers[1].os_error == 2 && answers[1].attributes.known == 0);
    EXPECT(answers[2].status == TRANSECT_OK && answers[2].attributes.type == TRANSECT_TYPE_DIRECTORY);
    OK(transect_cache_get_many_links(cache, paths, 3, answers, &error));
    OK(transect_cache_get_many(cache, NULL, 0, NULL, &error));

    /* Frozen: nothing changes until it is thawed. */
    write_file(changed, "12");
    OK(transect_cache_freeze(cache, &error));
    OK(transect_cache_get(cache, changed, &attributes, &error));
    write_file(changed, "1234");
    before = hits(cache);
    OK(transect_cache_get(cache, changed, &attributes, &error));
    EXPECT(attributes.size == 2 && hits(cache) == before + 1);
    OK(transect_cache_invalidate(cache, changed, &error));
    OK(transect_cache_get(cache, changed, &attributes, &error));
    EXPECT(attributes.size == 4);
    write_file(changed, "123456");
    OK(transect_cache_thaw(cache, &error));
    OK(transect_cache_get(cache, changed, &attributes, &error));
    EXPECT(attributes.size == 6);
    OK(transect_cache_clear(cache, &error));

    OK(transect_search_new(cache, directories, 2, &search, &error));
    EXPECT(transect_search_new(cache, &null, 1, &search, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "a directory is NULL") == 0);
    transect_cache_free(cache);
    OK(transect_search_find(search, "three.h", text, sizeof text, &found, &error));
    EXPECT(found.index == 1 && found.attributes.size == 7 && found.path_length == strlen(text));
    EXPECT(strstr(text, "three.h") != NULL);
    OK(transect_search_find(search, "one.h", NULL, 0, NULL, &error));
    EXPECT(transect_search_find(search, "none.h", text, sizeof text, &found, &error) == TRANSECT_NOT_FOUND);
    EXPECT(transect_search_find(search, NULL, text, sizeof text, &found, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_search_find(search, "", text, sizeof text, &found, &error) == TRANSECT_INVALID_NAME);
    transect_search_free(search);
    transect_search_free(NULL);

    OK(transect_cache_open(TRANSECT_LEVEL_FROZEN, NULL, &cache, &error));
    EXPECT(transect_cache_get(cache, "a", &attributes, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_get(cache, root, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_get(cache, NULL, &attributes, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_get_many(cache, NULL, 3, answers, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_get_many(cache, paths, 3, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_read_counts(cache, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_search_new(cache, directories, 2, &search, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strstr(error.message, "'a'") != NULL);
    transect_cache_free(cache);
    transect_cache_free(NULL);
    EXPECT(transect_cache_get(NULL, "a", &attributes, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_open(4, NULL, &cache, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_open(TRANSECT_LEVEL_FROZEN, NULL, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    OK(transect_cache_options_add_root(options, "relative", &error));
    EXPECT(transect_cache_open(TRANSECT_LEVEL_FROZEN, options, &cache, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "'relative' is not an absolute path") == 0);
    EXPECT(transect_cache_options_set_fields(options, 0x8000, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "0x8000 is not a sum of fields") == 0);
    EXPECT(transect_cache_options_set_base(options, NULL, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(transect_cache_options_set_memory(NULL, 1, &error) == TRANSECT_INVALID_ARGUMENT);
    EXPECT(strcmp(error.message, "options is NULL") == 0);
    transect_cache_options_free(options);
    transect_cache_options_free(NULL);
}

int main(int argc, char **argv) {
    EXPECT(argc == 2);
    root = argv[1];
    EXPECT(strcmp(transect_version(), TRANSECT_VERSION) == 0);
    EXPECT(strcmp(transect_status_name(TRANSECT_NOT_FOUND), "not_found") == 0);
    EXPECT(strcmp(transect_status_name(-1), "unknown") == 0);
    sizes = all_sizes();
    check_walks();
    check_walkers();
    check_filters_and_controls();
#ifdef __linux__
    check_threads_and_descriptors();
#endif
    check_tables();
    check_snapshots();
    check_watches();
    check_cache();
    transect_options_free(sizes);
    puts("checked");
    return 0;
}

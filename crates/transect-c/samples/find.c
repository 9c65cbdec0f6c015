/* Files that `.gitignore` files do not exclude: `find PATH [GLOB...]`.
 *
 * Prints the time of the last change in nanoseconds, the length and the path of every file. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <transect.h>

/* Ends the program with a message if a call failed. */
static void check(transect_status status, const transect_error *error) {
    if (status != TRANSECT_OK) {
        fprintf(stderr, "find: %s\n", error->message);
        exit(1);
    }
}

/* By default one call at a time, so the callback needs no lock. Paths have any length, so the first
 * call asks for it. */
static int32_t print_file(void *context, const transect_entry *entry) {
    if (entry->attributes.type != TRANSECT_TYPE_FILE) {
        return TRANSECT_CONTINUE;
    }
    size_t length = transect_entry_path(entry, NULL, 0);
    char *path = malloc(length + 1);
    if (path == NULL) {
        abort();
    }
    transect_entry_path(entry, path, length + 1);
    printf("%19" PRId64 " %11" PRIu64 " %s\n", entry->attributes.mtime, entry->attributes.size, path);
    free(path);
    ++*(uint64_t *)context;
    return TRANSECT_CONTINUE;
}

static void print_error(void *context, const char *path, size_t length, const transect_error *error) {
    (void)context, (void)path, (void)length;
    printf("not read: %s\n", error->message);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: find PATH [GLOB...]\n");
        return 2;
    }
    transect_error error;
    transect_options *options = transect_options_new();
    check(transect_options_set_gitignore(options, true, &error), &error);
    check(transect_options_set_fields(options, TRANSECT_FIELD_SIZE | TRANSECT_FIELD_MTIME, &error), &error);
    for (int i = 2; i < argc; i++) {
        check(transect_options_add_glob(options, argv[i], &error), &error);
    }
    uint64_t files = 0;
    check(transect_walk(argv[1], options, print_file, print_error, &files, NULL, &error), &error);
    transect_options_free(options);
    printf("%" PRIu64 " files\n", files);
    return 0;
}

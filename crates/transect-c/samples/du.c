/* Disk usage of the directories right below a path, read on all processors: `du PATH...`.
 *
 * A file with several names counts once, at one of them. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <transect.h>

/* Prints a row if it is a directory. Paths have any length, so the first call asks for it. */
static void print_directory(const transect_table *table, transect_row row) {
    size_t length = transect_table_path(table, row, NULL, 0);
    char *path = malloc(length + 1);
    transect_totals totals;

    if (path == NULL) {
        abort();
    }
    transect_table_path(table, row, path, length + 1);
    transect_table_totals(table, row, &totals, NULL);
    if (totals.directories > 0) {
        printf("%15" PRIu64 " %s\n", totals.disk_usage, path);
    }
    free(path);
}

static void print_error(void *context, const char *path, size_t length, const transect_error *error) {
    (void)context, (void)path, (void)length;
    printf("not counted: %s\n", error->message);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        transect_table *table;
        transect_error error;
        if (transect_table_read(argv[i], NULL, &table, &error) != TRANSECT_OK) {
            fprintf(stderr, "du: %s\n", error.message);
            return 1;
        }
        uint32_t count;
        transect_row root = transect_table_root(table);
        transect_row first = transect_table_children(table, root, &count);
        for (uint32_t child = 0; child < count; child++) {
            print_directory(table, first + child);
        }
        print_directory(table, root);
        transect_table_errors(table, print_error, NULL, NULL);
        transect_table_free(table);
    }
    return 0;
}

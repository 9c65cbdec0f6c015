/* Prints what each entry of a directory occupies with everything below it, the largest first, as
 * `du -a -d 1 | sort -rn` does:
 *
 *     usage DIRECTORY
 *
 * Exit code 1 if something could not be read, 2 if nothing could. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <transect.h>

struct item {
    transect_row row;
    transect_totals totals;
};

static int by_usage(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    if (a->totals.disk_usage != b->totals.disk_usage) {
        return a->totals.disk_usage < b->totals.disk_usage ? 1 : -1;
    }
    return a->row < b->row ? -1 : 1;
}

/* Prints a row. Names have any length, so the first call asks for it. */
static int print_row(const transect_table *table, const struct item *item) {
    size_t length = transect_table_path(table, item->row, NULL, 0);
    char *path = malloc(length + 1);
    if (path == NULL) {
        return 0;
    }
    transect_table_path(table, item->row, path, length + 1);
    printf("%12" PRIu64 "  %8" PRIu64 " files  %s\n", item->totals.disk_usage, item->totals.files, path);
    free(path);
    return 1;
}

static void print_error(void *context, const char *path, size_t length, const transect_error *error) {
    (void)context, (void)path, (void)length;
    fprintf(stderr, "usage: %s\n", error->message);
}

int main(int argc, char **argv) {
    transect_error error;
    transect_table *table;
    transect_counts counts;
    uint32_t count, i;
    struct item *items, root;
    transect_row first;
    int result;

    if (argc != 2) {
        fprintf(stderr, "usage: usage DIRECTORY\n");
        return 2;
    }
    if (transect_table_read(argv[1], NULL, &table, &error) != TRANSECT_OK) {
        fprintf(stderr, "usage: %s\n", error.message);
        return 2;
    }
    root.row = transect_table_root(table);
    first = transect_table_children(table, root.row, &count);
    items = calloc((size_t)count + 1, sizeof *items);
    if (items == NULL) {
        transect_table_free(table);
        return 2;
    }
    for (i = 0; i < count; i++) {
        items[i].row = first + i;
        transect_table_totals(table, items[i].row, &items[i].totals, NULL);
    }
    qsort(items, count, sizeof *items, by_usage);
    transect_table_totals(table, root.row, &root.totals, NULL);
    items[count] = root;
    for (i = 0; i <= count; i++) {
        if (!print_row(table, &items[i])) {
            break;
        }
    }
    transect_table_errors(table, print_error, NULL, NULL);
    transect_table_counts(table, &counts, NULL);
    result = counts.errors != 0 || i <= count;
    free(items);
    transect_table_free(table);
    return result;
}

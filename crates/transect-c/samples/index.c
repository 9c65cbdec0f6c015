/* An index that follows changes: `index INDEX PATH` prints what changed since it was last called.
 *
 * The index is a snapshot. A directory that is new or gone is one line, for everything in it. */

#include <inttypes.h>
#include <stdio.h>

#include <transect.h>

static const char *const WORDS[] = {
    [TRANSECT_CHANGE_ADDED] = "added",
    [TRANSECT_CHANGE_REMOVED] = "removed",
    [TRANSECT_CHANGE_MODIFIED] = "modified",
    [TRANSECT_CHANGE_RENAMED] = "renamed",
    [TRANSECT_CHANGE_TYPE_CHANGED] = "type_changed",
    [TRANSECT_CHANGE_UNREADABLE] = "unreadable",
    [TRANSECT_CHANGE_READABLE] = "readable",
};

static void print_change(void *context, const transect_change *change) {
    (void)context;
    /* Directories change with their entries. */
    if (!change->consequence) {
        printf("%s %s\n", WORDS[change->kind], change->path);
    }
}

int main(int argc, char **argv) {
    transect_counts counts;
    transect_error error;

    if (argc != 3) {
        fprintf(stderr, "usage: index INDEX PATH\n");
        return 2;
    }
    if (transect_snapshot_update(argv[1], argv[2], NULL, print_change, NULL, &counts, &error) != TRANSECT_OK) {
        fprintf(stderr, "index: %s\n", error.message);
        return 1;
    }
    if (!counts.compared) {
        printf("%" PRIu64 " entries\n", counts.entries);
    }
    return 0;
}

/* The sample `du` with fts(3): disk usage of the directories right below a path. */

#include <fts.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct id {
    dev_t device;
    ino_t inode;
};

static int compare(const void *left, const void *right) {
    const struct id *a = left, *b = right;
    if (a->inode != b->inode) {
        return a->inode < b->inode ? -1 : 1;
    }
    return (a->device > b->device) - (a->device < b->device);
}

/* Returns whether this is the first name of its file. */
static int is_first_name(void **seen, const struct stat *status) {
    struct id *id = malloc(sizeof *id);
    *id = (struct id){status->st_dev, status->st_ino};
    struct id **found = tsearch(id, seen, compare);
    int is_first = *found == id;
    if (!is_first) {
        free(id);
    }
    return is_first;
}

int main(int argc, char **argv) {
    void *seen = NULL;
    uint64_t usage[2] = {0, 0}; /* of the root, and of the directory right below it */
    FTS *tree = argc > 1 ? fts_open(argv + 1, FTS_PHYSICAL, NULL) : NULL;
    if (tree == NULL) {
        perror("du");
        return 1;
    }
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;) {
        int info = entry->fts_info, level = entry->fts_level;
        if (info == FTS_DNR || info == FTS_ERR || info == FTS_NS) {
            printf("not counted: %s: error %d\n", entry->fts_path, entry->fts_errno);
        }
        if ((info == FTS_DP || info == FTS_DNR) && level <= 1) {
            printf("%15ju %s\n", (uintmax_t)usage[level], entry->fts_path);
            usage[level] = 0;
        } else if (info == FTS_D || info == FTS_F || info == FTS_SL || info == FTS_DEFAULT) {
            const struct stat *status = entry->fts_statp;
            if (info == FTS_D || status->st_nlink < 2 || is_first_name(&seen, status)) {
                usage[0] += (uint64_t)status->st_blocks * 512;
                usage[1] += level > 1 || (level == 1 && info == FTS_D) ? (uint64_t)status->st_blocks * 512 : 0;
            }
        }
    }
    return fts_close(tree);
}

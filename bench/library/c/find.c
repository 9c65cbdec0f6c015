/* The sample `find` with fts(3), without rules of `.gitignore` files: no C library has them. */

#include <fnmatch.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int matches(const char *name, char **globs) {
    for (char **glob = globs; *glob != NULL; glob++) {
        if (fnmatch(*glob, name, 0) == 0) {
            return 1;
        }
    }
    return *globs == NULL;
}

int main(int argc, char **argv) {
    FTS *tree = argc > 1 ? fts_open((char *[]){argv[1], NULL}, FTS_PHYSICAL, NULL) : NULL;
    if (tree == NULL) {
        perror("find");
        return 1;
    }
    uintmax_t files = 0;
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;) {
        if (strcmp(entry->fts_name, ".git") == 0) {
            fts_set(tree, entry, FTS_SKIP);
        } else if (entry->fts_info == FTS_F && matches(entry->fts_name, argv + 2)) {
            const struct stat *status = entry->fts_statp;
            intmax_t time = (intmax_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
            printf("%19jd %11jd %s\n", time, (intmax_t)status->st_size, entry->fts_path);
            files++;
        } else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
            printf("not read: %s: error %d\n", entry->fts_path, entry->fts_errno);
        }
    }
    printf("%ju files\n", files);
    return fts_close(tree);
}

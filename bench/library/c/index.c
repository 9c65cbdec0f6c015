/* The sample `index` with fts(3): the file (type, length, time and path) is written by hand. */

#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
    intmax_t kind, size, time;
    char *path;
};

struct entries {
    struct entry *first;
    size_t count, capacity;
};

static void check(int holds, const char *what) {
    if (!holds) {
        perror(what);
        exit(1);
    }
}

static void add(struct entries *all, struct entry entry) {
    if (all->count == all->capacity) {
        all->capacity = 2 * all->capacity + 1024;
        all->first = realloc(all->first, all->capacity * sizeof entry);
        check(all->first != NULL, "realloc");
    }
    all->first[all->count++] = entry;
}

static int compare(const void *left, const void *right) {
    return strcmp(((const struct entry *)left)->path, ((const struct entry *)right)->path);
}

static const struct entry *find(const struct entries *all, const char *path) {
    const struct entry key = {.path = (char *)path};
    return bsearch(&key, all->first, all->count, sizeof key, compare);
}

static struct entries walk(char *root) {
    struct entries now = {0};
    FTS *tree = fts_open((char *[]){root, NULL}, FTS_PHYSICAL, NULL);
    check(tree != NULL, root);
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;) {
        const struct stat *status = entry->fts_statp;
        check(entry->fts_info != FTS_DNR && entry->fts_info != FTS_NS, entry->fts_path);
        if (entry->fts_info != FTS_DP) {
            intmax_t time = (intmax_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
            add(&now, (struct entry){status->st_mode & S_IFMT, status->st_size, time, strdup(entry->fts_path)});
        }
    }
    fts_close(tree);
    qsort(now.first, now.count, sizeof *now.first, compare);
    return now;
}

static struct entries parse(FILE *file) {
    struct entries old = {0};
    struct entry entry = {0};
    size_t capacity = 0;
    while (fscanf(file, "%jd %jd %jd", &entry.kind, &entry.size, &entry.time) == 3 && fgetc(file) == ' ') {
        entry.path = NULL;
        check(getdelim(&entry.path, &capacity, '\0', file) > 0, "not an index");
        add(&old, entry);
        capacity = 0;
    }
    check(feof(file), "not an index");
    return old;
}

/* Of a tree that is new or gone, only its top is a change. */
static int has_parent(const struct entries *all, const char *path) {
    char *parent = strdup(path);
    *strrchr(parent, '/') = '\0';
    int has = find(all, parent) != NULL;
    free(parent);
    return has;
}

static void print_changes(const struct entries *old, const struct entries *now) {
    for (const struct entry *entry = now->first; entry < now->first + now->count; entry++) {
        const struct entry *before = find(old, entry->path);
        if (before == NULL) {
            if (has_parent(old, entry->path)) {
                printf("added %s\n", entry->path);
            }
        } else if (before->kind != entry->kind) {
            printf("type_changed %s\n", entry->path);
        } else if (!S_ISDIR(entry->kind) && (before->size != entry->size || before->time != entry->time)) {
            printf("modified %s\n", entry->path);
        }
    }
    for (const struct entry *entry = old->first; entry < old->first + old->count; entry++) {
        if (find(now, entry->path) == NULL && has_parent(now, entry->path)) {
            printf("removed %s\n", entry->path);
        }
    }
}

int main(int argc, char **argv) {
    check(argc == 3, "usage: index INDEX PATH");
    char *root = realpath(argv[2], NULL);
    check(root != NULL, argv[2]);
    struct entries now = walk(root);
    FILE *file = fopen(argv[1], "r");
    if (file == NULL) {
        printf("%zu entries\n", now.count);
    } else {
        struct entries old = parse(file);
        print_changes(&old, &now);
        fclose(file);
    }
    file = fopen(argv[1], "w");
    check(file != NULL, argv[1]);
    for (const struct entry *entry = now.first; entry < now.first + now.count; entry++) {
        fprintf(file, "%jd %jd %jd %s%c", entry->kind, entry->size, entry->time, entry->path, '\0');
    }
    check(fclose(file) == 0, argv[1]);
    return 0;
}

/* The sample `resolve` with access(2): every question goes to the system. */

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *seen;

static int compare(const void *left, const void *right) { return strcmp(left, right); }

/* Prints the includes of a file, and of those files. `dirs[0]` is for the directory of the file. */
static void resolve(const char *file, const char **dirs, int count) {
    char line[4096], name[4096], path[8192], beside[4096];
    const char *slash = strrchr(file, '/');
    snprintf(beside, sizeof beside, "%.*s", slash ? (int)(slash - file) : 0, file);
    FILE *in = fopen(file, "r");
    if (in == NULL) {
        perror(file);
        exit(1);
    }
    while (fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, " # include %*[\"<]%4095[^\">\r\n]", name) == 1) {
            int dir = 0;
            dirs[0] = beside;
            do {
                const char *separator = *dirs[dir] == '\0' || *name == '/' ? "" : "/";
                snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : dirs[dir], separator, name);
            } while (access(path, F_OK) != 0 && ++dir < count);
            if (dir == count) {
                printf("%s: not found\n", name);
            } else if (tfind(path, &seen, compare) == NULL) {
                char *found = strcpy(malloc(strlen(path) + 1), path);
                tsearch(found, &seen, compare);
                puts(found);
                resolve(found, dirs, count);
            }
        }
    }
    fclose(in);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: resolve FILE.c DIRECTORY...\n");
        return 1;
    }
    resolve(argv[1], (const char **)argv + 1, argc - 1);
}

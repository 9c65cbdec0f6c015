/* An include resolver: `resolve FILE.c DIRECTORY...` prints every file that a C file includes.
 * Looks up each name beside the including file, then in the directories, as a compiler does. The cache
 * answers repeated questions, and those about names that are missing, from memory. */

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <transect.h>
#include <unistd.h>

static transect_cache *cache;
static transect_error error;
static void *seen;

static void check(bool holds, const char *message) {
    if (!holds) {
        fprintf(stderr, "resolve: %s\n", message);
        exit(1);
    }
}
static int compare(const void *left, const void *right) { return strcmp(left, right); }

/* Prints the includes of a file, and of those files. `dirs[0]` is for the directory of the file. */
static void resolve(const char *file, const char **dirs, int count) {
    transect_search *search;
    char line[4096], name[4096], path[4096], beside[4096];
    const char *slash = strrchr(file, '/');
    snprintf(beside, sizeof beside, "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
    dirs[0] = beside;
    check(transect_search_new(cache, dirs, count, &search, &error) == TRANSECT_OK, error.message);
    FILE *in = fopen(file, "r");
    check(in != NULL, file);
    while (fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, " # include %*[\"<]%4095[^\">\r\n]", name) == 1) {
            transect_status status = transect_search_find(search, name, path, sizeof path, NULL, &error);
            check(status == TRANSECT_OK || status == TRANSECT_NOT_FOUND, error.message);
            if (status == TRANSECT_NOT_FOUND) {
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
    transect_search_free(search);
}
int main(int argc, char **argv) {
    char base[4096];
    check(argc > 1 && getcwd(base, sizeof base) != NULL, "usage: resolve FILE.c DIRECTORY...");
    transect_cache_options *options = transect_cache_options_new();
    transect_cache_options_set_base(options, base, NULL);
    check(transect_cache_open(TRANSECT_LEVEL_FROZEN, options, &cache, &error) == TRANSECT_OK, error.message);
    resolve(argv[1], (const char **)argv + 1, argc - 1);
    transect_cache_options_free(options);
    transect_cache_free(cache);
}

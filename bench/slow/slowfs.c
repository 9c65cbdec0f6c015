/* A file system that answers every request after a delay, as a network or a slow device does.
 *
 *     slowfs MOUNTPOINT MICROSECONDS [TOPS [DIRS [FILES]]]
 *
 * The tree is made up: TOPS directories in the root, DIRS in each of them, FILES in each of those. The kernel may cache
 * neither names nor attributes. Each request has a thread of its own, so that requests wait side by side. Runs in the
 * foreground until it is unmounted (`fusermount3 -u MOUNTPOINT`).
 */
#define FUSE_USE_VERSION 312
#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define LEVELS 3
#define MAX_THREADS 1024 /* more than any program under test starts */

/* Children of a node of each level. A node is a level and an index in it; node 0 of level 0 is the root. */
static unsigned long fan[LEVELS + 1] = {10, 20, 10, 0};
static unsigned long first[LEVELS + 2]; /* the inode of the first node of each level */
static struct timespec delay;

static int level_of(fuse_ino_t ino)
{
    int level = LEVELS;
    while (ino < first[level])
        level--;
    return level;
}

static struct stat attributes(fuse_ino_t ino)
{
    struct stat st = {.st_ino = ino, .st_nlink = 1, .st_size = 4096, .st_blocks = 8};
    st.st_mode = level_of(ino) < LEVELS ? S_IFDIR | 0755 : S_IFREG | 0644;
    return st;
}

static fuse_ino_t child(fuse_ino_t parent, unsigned long number)
{
    int level = level_of(parent);
    return first[level + 1] + (parent - first[level]) * fan[level] + number;
}

static void wait_for_device(void)
{
    nanosleep(&delay, NULL);
}

static void slow_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    wait_for_device();
    if (end == name || *end || number >= fan[level_of(parent)]) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    struct fuse_entry_param entry = {.ino = child(parent, number)};
    entry.attr = attributes(entry.ino);
    fuse_reply_entry(req, &entry);
}

static void slow_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    (void)file;
    struct stat st = attributes(ino);
    wait_for_device();
    fuse_reply_attr(req, &st, 0);
}

static void slow_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    (void)ino;
    wait_for_device();
    fuse_reply_open(req, file);
}

static void slow_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *file)
{
    (void)file;
    char *buffer = malloc(size), name[24];
    size_t used = 0, needed;
    wait_for_device();
    for (unsigned long next = offset; buffer && next < fan[level_of(ino)]; next++, used += needed) {
        struct stat st = attributes(child(ino, next));
        snprintf(name, sizeof name, "%lu", next);
        needed = fuse_add_direntry(req, buffer + used, size - used, name, &st, next + 1);
        if (needed > size - used)
            break;
    }
    fuse_reply_buf(req, buffer, used);
    free(buffer);
}

static const struct fuse_lowlevel_ops operations = {
    .lookup = slow_lookup, .getattr = slow_getattr, .opendir = slow_opendir, .readdir = slow_readdir};

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 6) {
        fprintf(stderr, "usage: slowfs MOUNTPOINT MICROSECONDS [TOPS [DIRS [FILES]]]\n");
        return 2;
    }
    long micros = atol(argv[2]);
    delay = (struct timespec){.tv_sec = micros / 1000000, .tv_nsec = micros % 1000000 * 1000};
    prctl(PR_SET_TIMERSLACK, 1); /* else the kernel adds 50 microseconds */
    for (int level = 0; level + 3 < argc; level++)
        fan[level] = strtoul(argv[level + 3], NULL, 10);
    unsigned long nodes = 1;
    first[0] = FUSE_ROOT_ID;
    for (int level = 0; level <= LEVELS; level++, nodes *= fan[level - 1])
        first[level + 1] = first[level] + nodes;

    char *arguments[] = {"slowfs", "-ofsname=slowfs", NULL};
    struct fuse_args args = FUSE_ARGS_INIT(2, arguments);
    struct fuse_session *session = fuse_session_new(&args, &operations, sizeof operations, NULL);
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (!session || fuse_set_signal_handlers(session) || fuse_session_mount(session, argv[1]))
        return 1;
    fuse_loop_cfg_set_max_threads(config, MAX_THREADS);
    fuse_loop_cfg_set_idle_threads(config, MAX_THREADS);
    int result = fuse_session_loop_mt(session, config);
    fuse_session_unmount(session);
    fuse_session_destroy(session);
    return result != 0;
}

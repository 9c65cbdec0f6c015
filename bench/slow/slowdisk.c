/* A file whose reads take a while, as those of a slow disk do, for a loop device.
 *
 *     slowdisk MOUNTPOINT MICROSECONDS IMAGE
 *
 * MOUNTPOINT/image has the content of IMAGE, and cannot be written. Each read waits in a thread of its own, so that
 * reads wait side by side. Runs in the foreground until it is unmounted (`fusermount3 -u MOUNTPOINT`).
 */
#define FUSE_USE_VERSION 312
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MAX_READS 256 /* a loop device makes 128 at once */

static struct timespec delay;
static int image;

static void *disk_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    /* The kernel delays what exceeds this. */
    connection->max_background = connection->congestion_threshold = MAX_READS;
    config->direct_io = 1;
    return NULL;
}

static int disk_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
    (void)file;
    memset(st, 0, sizeof *st);
    if (!strcmp(path, "/image"))
        return fstat(image, st) ? -errno : 0;
    st->st_mode = S_IFDIR | 0755;
    return strcmp(path, "/") ? -ENOENT : 0;
}

static int disk_read(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *file)
{
    (void)path, (void)file;
    nanosleep(&delay, NULL);
    ssize_t got = pread(image, buffer, size, offset);
    return got < 0 ? -errno : got;
}

static const struct fuse_operations operations = {.init = disk_init, .getattr = disk_getattr, .read = disk_read};

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: slowdisk MOUNTPOINT MICROSECONDS IMAGE\n");
        return 2;
    }
    long micros = atol(argv[2]);
    delay = (struct timespec){.tv_sec = micros / 1000000, .tv_nsec = micros % 1000000 * 1000};
    prctl(PR_SET_TIMERSLACK, 1); /* else the kernel adds 50 microseconds */
    image = open(argv[3], O_RDONLY);
    if (image < 0) {
        perror(argv[3]);
        return 1;
    }
    char *arguments[] = {"slowdisk", "-f", "-omax_threads=256,max_idle_threads=256", argv[1], NULL};
    return fuse_main(4, arguments, &operations, NULL);
}

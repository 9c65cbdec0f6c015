/* floor: the least that a scanner can do on Linux.
 *
 *   floor [-t THREADS] [-e] [-s statx|none] [-b BYTES] [-Q] [DIR]
 *     -t N       threads (1)
 *     -e         leave out the last, empty getdents64 of a directory if d_off of the last record
 *                shows that the directory ends there, as the engine does: on ext4 (hashed
 *                directories), btrfs and tmpfs. Room left in the buffer shows nothing, as a pending
 *                signal ends a listing early. XFS marks the end by the directory's size, for which
 *                this program does not ask.
 *     -s statx   one statx per entry that is not a directory (default)
 *        none    no attributes: names and d_type only
 *     -b BYTES   buffer of getdents64 (65536)
 *     -Q         quiet: do not print the counts
 *
 * It is the floor of "all names, types and sizes, asked of the kernel by name": an openat relative
 * to the parent's handle, getdents64 until the directory ends, a statx relative to the directory's
 * handle for all that d_type does not call a directory, a close. Nothing is stored, sorted, shown
 * or checked; further names of a file count again; errors are only counted. Whoever does more than
 * this in the same time has measured badly. It is not a floor of ways that do not ask by name
 * (inode tables read from the device), nor of asking less (a remembered listing).
 *
 * Threads share one stack of directories under one mutex and take whole directories from it.
 * Output: one line, "files N directories N bytes N blocks N errors N"; `files` is all that is not
 * a directory, `directories` includes DIR. Build: cc -O2 -pthread -o floor floor.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { IS_UNKNOWN = 0, IS_DIRECTORY = 4 }; /* DT_UNKNOWN, DT_DIR */
enum { LONGEST_RECORD = 280 };             /* header, 255 bytes of name, NUL, padding */
enum { NOT_MARKED = -1 };                  /* no record has this d_off */

struct record { /* struct linux_dirent64 */
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* A directory waits on the stack, then stays open until its last child has been opened. */
struct directory {
	struct directory *parent; /* NULL: the root */
	struct directory *next;
	atomic_int users; /* itself while it is read, and every child that still needs `fd` */
	int fd;
	char name[];
};

struct counts {
	uint64_t files, directories, bytes, blocks, errors;
};

static int threads = 1, with_attributes = 1, skip_empty_answer, quiet;
static int64_t end_of_directory = NOT_MARKED;
static size_t buffer_size = 65536;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct directory *stack;
static int idle;

static void *allocate(size_t size)
{
	void *p = malloc(size);
	if (!p) {
		perror("floor");
		exit(1);
	}
	return p;
}

static struct directory *new_directory(struct directory *parent, const char *name)
{
	size_t size = strlen(name) + 1;
	struct directory *d = allocate(sizeof *d + size);
	d->parent = parent;
	d->next = NULL;
	d->fd = -1;
	atomic_init(&d->users, 1);
	memcpy(d->name, name, size);
	if (parent)
		atomic_fetch_add_explicit(&parent->users, 1, memory_order_relaxed);
	return d;
}

static void release(struct directory *d)
{
	while (d && atomic_fetch_sub_explicit(&d->users, 1, memory_order_acq_rel) == 1) {
		struct directory *parent = d->parent;
		if (d->fd >= 0)
			close(d->fd);
		free(d);
		d = parent;
	}
}

/* Puts a list on the stack: one lock for all children of a directory. */
static void push(struct directory *first, struct directory *last)
{
	pthread_mutex_lock(&lock);
	last->next = stack;
	stack = first;
	if (idle)
		pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
}

/* Takes a directory; NULL when the stack is empty and nobody is left who could fill it. */
static struct directory *pop(void)
{
	pthread_mutex_lock(&lock);
	idle++;
	while (!stack && idle < threads)
		pthread_cond_wait(&more, &lock);
	struct directory *d = stack;
	if (d) {
		idle--;
		stack = d->next;
	} else {
		pthread_cond_broadcast(&more);
	}
	pthread_mutex_unlock(&lock);
	return d;
}

static void count_file(struct counts *counts, int fd, const char *name)
{
	struct statx x;
	counts->files++;
	if (!with_attributes)
		return;
	if (statx(fd, name, AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW, STATX_SIZE | STATX_MTIME | STATX_BLOCKS, &x)) {
		counts->errors++;
		return;
	}
	counts->bytes += x.stx_size;
	counts->blocks += x.stx_blocks;
}

/* Only for file systems that leave d_type empty. */
static int is_directory(int fd, const struct record *r)
{
	struct stat s;
	if (r->type != IS_UNKNOWN)
		return r->type == IS_DIRECTORY;
	return !fstatat(fd, r->name, &s, AT_SYMLINK_NOFOLLOW) && S_ISDIR(s.st_mode);
}

static int is_dot_or_dot_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* The offset in the last record of a directory of the file system (crates/transect-sys,
 * linux/volume.rs, says where this comes from). */
static int64_t end_mark(int fd)
{
	struct statfs s;
	if (fstatfs(fd, &s))
		return NOT_MARKED;
	switch ((uint32_t)s.f_type) {
	case 0xef53: return INT64_MAX;     /* ext4 */
	case 0x9123683e: return INT32_MAX; /* btrfs */
	case 0x01021994: return INT32_MAX; /* tmpfs */
	default: return NOT_MARKED;
	}
}

static void read_directory(struct directory *d, char *buffer, struct counts *counts)
{
	struct directory *first = NULL, *last = NULL;
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	if (d->parent)
		d->fd = openat(d->parent->fd, d->name, flags | O_NOATIME);
	if (d->parent && d->fd < 0)
		d->fd = openat(d->parent->fd, d->name, flags); /* O_NOATIME is for owners */
	if (d->fd < 0) {
		counts->errors++;
		release(d);
		return;
	}
	counts->directories++;
	for (;;) {
		long filled = syscall(SYS_getdents64, d->fd, buffer, buffer_size);
		if (filled < 0)
			counts->errors++;
		if (filled <= 0)
			break;
		int64_t offset = NOT_MARKED;
		for (long at = 0; at < filled;) {
			struct record *r = (void *)(buffer + at);
			at += r->length;
			offset = r->offset;
			if (is_dot_or_dot_dot(r->name))
				continue;
			if (!is_directory(d->fd, r)) {
				count_file(counts, d->fd, r->name);
				continue;
			}
			struct directory *child = new_directory(d, r->name);
			child->next = first;
			first = child;
			if (!last)
				last = child;
		}
		if (end_of_directory != NOT_MARKED && offset == end_of_directory)
			break;
	}
	if (first)
		push(first, last);
	release(d);
}

static void *work(void *result)
{
	struct directory *d;
	struct counts counts = {0}; /* of its own: counters of two threads in one cache line cost 3 % */
	char *buffer = allocate(buffer_size);
	while ((d = pop()))
		read_directory(d, buffer, &counts);
	free(buffer);
	*(struct counts *)result = counts;
	return NULL;
}

static const char *parse(int argc, char **argv)
{
	int option; /* threads = 0: wrong usage */
	while ((option = getopt(argc, argv, "t:es:b:Q")) > 0) {
		switch (option) {
		case 't': threads = atoi(optarg); break;
		case 'e': skip_empty_answer = 1; break;
		case 's':
			with_attributes = !strcmp(optarg, "statx");
			if (!with_attributes && strcmp(optarg, "none"))
				threads = 0;
			break;
		case 'b': buffer_size = strtoul(optarg, NULL, 10); break;
		case 'Q': quiet = 1; break;
		default: threads = 0;
		}
	}
	if (threads < 1 || buffer_size < LONGEST_RECORD || argc > optind + 1) {
		fprintf(stderr, "usage: floor [-t THREADS] [-e] [-s statx|none] [-b BYTES] [-Q] [DIR]\n");
		exit(2);
	}
	return argc > optind ? argv[optind] : ".";
}

int main(int argc, char **argv)
{
	const char *path = parse(argc, argv);
	struct rlimit files;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	struct directory *root = new_directory(NULL, path);
	root->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0) {
		perror(path);
		return 1;
	}
	if (skip_empty_answer)
		end_of_directory = end_mark(root->fd);
	push(root, root);

	struct counts *counts = calloc(threads, sizeof *counts), sum = {0};
	pthread_t *others = allocate(threads * sizeof *others);
	for (int i = 1; i < threads; i++) {
		if (pthread_create(&others[i], NULL, work, &counts[i])) {
			perror("floor: thread");
			return 1;
		}
	}
	work(&counts[0]);
	for (int i = 0; i < threads; i++) {
		if (i)
			pthread_join(others[i], NULL);
		sum.files += counts[i].files;
		sum.directories += counts[i].directories;
		sum.bytes += counts[i].bytes;
		sum.blocks += counts[i].blocks;
		sum.errors += counts[i].errors;
	}
	if (!quiet)
		printf("files %lu directories %lu bytes %lu blocks %lu errors %lu\n", sum.files, sum.directories,
		       sum.bytes, sum.blocks, sum.errors);
	return sum.errors ? 1 : 0;
}

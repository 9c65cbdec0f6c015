/* Tree walks in C: walk METHOD ROOT RUNS. The protocol is in ../README.md. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

struct tally {
	uint64_t files, directories, bytes, errors;
};

static int is_dot(const char *n)
{
	return n[0] == '.' && (!n[1] || (n[1] == '.' && !n[2]));
}

/* Memory that a walk cannot do without: going on would give false counts. */
static void *must(void *p)
{
	if (!p) {
		perror("walk");
		abort();
	}
	return p;
}

/* --- the digest -------------------------------------------------------------------------------
 *
 * Compiled with -DCHECK, the same walks add up the digest of ../README.md. Otherwise a prefix is an empty
 * structure, these functions do nothing, and the compiler leaves no trace of them. */

struct prefix { /* the hash of the path of a directory and the slash behind it */
#ifdef CHECK
	uint64_t hash;
#endif
};

#ifdef CHECK

static _Atomic uint64_t digest;
static size_t root_length;

static uint64_t fnv(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *b = bytes; n--; b++)
		hash = (hash ^ *b) * 0x100000001b3;
	return hash;
}

static void add(uint64_t path, char type, uint64_t size)
{
	unsigned char end[10] = {0, (unsigned char)type};

	for (int i = 0; i < 8; i++)
		end[2 + i] = (unsigned char)(size >> 8 * i);
	digest += fnv(path, end, type == 'f' ? 10 : 2);
}

static struct prefix add_root(void)
{
	const struct prefix root = {0xcbf29ce484222325};

	add(root.hash, 'd', 0);
	return root;
}

static struct prefix add_directory(struct prefix parent, const char *name)
{
	uint64_t path = fnv(parent.hash, name, strlen(name));

	add(path, 'd', 0);
	return (struct prefix){fnv(path, "/", 1)};
}

static void add_file(struct prefix parent, const char *name, uint64_t size)
{
	add(fnv(parent.hash, name, strlen(name)), 'f', size);
}

/* By the whole path, with that of the root. */
static void add_path(const char *path, char type, uint64_t size)
{
	path += root_length;
	path += *path == '/';
	add(fnv(0xcbf29ce484222325, path, strlen(path)), type, size);
}

#else

static struct prefix add_root(void)
{
	return (struct prefix){};
}

static struct prefix add_directory(struct prefix parent, const char *name)
{
	(void)name;
	return parent;
}

static void add_file(struct prefix parent, const char *name, uint64_t size)
{
	(void)parent, (void)name, (void)size;
}

static void add_path(const char *path, char type, uint64_t size)
{
	(void)path, (void)type, (void)size;
}

#endif

/* --- nftw ------------------------------------------------------------------------------------- */

static struct tally nftw_tally; /* nftw hands the callback no context */

static int nftw_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)where;
	switch (kind) {
	case FTW_D:
		nftw_tally.directories++;
		add_path(path, 'd', 0);
		break;
	case FTW_DNR:
		nftw_tally.directories++;
		add_path(path, 'd', 0);
		nftw_tally.errors++;
		break;
	case FTW_NS:
		nftw_tally.errors++;
		break;
	case FTW_F: /* sockets and devices too */
		if (S_ISREG(st->st_mode)) {
			nftw_tally.files++;
			nftw_tally.bytes += (uint64_t)st->st_size;
			add_path(path, 'f', (uint64_t)st->st_size);
		}
	}
	return 0;
}

static void walk_nftw(const char *root, struct tally *t)
{
	memset(&nftw_tally, 0, sizeof nftw_tally);
	if (nftw(root, nftw_entry, 64, FTW_PHYS) != 0)
		nftw_tally.errors++;
	*t = nftw_tally;
}

/* --- fts -------------------------------------------------------------------------------------- */

static void walk_fts(const char *root, struct tally *t)
{
	char *const roots[] = {(char *)root, NULL};
	FTS *fts = must(fts_open(roots, FTS_PHYSICAL, NULL));
	FTSENT *e;

	while (errno = 0, (e = fts_read(fts))) {
		switch (e->fts_info) {
		case FTS_D:
			t->directories++;
			add_path(e->fts_path, 'd', 0);
			break;
		case FTS_F:
			t->files++;
			t->bytes += (uint64_t)e->fts_statp->st_size;
			add_path(e->fts_path, 'f', (uint64_t)e->fts_statp->st_size);
			break;
		case FTS_DNR: /* came as FTS_D before */
		case FTS_NS:
		case FTS_ERR:
			t->errors++;
		}
	}
	if (errno)
		t->errors++;
	fts_close(fts);
}

/* --- readdir, relative to the directory ------------------------------------------------------- */

static void readdir_at(int fd, struct prefix prefix, struct tally *t)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	t->directories++;
	if (!dir) {
		t->errors++;
		if (fd >= 0)
			close(fd);
		return;
	}
	while (errno = 0, (e = readdir(dir))) {
		unsigned char kind = e->d_type;
		struct stat st;

		if (is_dot(e->d_name))
			continue;
		if (kind == DT_REG || kind == DT_UNKNOWN) {
			if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
				t->errors++;
				continue;
			}
			kind = IFTODT(st.st_mode);
		}
		if (kind == DT_REG) {
			t->files++;
			t->bytes += (uint64_t)st.st_size;
			add_file(prefix, e->d_name, (uint64_t)st.st_size);
		} else if (kind == DT_DIR) {
			readdir_at(openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			           add_directory(prefix, e->d_name), t);
		}
	}
	if (errno)
		t->errors++;
	closedir(dir);
}

static void walk_readdir_fstatat(const char *root, struct tally *t)
{
	readdir_at(open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), add_root(), t);
}

/* --- readdir, a path and an lstat per entry --------------------------------------------------- */

static void walk_readdir_lstat_path(const char *path, struct tally *t)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	t->directories++;
	add_path(path, 'd', 0);
	if (!dir) {
		t->errors++;
		return;
	}
	while (errno = 0, (e = readdir(dir))) {
		struct stat st;
		char *child;

		if (is_dot(e->d_name))
			continue;
		child = must(malloc(strlen(path) + strlen(e->d_name) + 2));
		sprintf(child, "%s/%s", path, e->d_name);
		if (lstat(child, &st) != 0) {
			t->errors++;
		} else if (S_ISREG(st.st_mode)) {
			t->files++;
			t->bytes += (uint64_t)st.st_size;
			add_path(child, 'f', (uint64_t)st.st_size);
		} else if (S_ISDIR(st.st_mode)) {
			walk_readdir_lstat_path(child, t);
		}
		free(child);
	}
	if (errno)
		t->errors++;
	closedir(dir);
}

/* --- the floor --------------------------------------------------------------------------------
 *
 * The least work that finds all names, types and lengths by name: an openat relative to the parent,
 * getdents64 until the directory ends, a statx for each regular file, a close. Nothing is stored,
 * sorted or checked; each name of a file counts. It is not a floor of ways that do not go by name
 * (inode tables read from the device), nor of doing less (a remembered listing). */

enum { BUFFER = 64 * 1024, SHARED = 256 };
enum { NOT_MARKED = -1 }; /* no record has this offset */

struct pool; /* open directories that wait for a thread */
static int pool_give(struct pool *p, int fd, struct prefix prefix);

/* One buffer per depth, kept for the next directory of that depth. */
struct floor {
	struct tally t;
	char **buffers;
	size_t depths;
	int64_t end; /* what end_mark returned */
	struct pool *pool; /* NULL: one thread */
};

/* The offset in the last record of a directory, which saves the last, empty getdents64
 * (crates/transect-sys, linux/volume.rs, has the sources). Room left in the buffer proves nothing, as
 * a signal ends a listing early. XFS marks the end by the directory's size, which is not queried. */
static int64_t end_mark(int root)
{
	struct statfs s;

	if (fstatfs(root, &s) != 0)
		return NOT_MARKED;
	switch ((uint32_t)s.f_type) {
	case 0xef53: return INT64_MAX;     /* ext4 */
	case 0x9123683e: return INT32_MAX; /* btrfs */
	case 0x01021994: return INT32_MAX; /* tmpfs */
	default: return NOT_MARKED;
	}
}

static char *floor_buffer(struct floor *f, size_t depth)
{
	if (depth == f->depths) {
		f->buffers = must(realloc(f->buffers, (depth + 1) * sizeof *f->buffers));
		f->buffers[f->depths++] = must(malloc(BUFFER));
	}
	return f->buffers[depth];
}

static void floor_free(struct floor *f)
{
	for (size_t i = 0; i < f->depths; i++)
		free(f->buffers[i]);
	free(f->buffers);
}

/* Reads the open directory `fd` and closes it. */
static void floor_read(struct floor *f, int fd, struct prefix prefix, size_t depth)
{
	char *buffer = floor_buffer(f, depth);
	ssize_t n;

	while ((n = getdents64(fd, buffer, BUFFER)) > 0) {
		struct dirent64 *e = NULL;

		for (char *at = buffer; at < buffer + n; at += e->d_reclen) {
			unsigned char kind;
			struct statx st;

			e = (struct dirent64 *)at;
			kind = e->d_type;
			if (kind == DT_REG || kind == DT_UNKNOWN) {
				/* Few file systems leave the kind out; those pay with a wider mask, not with a call. */
				unsigned mask = kind == DT_REG ? STATX_SIZE : STATX_SIZE | STATX_TYPE;

				if (is_dot(e->d_name))
					continue;
				if (statx(fd, e->d_name, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, mask, &st) != 0) {
					f->t.errors++;
					continue;
				}
				if (kind == DT_UNKNOWN)
					kind = IFTODT(st.stx_mode);
			}
			if (kind == DT_REG) {
				f->t.files++;
				f->t.bytes += st.stx_size;
				add_file(prefix, e->d_name, st.stx_size);
			} else if (kind == DT_DIR && !is_dot(e->d_name)) {
				int sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
				struct prefix below = add_directory(prefix, e->d_name);

				f->t.directories++;
				if (sub < 0)
					f->t.errors++;
				else if (!f->pool || !pool_give(f->pool, sub, below))
					floor_read(f, sub, below, depth + 1);
			}
		}
		if (f->end != NOT_MARKED && e->d_off == f->end)
			break;
	}
	if (n < 0)
		f->t.errors++;
	close(fd);
}

static void walk_floor(const char *root, struct tally *t)
{
	struct floor f = {0};
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	f.t.directories = 1;
	f.end = end_mark(fd);
	struct prefix prefix = add_root();
	if (fd < 0)
		f.t.errors = 1;
	else
		floor_read(&f, fd, prefix, 0);
	floor_free(&f);
	*t = f.t;
}

/* The stack is short: what does not fit, its finder reads on the spot. So open files stay few. */
struct pool {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int stack[SHARED];
	struct prefix prefixes[SHARED];
	atomic_int waiting; /* on the stack; read without the lock only as a hint */
	int busy;
	int64_t end;
	struct tally sum;
};

static int pool_give(struct pool *p, int fd, struct prefix prefix)
{
	int given = 0;

	if (atomic_load_explicit(&p->waiting, memory_order_relaxed) == SHARED)
		return 0;
	pthread_mutex_lock(&p->lock);
	if (p->waiting < SHARED) {
		p->prefixes[p->waiting] = prefix;
		p->stack[p->waiting++] = fd;
		given = 1;
		pthread_cond_signal(&p->more);
	}
	pthread_mutex_unlock(&p->lock);
	return given;
}

static void *floor_worker(void *arg)
{
	struct pool *p = arg;
	struct floor f = {.end = p->end, .pool = p};

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->waiting && p->busy)
			pthread_cond_wait(&p->more, &p->lock);
		if (!p->waiting)
			break;
		int fd = p->stack[--p->waiting];
		struct prefix prefix = p->prefixes[p->waiting];
		p->busy++;
		pthread_mutex_unlock(&p->lock);
		floor_read(&f, fd, prefix, 0);
		pthread_mutex_lock(&p->lock);
		p->busy--;
	}
	pthread_cond_broadcast(&p->more); /* nothing waits, nobody is busy: the others may go too */
	p->sum.files += f.t.files;
	p->sum.directories += f.t.directories;
	p->sum.bytes += f.t.bytes;
	p->sum.errors += f.t.errors;
	pthread_mutex_unlock(&p->lock);
	floor_free(&f);
	return NULL;
}

static void floor_with(long threads, const char *root, struct tally *t)
{
	struct pool p = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
	long started = 0;
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	p.sum.directories = 1;
	p.prefixes[0] = add_root();
	if (fd < 0) {
		p.sum.errors = 1;
	} else {
		pthread_t *others = must(calloc((size_t)threads, sizeof *others));

		p.end = end_mark(fd);
		p.stack[p.waiting++] = fd;
		/* The calling thread is one of them. */
		while (started < threads - 1 && !pthread_create(&others[started], NULL, floor_worker, &p))
			started++;
		floor_worker(&p);
		while (started)
			pthread_join(others[--started], NULL);
		free(others);
	}
	*t = p.sum;
}

static void walk_floor_threads(const char *root, struct tally *t)
{
	floor_with(sysconf(_SC_NPROCESSORS_ONLN), root, t);
}

/* With cold caches, threads that wait for the device cost nothing. */
static void walk_floor_32_threads(const char *root, struct tally *t)
{
	floor_with(32, root, t);
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*walk)(const char *root, struct tally *t);
} methods[] = {
	{"floor", walk_floor},
	{"floor-threads", walk_floor_threads},
	{"floor-32-threads", walk_floor_32_threads},
	{"c-nftw", walk_nftw},
	{"c-fts", walk_fts},
	{"c-readdir-fstatat", walk_readdir_fstatat},
	{"c-readdir-lstat-path", walk_readdir_lstat_path},
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct rlimit files;
	struct stat st;
	size_t m = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: walk METHOD ROOT RUNS\n");
		return 2;
	}
	while (m < sizeof methods / sizeof *methods && strcmp(methods[m].name, argv[1]) != 0)
		m++;
	if (m == sizeof methods / sizeof *methods) {
		fprintf(stderr, "walk: unknown method: %s\n", argv[1]);
		return 2;
	}
	if (lstat(argv[2], &st) != 0 || !S_ISDIR(st.st_mode)) {
		fprintf(stderr, "walk: not a directory: %s\n", argv[2]);
		return 1;
	}
	/* Recursion keeps a directory open per depth. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (long runs = strtol(argv[3], NULL, 10); runs > 0; runs--) {
		struct tally t = {0};
		uint64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), start = now_ns(CLOCK_MONOTONIC), elapsed;

#ifdef CHECK
		digest = 0;
		root_length = strlen(argv[2]);
#endif
		methods[m].walk(argv[2], &t);
		elapsed = now_ns(CLOCK_MONOTONIC) - start;
		cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
#ifdef CHECK
		printf("{\"digest\":\"%016jx\",", (uintmax_t)digest);
#else
		printf("{");
#endif
		printf("\"files\":%ju,\"directories\":%ju,\"bytes\":%ju,\"errors\":%ju,\"elapsed_ns\":%ju,"
		       "\"cpu_ns\":%ju}\n",
		       (uintmax_t)t.files, (uintmax_t)t.directories, (uintmax_t)t.bytes, (uintmax_t)t.errors,
		       (uintmax_t)elapsed, (uintmax_t)cpu);
		fflush(stdout);
	}
	return 0;
}

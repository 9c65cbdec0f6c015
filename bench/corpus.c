/* corpus: deterministic directory trees to measure scanners on.
 *
 *   corpus            lists the trees: name, files, directories below the root, bytes
 *   corpus NAME DIR   makes one in DIR, which must not exist
 *
 * Same name, same tree: names, shape, sizes, times, order of creation. `text` trees hold small
 * random text; all others are sparse files (ftruncate), so that a tree of two million files costs
 * directory blocks and inodes, but no data. Directories: a parent is recent (60 of 100) or any,
 * at most 14 deep. Files per directory: exponential of a normal, one directory in five has none.
 * Sizes: log-normal around 4 KiB with a long tail, one file in 25 empty. They pass through the
 * mathematics library; another one may round a few sizes otherwise, hence `bytes` in the list.
 *
 * Written in one go, a tree's inodes and directory blocks lie close together: a cold scan is
 * kinder than on an aged disk. Build: cc -O2 -o corpus corpus.c -lm
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 14 };

static const struct tree {
	const char *name;
	unsigned files, directories, seed, text;
	uint64_t bytes;
} trees[] = {
	{"tiny", 10, 0, 8, 1, 39678},
	{"flat-1000", 1000, 0, 1, 1, 4138686},
	{"flat-5000", 5000, 0, 3, 1, 20421937},
	{"music", 3315, 467, 4, 0, 191754149},
	{"data", 56393, 7858, 5, 0, 4435876009},
	{"drive", 554648, 45590, 6, 0, 39515561481},
	{"users", 2000000, 200000, 7, 0, 140462848212},
};
static const unsigned known = sizeof trees / sizeof *trees;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* SplitMix64. Every call below counts: the order of the draws is the tree. */
static uint64_t state;

static uint64_t draw(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ull);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static double uniform(void)
{
	return ((draw() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	double radius = sqrt(-2 * log(uniform()));
	return radius * cos(2 * M_PI * uniform());
}

/* A readable name: syllables, an index that makes it unique, an extension. */
static void make_name(char *out, unsigned index, int is_directory)
{
	static const char *syllables[] = {"ba",  "ko",  "ri", "ten", "mo", "la",   "sur", "ne",
					  "dat", "pho", "to", "img", "re", "port", "ver", "cor"};
	static const char *extensions[] = {".c",    ".h",    ".txt", ".md", ".jpg", ".png", ".mp3",  ".flac",
					   ".json", ".html", ".js",  ".o",  ".rs",  ".pdf", ".docx", ""};
	unsigned count = 1 + draw() % (is_directory ? 3 : 5);
	out[0] = 0;
	while (count--)
		strcat(out, syllables[draw() & 15]);
	const char *extension = is_directory ? "" : extensions[draw() & 15];
	char separator = draw() & 1 ? '-' : '_';
	sprintf(out + strlen(out), "%c%u%s", separator, index, extension);
}

static off_t draw_size(void)
{
	if (draw() % 25 == 0)
		return 0;
	double size = exp(log(4096.0) + 2.4 * normal());
	return (off_t)(size > 4e9 ? 4e9 : size);
}

struct directory {
	unsigned parent, files;
	int depth;
	char name[32];
};

/* Draws the shape: directory 0 is the root, a parent comes before its children. */
static struct directory *draw_directories(unsigned count)
{
	struct directory *d = calloc(count, sizeof *d);
	if (!d)
		die("corpus");
	for (unsigned i = 1; i < count; i++) {
		unsigned parent;
		do
			parent = draw() % 100 < 60 ? i - 1 - draw() % (i < 12 ? i : 12) : draw() % i;
		while (d[parent].depth >= DEEPEST);
		d[i].parent = parent;
		d[i].depth = d[parent].depth + 1;
		make_name(d[i].name, i, 1);
	}
	return d;
}

/* Spreads exactly `files` files over the directories. */
static void spread_files(struct directory *d, unsigned count, unsigned files)
{
	double *weight = calloc(count, sizeof *weight), total = 0, before = 0;
	if (!weight)
		die("corpus");
	for (unsigned i = 0; i < count; i++) {
		double g = normal();
		weight[i] = count > 1 && draw() % 5 == 0 ? 0 : exp(1.1 * g);
		total += weight[i];
	}
	unsigned done = 0;
	for (unsigned i = 0; i < count; i++) {
		before += weight[i];
		unsigned upto = i + 1 == count ? files : (unsigned)(files * (before / total));
		d[i].files = upto - done;
		done = upto;
	}
	free(weight);
}

static void write_text(int fd)
{
	char text[8192];
	unsigned length = 200 + draw() % 7800;
	for (unsigned k = 0; k < length; k++)
		text[k] = draw() % 9 ? 'a' + draw() % 26 : (draw() % 8 ? ' ' : '\n');
	if (write(fd, text, length) != (ssize_t)length)
		die("write");
}

static void make_file(int directory, unsigned index, int text)
{
	char name[64];
	make_name(name, index, 0);
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		die(name);
	if (text)
		write_text(fd);
	else if (ftruncate(fd, draw_size()))
		die("ftruncate");
	struct timespec when = {.tv_sec = 1500000000 + draw() % 200000000};
	when.tv_nsec = draw() % 1000000000;
	if (futimens(fd, (struct timespec[]){when, when}))
		die("futimens");
	close(fd);
}

/* The path of directory `i`, relative to the root. */
static void make_path(char *out, const struct directory *d, unsigned i)
{
	unsigned way[DEEPEST], depth = 0;
	for (unsigned at = i; at; at = d[at].parent)
		way[depth++] = at;
	strcpy(out, ".");
	while (depth--)
		out += sprintf(out, "%s%s", d[way[depth]].name, depth ? "/" : "");
}

static void make_tree(const struct tree *tree)
{
	unsigned count = tree->directories + 1;
	state = tree->seed * 7919ull + 12345;
	struct directory *d = draw_directories(count);
	spread_files(d, count, tree->files);
	for (unsigned i = 0; i < count; i++) {
		char path[DEEPEST * 32 + 2];
		make_path(path, d, i);
		if (i && mkdir(path, 0755))
			die(path);
		int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			die(path);
		for (unsigned j = 0; j < d[i].files; j++)
			make_file(fd, j, tree->text);
		close(fd);
	}
	free(d);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 1 && i < known; i++)
		printf("%s %u %u %lu\n", trees[i].name, trees[i].files, trees[i].directories, trees[i].bytes);
	if (argc == 1)
		return 0;
	for (unsigned i = 0; argc == 3 && i < known; i++) {
		if (strcmp(argv[1], trees[i].name))
			continue;
		if (mkdir(argv[2], 0755) || chdir(argv[2]))
			die(argv[2]);
		make_tree(&trees[i]);
		return 0;
	}
	fprintf(stderr, "usage: corpus [NAME DIR]; without arguments, lists the names\n");
	return 2;
}

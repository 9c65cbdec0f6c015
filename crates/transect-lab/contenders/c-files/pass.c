/* File transforms in C: pass METHOD INPUT OUTPUT BLOCK KIND SYNC HINT. The protocol is in ../README.md. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct job {
	const char *input, *output;
	size_t block;
	int upper, sync, hint;
};

static void fail(const char *what)
{
	fprintf(stderr, "pass: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* What is done with a block. */
static void change(const struct job *job, unsigned char *bytes, size_t length)
{
	if (!job->upper)
		return;
	for (size_t at = 0; at < length; at++)
		bytes[at] -= (bytes[at] >= 'a' && bytes[at] <= 'z') ? 'a' - 'A' : 0;
}

static unsigned char *block_of(const struct job *job)
{
	unsigned char *block = malloc(job->block);
	if (!block)
		fail("memory");
	return block;
}

static void hint(const struct job *job, int input)
{
	if (job->hint && posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL))
		fail(job->input);
}

static void sync_if_asked(const struct job *job, int output)
{
	if (job->sync && fsync(output))
		fail(job->output);
}

static uint64_t by_stdio(const struct job *job)
{
	unsigned char *block = block_of(job);
	FILE *input = fopen(job->input, "rb");
	if (!input)
		fail(job->input);
	hint(job, fileno(input));
	FILE *output = fopen(job->output, "wb");
	if (!output)
		fail(job->output);
	uint64_t bytes = 0;
	for (size_t got; (got = fread(block, 1, job->block, input)) > 0; bytes += got) {
		change(job, block, got);
		if (fwrite(block, 1, got, output) != got)
			fail(job->output);
	}
	if (ferror(input))
		fail(job->input);
	if (fflush(output))
		fail(job->output);
	sync_if_asked(job, fileno(output));
	fclose(input);
	if (fclose(output))
		fail(job->output);
	free(block);
	return bytes;
}

static uint64_t by_calls(const struct job *job)
{
	unsigned char *block = block_of(job);
	int input = open(job->input, O_RDONLY | O_CLOEXEC);
	if (input < 0)
		fail(job->input);
	hint(job, input);
	int output = open(job->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (output < 0)
		fail(job->output);
	uint64_t bytes = 0;
	for (ssize_t got; (got = read(input, block, job->block)) != 0; bytes += (uint64_t)got) {
		if (got < 0)
			fail(job->input);
		change(job, block, (size_t)got);
		for (ssize_t done = 0, put; done < got; done += put)
			if ((put = write(output, block + done, (size_t)(got - done))) < 0)
				fail(job->output);
	}
	sync_if_asked(job, output);
	close(input);
	if (close(output))
		fail(job->output);
	free(block);
	return bytes;
}

/* As the article does it: the output gets its length first. A device that is full is SIGBUS. */
static uint64_t by_mapping(const struct job *job)
{
	int input = open(job->input, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (input < 0 || fstat(input, &st))
		fail(job->input);
	size_t length = (size_t)st.st_size;
	int output = open(job->output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (output < 0 || ftruncate(output, st.st_size))
		fail(job->output);
	if (length > 0) { /* nothing cannot be mapped */
		void *from = mmap(NULL, length, PROT_READ, MAP_SHARED, input, 0);
		void *to = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, output, 0);
		if (from == MAP_FAILED || to == MAP_FAILED)
			fail("mmap");
		memcpy(to, from, length);
		change(job, to, length);
		munmap(from, length);
		munmap(to, length);
	}
	sync_if_asked(job, output);
	close(input);
	if (close(output))
		fail(job->output);
	return length;
}

static const struct {
	const char *name;
	uint64_t (*pass)(const struct job *);
} methods[] = {
	{ "c-stdio", by_stdio },
	{ "c-read-write", by_calls },
	{ "c-mmap", by_mapping },
};

static uint64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc != 8) {
		fputs("pass METHOD INPUT OUTPUT BLOCK KIND SYNC HINT\n", stderr);
		return 2;
	}
	struct job job = {
		.input = argv[2],
		.output = argv[3],
		.block = strtoull(argv[4], NULL, 10),
		.upper = !strcmp(argv[5], "case"),
		.sync = !strcmp(argv[6], "inside"),
		.hint = !strcmp(argv[7], "sequential"),
	};
	if ((!job.upper && strcmp(argv[5], "copy")) || job.block == 0) {
		fprintf(stderr, "pass: no such kind or block: %s, %s\n", argv[5], argv[4]);
		return 2;
	}
	for (size_t at = 0; at < sizeof methods / sizeof *methods; at++) {
		if (strcmp(argv[1], methods[at].name))
			continue;
		uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
		uint64_t bytes = methods[at].pass(&job), elapsed = now(CLOCK_MONOTONIC) - start;
		cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		printf("{\"files\":1,\"directories\":0,\"bytes\":%" PRIu64
		       ",\"errors\":0,\"elapsed_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}\n",
		       bytes, elapsed, cpu);
		return 0;
	}
	fprintf(stderr, "pass: unknown method: %s\n", argv[1]);
	return 2;
}

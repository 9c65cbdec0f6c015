/* Questions about attributes: ask METHOD QUESTIONS. The protocol is in docs/LAB.md. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static char *read_all(const char *path, size_t *length)
{
	struct stat status;
	FILE *file = fopen(path, "rb");
	if (!file || fstat(fileno(file), &status) != 0)
		return NULL;
	char *bytes = malloc((size_t)status.st_size + 1);
	if (!bytes)
		return NULL;
	*length = fread(bytes, 1, (size_t)status.st_size, file);
	bytes[*length] = '\0';
	fclose(file);
	return bytes;
}

static long long now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
	size_t length = 0;
	if (argc != 3 || strcmp(argv[1], "floor-statx") != 0) {
		fprintf(stderr, "ask floor-statx QUESTIONS\n");
		return 2;
	}
	char *bytes = read_all(argv[2], &length);
	if (!bytes) {
		perror(argv[2]);
		return 1;
	}
	unsigned long long found = 0, missing = 0, size = 0, changed = 0;
	long long cpu = now(CLOCK_PROCESS_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
	for (const char *path = bytes; path < bytes + length; path += strlen(path) + 1) {
		struct statx status;
		if (statx(AT_FDCWD, path, 0, STATX_MTIME | STATX_SIZE, &status) != 0) {
			missing++;
			continue;
		}
		found++;
		size += status.stx_size;
		changed += (unsigned long long)status.stx_mtime.tv_sec * 1000000000ULL +
			   status.stx_mtime.tv_nsec;
	}
	long long elapsed = now(CLOCK_MONOTONIC) - start;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("{\"files\":%llu,\"directories\":0,\"bytes\":%llu,\"errors\":%llu,\"changed\":%llu,"
	       "\"elapsed_ns\":%lld,\"cpu_ns\":%lld}\n",
	       found, size, missing, changed, elapsed, cpu);
	return 0;
}

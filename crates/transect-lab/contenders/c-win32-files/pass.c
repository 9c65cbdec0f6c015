/* File transforms in C on Windows: pass METHOD INPUT OUTPUT BLOCK KIND SYNC HINT. The protocol is in
 * ../README.md. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <inttypes.h>
#include <io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct job {
	const wchar_t *input, *output;
	size_t block;
	int upper, sync, hint;
};

static void fail(const wchar_t *what)
{
	fprintf(stderr, "pass: %ls: error %lu\n", what, GetLastError());
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
		fail(L"memory");
	return block;
}

static uint64_t by_stdio(const struct job *job)
{
	unsigned char *block = block_of(job);
	FILE *input = _wfopen(job->input, job->hint ? L"rbS" : L"rb");
	if (!input)
		fail(job->input);
	FILE *output = _wfopen(job->output, L"wb");
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
	if (fflush(output) || (job->sync && _commit(_fileno(output))))
		fail(job->output);
	fclose(input);
	if (fclose(output))
		fail(job->output);
	free(block);
	return bytes;
}

static HANDLE open_input(const struct job *job, DWORD flags)
{
	HANDLE input = CreateFileW(job->input, GENERIC_READ, 0, NULL, OPEN_EXISTING,
	                           (job->hint ? FILE_FLAG_SEQUENTIAL_SCAN : 0) | flags, NULL);
	if (input == INVALID_HANDLE_VALUE)
		fail(job->input);
	return input;
}

static HANDLE open_output(const struct job *job, DWORD access, DWORD flags)
{
	HANDLE output = CreateFileW(job->output, access, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL | flags, NULL);
	if (output == INVALID_HANDLE_VALUE)
		fail(job->output);
	return output;
}

static void close_both(const struct job *job, HANDLE input, HANDLE output)
{
	if (job->sync && !FlushFileBuffers(output))
		fail(job->output);
	CloseHandle(input);
	if (!CloseHandle(output))
		fail(job->output);
}

static uint64_t by_calls(const struct job *job)
{
	unsigned char *block = block_of(job);
	HANDLE input = open_input(job, 0), output = open_output(job, GENERIC_WRITE, 0);
	uint64_t bytes = 0;
	for (DWORD got, put;; bytes += got) {
		if (!ReadFile(input, block, (DWORD)job->block, &got, NULL))
			fail(job->input);
		if (!got)
			break;
		change(job, block, got);
		if (!WriteFile(output, block, got, &put, NULL) || put != got)
			fail(job->output);
	}
	close_both(job, input, output);
	free(block);
	return bytes;
}

/* As the article does it: the output gets its length first. A device that fails raises an exception. */
static uint64_t by_mapping(const struct job *job)
{
	HANDLE input = open_input(job, 0), output = open_output(job, GENERIC_READ | GENERIC_WRITE, 0);
	LARGE_INTEGER length;
	if (!GetFileSizeEx(input, &length))
		fail(job->input);
	if (length.QuadPart > 0) { /* nothing cannot be mapped */
		HANDLE source = CreateFileMappingW(input, NULL, PAGE_READONLY, 0, 0, NULL);
		HANDLE target = CreateFileMappingW(output, NULL, PAGE_READWRITE, (DWORD)length.HighPart, length.LowPart, NULL);
		if (!source || !target)
			fail(L"CreateFileMapping");
		void *from = MapViewOfFile(source, FILE_MAP_READ, 0, 0, 0);
		void *to = MapViewOfFile(target, FILE_MAP_WRITE, 0, 0, 0);
		if (!from || !to)
			fail(L"MapViewOfFile");
		memcpy(to, from, (size_t)length.QuadPart);
		change(job, to, (size_t)length.QuadPart);
		if (job->sync && !FlushViewOfFile(to, 0))
			fail(job->output);
		UnmapViewOfFile(from);
		UnmapViewOfFile(to);
		CloseHandle(source);
		CloseHandle(target);
	}
	close_both(job, input, output);
	return (uint64_t)length.QuadPart;
}

/* --- overlapped -------------------------------------------------------------------------------
 *
 * A ring of blocks, each of which is being read or written. Reads are started as far ahead as the ring
 * allows, and end in order; each is then changed and its write started, for which nothing waits until its
 * block is needed again. Writes that extend a file may be synchronous all the same: NTFS decides. */

enum { DEPTH = 4 };

struct slot {
	OVERLAPPED reading, writing;
	unsigned char *block;
	int writes;
};

static void set(OVERLAPPED *o, uint64_t at)
{
	HANDLE event = o->hEvent;

	memset(o, 0, sizeof *o);
	o->hEvent = event;
	o->Offset = (DWORD)at;
	o->OffsetHigh = (DWORD)(at >> 32);
}

/* Waits for the write of a block, if there is one. */
static void written(const struct job *job, HANDLE output, struct slot *s)
{
	DWORD put;

	if (s->writes && (!GetOverlappedResult(output, &s->writing, &put, TRUE)))
		fail(job->output);
	s->writes = 0;
}

static uint64_t by_overlapped(const struct job *job)
{
	HANDLE input = open_input(job, FILE_FLAG_OVERLAPPED);
	HANDLE output = open_output(job, GENERIC_WRITE, FILE_FLAG_OVERLAPPED);
	struct slot ring[DEPTH] = {0};
	LARGE_INTEGER length;
	uint64_t size, asked = 0, bytes = 0;

	if (!GetFileSizeEx(input, &length))
		fail(job->input);
	size = (uint64_t)length.QuadPart;
	for (int i = 0; i < DEPTH; i++) {
		ring[i].block = block_of(job);
		ring[i].reading.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
		ring[i].writing.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
		if (!ring[i].reading.hEvent || !ring[i].writing.hEvent)
			fail(L"CreateEvent");
	}
	for (size_t first = 0, next = 0;; first++) {
		struct slot *s;
		DWORD got;

		for (; asked < size && next < first + DEPTH; next++, asked += job->block) {
			s = &ring[next % DEPTH];
			written(job, output, s);
			set(&s->reading, asked);
			if (!ReadFile(input, s->block, (DWORD)job->block, NULL, &s->reading) &&
			    GetLastError() != ERROR_IO_PENDING)
				fail(job->input);
		}
		if (first == next)
			break;
		s = &ring[first % DEPTH];
		if (!GetOverlappedResult(input, &s->reading, &got, TRUE))
			fail(job->input);
		change(job, s->block, got);
		set(&s->writing, (uint64_t)s->reading.OffsetHigh << 32 | s->reading.Offset);
		if (!WriteFile(output, s->block, got, NULL, &s->writing) && GetLastError() != ERROR_IO_PENDING)
			fail(job->output);
		s->writes = 1;
		bytes += got;
	}
	for (int i = 0; i < DEPTH; i++) {
		written(job, output, &ring[i]);
		CloseHandle(ring[i].reading.hEvent);
		CloseHandle(ring[i].writing.hEvent);
		free(ring[i].block);
	}
	close_both(job, input, output);
	return bytes;
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const wchar_t *name;
	uint64_t (*pass)(const struct job *);
} methods[] = {
	{ L"c-stdio", by_stdio },
	{ L"c-mmap", by_mapping },
	{ L"win32-read-write", by_calls },
	{ L"win32-overlapped", by_overlapped },
};

static uint64_t now_ns(void)
{
	LARGE_INTEGER frequency, ticks;
	QueryPerformanceFrequency(&frequency);
	QueryPerformanceCounter(&ticks);
	uint64_t f = (uint64_t)frequency.QuadPart, t = (uint64_t)ticks.QuadPart;
	return t / f * 1000000000u + t % f * 1000000000u / f;
}

static uint64_t cpu_ns(void)
{
	FILETIME created, ended, kernel, user;
	GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
	return (((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
	        ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime)) * 100;
}

int wmain(int argc, wchar_t **argv)
{
	if (argc != 8) {
		fputs("pass METHOD INPUT OUTPUT BLOCK KIND SYNC HINT\n", stderr);
		return 2;
	}
	struct job job = {
		.input = argv[2],
		.output = argv[3],
		.block = (size_t)wcstoull(argv[4], NULL, 10),
		.upper = !wcscmp(argv[5], L"case"),
		.sync = !wcscmp(argv[6], L"inside"),
		.hint = !wcscmp(argv[7], L"sequential"),
	};
	if ((!job.upper && wcscmp(argv[5], L"copy")) || job.block == 0 || job.block > 1u << 30) {
		fprintf(stderr, "pass: no such kind or block: %ls, %ls\n", argv[5], argv[4]);
		return 2;
	}
	for (size_t at = 0; at < sizeof methods / sizeof *methods; at++) {
		if (wcscmp(argv[1], methods[at].name))
			continue;
		uint64_t cpu = cpu_ns(), start = now_ns();
		uint64_t bytes = methods[at].pass(&job), elapsed = now_ns() - start;
		cpu = cpu_ns() - cpu;
		printf("{\"files\":1,\"directories\":0,\"bytes\":%" PRIu64
		       ",\"errors\":0,\"elapsed_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}\n",
		       bytes, elapsed, cpu);
		return 0;
	}
	fprintf(stderr, "pass: unknown method: %ls\n", argv[1]);
	return 2;
}

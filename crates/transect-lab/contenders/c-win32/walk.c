/* Tree walks in C on Windows: walk METHOD ROOT RUNS. The protocol is in ../README.md. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <winternl.h>

#include <errno.h>
#include <inttypes.h>
#include <io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct tally {
	uint64_t files, directories, bytes, errors;
};

/* Memory that a walk cannot do without: going on would give false counts. */
static void *must(void *p)
{
	if (!p) {
		fputs("walk: out of memory\n", stderr);
		abort();
	}
	return p;
}

static int is_dot(const wchar_t *n)
{
	return n[0] == L'.' && (!n[1] || (n[1] == L'.' && !n[2]));
}

/* --- the digest -------------------------------------------------------------------------------
 *
 * Compiled with -DCHECK=1, the same walks add up the digest of ../README.md. Otherwise these functions do
 * nothing. */

#ifndef CHECK
#define CHECK 0
#endif

static uint64_t digest;

static uint64_t fnv(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *b = bytes; n--; b++)
		hash = (hash ^ *b) * 0x100000001b3;
	return hash;
}

/* By the path of the entry relative to the root, in UTF-16. */
static void add(const wchar_t *path, size_t length, char type, uint64_t size)
{
	unsigned char end[10] = {0, (unsigned char)type};
	uint64_t hash = 0xcbf29ce484222325;

	if (!CHECK)
		return;
	if (length) {
		int n = WideCharToMultiByte(CP_UTF8, 0, path, (int)length, NULL, 0, NULL, NULL);
		char *text = must(malloc((size_t)n));

		WideCharToMultiByte(CP_UTF8, 0, path, (int)length, text, n, NULL, NULL);
		for (int i = 0; i < n; i++)
			if (text[i] == '\\')
				text[i] = '/';
		hash = fnv(hash, text, (size_t)n);
		free(text);
	}
	for (int i = 0; i < 8; i++)
		end[2 + i] = (unsigned char)(size >> 8 * i);
	digest += fnv(hash, end, type == 'f' ? 10 : 2);
}

/* --- paths ------------------------------------------------------------------------------------ */

struct path {
	wchar_t *text; /* ends with NUL */
	size_t length, room, root; /* in units; `root` is the length of the root and its separator */
};

static void append(struct path *p, const wchar_t *name, size_t n)
{
	if (p->length + n + 1 > p->room) {
		p->room = (p->length + n + 1) * 2;
		p->text = must(realloc(p->text, p->room * sizeof *p->text));
	}
	memcpy(p->text + p->length, name, n * sizeof *name);
	p->length += n;
	p->text[p->length] = 0;
}

static void cut(struct path *p, size_t length)
{
	p->length = length;
	p->text[length] = 0;
}

static void note(const struct path *p, char type, uint64_t size)
{
	if (CHECK) {
		size_t root = p->length < p->root ? p->length : p->root;

		add(p->text + root, p->length - root, type, size);
	}
}

/* A reparse point that stands for another name is a link; Wine reports links of the host without a tag. */
static int is_link(DWORD attributes, DWORD tag)
{
	return (attributes & FILE_ATTRIBUTE_REPARSE_POINT) && (tag == 0 || (tag & 0x20000000));
}

/* Counts an entry; `p` is its path. Returns whether it is a directory. */
static int count(struct tally *t, const struct path *p, DWORD attributes, DWORD tag, uint64_t size)
{
	if (is_link(attributes, tag))
		return 0;
	if (attributes & FILE_ATTRIBUTE_DIRECTORY)
		return 1;
	t->files++;
	t->bytes += size;
	note(p, 'f', size);
	return 0;
}

/* --- FindFirstFile, by path ------------------------------------------------------------------- */

enum { PLAIN, BASIC_LARGE, STANDARD, EACH_BY_PATH };

static void find(struct path *p, int how, struct tally *t)
{
	size_t length = p->length;
	WIN32_FIND_DATAW data;
	HANDLE search;

	t->directories++;
	note(p, 'd', 0);
	append(p, L"\\*", 2);
	if (how == BASIC_LARGE)
		search = FindFirstFileExW(p->text, FindExInfoBasic, &data, FindExSearchNameMatch, NULL,
		                          FIND_FIRST_EX_LARGE_FETCH);
	else if (how == STANDARD)
		search = FindFirstFileExW(p->text, FindExInfoStandard, &data, FindExSearchNameMatch, NULL, 0);
	else
		search = FindFirstFileW(p->text, &data);
	if (search == INVALID_HANDLE_VALUE) {
		/* A root of a volume has no "." and may be empty. */
		if (GetLastError() != ERROR_FILE_NOT_FOUND)
			t->errors++;
		cut(p, length);
		return;
	}
	do {
		uint64_t size = (uint64_t)data.nFileSizeHigh << 32 | data.nFileSizeLow;
		DWORD attributes = data.dwFileAttributes;

		if (is_dot(data.cFileName))
			continue;
		cut(p, length + 1);
		append(p, data.cFileName, wcslen(data.cFileName));
		if (how == EACH_BY_PATH && !(attributes & FILE_ATTRIBUTE_DIRECTORY)) {
			WIN32_FILE_ATTRIBUTE_DATA asked;

			if (!GetFileAttributesExW(p->text, GetFileExInfoStandard, &asked)) {
				t->errors++;
				continue;
			}
			size = (uint64_t)asked.nFileSizeHigh << 32 | asked.nFileSizeLow;
		}
		if (count(t, p, attributes, data.dwReserved0, size))
			find(p, how, t);
	} while (FindNextFileW(search, &data));
	if (GetLastError() != ERROR_NO_MORE_FILES)
		t->errors++;
	FindClose(search);
	cut(p, length);
}

static void walk_find(struct path *p, struct tally *t)
{
	find(p, PLAIN, t);
}

static void walk_find_large(struct path *p, struct tally *t)
{
	find(p, BASIC_LARGE, t);
}

static void walk_find_standard(struct path *p, struct tally *t)
{
	find(p, STANDARD, t);
}

static void walk_attributes(struct path *p, struct tally *t)
{
	find(p, EACH_BY_PATH, t);
}

/* --- the C runtime ---------------------------------------------------------------------------- */

static void walk_runtime(struct path *p, struct tally *t)
{
	size_t length = p->length;
	struct _wfinddata64_t data;
	intptr_t search;

	t->directories++;
	note(p, 'd', 0);
	append(p, L"\\*", 2);
	search = _wfindfirst64(p->text, &data);
	if (search == -1) {
		t->errors += errno != ENOENT;
		cut(p, length);
		return;
	}
	do {
		if (is_dot(data.name))
			continue;
		cut(p, length + 1);
		append(p, data.name, wcslen(data.name));
		/* It reports no tag: every reparse point is taken for a link. */
		if (count(t, p, data.attrib, 0, (uint64_t)data.size))
			walk_runtime(p, t);
	} while (_wfindnext64(search, &data) == 0);
	t->errors += errno != ENOENT;
	_findclose(search);
	cut(p, length);
}

/* --- NtQueryDirectoryFile, relative to the parent --------------------------------------------- */

enum { BUFFER = 256 * 1024 };

struct full_record { /* FILE_FULL_DIR_INFORMATION */
	ULONG next, index;
	LARGE_INTEGER created, accessed, written, changed, size, allocated;
	ULONG attributes, name_bytes, tag;
	WCHAR name[1];
};

typedef NTSTATUS(NTAPI *query_directory)(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *, void *, ULONG, int,
                                         BOOLEAN, UNICODE_STRING *, BOOLEAN);
typedef NTSTATUS(NTAPI *open_file)(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *, ULONG, ULONG);

static query_directory nt_query;
static open_file nt_open;

/* Reads the open directory and closes it. One buffer per level. */
static void nt_read(HANDLE directory, struct path *p, struct tally *t)
{
	char *buffer = must(malloc(BUFFER));
	size_t length = p->length;
	IO_STATUS_BLOCK io;
	BOOLEAN restart = TRUE;

	for (;; restart = FALSE) {
		/* FileFullDirectoryInformation */
		NTSTATUS status = nt_query(directory, NULL, NULL, NULL, &io, buffer, BUFFER, 2, FALSE, NULL, restart);
		char *at = buffer;

		if (status < 0) {
			/* STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE */
			if (status != (NTSTATUS)0x80000006 && status != (NTSTATUS)0xC000000F)
				t->errors++;
			break;
		}
		for (;;) {
			struct full_record *r = (struct full_record *)at;
			size_t n = r->name_bytes / sizeof *r->name;

			if (!(n <= 2 && r->name[0] == L'.' && (n == 1 || r->name[1] == L'.'))) {
				if (CHECK) {
					append(p, L"\\", 1);
					append(p, r->name, n);
				}
				if (count(t, p, r->attributes, r->tag, (uint64_t)r->size.QuadPart)) {
					UNICODE_STRING name = {(USHORT)r->name_bytes, (USHORT)r->name_bytes, r->name};
					OBJECT_ATTRIBUTES object = {
						.Length = sizeof object, .RootDirectory = directory, .ObjectName = &name};
					IO_STATUS_BLOCK opened;
					HANDLE sub;

					t->directories++;
					note(p, 'd', 0);
					/* FILE_DIRECTORY_FILE, FILE_SYNCHRONOUS_IO_NONALERT, for backup, no link followed */
					status = nt_open(&sub, FILE_LIST_DIRECTORY | SYNCHRONIZE, &object, &opened,
					                 FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
					                 0x1 | 0x20 | 0x4000 | 0x200000);
					if (status < 0)
						t->errors++;
					else
						nt_read(sub, p, t);
				}
				if (CHECK)
					cut(p, length);
			}
			if (!r->next)
				break;
			at += r->next;
		}
	}
	CloseHandle(directory);
	free(buffer);
}

static void walk_nt(struct path *p, struct tally *t)
{
	HANDLE root = CreateFileW(p->text, FILE_LIST_DIRECTORY | SYNCHRONIZE,
	                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
	                          FILE_FLAG_BACKUP_SEMANTICS, NULL);

	t->directories++;
	note(p, 'd', 0);
	if (root == INVALID_HANDLE_VALUE)
		t->errors++;
	else
		nt_read(root, p, t);
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const wchar_t *name;
	void (*walk)(struct path *root, struct tally *t);
} methods[] = {
	{L"c-find-first-file", walk_find},
	{L"c-find-first-file-ex-standard", walk_find_standard},
	{L"c-find-first-file-ex-basic-large", walk_find_large},
	{L"c-file-attributes-ex", walk_attributes},
	{L"c-runtime-findfirst", walk_runtime},
	{L"c-nt-query", walk_nt},
};

static uint64_t now_ns(void)
{
	LARGE_INTEGER frequency, ticks;
	uint64_t f, t;

	QueryPerformanceFrequency(&frequency);
	QueryPerformanceCounter(&ticks);
	f = (uint64_t)frequency.QuadPart, t = (uint64_t)ticks.QuadPart;
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
	HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
	struct path root = {0};
	DWORD attributes;
	size_t m = 0;

	if (argc != 4) {
		fputs("usage: walk METHOD ROOT RUNS\n", stderr);
		return 2;
	}
	while (m < sizeof methods / sizeof *methods && wcscmp(methods[m].name, argv[1]) != 0)
		m++;
	if (m == sizeof methods / sizeof *methods) {
		fprintf(stderr, "walk: unknown method: %ls\n", argv[1]);
		return 2;
	}
	attributes = GetFileAttributesW(argv[2]);
	if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_DIRECTORY)) {
		fprintf(stderr, "walk: not a directory: %ls\n", argv[2]);
		return 1;
	}
	nt_query = (query_directory)(void (*)(void))GetProcAddress(ntdll, "NtQueryDirectoryFile");
	nt_open = (open_file)(void (*)(void))GetProcAddress(ntdll, "NtOpenFile");
	append(&root, argv[2], wcslen(argv[2]));
	root.root = root.length + 1;
	for (long runs = wcstol(argv[3], NULL, 10); runs > 0; runs--) {
		struct tally t = {0};
		uint64_t cpu = cpu_ns(), start = now_ns(), elapsed;

		digest = 0;
		methods[m].walk(&root, &t);
		elapsed = now_ns() - start;
		cpu = cpu_ns() - cpu;
		printf("{");
		if (CHECK)
			printf("\"digest\":\"%016" PRIx64 "\",", digest);
		printf("\"files\":%" PRIu64 ",\"directories\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"errors\":%" PRIu64
		       ",\"elapsed_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64 "}\n",
		       t.files, t.directories, t.bytes, t.errors, elapsed, cpu);
		fflush(stdout);
	}
	return 0;
}

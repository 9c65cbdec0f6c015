// Tree walks with std::filesystem: walk METHOD ROOT RUNS. The protocol is in ../README.md.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <queue>
#include <stack>
#include <string>
#include <system_error>
#include <vector>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <sys/resource.h>
#endif

namespace fs = std::filesystem;

struct Tally {
	std::uint64_t files = 0, directories = 0, bytes = 0, errors = 0;

	Tally &operator+=(const Tally &other)
	{
		files += other.files;
		directories += other.directories;
		bytes += other.bytes;
		errors += other.errors;
		return *this;
	}
};

// Compiled with -DCHECK=1, the same walks add up the digest of ../README.md; otherwise `note` is empty.
#ifndef CHECK
#define CHECK 0
#endif
static std::atomic<std::uint64_t> digest{0};
static std::size_t root_length = 0;

static void note([[maybe_unused]] const fs::path &path, [[maybe_unused]] char type,
		 [[maybe_unused]] std::uint64_t size = 0)
{
	if constexpr (CHECK) {
#ifdef _WIN32
		std::string bytes = fs::path(path.native().substr(root_length)).generic_u8string();
#else
		std::string bytes = path.native().substr(root_length);
#endif
		if (!bytes.empty() && bytes[0] == '/')
			bytes.erase(0, 1);
		bytes += '\0';
		bytes += type;
		for (int i = 0; type == 'f' && i < 8; i++)
			bytes += static_cast<char>(size >> 8 * i);
		std::uint64_t hash = 0xcbf29ce484222325;
		for (const unsigned char byte : bytes)
			hash = (hash ^ byte) * 0x100000001b3;
		digest += hash;
	}
}

// The newest file of the walk: a use for the write times, so that they are asked for.
static fs::file_time_type newest = fs::file_time_type::min();

// Counts a regular file; says whether the entry is a directory. Links are asked about first: the other
// questions follow them.
static bool look(const fs::directory_entry &entry, Tally &tally, bool with_time = false)
{
	std::error_code ec;
	if (entry.is_symlink(ec))
		return false;
	if (entry.is_directory(ec))
		return true;
	if (entry.is_regular_file(ec)) {
		const auto size = entry.file_size(ec);
		if (!ec && with_time)
			newest = std::max(newest, entry.last_write_time(ec));
		if (!ec) {
			tally.files++;
			tally.bytes += size;
			note(entry.path(), 'f', size);
		}
	}
	if (ec)
		tally.errors++;
	return false;
}

// Calls `found` with the path of each directory in `path`.
template <typename Found>
static void list(const fs::path &path, Tally &tally, bool with_time, Found found)
{
	std::error_code ec;
	tally.directories++;
	note(path, 'd');
	for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) {
		if (look(*it, tally, with_time))
			found(it->path());
	}
	if (ec)
		tally.errors++;
}

static void each_directory(const fs::path &path, Tally &tally)
{
	list(path, tally, true, [&](const fs::path &sub) { each_directory(sub, tally); });
}

static Tally iterator(const fs::path &root)
{
	Tally tally;
	each_directory(root, tally);
	return tally;
}

static Tally recursive(const fs::path &root)
{
	Tally tally;
	std::error_code ec;
	// Without this option the first refusal ends the walk; with it, refusals pass in silence. So a
	// directory that gave nothing is opened once more, to see whether it was refused.
	const auto refused = [&](const fs::path &path) {
		std::error_code why;
		fs::directory_iterator again(path, why);
		if (why)
			tally.errors++;
	};
	fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, ec), end;
	tally.directories++;
	note(root, 'd');
	if (!ec && it == end)
		refused(root);
	while (!ec && it != end) {
		if (!look(*it, tally)) {
			it.increment(ec);
			continue;
		}
		tally.directories++;
		note(it->path(), 'd');
		const auto entry = *it;
		const int depth = it.depth();
		it.increment(ec);
		if (!ec && (it == end || it.depth() <= depth))
			refused(entry.path());
	}
	if (ec)
		tally.errors++;
	return tally;
}

static Tally queue(const fs::path &root)
{
	Tally tally;
	std::queue<fs::path> waiting({root});
	while (!waiting.empty()) {
		const auto path = std::move(waiting.front());
		waiting.pop();
		list(path, tally, false, [&](const fs::path &sub) { waiting.push(sub); });
	}
	return tally;
}

static Tally stack(const fs::path &root)
{
	Tally tally;
	std::stack<fs::path> waiting({root});
	while (!waiting.empty()) {
		const auto path = std::move(waiting.top());
		waiting.pop();
		list(path, tally, false, [&](const fs::path &sub) { waiting.push(sub); });
	}
	return tally;
}

static Tally async(const fs::path &root)
{
	Tally tally;
	std::vector<std::future<Tally>> subs;
	list(root, tally, false, [&](const fs::path &sub) {
		subs.push_back(std::async(std::launch::async | std::launch::deferred, async, sub));
	});
	for (auto &sub : subs)
		tally += sub.get();
	return tally;
}

// CPU time of all threads.
static std::uint64_t cpu_ns()
{
#ifdef _WIN32
	FILETIME created, ended, kernel, user;
	GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
	const auto ns = [](FILETIME time) {
		return (static_cast<std::uint64_t>(time.dwHighDateTime) << 32 | time.dwLowDateTime) * 100;
	};
	return ns(kernel) + ns(user);
#else
	timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

// Raises the limit of open files: recursion keeps a directory open per depth, futures one per thread.
static void raise_limit()
{
#ifndef _WIN32
	rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
#endif
}

#ifdef _WIN32
int wmain(int argc, wchar_t **argv)
#else
int main(int argc, char **argv)
#endif
{
	const std::map<std::string, std::function<Tally(const fs::path &)>> methods = {
		{"cpp-filesystem-iterator", iterator}, {"cpp-filesystem-recursive", recursive},
		{"cpp-filesystem-queue", queue},       {"cpp-filesystem-stack", stack},
		{"cpp-filesystem-async", async},
	};
	if (argc != 4) {
		std::cerr << "usage: walk METHOD ROOT RUNS\n";
		return 2;
	}
	const auto method = methods.find(fs::path(argv[1]).string());
	if (method == methods.end()) {
		std::cerr << "walk: unknown method: " << fs::path(argv[1]) << "\n";
		return 2;
	}
	const fs::path root = argv[2];
	root_length = root.native().size();
	std::error_code ec;
	if (fs::symlink_status(root, ec).type() != fs::file_type::directory) {
		std::cerr << "walk: not a directory: " << root << "\n";
		return 1;
	}
	raise_limit();
	for (long runs = std::stol(fs::path(argv[3]).string()); runs > 0; runs--) {
		const auto cpu = cpu_ns();
		const auto start = std::chrono::steady_clock::now();
		const Tally tally = method->second(root);
		const auto elapsed = std::chrono::steady_clock::now() - start;
		const auto cpu_of_run = cpu_ns() - cpu;
		if constexpr (CHECK) {
			char text[17];
			std::snprintf(text, sizeof text, "%016jx", static_cast<std::uintmax_t>(digest.exchange(0)));
			std::cout << "{\"digest\":\"" << text << "\",";
		} else {
			std::cout << "{";
		}
		std::cout << "\"files\":" << tally.files << ",\"directories\":" << tally.directories
			  << ",\"bytes\":" << tally.bytes << ",\"errors\":" << tally.errors << ",\"elapsed_ns\":"
			  << std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count()
			  << ",\"cpu_ns\":" << cpu_of_run << "}" << std::endl;
	}
	return 0;
}

// File transforms with iostreams: pass METHOD INPUT OUTPUT BLOCK KIND SYNC HINT. The protocol is in
// ../README.md.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

struct Job {
	std::string input, output;
	std::size_t block;
	bool upper, sync;
};

[[noreturn]] static void fail(const std::string &what)
{
	std::cerr << "pass: " << what << '\n';
	std::exit(1);
}

// What is done with a block.
static void change(const Job &job, std::vector<char> &block, std::size_t length)
{
	if (!job.upper)
		return;
	for (std::size_t at = 0; at < length; at++)
		if (block[at] >= 'a' && block[at] <= 'z')
			block[at] = static_cast<char>(block[at] - ('a' - 'A'));
}

// A stream does not say which file it has open: it is opened once more, which syncs the same.
static void sync_if_asked(const Job &job)
{
	if (!job.sync)
		return;
#ifdef _WIN32
	HANDLE file = CreateFileA(job.output.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
				  OPEN_EXISTING, 0, nullptr);
	if (file == INVALID_HANDLE_VALUE || !FlushFileBuffers(file) || !CloseHandle(file))
		fail(job.output + ": cannot be synced");
#else
	int file = open(job.output.c_str(), O_WRONLY | O_CLOEXEC);
	if (file < 0 || fsync(file) || close(file))
		fail(job.output + ": cannot be synced");
#endif
}

static std::uint64_t pass(const Job &job)
{
	std::ifstream input(job.input, std::ios::binary);
	std::ofstream output(job.output, std::ios::binary | std::ios::trunc);
	// Not bad(), which opening never sets: the article's tool takes a missing file for an empty one.
	if (!input || !output)
		fail("cannot open " + job.input + " or " + job.output);
	std::vector<char> block(job.block);
	std::uint64_t bytes = 0;
	while (input) {
		input.read(block.data(), static_cast<std::streamsize>(block.size()));
		auto got = static_cast<std::size_t>(input.gcount());
		change(job, block, got);
		output.write(block.data(), static_cast<std::streamsize>(got));
		bytes += got;
	}
	if (!input.eof())
		fail(job.input + ": cannot be read");
	output.flush();
	sync_if_asked(job);
	input.close();
	output.close();
	if (!output)
		fail(job.output + ": cannot be written");
	return bytes;
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

int main(int argc, char **argv)
{
	if (argc != 8) {
		std::cerr << "pass METHOD INPUT OUTPUT BLOCK KIND SYNC HINT\n";
		return 2;
	}
	const std::string method = argv[1], kind = argv[5];
	const Job job{ argv[2], argv[3], std::strtoull(argv[4], nullptr, 10), kind == "case",
		       argv[6] == std::string("inside") };
	if (method != "cpp-iostream" || (kind != "copy" && kind != "case") || job.block == 0) {
		std::cerr << "pass: unknown method, kind or block: " << method << ' ' << kind << '\n';
		return 2;
	}
	const auto cpu = cpu_ns();
	const auto start = std::chrono::steady_clock::now();
	const std::uint64_t bytes = pass(job);
	const auto elapsed = std::chrono::steady_clock::now() - start;
	const auto cpu_of_run = cpu_ns() - cpu;
	std::cout << "{\"files\":1,\"directories\":0,\"bytes\":" << bytes << ",\"errors\":0,\"elapsed_ns\":"
		  << std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count()
		  << ",\"cpu_ns\":" << cpu_of_run << "}" << std::endl;
	return 0;
}

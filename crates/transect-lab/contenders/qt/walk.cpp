// Tree walks with Qt: walk METHOD ROOT RUNS. The protocol is in ../README.md.
#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QQueue>
#include <QStack>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>

struct Tally {
	qint64 files = 0, directories = 0, bytes = 0, errors = 0;
#ifdef CHECK
	quint64 digest = 0;
	QString root;

	// Adds the hash of an entry.
	void note(const QString &path, char kind, qint64 length)
	{
		QByteArray hashed = QFile::encodeName(path.mid(root.size()));
		while (hashed.startsWith('/'))
			hashed.remove(0, 1);
		hashed.append('\0').append(kind);
		for (int shift = 0; kind == 'f' && shift < 64; shift += 8)
			hashed.append(static_cast<char>(length >> shift));
		quint64 hash = 0xcbf29ce484222325;
		for (const char octet : hashed)
			hash = (hash ^ static_cast<unsigned char>(octet)) * 0x100000001b3;
		digest += hash;
	}
#else
	void note(const QString &, char, qint64) {}
#endif
};

using Found = std::function<void(const QString &)>;
using List = void (*)(const QString &path, Tally &tally, const Found &found);

// Without QDir::System, pipes and the like are left out.
static const QDir::Filters filters = QDir::Dirs | QDir::Files | QDir::Hidden | QDir::NoSymLinks | QDir::NoDotAndDotDot;

static void look(const QFileInfo &info, Tally &tally, const Found &found)
{
	if (info.isDir()) {
		found(info.filePath());
	} else {
		tally.files++;
		tally.bytes += info.size();
		tally.note(info.filePath(), 'f', info.size());
	}
}

// Qt gives an empty list for a directory that is refused; so an empty one is asked about.
static void refused(const QString &path, Tally &tally)
{
	if (!QFileInfo(path).isReadable())
		tally.errors++;
}

static void list(const QString &path, Tally &tally, const Found &found)
{
	const auto infos = QDir(path).entryInfoList(filters, QDir::Unsorted);
	tally.directories++;
	tally.note(path, 'd', 0);
	for (const auto &info : infos)
		look(info, tally, found);
	if (infos.isEmpty())
		refused(path, tally);
}

static void iterate(const QString &path, Tally &tally, const Found &found)
{
	QDirIterator it(path, filters);
	tally.directories++;
	tally.note(path, 'd', 0);
	if (!it.hasNext())
		refused(path, tally);
	while (it.hasNext()) {
		it.next();
		look(it.fileInfo(), tally, found);
	}
}

// As the article prints it: sorted by name, as by default, and nothing asked about empty lists.
static void listAsPrinted(const QString &path, Tally &tally, const Found &found)
{
	tally.directories++;
	tally.note(path, 'd', 0);
	for (const auto &info : QDir(path).entryInfoList(filters))
		look(info, tally, found);
}

static void iterateAsPrinted(const QString &path, Tally &tally, const Found &found)
{
	tally.directories++;
	tally.note(path, 'd', 0);
	for (QDirIterator it(path, filters); it.hasNext();) {
		it.next();
		look(it.fileInfo(), tally, found);
	}
}

template <List list>
static void recursive(const QString &path, Tally &tally)
{
	list(path, tally, [&](const QString &sub) { recursive<list>(sub, tally); });
}

template <List list>
static void queue(const QString &root, Tally &tally)
{
	QQueue<QString> waiting;
	waiting.enqueue(root);
	while (!waiting.isEmpty())
		list(waiting.dequeue(), tally, [&](const QString &sub) { waiting.enqueue(sub); });
}

template <List list, int room>
static void stack(const QString &root, Tally &tally)
{
	QStack<QString> waiting;
	if (room)
		waiting.reserve(room);
	waiting.push(root);
	while (!waiting.isEmpty())
		list(waiting.pop(), tally, [&](const QString &sub) { waiting.push(sub); });
}

// CPU time of all threads, in nanoseconds.
static std::int64_t cpuTime()
{
	timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const std::map<std::string, void (*)(const QString &, Tally &)> methods = {
		{"qt-list-recursive", recursive<list>},
		{"qt-list-as-printed", recursive<listAsPrinted>},
		{"qt-iterator-as-printed", recursive<iterateAsPrinted>},
		{"qt-list-queue", queue<list>},
		{"qt-list-stack", stack<list, 0>},
		{"qt-list-stack-reserved", stack<list, 10000>},
		{"qt-iterator-recursive", recursive<iterate>},
		{"qt-iterator-queue", queue<iterate>},
		{"qt-iterator-stack", stack<iterate, 0>},
		{"qt-iterator-stack-reserved", stack<iterate, 10000>},
	};
	if (argc != 4) {
		std::fprintf(stderr, "usage: walk METHOD ROOT RUNS\n");
		return 2;
	}
	const auto method = methods.find(argv[1]);
	if (method == methods.end()) {
		std::fprintf(stderr, "walk: unknown method: %s\n", argv[1]);
		return 2;
	}
	const QString root = QFile::decodeName(argv[2]);
	if (!QFileInfo(root).isDir() || QFileInfo(root).isSymLink()) {
		std::fprintf(stderr, "walk: not a directory: %s\n", argv[2]);
		return 1;
	}
	for (long runs = std::atol(argv[3]); runs > 0; runs--) {
		Tally tally;
#ifdef CHECK
		tally.root = root;
#endif
		QElapsedTimer timer;
		const qint64 cpu = cpuTime();
		timer.start();
		method->second(root, tally);
		const qint64 elapsed = timer.nsecsElapsed();
		const qint64 cpuOfRun = cpuTime() - cpu;
#ifdef CHECK
		std::printf("{\"digest\":\"%016llx\",", tally.digest);
#else
		std::printf("{");
#endif
		std::printf("\"files\":%lld,\"directories\":%lld,\"bytes\":%lld,\"errors\":%lld,\"elapsed_ns\":%lld,"
			    "\"cpu_ns\":%lld}\n",
			    tally.files, tally.directories, tally.bytes, tally.errors, elapsed, cpuOfRun);
		std::fflush(stdout);
	}
}

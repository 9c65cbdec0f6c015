// Resolves the `#include` lines of a C or C++ project:
//
//     resolve_includes PROJECT [DIRECTORY...]
//
// Walks the project for sources, then looks up each included name beside the including file and in the
// directories, as a compiler does. A frozen cache answers repeated questions, and those about names
// that are missing, from memory. Exit code 1 if a file could not be read, 2 if there is no answer.
//
// Needs C++17, for std::filesystem::u8path alone: it makes the paths of this library, which are UTF-8
// on Windows, into paths that std::ifstream opens. Arguments come in the encoding of the system.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <transect.h>

namespace {

// Frees objects of the library.
struct Free {
    void operator()(transect_options *options) const { transect_options_free(options); }
    void operator()(transect_cache_options *options) const { transect_cache_options_free(options); }
    void operator()(transect_cache *cache) const { transect_cache_free(cache); }
    void operator()(transect_search *search) const { transect_search_free(search); }
};

template <typename T> using Owned = std::unique_ptr<T, Free>;

// A failed call.
struct Error : std::runtime_error {
    explicit Error(const transect_error &error) : std::runtime_error(error.message) {}
};

void check(transect_status status, const transect_error &error) {
    if (status != TRANSECT_OK) {
        throw Error(error);
    }
}

// The sources of a project, and what could not be read in it.
struct Sources {
    std::vector<std::string> paths;
    std::uint64_t errors = 0;
    // What a callback threw. It must not leave the callback.
    std::exception_ptr thrown;

    static std::int32_t on_entry(void *context, const transect_entry *entry) noexcept {
        auto &self = *static_cast<Sources *>(context);
        try {
            if (entry->attributes.type == TRANSECT_TYPE_FILE) {
                std::string path(transect_entry_path(entry, nullptr, 0), '\0');
                transect_entry_path(entry, path.data(), path.size() + 1);
                self.paths.push_back(std::move(path));
            }
            return TRANSECT_CONTINUE;
        } catch (...) {
            self.thrown = std::current_exception();
            return TRANSECT_STOP;
        }
    }

    static void on_error(void *, const char *, std::size_t, const transect_error *error) noexcept {
        std::fprintf(stderr, "resolve_includes: %s\n", error->message);
    }
};

Sources find_sources(const char *project) {
    Owned<transect_options> options(transect_options_new());
    transect_error error;
    for (const char *extension : {"c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx"}) {
        check(transect_options_add_extension(options.get(), extension, &error), error);
    }
    check(transect_options_set_gitignore(options.get(), true, &error), error);
    Sources sources;
    transect_counts counts;
    check(transect_walk(project, options.get(), Sources::on_entry, Sources::on_error, &sources, &counts, &error),
          error);
    if (sources.thrown) {
        std::rethrow_exception(sources.thrown);
    }
    sources.errors = counts.errors;
    std::sort(sources.paths.begin(), sources.paths.end());
    return sources;
}

// The attributes of files, as of the first question about each.
class Cache {
public:
    Cache() {
        Owned<transect_cache_options> options(transect_cache_options_new());
        transect_error error;
        const std::string base = std::filesystem::current_path().u8string();
        check(transect_cache_options_set_base(options.get(), base.c_str(), &error), error);
        transect_cache *cache;
        check(transect_cache_open(TRANSECT_LEVEL_FROZEN, options.get(), &cache, &error), error);
        cache_.reset(cache);
    }

    Owned<transect_search> search(const std::vector<const char *> &directories) const {
        transect_error error;
        transect_search *search;
        check(transect_search_new(cache_.get(), directories.data(), directories.size(), &search, &error), error);
        return Owned<transect_search>(search);
    }

    transect_cache_counts counts() const {
        transect_error error;
        transect_cache_counts counts;
        check(transect_cache_read_counts(cache_.get(), &counts, &error), error);
        return counts;
    }

private:
    Owned<transect_cache> cache_;
};

// Returns the path of a header, or an empty text.
std::string find(const transect_search *search, const std::string &name) {
    // Long enough for most paths; otherwise once more with the right length.
    std::string path(256, '\0');
    for (;;) {
        transect_found found;
        transect_error error;
        const auto status = transect_search_find(search, name.c_str(), path.data(), path.size() + 1, &found, &error);
        if (status == TRANSECT_NOT_FOUND) {
            return {};
        }
        check(status, error);
        const bool fits = found.path_length <= path.size();
        path.resize(found.path_length);
        if (fits) {
            return path;
        }
    }
}

// Returns the name in an `#include` line, or an empty text.
std::string included(const std::string &line) {
    const auto skip = [&](std::size_t at) { return std::min(line.find_first_not_of(" \t", at), line.size()); };
    std::size_t at = skip(0);
    if (at == line.size() || line[at] != '#') {
        return {};
    }
    at = skip(at + 1);
    if (line.compare(at, 7, "include") != 0) {
        return {};
    }
    at = skip(at + 7);
    if (at == line.size() || (line[at] != '"' && line[at] != '<')) {
        return {};
    }
    const auto end = line.find(line[at] == '<' ? '>' : '"', at + 1);
    return end == std::string::npos ? std::string() : line.substr(at + 1, end - at - 1);
}

int run(int argc, char **argv) {
    if (argc < 2) {
        std::cerr << "usage: resolve_includes PROJECT [DIRECTORY...]\n";
        return 2;
    }
    const Sources sources = find_sources(argv[1]);
    const Cache cache;
    std::uint64_t includes = 0, missing = 0, unread = sources.errors;
    for (const auto &source : sources.paths) {
        std::ifstream file(std::filesystem::u8path(source));
        if (!file) {
            std::cerr << "resolve_includes: cannot open '" << source << "'\n";
            unread++;
            continue;
        }
        const std::string beside = std::filesystem::u8path(source).parent_path().u8string();
        std::vector<const char *> directories{beside.c_str()};
        directories.insert(directories.end(), argv + 2, argv + argc);
        const auto search = cache.search(directories);
        for (std::string line; std::getline(file, line);) {
            const std::string name = included(line);
            if (!name.empty()) {
                const std::string path = find(search.get(), name);
                std::cout << source << ": " << name << " -> " << (path.empty() ? "not found" : path) << '\n';
                includes++;
                missing += path.empty();
            }
        }
    }
    const auto counts = cache.counts();
    std::cout << sources.paths.size() << " sources, " << includes << " includes, " << missing << " not found; "
              << counts.hits << " answers from memory, " << counts.misses << " from the system\n";
    return unread != 0;
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception &error) {
        std::cerr << "resolve_includes: " << error.what() << '\n';
        return 2;
    }
}

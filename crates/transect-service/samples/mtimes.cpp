/* `mtimes SOCKET` reads absolute paths from its input, one a line, and prints when each was changed, in nanoseconds since
 * 1970: 0 for a missing one. */
#include "service_mtimes.h"

#include <cstdio>
#include <iostream>

#include <sys/stat.h>

/* What the service leaves to the caller. */
static int64_t ask_system(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) == 0)
    return found.st_mtim.tv_sec * INT64_C(1000000000) + found.st_mtim.tv_nsec;
  perror(path.c_str());
  return 0;
}

int main(int argc, char** argv) {
  ServiceMtimes service;
  std::vector<std::string> paths;
  std::vector<int64_t> mtimes;
  for (std::string path; std::getline(std::cin, path);)
    paths.push_back(path);
  if (argc != 2 || !service.Connect(argv[1]) || !service.Query(paths, &mtimes)) {
    std::cerr << "mtimes: no service answers\n";
    return 1;
  }
  for (size_t i = 0; i < paths.size(); i++) {
    int64_t mtime = mtimes[i];
    if (mtime == ServiceMtimes::kMissing)
      mtime = 0;
    else if (mtime == ServiceMtimes::kError)
      mtime = ask_system(paths[i]);
    std::cout << mtime << ' ' << paths[i] << '\n';
  }
}

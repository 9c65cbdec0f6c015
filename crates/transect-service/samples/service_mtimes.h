/* The modification times of many files from `transect live`, as a build tool needs them: query all paths of the
 * build at once, and call stat() only for what the build itself writes. Linux; docs/SERVICE.md describes the protocol.
 *
 *     ServiceMtimes service;
 *     std::vector<int64_t> mtimes;
 *     if (service.Connect(socket) && service.Query(paths, &mtimes)) ...
 */
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

class ServiceMtimes {
 public:
  static const int64_t kMissing = INT64_MIN, kError = INT64_MIN + 1;

  ~ServiceMtimes() { if (fd_ >= 0) close(fd_); }

  /* Returns false if no service of this user listens at the path. */
  bool Connect(const std::string& path) {
    sockaddr_un address = {};
    ucred peer = {};
    socklen_t size = sizeof peer;
    if (path.size() >= sizeof address.sun_path || (fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
      return false;
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path.data(), path.size());
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      return false;
    return getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
  }

  /* Stores for each absolute path the nanoseconds since 1970 of its last change, links followed; or kMissing, or kError if
   * only stat() tells the reason. Fast if paths of one directory follow each other. Returns false if the service fails, or a
   * path is not absolute or longer than 8192 bytes. */
  bool Query(const std::vector<std::string>& paths, std::vector<int64_t>* mtimes) {
    std::string answer;
    mtimes->clear();
    for (size_t next = 0; next < paths.size();) {
      std::string groups("\x40\0\x01", 3);  /* mtime; follow links */
      std::string directory;
      uint32_t count = 0;
      size_t begin = next, at = 0;
      for (; next < paths.size() && next - begin < 4096 && groups.size() < (1 << 19); next++) {
        size_t slash = paths[next].rfind('/');
        if (paths[next][0] != '/' || paths[next].size() > 8192)
          return false;
        if (next == begin || paths[next].compare(0, slash, directory) != 0) {
          directory = paths[next].substr(0, slash);
          groups += Text(directory);
          at = groups.size();
          count = 0;
          groups += Number(count, 4);
        }
        groups.replace(at, 4, Number(++count, 4));
        groups += Text(paths[next].substr(slash + 1));
      }
      if (!Ask(2, groups, &answer))
        return false;
      for (size_t byte = 0; begin < next; begin++) {
        if (byte >= answer.size())
          return false;
        int64_t mtime = answer[byte] == 1 ? kMissing : kError;
        size_t length = answer[byte] == 0 ? 12 : answer[byte] == 3 ? 5 : 1;
        if (answer[byte] == 0 && answer.size() - byte >= length)
          memcpy(&mtime, &answer[byte + 4], 8);  /* after the type and the attributes known */
        byte += length;
        mtimes->push_back(mtime);
      }
    }
    return true;
  }

 private:
  static std::string Number(uint32_t number, size_t bytes) {
    return std::string(reinterpret_cast<const char*>(&number), bytes);
  }
  static std::string Text(const std::string& text) { return Number(text.size(), 2) + text; }

  bool Ask(char kind, const std::string& payload, std::string* answer) {
    std::string frame = Number(payload.size() + 1, 4) + kind + payload;
    for (size_t sent = 0; sent < frame.size();) {
      ssize_t now = send(fd_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
      if (now <= 0)
        return false;
      sent += now;
    }
    uint32_t length = 0;
    char got = 0;
    if (!Receive(&length, 4) || length == 0 || length > (1 << 19) || !Receive(&got, 1))
      return false;
    answer->resize(length - 1);
    return Receive(&(*answer)[0], length - 1) && got == static_cast<char>(kind | 0x80);
  }

  bool Receive(void* to, size_t size) { return recv(fd_, to, size, MSG_WAITALL) == static_cast<ssize_t>(size); }

  int fd_ = -1;
};

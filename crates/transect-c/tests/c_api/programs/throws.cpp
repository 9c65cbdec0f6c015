// Throws out of a callback, which is not allowed.

#include <cstdio>
#include <stdexcept>

#include <transect.h>

static int32_t on_entry(void *, const transect_entry *) {
    throw std::runtime_error("out of a callback");
}

int main() {
    try {
        transect_walk(".", nullptr, on_entry, nullptr, nullptr, nullptr, nullptr);
    } catch (...) {
        std::puts("caught");
    }
    std::puts("goes on");
}

#!/bin/sh
# build.sh OUT: pkg-config knows where Qt is.
set -e
qt=$(pkg-config --cflags --libs Qt6Core)
# shellcheck disable=SC2086
g++ -O2 -std=c++17 -fPIC -Wall -Wextra -o "$1/walk" walk.cpp $qt
# shellcheck disable=SC2086
exec g++ -O2 -std=c++17 -fPIC -Wall -Wextra -DCHECK -o "$1/check" walk.cpp $qt

#!/bin/sh
# build.sh OUT: pkg-config knows where Qt is.
set -e
exec g++ -O2 -std=c++17 -fPIC -Wall -Wextra -o "$1/walk" walk.cpp $(pkg-config --cflags --libs Qt6Core)

#!/bin/sh
# Debian's groovy looks for Java where default-jre puts it; any Java on PATH will do.
JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
LC_ALL=C.UTF-8
export JAVA_HOME LC_ALL
exec groovy walk.groovy "$@"

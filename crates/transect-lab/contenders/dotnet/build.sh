#!/bin/sh
# build.sh OUT: compiles the C# contender against the newest runtime of .NET, with the compiler of the SDK, or with
# Mono's if only the runtime is installed. Not `dotnet build`: that needs a project for one version, and a network.
set -e
runtime=$(dotnet --list-runtimes | sed -n 's/^Microsoft\.NETCore\.App \([^ ]*\) \[\(.*\)\]$/\1 \2/p' | tail -n 1)
version=${runtime%% *}
folder=${runtime#* }/$version
sdk=$(dotnet --list-sdks | sed -n 's/^\([^ ]*\) \[\(.*\)\]$/\2\/\1/p' | tail -n 1)
if [ -n "$sdk" ]; then
	set -- "$1" dotnet "$sdk/Roslyn/bincore/csc.dll"
else
	set -- "$1" mcs
fi
out=$1
shift
compiler="$*"
set --
for name in System.Private.CoreLib System.Runtime System.Runtime.Extensions System.Runtime.InteropServices \
	System.Text.Encoding.Extensions 	System.Collections System.Console System.IO.FileSystem System.Diagnostics.Process System.ComponentModel.Primitives; do
	set -- "$@" "-r:$folder/$name.dll"
done
for program in walk check; do
	define=
	[ $program = walk ] || define=-define:CHECK
	# shellcheck disable=SC2086
	$compiler -nologo -noconfig -nostdlib -optimize+ $define "-out:$out/$program.dll" "$@" ../csharp/Walk.cs
	cat >"$out/$program.runtimeconfig.json" <<JSON
{
  "runtimeOptions": {
    "framework": { "name": "Microsoft.NETCore.App", "version": "$version" },
    "configProperties": { "System.Globalization.Invariant": true }
  }
}
JSON
done

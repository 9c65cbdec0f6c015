# `make` alone lists the targets. Needs GNU make 4 and a POSIX shell.

CARGO  ?= cargo
PREFIX ?= /usr/local
# Below PREFIX. Debian's zsh reads those of packages in share/zsh/vendor-completions.
ZSH_COMPLETIONS ?= share/zsh/site-functions
TARGET := $(or $(CARGO_TARGET_DIR),target)
# Installed, packaged and measured: with link-time optimization. Both programs lie there.
DIST := $(TARGET)/dist
# Runs a target of this file with a directory of its own for temporary files.
WITH_TMPDIR = tools/with-tmpdir $(MAKE) --no-print-directory
BUILD = TRANSECT_COMMIT=$$(git rev-parse --short=12 HEAD 2>/dev/null || :) $(CARGO) build --locked
FUZZ_SECONDS ?= 60
TORTURE_RUNS ?= 170
# Prints its usage when it is called without arguments.
WINDOWS := $(CURDIR)/tools/windows
# The directory of rustup's programs, for shells that lack it in PATH.
export PATH := $(PATH):$(HOME)/.cargo/bin

.DEFAULT_GOAL := help
.ONESHELL:
.NOTPARALLEL:
SHELL := /bin/sh
.SHELLFLAGS := -ec

.PHONY: help build dist static windows c c-windows python python-windows deps test quick quick-in-tmpdir torture check ci fuzz bench install install-files install-c completions completions-files release portable-check clean need-cargo

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: need-cargo ## Build the programs, target/release/transect and transect-lab
	$(BUILD) --release

dist: need-cargo ## Build them fully optimized, as for packages: target/dist
	$(BUILD) --profile dist

# At a fixed address, as Go's programs are: without 14,000 relocations, a start takes 0.86 of the time. The price: an
# attacker who finds a memory error knows the addresses of the code (docs/PLATFORMS.md). --target is given even for this
# machine: otherwise procedural macros, too, would be built without a loader.
static: need-cargo ## Build static programs for Linux, which start faster (MACHINE=aarch64-unknown-linux-gnu)
	@machine=$(or $(MACHINE),$$($(CARGO) -vV | sed -n 's/^host: //p'))
	export RUSTFLAGS="$$RUSTFLAGS -C target-feature=+crt-static -C relocation-model=static"
	$(BUILD) --profile dist --target "$$machine"
	echo "built $(TARGET)/$$machine/dist/transect and transect-lab"

windows: ## Build the programs for Windows (tools/windows installs the tools)
	@'$(WINDOWS)' cargo build --profile dist --locked
	folder=$$('$(WINDOWS)' dir)/dist
	'$(WINDOWS)' shim "$$folder"
	echo "built $$folder/transect.exe and transect-lab.exe"
	echo "run it here: tools/windows wine $$folder/transect.exe doctor"
	if [ -e "$$folder/bcryptprimitives.dll" ]; then
		echo 'bcryptprimitives.dll beside it is for Wine only, which lacks it: not to be shipped'
	fi

c: need-cargo ## Build the library for C and C++, with header and pkg-config file: target/c
	@CARGO='$(CARGO)' tools/c-library

c-windows: need-cargo ## Build it for Windows: target/c-windows
	@CARGO='$(CARGO)' tools/c-library windows

# pip installs the build backend, maturin, apart from everything else.
python: need-cargo ## Build the package for Python: target/python, a wheel
	@python3 -m venv '$(TARGET)/python/venv'
	'$(TARGET)/python/venv/bin/python3' -m pip wheel --disable-pip-version-check --no-deps --wheel-dir '$(TARGET)/python' ./python
	ls '$(TARGET)/python/'*.whl

# The last command fails if the wheel is for another system or another Python.
python-windows: need-cargo ## Build it for Windows: target/python-windows, a wheel
	@python3 -m venv '$(TARGET)/python/venv'
	programs=$$(realpath '$(TARGET)/python/venv/bin')
	"$$programs/python3" -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2'
	wheels=$$(realpath -m '$(TARGET)/python-windows')
	(cd python && PATH="$$programs:$$PATH" '$(WINDOWS)' maturin build --locked --out "$$wheels")
	ls "$$wheels"/transect-*-cp310-abi3-win_amd64.whl

deps: ## Install the Debian packages that building and single tests need (as root)
	@tools/deps install

test: need-cargo ## Run all tests and doc tests; the last line sums them up
	@CARGO='$(CARGO)' tools/with-tmpdir tools/test

# Tests of whole programs and trees that `make quick` runs: parts of their names.
QUICK ?= matrix::basic matrix::links matrix::hard_links matrix::weird filters:: goldens::man help:: scan:: usage::
# The same features as for `make test`, so that neither rebuilds the other's crates.
quick: need-cargo ## Run unit tests and a small part of the others, on Linux, in about a minute
	@$(WITH_TMPDIR) quick-in-tmpdir

quick-in-tmpdir:
	@tests='test --workspace --all-features --locked'
	$(CARGO) build --workspace --bins --all-features --locked
	$(CARGO) $$tests --lib --bins -- --quiet
	$(CARGO) $$tests --test engine --test cli -- --quiet $(QUICK)

# Every fault in every file system call of every scenario, and programs stopped and continued
# $(TORTURE_RUNS) times on each file system; `make test` runs a sample of both. Files lie in $TMPDIR: set
# it to test another file system. Needs permission to trace (ptrace) and to mount.
torture: need-cargo ## Let every file system call fail, stop programs, damage journals, print tables (takes long)
	@mkdir -p '$(TARGET)'
	log='$(abspath $(TARGET))/torture.log'
	status=0
	export TRANSECT_TORTURE=1 TRANSECT_NO_SKIP=1
	# Some scenarios run the lab, which `--test faults` alone does not build.
	$(CARGO) build --workspace --bins --all-features --locked
	$(CARGO) test --workspace --all-features --locked --test faults -- --nocapture >"$$log" 2>&1 || status=$$?
	sed -n '/^failures:$$/q; /runs broke a promise/p; /^\* /p; /^error/p' "$$log"
	echo '| scenario | calls | runs | same result | error reported | not reached | promises broken |'
	echo '|---|---|---|---|---|---|---|'
	sed -n 's/^.*TORTURE |/|/p' "$$log" | sort
	sed -n 's/^.*TORTURE |/|/p' "$$log" | awk -F '|' '
		{ for (i = 3; i <= 8; i++) sum[i] += $$i }
		END { printf "| **all %d** | %d | %d | %d | %d | %d | %d |\n", NR, sum[3], sum[4], sum[5], sum[6], sum[7], sum[8] }'
	TRANSECT_TORTURE_RUNS=$(TORTURE_RUNS) $(CARGO) test -p transect-cli --all-features --locked --test cli stopped_and_continued \
		-- --nocapture >"$$log.stopped" 2>&1 || status=$$?
	echo '| file system | runs of each command | stops | scan | list | list --one-file-system | usage | transform | serve |'
	echo '|---|---|---|---|---|---|---|---|---|'
	sed -n 's/^.*STOPPED |/|/p' "$$log.stopped"
	$(CARGO) test -p transect-testkit --all-features --locked --test engine journals:: -- --nocapture >"$$log.journals" 2>&1 || status=$$?
	echo '| damaged journals | faults | refused | other names | same names |'
	echo '|---|---|---|---|---|'
	sed -n 's/^.*JOURNAL |/|/p' "$$log.journals"
	echo "$$(date -u +%Y-%m-%d), Linux $$(uname -r), $$(nproc) processors, $$(stat -f -c %T "$${TMPDIR:-/tmp}")"
	exit "$$status"

check: need-cargo ## Check format, lints, documentation and generated files
	@$(CARGO) fmt --version >/dev/null 2>&1 || { echo 'rustfmt is missing: rustup component add rustfmt' >&2; exit 1; }
	$(CARGO) clippy --version >/dev/null 2>&1 || { echo 'clippy is missing: rustup component add clippy' >&2; exit 1; }
	set -x
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings
	# Each feature of the libraries alone: together, one hides what another lacks.
	for features in '' filters serde volumes; do
		$(CARGO) clippy -p transect --no-default-features --features "$$features" --locked -- -D warnings
	done
	for features in '' ring serde fake volumes; do
		$(CARGO) clippy -p transect-sys --no-default-features --features "$$features" --locked -- -D warnings
	done
	crates=$$($(CARGO) tree -e normal --prefix none -p transect --no-default-features --locked | sort -u | wc -l)
	if [ "$$crates" -gt 12 ]; then echo "the bare walker needs $$crates crates, more than 12" >&2; exit 1; fi
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --all-features --no-deps --locked
	# Workspaces of their own, which use the libraries.
	for workspace in fuzz bench/library; do
		$(CARGO) check --manifest-path "$$workspace/Cargo.toml" --locked --target-dir '$(TARGET)'
	done
	if no_windows=$$('$(WINDOWS)' why-not); then
		'$(WINDOWS)' cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	else
		echo "LEFT OUT: lints for Windows: $$no_windows" >&2
	fi
	if command -v shellcheck >/dev/null; then shellcheck -x tools/version tools/release tools/release-check tools/portable-check tools/windows tools/with-tmpdir tools/pack tools/c-library tools/python-for-windows tools/deps tools/test .ci/run; fi
	if command -v python3 >/dev/null; then tools/check-style; fi
	tools/version check
	tools/public-api
	tools/pack
	set +x
	pending=$$(find crates -name '*.snap.new')
	if [ -n "$$pending" ]; then echo "snapshots wait for a review: $$pending" >&2; exit 1; fi
	for source in crates/transect-lab/contenders/*/*.c; do
		case "$$source" in */c-win32*) compiler=x86_64-w64-mingw32-gcc ;; *) compiler=cc ;; esac
		if command -v "$$compiler" >/dev/null; then
			"$$compiler" -Wall -Wextra -Werror -fsyntax-only "$$source"
		else
			echo "LEFT OUT: $$source: there is no $$compiler" >&2
		fi
	done

ci: check test ## Run all checks required before a change is merged

fuzz: need-cargo ## Fuzz every target for a minute (FUZZ_SECONDS=60)
	@$(CARGO) +nightly --version >/dev/null 2>&1 || { echo 'a nightly compiler is missing: rustup toolchain install nightly' >&2; exit 1; }
	$(CARGO) fuzz --version >/dev/null 2>&1 || { echo 'cargo-fuzz is missing: cargo install cargo-fuzz --locked' >&2; exit 1; }
	for target in fuzz/fuzz_targets/*.rs; do
		name=$$(basename "$$target" .rs)
		if [ "$$name" = volume ] && command -v mkntfs >/dev/null; then
			mkdir -p fuzz/corpus/volume
			for clusters in 512 4096; do
				image=fuzz/corpus/volume/ntfs-$$clusters.img
				truncate -s 1100K "$$image"
				mkntfs -F -Q -q -c "$$clusters" "$$image" 2>/dev/null
			done
		fi
		if [ "$$name" = journal ]; then
			mkdir -p fuzz/corpus/journal
			for version in 2 3 4; do
				number=24; name_at=60
				[ "$$version" = 2 ] || { number=40; name_at=76; }
				record=fuzz/corpus/journal/version-$$version
				truncate -s 0 "$$record"
				truncate -s 160 "$$record"
				put() { printf "$$2" | dd of="$$record" bs=1 seek="$$1" conv=notrunc status=none; }
				put 0 '\120'; put 4 "\\$$version"; put 8 '\50'; put $$((name_at - 4)) '\2'
				put $$((name_at - 2)) "\\$$(printf %o $$name_at)"; put $$name_at 'x'
			done
		fi
		echo "fuzzing $$name for $(FUZZ_SECONDS) s"
		$(CARGO) +nightly fuzz run "$$name" -- -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1
	done

bench: dist ## Measure against the floor and peers, with options of `lab run enumerate` as ARGS (bench/README.md)
	@'$(DIST)/transect' lab run enumerate $(or $(ARGS),--preset programs)

completions: dist completions-files ## Write completions and man pages into target/generated
	@ls '$(TARGET)/generated' '$(TARGET)/generated/man1'

# Without building them first: tools/release has other programs.
completions-files:
	@mkdir -p '$(TARGET)/generated'
	rm -rf '$(TARGET)/generated/man1'
	for program in transect transect-lab; do
		for shell in bash zsh fish elvish powershell; do
			'$(DIST)'/$$program completions "$$shell" >'$(TARGET)/generated/'$$program."$$shell"
		done
		'$(DIST)'/$$program man --output '$(TARGET)/generated/man1' >/dev/null
	done

install: completions install-files ## Install programs, man pages and completions below PREFIX (/usr/local)

install-files:
	@set -x
	install -d '$(DESTDIR)$(PREFIX)/share/man/man1'
	install -m644 '$(TARGET)'/generated/man1/*.1 '$(DESTDIR)$(PREFIX)/share/man/man1'
	for program in transect transect-lab; do
		install -Dm755 '$(DIST)'/$$program '$(DESTDIR)$(PREFIX)/bin/'$$program
		install -Dm644 '$(TARGET)/generated/'$$program.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/'$$program
		install -Dm644 '$(TARGET)/generated/'$$program.zsh '$(DESTDIR)$(PREFIX)/$(ZSH_COMPLETIONS)/_'$$program
		install -Dm644 '$(TARGET)/generated/'$$program.fish '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/'$$program.fish
	done

install-c: c ## Install header and libraries for C below PREFIX (/usr/local)
	install -d '$(DESTDIR)$(PREFIX)/include' '$(DESTDIR)$(PREFIX)/lib/pkgconfig'
	install -m644 '$(TARGET)/c/include/transect.h' '$(DESTDIR)$(PREFIX)/include'
	install -m644 '$(TARGET)/c/lib/pkgconfig/transect.pc' '$(DESTDIR)$(PREFIX)/lib/pkgconfig'
	cp -P '$(TARGET)'/c/lib/libtransect.* '$(DESTDIR)$(PREFIX)/lib'

portable-check: need-cargo ## Compile for macOS and FreeBSD, where it has never run (rustup target add)
	@tools/portable-check

release: need-cargo ## Build the packages of a release: target/release-files (tools/release setup installs the tools)
	@tools/release

clean: ## Remove everything that was built
	$(CARGO) clean
	rm -rf fuzz/target

need-cargo:
	@command -v $(CARGO) >/dev/null || { echo 'cargo is missing: install Rust with rustup, https://rustup.rs' >&2; exit 1; }

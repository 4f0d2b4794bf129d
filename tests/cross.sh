#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Other processors, as TAP: cross.sh ARCH.. (arm64, s390x) builds for each with
# Debian's cross compiler and runs the unit tests under qemu-user. Adds the
# architecture to this machine's dpkg, so it is for a machine of its own:
#	tests/fresh-machine trixie 'tests/cross.sh arm64 s390x'
set -uo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
src=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/minism-cross.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
packages=(libibumad-dev libibmad-dev libglib2.0-dev libcmocka-dev libedit-dev
	libmicrohttpd-dev)
# too slow under an emulator, and of no byte order
left_out=" test_routing_oracle "
export MINISM_CHAOS_EVENTS=5
n=0
bad=0

point() {	# ok description
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		tail -n 30 "$scratch/log" | sed 's/^/# /'
		bad=$((bad + 1))
	fi
	return "$1"
}

# Without updates: libraries of two architectures have to be of one version, and
# the archive's mirrors do not renew all architectures at once.
install_for() {	# arch
	sed -i '/-updates\|-security/d' /etc/apt/sources.list
	dpkg --add-architecture "$1" && apt-get update -q &&
		apt-get install -q -y --no-install-recommends autoconf automake \
		make pkg-config "gcc-$triplet" "libc6-dev-$1-cross" qemu-user \
		"${packages[@]/%/:$1}"
}

build_for() {
	(cd "$src" && autoreconf --install --force) &&
		mkdir -p "$scratch/$1" && cd "$scratch/$1" &&
		PKG_CONFIG_LIBDIR=/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig \
		"$src/configure" --quiet --host="$triplet" --enable-werror &&
		make -s -j"$(nproc)" && make -s -j"$(nproc)" check TESTS=
}

try() {	# arch
	local tests test names=()

	install_for "$1" >"$scratch/log" 2>&1 &&
		build_for "$1" >"$scratch/log" 2>&1
	point $? "$1: all programs build without a warning" || return
	cd "$scratch/$1" || return
	tests=$(make -s list-unit)
	for test in $tests; do
		[[ $left_out == *" $test "* ]] || names+=("$test")
	done
	make -k -j"$(nproc)" check TESTS="${names[*]}" \
		LOG_COMPILER="timeout -k 9 2400 qemu-$emulator" \
		>"$scratch/log" 2>&1	# one that hangs ends none of the others
	for test in "${names[@]}"; do
		grep -vE '^(ok|PASS)' "$test.log" >"$scratch/log"
		grep -q '^:global-test-result: PASS' "$test.trs" 2>/dev/null
		point $? "$1: $test"
	done
}

[ $# -gt 0 ] || { sed -n 's/^# *//p' "$0" | sed -n 2,5p; exit 2; }
for arch; do
	case $arch in
	arm64) triplet=aarch64-linux-gnu emulator=aarch64 ;;
	*) triplet=$arch-linux-gnu emulator=$arch ;;
	esac
	try "$arch"
done
echo "1..$n"
[ $bad -eq 0 ]

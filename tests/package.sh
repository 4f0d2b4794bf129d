#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The packages, as TAP: from what `make dist` packs, a Debian package is built,
# read by lintian and unpacked; the spec file is read by rpm. The test of the
# installed packages is debian/tests, for autopkgtest.
set -euo pipefail
export LC_ALL=C
src=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/minism-package.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
n=0
bad=0

point() {	# description command...
	local what=$1

	shift
	n=$((n + 1))
	if "$@" >out 2>&1; then
		echo "ok $n - $what"
		return
	fi
	echo "not ok $n - $what"
	tail -n 30 out | sed 's/^/# /'
	bad=$((bad + 1))
}

for program in dpkg-buildpackage dh lintian rpmspec; do
	command -v $program >/dev/null || {
		echo "1..0 # SKIP $program is not installed"
		exit 0
	}
done

pack() {
	mkdir build && (cd build && "$src/configure" --quiet && make -s dist) ||
		return
	version=$(sed -n 's/^VERSION = //p' build/Makefile)
	cp "build/minism-$version.tar.gz" "minism_$version.orig.tar.gz" &&
		tar xf "minism_$version.orig.tar.gz" || return
	[ "$(dpkg-parsechangelog -l "minism-$version/debian/changelog" \
		-S Version)" = "$version-1" ]
}

# Without optimization, since it is only looked at; without the unit tests,
# which have run.
build_debian() {
	(cd "minism-$version" &&
		DEB_BUILD_OPTIONS="nocheck noopt parallel=$(nproc)" \
		dpkg-buildpackage -us -uc)
}

read_by_lintian() {
	lintian --allow-root --fail-on error,warning minism_*.changes &&
		[ ! -s out ]
}

unpack() {
	local package

	for package in minism_*.deb minism-lab_*.deb minism-web_*.deb; do
		dpkg-deb -x "$package" root || return
	done
	root/usr/sbin/minism --version | grep -q '^minism ' || return
	! dpkg-deb -f minism_*.deb Depends | grep -E 'microhttpd|libedit' ||
		return
	if command -v systemd-sysusers >/dev/null; then
		systemd-sysusers --root="$scratch/root" &&
			grep '^minism:' root/etc/passwd
	fi
}

# The same programs and files of systemd's are in both kinds of packages.
read_spec() {
	rpmspec -P "minism-$version/minism.spec" >parsed || return
	# units are below /lib before Debian 13
	(cd root && find usr/bin usr/sbin lib/systemd usr/lib/systemd \
		usr/lib/sysusers.d usr/lib/udev -type f 2>/dev/null) |
		sed 's|^lib|usr/lib|' | sort >in_debian
	sed -n '/^%files/,$p' parsed | sed 's|^/||' |
		grep -E '^usr/(s?bin|lib/(systemd|sysusers.d|udev))/' |
		sort >in_spec
	[ -s in_debian ] && diff in_debian in_spec
}

point "make dist packs the Debian package, of the same version" pack
point "dpkg-buildpackage" build_debian
point "lintian has no error and no warning" read_by_lintian
point "the packages have a program that runs, and its user" unpack
point "the spec file is good, and packs the same" read_spec
echo "1..$n"
[ $bad -eq 0 ]

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism on a real kernel: boots Debian's in QEMU, with HCAs of minism-lab's
# fabric (vib.c), and runs guest.sh there. The guest's TAP is this
# program's. Nothing is loaded into the kernel of this machine.
#
#	run.sh [SERIES]		6.1 or 6.12; if not given, the newest that apt has
#
# From the environment:
#   MINISM_BUILD	the build folder (build/)
#   MINISM_VM_CACHE	where the kernel's packages and headers stay
#   MINISM_VM_LIMIT	seconds for the guest (3600): some hundred, but beside twenty
#			other programs; it ends by itself when five checks have failed
#   MINISM_VM_CASES	some of the cases of guest.sh: devices,bringup,...
#   KEEP=1		leave the scratch folder, say where it is
# What is missing (a program, a package that does not come) skips all: 77.
set -u
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
src=$(cd "$here/../.." && pwd)
build=$(cd "${MINISM_BUILD:-$src/build}" && pwd) || exit 1
limit=${MINISM_VM_LIMIT:-3600}
cache=${MINISM_VM_CACHE:-$build/vm}
programs=(bash ip opensm saquery ibnetdiscover setpriv sminfo smpquery)
scratch=

skip() {
	echo "1..0 # SKIP $*"
	exit 77
}

die() {
	echo "Bail out! $*"
	exit 1
}

cleanup() {
	cd /
	if [ -n "${KEEP:-}" ]; then
		echo "# kept $scratch"
	else
		rm -rf "$scratch"
	fi
}

# ---- the kernel ------------------------------------------------------------

find_kernel() {
	local names="^linux-image-${series//./\\.}\\.[0-9.+deb-]*-amd64\$"

	apt-cache search --names-only "$names" | awk '{ print $1 }' |
		sort -V | tail -n 1
}

# The packages of a kernel; of the headers those that a module needs.
packages_of() {	# version
	echo "linux-image-$1" "linux-headers-$1" \
		"linux-headers-${1%-amd64}-common"
	apt-cache depends "linux-headers-$1" |
		sed -n 's/.*Depends: \(linux-kbuild-.*\)/\1/p'
}

# Unpacked into FOLDER, whose Makefiles then point there.
unpack() {	# folder of packages, folder
	local deb

	for deb in "$1"/linux-headers-*.deb "$1"/linux-kbuild-*.deb; do
		dpkg-deb -x "$deb" "$2" || return
	done
	dpkg-deb --fsys-tarfile "$1"/linux-image-*.deb |
		tar -x -C "$2" --wildcards './boot/vmlinuz-*' \
		'./lib/modules/*/modules.*' \
		'./lib/modules/*/kernel/drivers/infiniband' \
		'./usr/lib/modules/*' 2>/dev/null
	sed -i "s|/usr/src|$2/usr/src|" \
		"$2"/usr/src/linux-headers-*-amd64/Makefile
}

# The kernel in $cache/SERIES, as $kernel and $version.
get_kernel() {
	local new=$scratch/new

	kernel=$cache/$series
	if [ ! -e "$kernel/version" ]; then
		version=$(find_kernel)
		version=${version#linux-image-}
		[ -n "$version" ] || skip "no linux $series to be had"
		echo "# downloading linux $version"
		mkdir -p "$new/debs" "$cache"
		# shellcheck disable=SC2046 # words
		(cd "$new/debs" && timeout 120 apt-get download -q \
			$(packages_of "$version")) >"$scratch/apt.log" 2>&1 || {
			sed 's/^/# /' "$scratch/apt.log"
			skip "the packages of linux $version do not come"
		}
		rm -rf "$kernel"
		mkdir "$kernel"
		unpack "$new/debs" "$kernel" ||
			die "cannot unpack linux $version"
		rm -r "$new"
		echo "$version" >"$kernel/version"
	fi
	version=$(cat "$kernel/version")
}

# ---- what runs in it -------------------------------------------------------

build_module() {
	mkdir "$scratch/module"
	ln -s "$here/vib.c" "$here/Kbuild" "$src/lab/protocol.h" \
		"$scratch/module/"
	make -C "$kernel/usr/src/linux-headers-$version" \
		M="$scratch/module" CONFIG_DEBUG_INFO_BTF_MODULES= modules \
		>"$scratch/module.log" 2>&1 || {
		sed 's/^/# /' "$scratch/module.log"
		die "the module does not build"
	}
}

# A program, under a name of ours if given, with its libraries.
put() {	# file name-in-root
	local lib

	install -D "$1" "$scratch/root/$2"
	ldd "$1" | grep -o '/[^ ]*' | sort -u | while read -r lib; do
		[ -e "$scratch/root/$lib" ] ||
			install -D "$lib" "$scratch/root/$lib"
	done
}

put_modules() {
	local root=$scratch/root name from=$kernel

	[ -d "$kernel/lib/modules" ] || from=$kernel/usr
	mkdir -p "$root/lib/modules/$version"
	cp "$from/lib/modules/$version"/modules.* "$root/lib/modules/$version/"
	for name in ib_umad ib_ipoib ib_cm ib_core; do
		find "$from/lib/modules/$version" -name "$name.ko*" \
			-exec cp {} "$root/lib/modules/$version/" \;
	done
	unxz -q "$root/lib/modules/$version"/*.xz 2>/dev/null
	cp "$scratch/module/vib.ko" "$root/lib/modules/$version/"
	depmod -b "$root" "$version"
}

build_root() {
	local root=$scratch/root program

	mkdir -p "$root"/{bin,sbin,proc,sys,dev,run,tmp,etc} \
		"$root"/var/{log,cache/opensm}
	install -D "$(command -v busybox)" "$root/bin/busybox"
	for program in "${programs[@]}"; do
		put "$(command -v "$program")" "opt/$program"
	done
	for program in minism minismctl minism-lab; do
		put "$build/$program" "opt/$program"
	done
	ln -s ../opt/bash "$root/bin/bash"
	install "$here/guest.sh" "$root/init"
	put_modules
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) \
		>"$scratch/initrd"
}

# ---- the run ---------------------------------------------------------------

# The kernel's console goes to a file, the guest's TAP to our output.
boot() {
	local line="console=ttyS0 quiet panic=-1 oops=panic mitigations=off"

	# a processor that is not run for 20 s is no fault of the kernel's
	line+=" nowatchdog rcupdate.rcu_cpu_stall_suppress=1"
	timeout -k 5 "$limit" qemu-system-x86_64 -m 1024 -display none \
		-monitor none -nodefaults -no-reboot -net none \
		-kernel "$kernel/boot/vmlinuz-$version" \
		-initrd "$scratch/initrd" \
		-append "$line ${MINISM_VM_CASES:+cases=$MINISM_VM_CASES}" \
		-serial "file:$scratch/console" -serial stdio \
		</dev/null 2>"$scratch/qemu.err" |
		sed -u 's/\r//' | tee "$scratch/tap"
	ended=${PIPESTATUS[0]}	# 124: by the limit
}

[ "$(uname -m)" = x86_64 ] || skip "the guest is an x86-64"
for name in qemu-system-x86_64 busybox cpio depmod gcc-12 make apt-get \
	"${programs[@]}"; do
	command -v "$name" >/dev/null || skip "no $name"
done
for series in ${1:-6.12 6.1}; do
	[ -z "$(find_kernel)" ] || break
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/minism-vm.XXXXXX") || die "no scratch"
trap cleanup EXIT
trap 'exit 143' INT TERM HUP
get_kernel
build_module
build_root
SECONDS=0
boot
echo "# linux $version: $SECONDS s from power-on to power-off"
grep -q '^1\.\.' "$scratch/tap" || {
	tail -n 40 "$scratch/console" "$scratch/qemu.err" | sed 's/^/# /'
	die "the guest did not come to its end: qemu ended with $ended"
}
! grep -q '^not ok' "$scratch/tap"

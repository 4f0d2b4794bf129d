#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The transport over libibumad against ibsim: the tests of test_umad, one by one.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

program=$MINISM_BUILD/test_umad
[ -x "$program" ] || skip_all "cmocka is not installed"
fault=$MINISM_BUILD/tests/umad_fault.so
[ -e "$fault" ] || bail_out "$fault has not been built"
export UMAD_FAULT=$SCRATCH/fault
# Port 4 of the switch has no cable.
cat >fabric.net <<'NET'
Switch 4 "S-0"
[1] "H-1"[1]
[2] "H-2"[1]

Hca 1 "H-1"
[1] "S-0"[1]

Hca 1 "H-2"
[1] "S-0"[2]
NET

sim_start fabric.net || bail_out "ibsim does not start"
tests=$MINISM_SRC/tests/unit/test_umad.c
names=$(sed -n 's/^TEST(\([a-z0-9_]*\))$/\1/p' "$tests")
check "all tests are found" \
	test "$(wc -w <<<"$names")" = "$(grep -c 'TEST *(' "$tests")"
for name in $names; do
	preload=$sm_preload
	[[ $name == fault_* ]] && preload=${sm_preload/$shim/$fault $shim}
	wanted_case "$name" &&
		check "$name" timeout -k 2 $patience \
			env LD_PRELOAD="$preload" "$program" "$name"
done
done_testing

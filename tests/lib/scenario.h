/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Scenarios: what happens to a fabric, and what a subnet manager must make of
 * it, as text. A file holds several; `#` begins a comment.
 *
 *	scenario a pulled cable is routed around
 *	fabric PGFT(4,4;1,4)
 *	start
 *	unplug leaf-1/5
 *	run 50ms
 *	expect reach 16
 *
 * Time is virtual, and the data plane is asked, not the subnet manager. No loop
 * may stand at any moment (world_loop.c). Besides
 * the words below all commands of minism-lab's console may be used:
 *
 *	fabric SPEC ..		see minism-fabric, or a file of tests/data; of
 *				several, the scenario is played on each; of
 *				none it is PGFT(4,4;1,4)
 *	sim KEY=VALUE ..	struct sim_params, before the first sm
 *	sm [NODE] [KEY=VALUE ..]  a subnet manager on a CA, by default the first
 *				one: engine, priority, sweep_s, lmc, timeout_ms,
 *				retries, prefix; safe: no credit loop;
 *				avoid: bits of
 *				enum avoid_cause; cache=1: it remembers; route_ms,
 *				disk_ms: what routing, a write to the disk take;
 *				guest: 1, or 2 if its port obeys another manager;
 *				observe: it only reads
 *	start ..		the same, and until a heavy sweep ends UP, 10s
 *	stop [NODE]		it ends, as if it were killed; retire: by TERM
 *	run TIME
 *	wait up TIME		until a heavy sweep ends UP
 *	sweep			a person asks for a heavy sweep
 *	settle			until the managers rest
 *	guard			pairs that have a path now keep it in each update
 *	accept [NODE]		what is missing or slow
 *	avoid, use NODE/PORT	leave its link out of routing, or no longer
 *	avoid NODE/PORT N	since it has N errors, or 0
 *	pause, resume		sweeps; priority N [NODE]; takeover [NODE]
 *	device-gone, -back	of the manager's port
 *	freeze, thaw NODE	the process of the manager there is stopped
 *	partitions TEXT		of partitions.conf, with names of nodes
 *	name, file		what the site calls a node; a damaged file
 *	each WORD ARG ..	WORD ARG, for each of them
 *	mark			what is counted, or looked for in the log, is
 *				so from here on
 *
 * Devices (scenario_device.c): poke NODE/PORT FIELD=VALUE changes what one
 * holds behind the manager's back, unroute and unkey take entries away; lie,
 * truth and lose are about answers; damage and heal about cables by chance; at
 * N METHOD ATTR LINE plays a line at the nth such SMP. upset and mend are about
 * anything by chance, chance N plays any lines, after calm all is as it should
 * be; storm N LINE .. plays some of these, after each of which the fabric is whole
 * (scenario_chance.c). Clients (scenario_client.c): join, leave, subscribe, babble,
 * forge. The table of scenario_expect.c has all expectations.
 */
#ifndef MINISM_TESTS_LIB_SCENARIO_H
#define MINISM_TESTS_LIB_SCENARIO_H

#include "tests/lib/script.h"

/* False: *why says where and what was found, g_free. */
bool scenario_play(struct scenario *scenario, char **why);

#endif

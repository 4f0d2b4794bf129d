/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A subnet administration over a fabric by formula (sa_lab.h) that scripts ask
 * (unit.h). Requests and answers are those of request.h; a requester is trusted
 * and on H-0 unless options say otherwise: from=PORT, by=PORT (for itself, as
 * ServiceGID or PortGID), slid=LID, qp=QP, untrusted, sm_key=KEY, mod=N,
 * version=N, as-answered (the last answer is the request), marked (as a
 * standby does). Ports are H-3, an end port of a CA, S-2, port 0 of a switch,
 * S-2/1, H-3^, the switch that H-3 is at, and H-3^port, the number there.
 * Changes of the fabric and the rules count from `publish` on. After each
 * change of a store it is held against what must always hold of it.
 */
#ifndef MINISM_TESTS_LIB_SA_STAGE_H
#define MINISM_TESTS_LIB_SA_STAGE_H

#include "tests/lib/sa_lab.h"
#include "tests/lib/unit.h"

extern struct unit_word sa_words[];

/* Fixtures; *state begins with a struct lab. The first is PGFT(3,4;1,3), the
 * second one switch with hosts H-0 .. H-5, and no group is configured. */
#define STAR_HOSTS	6u
int sa_stage_set_up(void **state);
int sa_star_set_up(void **state);
int sa_stage_tear_down(void **state);

/* A line of such a script without => ..: the status of the answer. */
unsigned sa_stage_ask(struct lab *l, const char *format, ...)
	G_GNUC_PRINTF(2, 3);
#define ask_well(l, ...) \
	assert_int_equal(sa_stage_ask(l, __VA_ARGS__), 0)
/* The same, but not asked: it is in l->mad. */
void sa_stage_write(struct lab *l, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

#endif

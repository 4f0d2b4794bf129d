/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Changing M_Keys: ports that have one and are to have another one. It comes
 * before programming, since all that is sent to a port needs its key of then.
 */
#ifndef MINISM_SWEEP_REKEY_H
#define MINISM_SWEEP_REKEY_H

#include "sm/io/mad_client.h"
#include "sm/persist.h"
#include "sm/plan/plan.h"

struct rekey;

/*
 * Writes down every key that the plan gives to a port, then changes those that
 * need it first. NULL: none does, go on. Else `done` comes, never from inside
 * here; a port that could not be changed is in no worse a state than before,
 * and the plan behind it tries again and tells. ks NULL: there are no keys.
 */
struct rekey *rekey_start(struct mad_client *x, struct persist_keys *ks,
			  const struct snapshot *s, const struct desired *w,
			  const struct plan *plan, void (*done)(void *data),
			  void *data);
void rekey_cancel(struct rekey *r);

#endif

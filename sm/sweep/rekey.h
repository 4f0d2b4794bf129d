/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Changing M_Keys of ports that have one. Comes before programming, since all
 * SMPs to a port need its present key.
 */
#ifndef MINISM_SWEEP_REKEY_H
#define MINISM_SWEEP_REKEY_H

#include "sm/io/mad_client.h"
#include "sm/persist.h"
#include "sm/plan/plan.h"

struct rekey;

/*
 * Records every key that the plan gives to a port, then changes those of ports
 * with another key. NULL: there are none. Else `done` is called, never from
 * inside this function; a port whose key could not be changed is in no worse
 * state than before, and the plan tries again and reports it. ks NULL: there
 * are no keys.
 */
struct rekey *rekey_start(struct mad_client *x, struct persist_keys *ks,
			  const struct snapshot *s, const struct desired *w,
			  const struct plan *plan, void (*done)(void *data),
			  void *data);
void rekey_cancel(struct rekey *r);

#endif

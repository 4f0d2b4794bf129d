/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which M_Key a question of a discovery goes out with, while most ports have
 * no name yet. Sends nothing.
 */
#ifndef MINISM_SWEEP_MKEY_PROBE_H
#define MINISM_SWEEP_MKEY_PROBE_H

#include "sm/plan/mkey_db.h"
#include "topology/builder.h"

struct mkey_probe;

/* Borrows all; own_guid: of the SM's port, which is SNAPSHOT_NONE below. */
struct mkey_probe *mkey_probe_new(const struct mkey_db *keys, struct builder *b,
			uint64_t own_guid);
void mkey_probe_free(struct mkey_probe *d);

/* The try-th key (from 0) for NodeInfo through a port, by who was there last;
 * false: there are no more. */
bool mkey_probe_key_behind(const struct mkey_probe *d, uint32_t port,
			   unsigned try, uint64_t *key);

/* The try-th key for a question to the node of `port`, which has answered:
 * what opened it, and then what else may be its key. */
bool mkey_probe_key_of(const struct mkey_probe *d, uint32_t port, unsigned try,
		  uint64_t *key);

/* NodeInfo came from `port` for this key. */
void mkey_probe_opened(struct mkey_probe *d, uint32_t port, uint64_t key);

/* All is known but who is behind some ports: keys of ports that were not found
 * are strays from now on. False: there are none, or that was done already. */
bool mkey_probe_find_strays(struct mkey_probe *d);

/* The try-th stray, but for keys that this port was tried with before. */
bool mkey_probe_stray_key(const struct mkey_probe *d, uint32_t port,
			  unsigned try, uint64_t *key);

/* The port hides its key, and none of ours is it. */
bool mkey_probe_is_locked(const struct mkey_probe *d, uint32_t port);

/* Who was last seen behind the port; 0: nobody. */
uint64_t mkey_probe_behind(const struct mkey_probe *d, uint32_t port);

#endif

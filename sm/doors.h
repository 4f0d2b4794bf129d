/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which M_Key a question of a discovery goes out with, while most ports have
 * no name yet. Sends nothing.
 */
#ifndef MINISM_SM_DOORS_H
#define MINISM_SM_DOORS_H

#include "sm/plan/keyring.h"
#include "topology/builder.h"

struct doors;

/* Borrows all; own_guid: of the SM's port, which is SUBNET_NONE below. */
struct doors *doors_new(const struct keyring *keys, struct builder *b,
			uint64_t own_guid);
void doors_free(struct doors *d);

/* The try-th key (from 0) for NodeInfo through a port, by who was there last;
 * false: there are no more. */
bool doors_key_behind(const struct doors *d, uint32_t port, unsigned try,
		      uint64_t *key);

/* The try-th key for a question to the node of `port`, which has answered:
 * what opened it, and then what else may be its key. */
bool doors_key_of(const struct doors *d, uint32_t port, unsigned try,
		  uint64_t *key);

/* NodeInfo came from `port` for this key. */
void doors_opened(struct doors *d, uint32_t port, uint64_t key);

/* All is known but who is behind some ports: keys of ports that were not found
 * are strays from now on. False: there are none, or that was done already. */
bool doors_find_strays(struct doors *d);

/* The try-th stray, but for keys that this port was tried with before. */
bool doors_stray_key(const struct doors *d, uint32_t port, unsigned try,
		     uint64_t *key);

/* The port hides its key, and none of ours is it. */
bool doors_is_locked(const struct doors *d, uint32_t port);

/* Who was last seen behind the port; 0: nobody. */
uint64_t doors_behind(const struct doors *d, uint32_t port);

#endif

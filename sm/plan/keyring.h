/*
 * M_Keys: which key opens which port (IBA 14.2.4). Pure.
 *
 * A key belongs to an end port: port 0 of a switch holds that of all its
 * ports. All GUIDs are PortGUIDs; 0 stands for a port that nobody knows yet.
 */
#ifndef MINISM_PLAN_KEYRING_H
#define MINISM_PLAN_KEYRING_H

#include "topology/subnet.h"

struct keyring;

/* One key for all; 0: none. */
struct keyring *keyring_new(uint64_t m_key);
void keyring_free(struct keyring *k);

/* The key that opens the port, as far as we know. k NULL: 0 for everybody. */
uint64_t keyring_of(const struct keyring *k, uint64_t port_guid);

/* The same for a port of a snapshot: asks for who holds its key. */
uint64_t keyring_at(const struct keyring *k, const struct subnet *s,
		    uint32_t port);

#endif

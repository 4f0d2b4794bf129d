/*
 * M_Keys.
 */
#include "sm/plan/keyring.h"

struct keyring {
	uint64_t m_key;
};

struct keyring *
keyring_new(uint64_t m_key)
{
	struct keyring *k = g_new0(struct keyring, 1);

	k->m_key = m_key;
	return k;
}

void
keyring_free(struct keyring *k)
{
	g_free(k);
}

uint64_t
keyring_of(const struct keyring *k, uint64_t port_guid)
{
	return k ? k->m_key : 0;
}

uint64_t
keyring_at(const struct keyring *k, const struct subnet *s, uint32_t port)
{
	const struct subnet_node *n = subnet_node_of(s, port);
	uint32_t holder = subnet_is_switch(n) ? n->first_port : port;

	return keyring_of(k, s->ports[holder].guid);
}

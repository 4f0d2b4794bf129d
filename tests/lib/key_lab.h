/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A subnet manager with M_Keys on a simulated fabric, for tests: it keeps its
 * log and its memory in a scratch folder, may be stopped at any moment, and
 * started again with what it has left.
 */
#ifndef MINISM_TESTS_LIB_KEY_LAB_H
#define MINISM_TESTS_LIB_KEY_LAB_H

#include "tests/lib/sim_lab.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)

struct keylab_keys {
	uint64_t m_key;
	enum mkey_db_mode mode;
	uint8_t protect;
	uint16_t lease;		/* s */
};

struct keylab {
	struct snapshot *s;
	struct sim *sim;
	char *dir;
	struct keylab_keys keys;
	/* the manager; t is NULL if there is none */
	struct transport *t;
	struct log *log;
	struct policy policy;
	struct sm_instance *sm;
	/* parts of it */
	struct mad_client *x;
	struct sweep *sweep;
	unsigned ends;
	enum sweep_end last;
	int64_t took;		/* us: the last heavy sweep */
	GPtrArray *lines;	/* complaints of the last sweep */
	GPtrArray *warnings;	/* likewise */
};

/* A fabric without a manager. */
void keylab_open(struct keylab *l, const char *spec);
void keylab_close(struct keylab *l);
/* The same with a fabric that the caller made; takes it over. */
void keylab_open_fabric(struct keylab *l, struct snapshot *s);

enum keylab_memory {
	KEYLAB_REMEMBERS,
	KEYLAB_FORGETS,		/* the memory is lost first */
};
void keylab_start(struct keylab *l, const struct keylab_keys *keys,
		  enum keylab_memory memory);
void keylab_stop(struct keylab *l);

/* Runs until the manager says UP; or until `n` heavy sweeps have ended. */
bool keylab_wait_up(struct keylab *l, int64_t limit_us);
bool keylab_wait_ends(struct keylab *l, unsigned n, int64_t limit_us);

/* The port has the key that the manager is to give it, and its level. */
bool keylab_has_key(const struct keylab *l, uint32_t port);
/* End ports that have not. */
unsigned keylab_wrong(const struct keylab *l);
/* Pairs of hosts that are lost, but for those with `but`. */
unsigned keylab_lost(const struct keylab *l, uint32_t but);
unsigned keylab_violations(const struct keylab *l);
/* The nth host's port but the SM's own; the nth switch's port 0. */
uint32_t keylab_host(const struct keylab *l, unsigned nth);
uint32_t keylab_switch(const struct keylab *l, unsigned nth);
/* Some complaint of the last sweep has this in it. */
bool keylab_complains(const struct keylab *l, const char *of);

#endif

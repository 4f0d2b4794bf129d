/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Clients of the subnet administration on a simulated fabric that a whole SM
 * runs: they ask and repeat as a kernel's MAD layer does, and take tables by
 * RMPP. For what osmtest checks, where osmtest itself cannot run.
 */
#ifndef MINISM_TESTS_OSMLAB_H
#define MINISM_TESTS_OSMLAB_H

#include "sm/archive.h"
#include "sm/io/bulk.h"
#include "sm/wire/sa_record.h"
#include "tests/lib/world.h"

#define SECOND		((int64_t)G_USEC_PER_SEC)
#define OSM_SILENT	0x10000u	/* no answer to any attempt */
#define OSM_SM_KEY	1u		/* what the world's SM trusts */

struct osm_question {
	unsigned method, attr_id;
	uint64_t mask, sm_key;
	uint8_t data[SA_DATA_LEN];
};

struct osm_client {
	struct world *w;
	uint32_t port;
	struct transport *t;
	struct bulk *b;
	uint32_t tid;
	unsigned attempts, timer;
	uint8_t mad[MAD_SIZE];		/* the question */
	bool done;
	unsigned status;		/* of the answer, or OSM_SILENT */
	uint8_t method;
	uint8_t data[SA_DATA_LEN];	/* of an answer of one MAD */
	GByteArray *table;		/* the last one */
	unsigned tables, reports;
	uint8_t report[MAD_SIZE];	/* the last one */
};

/* A fabric with its SM up. cache_dir: where the SA's archive is, or NULL. */
struct osm_world {
	struct world w;
	struct archive *archive;
	const char *cache_dir;
	struct world_params params;
};
void osm_world_open(struct osm_world *o, const char *spec, uint64_t seed,
		    const char *cache_dir);
void osm_world_open_lmc(struct osm_world *o, const char *spec, uint64_t seed,
			unsigned lmc);
void osm_world_close(struct osm_world *o);
/* The SM's process ends and another one starts; the fabric goes on. */
void osm_world_restart(struct osm_world *o);
void osm_run(struct osm_world *o, int64_t us);
/* Until the SM rests. */
void osm_settle(struct osm_world *o);
/* Of all MADs of the SA's class, both ways. Returns the rule. */
unsigned osm_lose(struct osm_world *o, unsigned per_mille);

/* The nth CA port of the fabric, in index order. */
uint32_t osm_host(const struct osm_world *o, unsigned n);
unsigned osm_hosts(const struct osm_world *o);
void osm_client_open(struct osm_client *c, struct osm_world *o,
		     uint32_t port);
void osm_client_close(struct osm_client *c);
/* The question goes out, and again each second, nine times in all. */
void osm_start(struct osm_client *c, const struct osm_question *q);
/* Runs the clock until there is an answer. Returns the status. */
unsigned osm_wait(struct osm_client *c);
unsigned osm_ask(struct osm_client *c, const struct osm_question *q);
/* GetTable with a mask and (NULL: no) data. */
unsigned osm_table(struct osm_client *c, unsigned attr_id, uint64_t mask,
		   const uint8_t *data);
/* How many records the last table has. */
unsigned osm_records(const struct osm_client *c, unsigned attr_id);
const uint8_t *osm_record(const struct osm_client *c, unsigned attr_id,
			  unsigned n);

/* GID of a port under the default prefix. */
void osm_gid(const struct osm_world *o, uint32_t port, uint8_t gid[16]);
uint16_t osm_lid(const struct osm_world *o, uint32_t port);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the player of scenarios share. Private to them: words
 * (scenario.c), devices and answers (scenario_device.c), clients
 * (scenario_client.c), changes by chance (scenario_chance.c) and what may be
 * expected (scenario_expect.c).
 */
#ifndef MINISM_TESTS_LIB_PLAY_H
#define MINISM_TESTS_LIB_PLAY_H

#include "lab/check.h"
#include "lab/server.h"
#include "sm/mad/mad_field.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/world.h"

#define MANAGERS_MAX	3u
#define SECOND		((int64_t)G_USEC_PER_SEC)

struct play {
	struct sim_params params;
	const char *spec;	/* of the fabric */
	struct lab *lab;	/* NULL: not needed yet */
	struct world w;		/* m: the first manager */
	struct manager others[MANAGERS_MAX - 1];
	char *dir;		/* M_Keys; the log of the first manager */
	char *other_dir;	/* of a second manager's memory: cache=2 */
	char *log;
	bool has_log;
	/* what the managers are told; of them, it is of the last one */
	struct sm_instance_params sm;
	struct policy policy;
	struct qos qos;
	struct partition_rules *rules;
	GHashTable *names;

	GArray *secrets;	/* uint64_t: M_Keys that no log may hold */
	GArray *lies;
	GPtrArray *cues, *clients;
	bool has_members;	/* of them some join groups as IPoIB does */
	unsigned *told;		/* by port: asked to register again, */
	uint8_t *cut;		/* its cable is damaged */
	uint64_t rng;
	int64_t waited;		/* us, by the last `while` */
	bool may_loop;		/* an engine that was named makes loops */
	char *loop;		/* the first one, or pair of `guard` that lost its
				   path, in words; NULL: there was none */
	GArray *guarded;	/* uint32_t: CA ports, by pairs */
	uint64_t astray;	/* of the SMPs whose modifier means nothing to the
				   node: they came by cables that were swapped */
	/* at the last mark */
	gsize said_before;	/* bytes of the log */
	unsigned ends, repairs;
	struct mad_client_stats stats;
	uint64_t traps, written;
	GByteArray *kept[3];	/* tables of the SA, by `keep` */
	const struct engine *engine;
	GString *said;		/* by the console, or why it failed */
};

struct play_word {
	const char *name;
	bool (*fn)(struct play *p, char **args);
};
/* They end with a name NULL. */
extern struct play_word play_device_words[], play_client_words[],
	play_chance_words[], play_expectations[128];

/* A function, under these names in a table whose size is known. */
#define PLAY_WORDS(table, names, name) \
	static bool name(struct play *p, char **args); \
	__attribute__((constructor)) static void \
	add_##name(void) \
	{ \
		play_add_words(table, G_N_ELEMENTS(table), names, name); \
	} \
	static bool \
	name(struct play *p, char **args)
#define EXPECTS(names, name)	PLAY_WORDS(play_expectations, names, name)
void play_add_words(struct play_word *table, size_t size, const char *names,
		    bool (*fn)(struct play *p, char **args));

/* FIELD=VALUE, of PortInfo or SwitchInfo; VALUE may be FROM>TO. */
struct play_field {
	unsigned attr_id;
	const struct mad_field *field;
	bool any;		/* there is no FROM */
	uint64_t from, to;
};

/* What a device tells that it does not hold, or does not tell. */
struct play_lie {
	uint32_t node;		/* or SIM_ANY */
	unsigned attr_id;
	bool is_lost, is_refused, is_other;	/* else: */
	struct play_field f;
};

bool play_line(struct play *p, const char *line);
bool play_fail(struct play *p, const char *format, ...) G_GNUC_PRINTF(2, 3);
struct manager *play_manager(struct play *p, unsigned i);
/* The one on this node, of NULL the first; NULL: there is none. */
struct manager *play_manager_on(struct play *p, const char *name);
void play_add_secret(struct play *p, uint64_t key);
void play_clear_devices(struct play *p);
void play_clear_clients(struct play *p);

bool play_read_time(struct play *p, const char *word, int64_t *us);
bool play_read_node(struct play *p, const char *name, uint32_t *node);
/* The end port of a node: a CA's first one, a switch's port 0; or NODE/PORT. */
bool play_read_port(struct play *p, const char *name, uint32_t *port);
/* "PortInfo" to its number; 0: there is none. */
unsigned play_read_attr(const char *name);

bool play_read_field(struct play *p, const char *word, struct play_field *f);
uint64_t play_field_get(const struct play_field *f, const void *host);
void *play_field_host(struct play *p, const struct play_field *f,
		      uint32_t port);

/* The port has lost its memberships; of each in a storm of groups. */
void play_forget_groups(struct play *p, uint32_t port);
/* The SMP's answer of a node shows the state of its port. */
void play_see_state(struct play *p, uint32_t node);
/* Soon the fabric has one master and all members of groups what they send. */
bool play_are_grouped(struct play *p);

bool play_expect_range(struct play *p, const char *what, const char *range,
		       uint64_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The desk of the SA on a simulated fabric that a whole SM has brought up, and
 * clients on its hosts that ask, subscribe and answer Reports.
 */
#ifndef MINISM_TESTS_LIB_SA_SERVER_LAB_H
#define MINISM_TESTS_LIB_SA_SERVER_LAB_H

#include "sm/mad/bytes.h"
#include "sm/state.h"
#include "sm/sa/sa_server.h"
#include "sm/mad/sa_record.h"
#include "tests/lib/sim_lab.h"

#define SECOND		((int64_t)G_USEC_PER_SEC)
#define CLIENTS		14u
#define N_ENDS		24u	/* of hosts and switches */
#define METHOD_REPORT_RESP	0x86
#define OFF_COMP_MASK	48
#define SEED		3u

struct stage;

struct client {
	struct stage *stage;
	struct transport *t;
	struct sa_message *b;
	uint32_t port;
	uint16_t lid;
	uint32_t last_tid;
	uint8_t mad[MAD_SIZE];	/* the last request */
	unsigned good, busy, bad;	/* answers of one MAD, by status */
	unsigned last_bad;	/* status */
	GArray *tids;		/* of the good ones, in order */
	unsigned tables;
	GByteArray *table;	/* the last one */
	bool mute;		/* answers no Report */
	unsigned reports;
	uint8_t report[MAD_SIZE];	/* the last one */
	unsigned rank;		/* of its last good answer, among all */
};

struct stage {
	struct snapshot *s;
	struct sim *sim;
	struct manager sm;
	struct partition_rules *rules;
	struct sa *sa;
	struct sa_server *desk;
	struct state *archive;
	bool has_clients;	/* that was read */
	struct client client[CLIENTS];
	unsigned ranks, groups_changed;
	/* the main loop's next turn, asked for when the flood begins */
	bool loop_asked;
	uint64_t loop_answers;	/* until it came; */
	unsigned loop_came;
	unsigned most_reports;
	uint64_t touched;	/* sa_saved_version() when it was told last */
};

struct mad_addr stage_address(const struct stage *st);
/* Lines of request.h, in which the client is "self". */
void client_request(struct client *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Once more, under the same TID. */
void client_ask_again(struct client *c);
void client_ask_info(struct client *c);
void client_ask_paths(struct client *c);
void client_gid(const struct client *c, uint8_t gid[16]);
/* A group of its own for each `n`. */
void client_join(struct client *c, unsigned n);
void client_leave(struct client *c, unsigned n);
/* To all generic traps. */
void client_subscribe(struct client *c);
void client_register(struct client *c, uint64_t id, uint32_t lease);
void stage_open(struct stage *st, uint64_t seed,
		const struct sa_server_params *params, const char *cache_dir);
void stage_close(struct stage *st);
/* The fixture of most tests: SEED, and nothing is kept. */
int stage_set_up(void **state);
int stage_set_up_with(void **state, const struct sa_server_params *params);
int stage_tear_down(void **state);
/* A new process on the same fabric: an SA that knows nothing. */
void stage_start(struct stage *st, const struct sa_server_params *params,
		 const char *cache_dir);
void stage_stop(struct stage *st);
void stage_run(struct stage *st, int64_t us);
void stage_add_fault(struct stage *st, enum sim_fault_kind kind,
		     unsigned method, unsigned per_mille);
unsigned stage_subscriptions(const struct stage *st);
#endif

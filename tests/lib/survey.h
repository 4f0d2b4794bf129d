/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A surveyed fabric: its SM is up, clients ask the SA as osmtest does, and what
 * they are told is held against what the devices say.
 */
#ifndef MINISM_TESTS_SURVEY_H
#define MINISM_TESTS_SURVEY_H

#include "tests/lib/osmtruth.h"

#define SURVEY_CLIENTS	3u

struct survey {
	struct osm_world o;
	struct truth x;
	struct osm_client c[SURVEY_CLIENTS];
	GArray *ends;			/* uint32_t, truth_end_ports() */
};
/* A fat tree of 24 hosts and 10 switches; hosts with a port on each of two
 * rings. The seed of both is the same. */
#define SURVEY_TREE	"PGFT(4,6;1,4)"
#define SURVEY_RAILS	"rails(5;11,2)"
void survey_open(struct survey *b, const char *spec, unsigned lmc);
void survey_close(struct survey *b);
/* Ports came or went: `ends` anew. */
void survey_look_again(struct survey *b);
uint32_t survey_end(const struct survey *b, guint i);

/* Client 0 asks; `wanted` is a record, or NULL. P_Key tables with the SM_Key.
 * Returns the status. */
unsigned survey_ask(struct survey *b, unsigned method, unsigned attr_id,
		    uint64_t mask, const uint8_t *wanted);
/* The last table of a client, in the form of truth_records(). */
GByteArray *survey_told(const struct osm_client *c, unsigned attr_id);
/* Two such sets are the same; what is not is printed. Returns how many
 * records they have. */
unsigned survey_same(unsigned attr_id, const GByteArray *want,
		     const GByteArray *got);
/* The whole table is asked for, is not empty, and is the truth. Returns it. */
GByteArray *survey_check(struct survey *b, unsigned attr_id);

#endif

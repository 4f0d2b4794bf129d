/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What waits for its time: events, in a heap, and the packets among them.
 * Private to sm/sim.
 */
#ifndef MINISM_SIM_CLOCK_H
#define MINISM_SIM_CLOCK_H

#include "sm/io/transport.h"
#include "sm/mad/mad.h"

struct sim;

/* Something that waits in the queue; the first member of who waits. */
struct sim_event {
	void (*fn)(struct sim *sim, struct sim_event *event);
	uint32_t pos;		/* in the heap, from 1; 0: not queued */
};

/* A place of the heap. Total order: time, then who came first. */
struct sim_place {
	int64_t at;		/* ns */
	uint64_t seq;
	struct sim_event *event;
};

/* A MAD under way. Its stage is event.fn. */
struct sim_packet {
	struct sim_event event;
	struct sim_packet *next;	/* unused */
	struct mad_addr addr;		/* as its sender gave it */
	uint32_t from, to;		/* ports; `to` is where it comes in */
	uint32_t node;			/* struct sim_match's */
	uint32_t epoch;			/* of that node, when it was queued */
	int64_t travel;			/* ns to `to` */
	unsigned hop;			/* links of a directed route passed */
	struct mad_header h;
	uint8_t mad[MAD_SIZE];
	uint8_t *message;	/* a long one whole, `mad` is its beginning;
				   or NULL */
	size_t len;
};

void sim_clock_start(struct sim *sim, struct sim_event *event, int64_t at);
void sim_clock_stop(struct sim *sim, struct sim_event *event);
struct sim_packet *sim_packet_take(struct sim *sim);
void sim_packet_drop(struct sim *sim, struct sim_packet *p);
void sim_packets_free(struct sim *sim);
/* Puts it back unused and counts why. */
void sim_packet_lose(struct sim *sim, struct sim_packet *p, uint64_t *count);

#endif

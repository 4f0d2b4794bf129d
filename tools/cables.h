/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which cables are bad: decided from two readings of the counters of all ports
 * and the time between them. Nothing here reads a counter or a clock.
 */
#ifndef MINISM_TOOLS_CABLES_H
#define MINISM_TOOLS_CABLES_H

#include "sm/mad/perf.h"
#include "tools/view.h"
#include "topology/report.h"

/* Behind those of enum perf_error: bytes. */
enum {
	CABLES_SENT = PERF_COUNTERS,
	CABLES_RECEIVED,
	CABLES_COUNTERS
};

/* A reading of a port. */
struct cables_reading {
	int64_t us;		/* when; 0: it was not read */
	uint64_t count[CABLES_COUNTERS];
};

/* What the agent of a node can do, by its ClassPortInfo. */
struct cables_agent {
	bool known;
	bool has_ext, has_wait, has_wide;	/* PortCountersExtended,
						   PortXmitWait, 64-bit errors */
};

/* A cable that counted anything but data. */
struct cables_entry {
	uint32_t port;		/* the lower one of its ends */
	uint64_t errors;	/* of the wire, at the worse end */
	double per_hour;	/* the same in an hour */
	double wait;		/* the larger share of both ends, 0 to 1 */
};

/* What is known of a port. */
struct cables_port {
	struct cables_reading raw;	/* the last one */
	struct cables_reading now;	/* the sum of all that it counted, */
	struct cables_reading half, hour;	/* and that at the begin of the
						   last half hour, and window */
	/* What was said about its cable; of the lower end: */
	bool bad;
	int64_t good_us;	/* since when; 0: it was never bad, or long ago */
	bool asked;		/* the manager was, to avoid it, and took that */
	int answer;		/* its code + 1; 0: it was not asked */
};

enum cable_news {
	CABLE_BAD,
	CABLE_GOOD,
	CABLE_MENDED,		/* good for an hour */
};

struct cable_change {
	enum cable_news news;
	struct cables_entry cable;
};

/* The attributes as they came; ext NULL: it was not read. Returns the counters
 * that are near their end, where they would stay: they should be cleared. Bits
 * of enum perf_error. */
unsigned cables_load(const struct cables_agent *agent, const uint8_t *data,
		     const uint8_t *ext, uint64_t count[CABLES_COUNTERS]);

/* Adds to `sum` what the port counted since `raw`, its reading before, which
 * becomes `now`. A counter that is smaller than before was cleared in between,
 * and is counted from 0. The first reading adds nothing. */
void cables_add(struct cables_reading *raw, struct cables_reading *sum,
		const struct cables_reading *now);

/*
 * The cables by errors in an hour, the worst first: of struct cables_entry.
 * From `hour` to `now` of the ports of s. least_us: two readings that are
 * closer count as so far apart, at least 1; a cable has then not yet had the
 * time for its errors.
 */
GArray *cables_rank(const struct snapshot *s, const struct cables_port *ports,
		    int64_t least_us);

/* What has changed, of struct cable_change; what was said is brought up to date.
 * A cable is bad with more than `limit` errors in an hour, until it has half of
 * that. */
GArray *cables_judge(const struct snapshot *s, const GArray *cables,
		     unsigned limit, int64_t now, struct cables_port *ports);

/* "leaf-1/5 - spine-1/1", or one end if the cable is away; g_free. */
char *cables_name(const struct tool_view *v, const struct cables_entry *c);
/* With its ends: what they counted, the share of waiting, rates of data. */
void cables_print(const struct tool_view *v, const struct cables_entry *c,
		  const struct cables_port *ports, const char *key,
		  struct text_report *r);

#endif

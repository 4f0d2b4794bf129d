/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The way of packets through the forwarding tables of a view.
 */
#ifndef MINISM_TOOLS_TRACE_H
#define MINISM_TOOLS_TRACE_H

#include "routing/graph.h"
#include "tools/view.h"
#include "topology/report.h"

#define TRACE_HOPS	64u

struct trace_hop {
	uint32_t node;
	uint8_t in, out;
	/* by trace_explain() */
	uint8_t n_shortest;		/* ports that begin a shortest path */
	uint8_t shortest[GRAPH_PORTS];
	uint16_t n_lids;		/* that leave by the same port */
};

struct trace {
	struct trace_hop hops[TRACE_HOPS];
	unsigned n;
	const char *fault;	/* NULL: it arrives */
	unsigned mtu, mbps;	/* the least on the way; 0: a link is not
				   Active. mbps UINT32_MAX: there is none */
	uint32_t inactive;	/* 1 + a port on the way that is not; or 0 */
};

/* From end port to end port; to the same one there is no hop. Of the tables the
 * entries for the LID of `to` are needed; from no entry no path leads on. */
void trace_follow(const struct tool_view *v, uint32_t from, uint32_t to,
		  struct trace *t);
/* Fills in what else could have been; needs the whole tables of the hops. */
void trace_explain(const struct tool_view *v, uint32_t to, struct trace *t);

/* Its hops, a line each. why: with the ports on shortest paths, and the LIDs
 * that the port carries. */
void trace_report(const struct trace *t, const struct tool_view *v, bool why,
		  struct text_report *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics by formula, for tests, benchmarks and teaching, and fabrics with
 * failed cables and switches.
 *
 *   PGFT(m1,..,mh;w1,..,wh[;p1,..,ph])	parallel ports generalized fat tree
 *	(Zahavi, "Fat-trees routing and node ordering...", 2011; Oehring et
 *	al. 1995 for the XGFT): m_i children, w_i parents, p_i cables between
 *	one child and one parent at level i; m1*..*mh hosts. p_i = 1 if left out
 *   ring(n;h)		n switches in a ring, h hosts on each
 *   torus(a,b[,c];h)	2 or 3 dimensions; a dimension of size 2 is one cable
 *   mesh(a,b[,c];h)	the same without the wrap
 *   single(h)		one switch, h hosts
 *   pair()		two CAs back to back, no switch
 *   random(n,d,h)	n switches, connected, about d inter-switch links each,
 *			h hosts each; decided by the seed
 *   dragonfly(a,p,h)	a switches a group, p hosts and h cables to other
 *			groups on each; a * h + 1 groups (Kim et al. 2008)
 *   hyperx(s1[,s2..];h)	switches in a box, each cabled to all in its rows
 *			(Ahn et al. 2009)
 *   rails(n;h,r)	h hosts with r ports each, port i on rail (switch set)
 *			i, n switches in a ring shared by all rails
 *   rails(n;h,r;c)	c spines over all n leaves instead of the ring
 *   rails(n;h,r;s,c)	each rail is a tree by itself, of s spines; c cores
 *			join the spines of all rails
 *
 * "+an" behind it: each switch has an aggregation node inside, a CA on its
 * last port with the switch's SystemImageGUID, as switches have since 2019.
 */
#ifndef MINISM_LAB_GENERATE_H
#define MINISM_LAB_GENERATE_H

#include "topology/snapshot.h"

struct generate_options {
	uint64_t seed;
	bool shuffle_guids;	/* GUIDs in random order over the nodes */
	unsigned fail_per_mille;/* of the switch-to-switch links, taken away */
};

/* Links are up and in Init, LIDs 0, MTU 4096, 4x EDR; the local port is that
 * of the first CA (H-0). At most 65,535 nodes and 254 ports a node. `options`
 * may be NULL: seed 0 and nothing else. NULL with a TEXT_ERROR that says
 * what is wrong with `spec`. */
struct snapshot *generate_fabric(const char *spec,
			       const struct generate_options *options,
			       GError **error);

/* Is it a formula? One has a bracket, and no file that name. */
bool generate_is_formula(const char *name);
/* The fabric of a formula or of a net file. NULL with an error that names it. */
struct snapshot *generate_or_read(const char *name,
				  const struct generate_options *options,
				  GError **error);

struct link_failures {
	uint64_t seed;
	unsigned links_per_mille;	/* of the switch-to-switch cables */
	unsigned switches_per_mille;	/* of all switches; never the one that
					   the local port is cabled to */
};

/*
 * A new snapshot without them. Shares are rounded to whole cables and
 * switches; the seed decides which ones, and neither choice changes the other.
 * Nodes that the local port no longer reaches are left out, as by a discovery.
 */
struct snapshot *snapshot_fail_links(const struct snapshot *s,
				     const struct link_failures *d);

#endif

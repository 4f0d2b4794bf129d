/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The routing laboratory: a fabric from a file or a formula, tables from an
 * engine or a file, their verification and their figures.
 */
#ifndef MINISM_LAB_ROUTE_LAB_H
#define MINISM_LAB_ROUTE_LAB_H

#include "routing/engine.h"
#include "routing/order.h"
#include "routing/verify.h"
#include "lab/traffic.h"

/* The options. Strings are NULL if an option is not given. */
struct lab_wish {
	char *fabric;		/* a file, or a generator's spec */
	char *lfts, *before;	/* tables to verify; previous tables */
	char *roots, *io;	/* lists of GUIDs */
	bool no_figures;	/* verify only */
	bool shuffle;		/* GUIDs of a spec's nodes */
	unsigned fail_links, fail_switches;	/* per mille */
	uint64_t seed;
	unsigned threads, permutations, shifts;
};

struct route_lab {
	const struct lab_wish *wish;
	struct snapshot *subnet;
	struct lid_map *lids;
	struct graph *g;
	struct lft *lfts, *before;	/* NULL: no such option */
	uint8_t *is_root, *is_io;	/* see struct engine_input; or NULL */
	double bound;			/* metrics_bound() */
	uint32_t *hosts;		/* see order_hosts() */
	uint32_t n_hosts;
	GPtrArray *notes;	/* lines about the files */
};

/* The worst finding; also the exit status. 1 is for errors before there are
 * tables. */
enum lab_verdict {
	LAB_GOOD = 0,
	LAB_REFUSED = 2,	/* the engine cannot route this fabric */
	LAB_UNREACHABLE = 3,	/* a pair that is cabled but has no path */
	LAB_ASTRAY = 4,		/* a path that loops or ends elsewhere */
	LAB_CREDIT_LOOP = 5,
};
const char *lab_verdict_name(enum lab_verdict verdict);

/* Tables and the findings. */
struct lab_row {
	char *name;		/* engine or file */
	const char *summary;	/* of the engine, or NULL */
	char *refused;		/* why there are no tables, or NULL: if set,
				   nothing that follows is */
	struct lft *lft;
	uint32_t *ranks;	/* engine_output.ranks, or NULL */
	GPtrArray *notes;	/* of the engine or about the file */
	double compute_ms;	/* CPU time of all threads, with the choice
				   of auto; below 0: not computed */
	double verify_ms;
	enum lab_verdict verdict;
	struct verify_result verified;
	uint32_t looped_hosts;	/* channels in loops if only CA ports talk to
				   CA ports */
	struct channels_result together;	/* with lab->before */
	struct metrics_load load;
	struct metrics_paths paths;
	struct traffic traffic;
	struct metrics_churn churn;		/* from lab->before */
	/* Multicast: a group of all hosts, and LAB_GROUPS of some of them. */
	uint32_t missed;	/* members that no tree reaches */
	uint32_t max_trees;	/* groups on the busiest cable */
	double mean_trees;	/* over the cables that any group uses */
};

#define LAB_GROUPS	200u
#define LAB_MEMBERS	8u

/* Reads the files. False with an error whose message names the file. */
bool lab_open(struct route_lab *lab, const struct lab_wish *wish,
	      GError **error);
void lab_close(struct route_lab *lab);

/* Writes the paths between two end ports, to and fro: names, NodeGUIDs,
 * PortGUIDs or LIDs. False with an error: there is no such port, or several. */
bool lab_print_path(const struct route_lab *lab, const struct lab_row *row,
		    char **ends, GString *out, GError **error);

/* Computes tables, or takes those of wish->lfts, and verifies them. auto: those
 * that minism would take, by the same choice. The caller frees the row. */
struct lab_row *lab_try_auto(struct route_lab *lab);
struct lab_row *lab_try_engine(struct route_lab *lab,
			       const struct engine *engine);
struct lab_row *lab_try_file(struct route_lab *lab);
void lab_row_free(struct lab_row *row);

/* route_report.c: rows is a GPtrArray of struct lab_row. In text one row is a
 * report, several make a table. */
void lab_print(const struct route_lab *lab, const GPtrArray *rows, bool as_json,
	       GString *out);

#endif

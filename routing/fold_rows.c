// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From positions to ports and back.
 *
 * Purpose. Twins send to a LID by the same position, so while tables are made
 * one row is enough for all of them: that of the first member. It has LIDs in
 * the order of tables; engines look at LIDs in the order of the fold, side by
 * side in columns. What is one after the other for the one is scattered for
 * the other, which is why rows are met as seldom as may be.
 *
 * Flow. fold_read: what tables of before say, port by port through a map of
 * the switch. fold_store, fold_recall: columns to rows and back. fold_finish:
 * each row through the list of ports of each member, 32 or 64 LIDs at once
 * (translate.h).
 */
#include "routing/fold_rows.h"

#include <string.h>

#include "routing/translate.h"
#include "routing/work.h"

/* The positions of a member by port. */
static void
fold_map_ports(const struct fold *fold, const struct group *group, uint32_t i,
	       uint8_t *map)
{
	const uint8_t *ports = &fold->ports[group->first_cable +
					    i * group->n_hops];
	uint32_t p;

	memset(map, (int)FOLD_NO_HOP, GRAPH_PORTS);
	for (p = 0; p < group->n_hops; p++)
		map[ports[p]] = (uint8_t)p;
}

/* What the second member of the groups that are destinations themselves says
 * about the first. */
static void
fold_read_second(const struct fold *fold, const struct lft *lft,
		 const struct fold_column *columns, uint32_t n,
		 uint8_t *positions, uint32_t stride)
{
	uint32_t k, i, mapped = UINT32_MAX;
	const struct group *group;
	uint8_t map[GRAPH_PORTS];
	const uint8_t *row;

	for (k = 0; k < n; k++) {
		i = fold->group_of[fold->switches[columns[k].slot]];
		group = &fold->groups[i];
		if (columns[k].slot != group->first_slot ||
		    group->n_slots == 1 || columns[k].lid > lft->top)
			continue;
		if (mapped != i)
			fold_map_ports(fold, group, 1, map);
		mapped = i;
		row = lft_row(lft, fold->switches[group->first_slot + 1]);
		positions[(size_t)i * stride + k] = map[row[columns[k].lid]];
	}
}

void
fold_read(const struct fold *fold, const struct lft *lft,
	  const struct fold_column *columns, uint32_t n, uint8_t *positions,
	  uint32_t stride)
{
	const struct group *group;
	uint8_t map[GRAPH_PORTS];
	const uint8_t *row;
	uint32_t i, k, lid;

	for (i = 0; i < fold->n_groups; i++) {
		group = &fold->groups[i];
		fold_map_ports(fold, group, 0, map);
		row = lft_row(lft, fold->switches[group->first_slot]);
		for (k = 0; k < n; k++) {
			lid = columns[k].lid;
			positions[(size_t)i * stride + k] = (uint8_t)
				(lid <= lft->top ? map[row[lid]] :
				 FOLD_NO_HOP);
		}
	}
	fold_read_second(fold, lft, columns, n, positions, stride);
}

void
fold_store(const struct fold *fold, const uint8_t *positions, uint32_t stride,
	   const struct fold_column *columns, uint32_t n, struct lft *lft)
{
	const struct group *group = fold->groups;
	g_autofree uint16_t *lids = g_new(uint16_t, n);
	uint8_t *row;
	uint32_t k;

	for (k = 0; k < n; k++)
		lids[k] = columns[k].lid;
	for (; group < fold->groups + fold->n_groups; group++) {
		row = lft_row(lft, fold->switches[group->first_slot]);
		for (k = 0; k < n; k++)
			row[lids[k]] = positions[k];
		positions += stride;
	}
}

void
fold_recall(const struct fold *fold, const struct lft *lft,
	    const struct fold_column *columns, uint32_t n, uint8_t *positions,
	    uint32_t stride)
{
	const struct group *group = fold->groups;
	const uint8_t *row;
	uint32_t k;

	for (; group < fold->groups + fold->n_groups; group++) {
		row = lft_row(lft, fold->switches[group->first_slot]);
		for (k = 0; k < n; k++)
			positions[k] = row[columns[k].lid];
		positions += stride;
	}
}

struct finish {
	const struct fold *fold;
	struct lft *lft;
};

/* Twins are often cabled alike, port by port: then their rows are the same. */
static void
fold_finish_group(const struct finish *in, const struct group *group,
		  uint8_t *positions)
{
	const struct fold *fold = in->fold;
	const uint32_t *switches = &fold->switches[group->first_slot];
	const uint8_t *first = &fold->ports[group->first_cable], *ports;
	uint8_t *row = lft_row(in->lft, switches[0]), map[GRAPH_PORTS];
	uint32_t n = group->n_hops, i;

	memset(map, (int)LFT_NO_PATH, sizeof(map));
	memcpy(map, first, n);
	memcpy(positions, row, in->lft->stride);
	translate_bytes(row, positions, in->lft->stride, map, n);
	for (i = 1; i < group->n_slots; i++) {
		ports = first + i * n;
		memcpy(map, ports, n);
		if (memcmp(ports, first, n) == 0)
			memcpy(lft_row(in->lft, switches[i]), row,
			       in->lft->stride);
		else
			translate_bytes(lft_row(in->lft, switches[i]),
					positions, in->lft->stride, map, n);
	}
}

static void
fold_finish_groups(void *data, uint32_t from, uint32_t to)
{
	const struct finish *in = data;
	g_autofree uint8_t *positions = g_malloc(in->lft->stride);

	for (; from < to; from++)
		fold_finish_group(in, &in->fold->groups[from], positions);
}

void
fold_finish(const struct fold *fold, struct lft *lft, unsigned n_threads)
{
	struct finish in = { fold, lft };

	work_share(n_threads, fold->n_groups, fold_finish_groups, &in);
}

/*
 * Paths between end ports (PathRecord, IBA 15.2.5.16). Private to sm/sa.
 */
#ifndef MINISM_SA_PATH_H
#define MINISM_SA_PATH_H

#include "sm/sa/view.h"
#include "sm/wire/sa_record.h"

/* What is asked of a path, whatever its ends: a PathRecord's mask and values;
 * a MultiPathRecord is turned into this. */
struct path_wish {
	uint64_t comp_mask;	/* PATH_ bits */
	struct path_record want;
};

/* One path from `from` with SLID to the owner of DLID. False: there is none
 * that is as wished. */
bool path_find(const struct sa_view *v, const struct path_wish *wish,
	       uint32_t from, uint16_t slid, uint32_t to, uint16_t dlid,
	       struct path_record *out);

/* The least LID offset pairs of two ports: how many paths they can have. */
unsigned path_count(const struct sa_view *v, uint32_t from, uint32_t to);

/* Applies the selectors to what a way has; changes values to what is offered
 * (a path of 4,096 bytes serves who wants exactly 2,048). */
bool path_select(const struct path_wish *wish, uint8_t *mtu, uint8_t *rate,
		 uint8_t *life);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MTU, rate and life time by the selectors of a request.
 *
 * Rates are compared by their rank, that is by speed: their codes are in no
 * order. The codes of MTU and life time are in order.
 */
#include "sm/sa/sa_limits.h"

#include <glib.h>

#define LIFE_MAX	0x3fu	/* 6 bits */

/* order: less than, equal to, or greater than 0 as the value that cannot be
 * changed is less than, equal to, or greater than that of the request. */
static bool
limit_holds(const struct sa_limit *l, int order)
{
	if (!l->given)
		return true;
	switch ((enum sa_selector)l->selector) {
	case SA_GREATER:
		return order > 0;
	case SA_LESS:
		return order < 0;
	case SA_EXACTLY:
		return order == 0;
	case SA_LARGEST:
		return true;
	}
	return false;
}

bool
sa_limits_hold(const struct sa_limits *l, unsigned mtu, unsigned rate,
	       unsigned life)
{
	return limit_holds(&l->mtu, (int)mtu - l->mtu.value) &&
		limit_holds(&l->rate, sa_rate_compare(rate, l->rate.value)) &&
		limit_holds(&l->life, (int)life - l->life.value);
}

/* The highest rank up to `most` that the selector permits relative to `value`;
 * 0: none. */
static unsigned
highest_rank(const struct sa_limit *l, unsigned most, unsigned value)
{
	switch ((enum sa_selector)l->selector) {
	case SA_GREATER:
		return most > value ? most : 0;
	case SA_LESS:
		return MIN(most, MAX(value, 1u) - 1);
	case SA_EXACTLY:
		return most >= value ? value : 0;
	case SA_LARGEST:
		return most;
	}
	return 0;
}

bool
sa_limit_mtu(const struct sa_limit *l, uint8_t *mtu)
{
	if (l->given)
		*mtu = (uint8_t)highest_rank(l, *mtu, l->value);
	return *mtu > 0;
}

bool
sa_limit_rate(const struct sa_limit *l, uint8_t *rate)
{
	if (l->given)
		*rate = (uint8_t)sa_rate_by_rank(highest_rank(l,
			sa_rate_rank(*rate), sa_rate_rank(l->value)));
	return *rate > 0;
}

bool
sa_limit_life(const struct sa_limit *l, uint8_t least, uint8_t *life)
{
	if (!l->given)
		return true;
	switch ((enum sa_selector)l->selector) {
	case SA_GREATER:
		*life = (uint8_t)MAX(*life, l->value + 1u);
		return *life <= LIFE_MAX;
	case SA_LESS:
		*life = (uint8_t)MIN(*life, l->value - 1u);
		return l->value > 0 && *life >= least;
	case SA_EXACTLY:
		*life = l->value;
		return *life >= least;
	case SA_LARGEST:	/* of life times: the smallest */
		return true;
	}
	return false;
}

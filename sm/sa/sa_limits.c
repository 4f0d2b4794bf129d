// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MTU, rate and life time by the selectors of a request.
 *
 * Rates are compared by their rank, that is by speed: their codes are in no
 * order. The codes of MTU and life time are in order.
 */
#include "sm/sa/sa_limits.h"

#include <glib.h>

#define VALUE_MAX	0x3f	/* 6 bits, of all three */

/* The values that a limit permits: codes, and of rates ranks. */
struct span {
	int low, high;
};

/* value: that of the limit. */
static struct span
permitted(const struct sa_limit *l, unsigned value)
{
	struct span s = { 0, VALUE_MAX };

	if (!l->given)
		return s;
	switch ((enum sa_selector)l->selector) {
	case SA_GREATER:
		s.low = (int)value + 1;
		break;
	case SA_LESS:
		s.high = (int)value - 1;
		break;
	case SA_EXACTLY:
		s.low = s.high = (int)value;
		break;
	case SA_LARGEST:	/* of life times: the smallest */
		break;
	}
	return s;
}

static bool
permits(const struct sa_limit *l, unsigned value, unsigned have)
{
	struct span s = permitted(l, value);

	return s.low <= (int)have && (int)have <= s.high;
}

bool
sa_limits_hold(const struct sa_limits *l, unsigned mtu, unsigned rate,
	       unsigned life)
{
	return permits(&l->mtu, l->mtu.value, mtu) &&
		permits(&l->rate, sa_rate_rank(l->rate.value),
			sa_rate_rank(rate)) &&
		permits(&l->life, l->life.value, life);
}

/* The highest one up to `most`; 0: none. */
static unsigned
highest(const struct sa_limit *l, unsigned value, unsigned most)
{
	struct span s = permitted(l, value);
	int n = MIN((int)most, s.high);

	return n >= s.low ? (unsigned)n : 0;
}

bool
sa_limit_mtu(const struct sa_limit *l, uint8_t *mtu)
{
	if (l->given)
		*mtu = (uint8_t)highest(l, l->value, *mtu);
	return *mtu > 0;
}

bool
sa_limit_rate(const struct sa_limit *l, uint8_t *rate)
{
	if (l->given)
		*rate = (uint8_t)sa_rate_by_rank(highest(l,
			sa_rate_rank(l->value), sa_rate_rank(*rate)));
	return *rate > 0;
}

bool
sa_limit_life(const struct sa_limit *l, uint8_t least, uint8_t *life)
{
	struct span s;

	if (!l->given)		/* most requests: a path every 200 ns */
		return true;
	s = permitted(l, l->value);
	*life = (uint8_t)CLAMP((int)*life, s.low, s.high);
	return s.low <= s.high && *life >= least;
}

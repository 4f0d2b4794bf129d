// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MTU, rate and life time by the selectors of a request.
 *
 * Rates are compared by their rank, that is by speed: their codes are in no
 * order. The codes of MTU and life time are in order. An unknown code of a rate
 * may be that of a speed which no port has: only "the largest" is fulfilled then.
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

/* The highest one up to `most`; 0: none. */
static unsigned
highest(struct span s, unsigned most)
{
	int n = MIN((int)most, s.high);

	return n >= s.low ? (unsigned)n : 0;
}

/* Most requests have no limit: a path every 200 ns. */
bool
sa_limits_fit(const struct sa_limits *l, uint8_t *mtu, uint8_t *rate,
	      uint8_t least_life, uint8_t *life)
{
	unsigned rank;
	struct span s;

	if (l->mtu.given)
		*mtu = (uint8_t)highest(permitted(&l->mtu, l->mtu.value), *mtu);
	if (l->rate.given) {
		rank = sa_rate_rank(l->rate.value);
		s = permitted(&l->rate, rank);
		if (!rank && l->rate.selector != SA_LARGEST)
			s = (struct span){ 1, 0 };
		*rate = (uint8_t)sa_rate_by_rank(highest(s,
						sa_rate_rank(*rate)));
	}
	if (!*mtu || !*rate || !l->life.given)
		return *mtu && *rate;
	s = permitted(&l->life, l->life.value);
	*life = (uint8_t)CLAMP((int)*life, s.low, s.high);
	return s.low <= s.high && *life >= least_life;
}

bool
sa_limits_hold(const struct sa_limits *l, unsigned mtu, unsigned rate,
	       unsigned life)
{
	uint8_t m = (uint8_t)mtu, r = (uint8_t)rate, t = (uint8_t)life;

	return sa_limits_fit(l, &m, &r, 0, &t) && m == mtu && r == rate &&
		t == life;
}

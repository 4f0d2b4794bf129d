// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MTU, rate and life time by the selectors of a request.
 */
#include "sm/sa/sa_limits.h"

#include <glib.h>

bool
sa_limits_hold(const struct sa_limits *l, unsigned mtu, unsigned rate,
	       unsigned life)
{
	return (!l->mtu.given ||
		sa_selector_fits(l->mtu.selector,
				 (int)mtu - (int)l->mtu.value)) &&
		(!l->rate.given ||
		 sa_selector_fits(l->rate.selector,
				  sa_rate_compare(rate, l->rate.value))) &&
		(!l->life.given ||
		 sa_selector_fits(l->life.selector,
				  (int)life - (int)l->life.value));
}

bool
sa_limit_mtu(const struct sa_limit *l, uint8_t *mtu)
{
	if (!l->given)
		return true;
	switch ((enum sa_selector)l->selector) {
	case SA_GREATER:
		return *mtu > l->value;
	case SA_LESS:
		*mtu = MIN(*mtu, (uint8_t)(MAX(l->value, 1) - 1));
		return *mtu > 0;
	case SA_EXACTLY:
		if (*mtu < l->value)
			return false;
		*mtu = l->value;
		return *mtu > 0;
	case SA_LARGEST:
		return true;
	}
	return false;
}

bool
sa_limit_rate(const struct sa_limit *l, uint8_t *rate)
{
	if (!l->given)
		return true;
	switch ((enum sa_selector)l->selector) {
	case SA_GREATER:
		return sa_rate_compare(*rate, l->value) > 0;
	case SA_LESS:
		*rate = (uint8_t)sa_rate_by_rank(MIN(sa_rate_rank(*rate),
			MAX(sa_rate_rank(l->value), 1u) - 1));
		return *rate != 0;
	case SA_EXACTLY:
		if (!sa_rate_mbps(l->value) ||
		    sa_rate_compare(*rate, l->value) < 0)
			return false;
		*rate = l->value;
		return true;
	case SA_LARGEST:
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The limits of a request for MTU, rate and life time of a path or of a multicast
 * group: a value with a selector. Either without the other is ignored (IBA
 * 15.2.5.16.1).
 */
#ifndef MINISM_SA_SA_LIMITS_H
#define MINISM_SA_SA_LIMITS_H

#include "sm/mad/sa_record.h"

struct sa_limit {
	bool given;		/* value and selector */
	uint8_t selector;	/* enum sa_selector */
	uint8_t value;		/* code */
};

struct sa_limits {
	struct sa_limit mtu, rate, life;
};

/* From a record `r`, whose component bits are P_MTU_SELECTOR, ... */
#define SA_LIMIT(mask, r, P, NAME, name) { \
	.given = (mask) >> P##_##NAME##_SELECTOR & (mask) >> P##_##NAME & 1, \
	.selector = (r)->name##_selector, .value = (r)->name }
#define SA_LIMITS(mask, r, P) { \
	.mtu = SA_LIMIT(mask, r, P, MTU, mtu), \
	.rate = SA_LIMIT(mask, r, P, RATE, rate), \
	.life = SA_LIMIT(mask, r, P, LIFE, life) }

/* Do these codes, which cannot be changed, satisfy the limits? */
bool sa_limits_hold(const struct sa_limits *l, unsigned mtu, unsigned rate,
		    unsigned life);

/* Lowers *mtu, *rate to the highest code that satisfies its limit, and changes
 * *life as little as its limit requires. False: there is no such code, or *life
 * would be below `least_life`. */
bool sa_limits_fit(const struct sa_limits *l, uint8_t *mtu, uint8_t *rate,
		   uint8_t least_life, uint8_t *life);

#endif

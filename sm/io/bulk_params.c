// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The limits of transfers, if nobody says others: those of the Linux kernel
 * where it has the same, so that a client meets what it knows.
 */
#include "sm/io/bulk.h"

#include <glib.h>

#define MIB		(UINT64_C(1) << 20)

const struct bulk_params bulk_params_default = {
	.rmpp = {
		.header_len = RMPP_SA_HEADER_LEN,
		.window = RMPP_WINDOW_MAX,
		.retries = 5,
		.resp_time = RMPP_NO_RESP_TIME,
		.timeout_us = 200000,
		.timeout_max_us = 2 * G_USEC_PER_SEC,
		.idle_us = 40 * (int64_t)G_USEC_PER_SEC,
		.linger_us = 10 * (int64_t)G_USEC_PER_SEC,
		.limit = 64 * MIB,
	},
	.max_transfers = 1024,
	.max_bytes = 128 * MIB,
	.max_collect = 64 * MIB,
};

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a sweep cost, as lines of the log.
 */
#ifndef MINISM_SWEEP_SENT_H
#define MINISM_SWEEP_SENT_H

#include "sm/io/mad_client.h"
#include "sm/log.h"

/* "sent 12 MADs: NodeInfo.Get 3, PortInfo.Set 9": the difference. */
void sent_log(struct log *log, enum log_level level,
	      const struct mad_client_stats *before,
	      const struct mad_client_stats *after);

#endif

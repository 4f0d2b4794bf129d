/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the configuration says of ports and VLs, in the words of the plan.
 */
#ifndef MINISM_SM_SITE_SETTINGS_H
#define MINISM_SM_SITE_SETTINGS_H

#include "sm/config/options.h"
#include "sm/plan/desired.h"
#include "topology/qos.h"

struct policy site_settings_policy(const struct options *c);
struct qos site_settings_qos(const struct options *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the configuration says of ports and VLs, in the words of the plan.
 */
#ifndef MINISM_SM_SETTINGS_H
#define MINISM_SM_SETTINGS_H

#include "sm/conf/conf.h"
#include "sm/plan/wanted.h"
#include "topology/qos.h"

struct policy settings_policy(const struct conf *c);
struct qos settings_qos(const struct conf *c);

#endif

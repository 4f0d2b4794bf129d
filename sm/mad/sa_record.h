/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * SA records: bytes <-> host structs (IBA 15.2.5). Lengths are those of
 * sa_record_size(); what is reserved becomes 0. GIDs stay as on the wire.
 */
#ifndef MINISM_MAD_SA_RECORD_H
#define MINISM_MAD_SA_RECORD_H

#include "sm/mad/sa_client_record.h"
#include "sm/mad/sa_fabric_record.h"
#include "sm/mad/sa_path_record.h"

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Everything that a fabric is, as text; two that read alike are alike.
 */
#ifndef MINISM_TESTS_LIB_FABRIC_TEXT_H
#define MINISM_TESTS_LIB_FABRIC_TEXT_H

#include "topology/snapshot.h"

/* A new string. */
char *fabric_text(const struct snapshot *s);
void assert_same_fabric(const struct snapshot *a, const struct snapshot *b);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a sweep decided, as sentences, with the reason and the clause of IBA.
 * Pure: values in, lines out.
 */
#ifndef MINISM_SM_DECISIONS_H
#define MINISM_SM_DECISIONS_H

#include "sm/sweep/sweep.h"

/* what: "LID", "route", "verify" ..; where: a node or port by name, or "". Valid
 * during the call; why and clause are static, or NULL. */
typedef void (*decision_fn)(const char *what, const char *where,
			    const char *text, const char *why,
			    const char *clause, void *data);

/* What this note of `s` is about; of SWEEP_NOTE_STATE there is nothing to say. */
void decisions_of_note(enum sweep_note note, const struct sweep *s,
		       decision_fn fn, void *data);
void decisions_of_end(const struct sweep_report *r, decision_fn fn,
		      void *data);

#endif

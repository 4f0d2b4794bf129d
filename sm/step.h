/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * --step: a simulated run that waits for a person behind each MAD and decision.
 */
#ifndef MINISM_SM_STEP_H
#define MINISM_SM_STEP_H

#include "sm/lab/console.h"
#include "sm/tools/explain.h"

struct step;

/* console is copied; its fabric and sim are borrowed. */
struct step *step_new(const struct console *console);
void step_free(struct step *s);		/* NULL is ignored */

/* Reads commands from standard input until one goes on; at once if the line is
 * none to stop at. False: the person ends the run. */
bool step_wait(struct step *s, const struct explain_line *line);

#endif

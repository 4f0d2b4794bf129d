/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Stepping through a simulated run: where it stops, and the commands at a stop.
 */
#ifndef MINISM_LAB_STEP_H
#define MINISM_LAB_STEP_H

#include "lab/console.h"
#include "tools/explain.h"

struct step;

/* console is copied; its fabric and sim are borrowed. */
struct step *step_new(const struct console *console);
void step_free(struct step *s);		/* NULL is ignored */

/* Does the run stop behind this line? */
bool step_stops(struct step *s, const struct explain_line *line);

enum step_next {
	STEP_ON,	/* to the next line, or where it stops */
	STEP_END,	/* to the end: nothing stops it any more */
	STEP_STAY,
	STEP_QUIT,
};
/* One line of input, NULL: end of input; appends the output. */
enum step_next step_command(struct step *s, const char *line, GString *out);

#endif

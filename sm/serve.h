/*
 * Answers what others ask of the subnet manager: SMInfo, traps, and (until
 * there is a subnet administration) a polite refusal of SA queries.
 */
#ifndef MINISM_SM_SERVE_H
#define MINISM_SM_SERVE_H

#include "sm/io/xact.h"
#include "sm/log.h"
#include "sm/wire/smp.h"

struct serve;

/* What the server needs from the others, and tells them. */
struct serve_hooks {
	void (*sm_info)(struct sm_info *out, void *data);
	void (*trap)(const struct notice *n, void *data);
	void (*control)(enum sm_control control, const struct sm_info *from,
			void *data);
	void *data;
};

/* Takes over x's server and drop functions. */
struct serve *serve_new(struct xact *x, const struct serve_hooks *hooks,
			struct log *log);
void serve_free(struct serve *s);

#endif

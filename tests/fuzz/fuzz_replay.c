// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Records of MADs, played to a discovery. So that more than the check of the
 * sum is reached, it is put right first: the last eight bytes.
 */
#include "sm/sweep/discover.h"
#include "sm/io/replay.h"
#include "sm/mad/mad.h"
#include "tests/fuzz/fuzz.h"

static void
set_sum(uint8_t *record, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size - 8; i++)
		sum = (sum ^ record[i]) * 0x100000001b3u;
	sum = GUINT64_TO_BE(sum);
	memcpy(record + size - 8, &sum, sizeof(sum));
}

static void
on_found(struct snapshot *s, void *data)
{
	*(bool *)data = true;
	snapshot_unref(s);
}

static void
play(struct transport *t)
{
	const struct mad_client_params wire = {
		.timeout_ms = 10, .retries = 1, .max_wire = 8,
	};
	struct mad_client *x = mad_client_new(t, &wire);
	bool found = false;
	struct discover *d = discover_start(x, 0, NULL, on_found, &found);

	while (replay_step(t))
		;
	if (!found)
		discover_cancel(d);
	mad_client_free(x);
}

FUZZ_TARGET(replay)
{
	size_t len = MIN(size, FUZZ_MAX);
	g_autofree uint8_t *record = g_memdup2(data, len);
	g_autoptr(GError) error = NULL;
	struct transport *t;

	if (len >= 8)
		set_sum(record, len);
	t = replay_new(record, len, &error);
	if (!t) {
		g_assert_nonnull(error);
		return 0;
	}
	play(t);
	if (!replay_finish(t, &error))
		g_assert_error(error, REPLAY_ERROR, REPLAY_ERROR_DIFFERENCE);
	transport_free(t);
	return 0;
}

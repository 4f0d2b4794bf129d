// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a master's SA tells a standby. The first byte picks: records, each
 * behind a byte for its table, of which a state comes that can be saved and
 * read; or text, whose parts are those between its headings.
 */
#include "sm/mad/sa_mad.h"
#include "sm/sa/sa.h"
#include "tests/fuzz/fuzz.h"

static void
try_records(struct fuzz_input *in)
{
	static const unsigned attrs[] = {
		SA_ATTR_MC_MEMBER, SA_ATTR_SERVICE, SA_ATTR_INFORM_INFO_RECORD,
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GString) twice = g_string_new(NULL);
	struct sa *draft = sa_new(&(struct sa_params){ 0 });
	struct sa *sa = sa_new(&(struct sa_params){ 0 });
	uint8_t record[MAD_SIZE];

	while (in->left) {
		unsigned attr = attrs[fuzz_byte(in) % G_N_ELEMENTS(attrs)];

		fuzz_bytes(in, record, sa_record_size(attr));
		sa_learn(draft, attr, record, 0);
	}
	sa_save(draft, once, 0);
	sa_load(sa, once->str, 0, &error);
	g_assert_no_error(error);
	sa_save(sa, twice, 0);
	g_assert_cmpstr(once->str, ==, twice->str);
	sa_free(draft);
	sa_free(sa);
}

/* With its seal, which a liar can put on, too; and without. */
static void
try_text(struct fuzz_input *in)
{
	g_autofree char *text = fuzz_text(in);
	g_autofree char *sum = NULL, *whole = NULL, *again = NULL;
	/* without a seal: must not crash */
	g_autofree char *unsealed G_GNUC_UNUSED =
		sa_state_part(text, strlen(text), "sa-state");

	if (!g_str_has_suffix(text, "\n"))
		return;
	sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
	whole = g_strdup_printf("%s= end %s\n\n", text, sum);
	again = sa_state_part(whole, strlen(whole), "sa-state");
	g_assert_true(!again || strstr(text, again));
	g_assert_true(again || !g_str_has_prefix(text, "= sa-state\n"));
}

FUZZ_TARGET(standby)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };

	if (fuzz_byte(&in) % 2)
		try_records(&in);
	else
		try_text(&in);
	return 0;
}

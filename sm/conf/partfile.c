#include "sm/conf/partfile.h"

struct partition_rules *
partfile_parse(const char *text, const char *name, GPtrArray *warnings,
	       GError **error)
{
	g_set_error(error, g_quark_from_static_string("partfile"), 0,
		    "%s:1:1: not there yet", name);
	return NULL;
}

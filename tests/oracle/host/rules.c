// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of the core by name: profiles, switches and their values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* Number of the newest profile that is not newer than a release; PELTON_PROFILE_COUNT where all are. */
static u32 nearest_profile(u32 version)
{
	u32 n, nearest = PELTON_PROFILE_COUNT;
	int major, minor;

	for (n = 0; n < PELTON_PROFILE_COUNT; n++) {
		if (sscanf(pelton_profile_names[n], "%d.%d", &major, &minor) != 2)
			continue;
		if ((u32)(major * 100 + minor) <= version)
			nearest = n;
	}
	return nearest;
}

/* Debian's revision of the kernel is the build's business; the release says which rules to expect. */
const char *find_profile(void)
{
	const char *release = k_release();
	int major, minor;
	u32 n;

	if (sscanf(release, "%d.%d", &major, &minor) != 2)
		exit(70);
	oracle_version = (u32)(major * 100 + minor);
	n = nearest_profile(oracle_version);
	if (!pelton_policy_for_profile(n, &oracle_policy))
		return pelton_profile_names[n];
	fprintf(stderr, "oracle: no profile for %s\n", release);
	exit(2);
}

/* Is `value` what some release has? */
u32 is_a_default(u32 index, u32 value)
{
	u32 n;

	for (n = 0; n < PELTON_PROFILE_COUNT; n++)
		if (pelton_switch_table[index].defaults[n] == value)
			return 1;
	return 0;
}

u32 find_switch(const char *name)
{
	u32 index;

	for (index = 0; index < PELTON_SWITCH_COUNT; index++)
		if (!strcmp(pelton_switch_table[index].name, name))
			return index;
	fprintf(stderr, "oracle: no switch %s\n", name);
	exit(70);
}

/* Name of a value: a part of "a|b|c". */
const char *value_name(u32 index, u32 value, char *out, size_t size)
{
	const char *at = pelton_switch_table[index].values;

	for (; value && *at; at++)
		value -= *at == '|';
	snprintf(out, size, "%.*s", (int)strcspn(at, "|"), at);
	return out;
}

/* The number of a value's name; `value_count` where there is none. */
static u32 find_value(u32 index, const char *name)
{
	u32 value, count = pelton_switch_value_count(index);
	char one[64];

	for (value = 0; value < count; value++)
		if (!strcmp(value_name(index, value, one, sizeof(one)), name))
			return value;
	return count;
}

/* Sets "switch=value"; "-" is the release's own rule. Returns 0 where there is no such thing. */
u32 set_rule(char *rule)
{
	char *value = strchr(rule, '=');
	u32 index, wrong;

	if (!value)
		return !strcmp(rule, "-");
	*value = 0;
	index = find_switch(rule);
	wrong = (u32)pelton_policy_set(&oracle_policy, index, find_value(index, value + 1));
	*value = '=';
	return !wrong;
}

/* Sets a profile, or a part of it: "6.12" or "6.12,switch=value...". Returns 0 where there is no such thing. */
u32 set_rules(char *rules)
{
	char *end, *one = strtok_r(rules, ",", &end);
	u32 n;

	for (n = 0; n < PELTON_PROFILE_COUNT && one && strcmp(pelton_profile_names[n], one); n++)
		;
	if (!one || pelton_policy_for_profile(n, &oracle_policy))
		return 0;
	while ((one = strtok_r(0, ",", &end)))
		if (!strchr(one, '=') || !set_rule(one))
			return 0;
	return 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      which folder keeps what is worth knowing between runs.
// Called by: cli_model.
// Threads:   one.
// Errors:    none: without a folder nothing is kept.
// Not here:  what is kept there (the library).
#ifndef CLI_CLI_CACHE_H
#define CLI_CLI_CACHE_H

// The user's: $XDG_CACHE_HOME/locum, or ~/.cache/locum where that is unset or no absolute path. NULL: there
// is none. Lives as long as the program; it need not exist.
const char *cli_cache_folder(void);

#endif

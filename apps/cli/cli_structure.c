// SPDX-License-Identifier: Apache-2.0
#include "cli_structure.h"

#include <string.h>

#include "cli_model.h"
#include "cli_output.h"

// A grammar has ::= in it, and a schema begins with a brace; file names do not.
static bool is_text(locum_structure kind, const char *value) {
    return kind == LOCUM_STRUCTURE_GRAMMAR ? strstr(value, "::=") != NULL
                                           : value[strspn(value, " \t\r\n")] == '{';
}

int cli_structure_read(const struct cli_arguments *arguments, struct cli_structure *out) {
    static const struct {
        enum cli_flag_id flag;
        locum_structure kind;
    } flags[] = {{CLI_GRAMMAR, LOCUM_STRUCTURE_GRAMMAR},
                 {CLI_JSON_SCHEMA, LOCUM_STRUCTURE_SCHEMA},
                 {CLI_JSON_OBJECT, LOCUM_STRUCTURE_OBJECT}};
    int status = CLI_EXIT_OK;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const struct cli_value *value = &arguments->flags[flags[i].flag];
        if (!value->given) continue;
        out->kind = flags[i].kind;
        if (flags[i].kind == LOCUM_STRUCTURE_OBJECT) continue;
        if (is_text(out->kind, value->text)) cli_input_use(value->text, &out->text);
        else status = cli_input_read(value->text, &out->text);
    }
    out->after = arguments->flags[CLI_STRUCTURE_AFTER].text;
    if (out->after && out->kind == LOCUM_STRUCTURE_NONE)
        return cli_output_usage("run", "--structure-after needs --grammar, --json-schema or "
                                       "--json-object");
    if (status != CLI_EXIT_OK || out->kind == LOCUM_STRUCTURE_NONE) return status;
    locum_error error;
    locum_status checked =
        locum_structure_check(out->kind, out->text.text, out->text.size, &error);
    if (checked == LOCUM_OK) return CLI_EXIT_OK;
    cli_output_error("%s", error.text);
    return CLI_EXIT_USAGE;
}

void cli_structure_use(const struct cli_structure *structure, locum_request *request) {
    request->structure = structure->kind;
    request->structure_text = structure->text.text;
    request->structure_size = structure->text.size;
    request->structure_after = structure->after;
}

void cli_structure_release(struct cli_structure *structure) {
    cli_input_release(&structure->text);
}

// SPDX-License-Identifier: Apache-2.0
#include "token/token_output.h"

static void stand_in(struct token_output *output, uint8_t byte) {
    output->ids->replaced++;
    if (output->unknown != TOKEN_NONE) {
        token_list_push(output->ids, output->unknown);
        return;
    }
    for (uint32_t i = 0; i < output->replacement_count; i++) {
        token_list_push(output->ids, output->replacement[i]);
    }
    if (output->replacement_count == 0 && output->lost < 0) {
        output->lost = byte;
    }
}

void token_output_bytes(struct token_output *output, struct slice bytes) {
    bool stands = false; // one for each row of bytes without a token
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        locum_token id = output->vocabulary->byte_ids[byte];
        if (id != TOKEN_NONE) {
            token_list_push(output->ids, id);
        } else if (!stands) {
            stand_in(output, byte);
        }
        stands = id == TOKEN_NONE;
    }
}

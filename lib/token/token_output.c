// SPDX-License-Identifier: Apache-2.0
#include "token/token_output.h"

void token_output_bytes(struct token_output *output, struct slice bytes) {
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        locum_token id = output->vocabulary->byte_ids[byte];
        if (id == TOKEN_NONE) {
            id = output->unknown;
        }
        if (id != TOKEN_NONE) {
            token_list_push(output->ids, id);
        } else if (output->lost < 0) {
            output->lost = byte;
        }
    }
}

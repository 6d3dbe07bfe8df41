// SPDX-License-Identifier: Apache-2.0
#include "platform/vmem.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/checked.h"
#include "platform/system_error.h"

size_t vmem_page_size(void) {
    long bytes = sysconf(_SC_PAGESIZE);
    LOCUM_ASSERT(bytes > 0);
    return (size_t)bytes;
}

bool vmem_round(size_t bytes, size_t *rounded) {
    uint64_t whole;
    if (!checked_align(bytes, vmem_page_size(), &whole) || whole > SIZE_MAX) return false;
    *rounded = (size_t)whole;
    return true;
}

static locum_status no_memory(locum_error *error, size_t bytes, int number) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "the system gave no %zu bytes of memory: %s",
                       bytes, system_error_of(number).text);
}

static void unmap(uint8_t *data, size_t bytes) {
    if (bytes == 0) return;
    int failed = munmap(data, bytes);
    LOCUM_ASSERT(!failed);
}

locum_status vmem_reserve(struct vmem *region, size_t bytes, locum_error *error) {
    LOCUM_ASSERT(region->data == NULL);
    size_t page = vmem_page_size();
    size_t align = bytes >= VMEM_HUGE_PAGE ? VMEM_HUGE_PAGE : page;
    size_t wanted;
    if (bytes == 0) bytes = 1;
    if (!vmem_round(bytes, &wanted) || wanted > SIZE_MAX - align)
        return no_memory(error, bytes, ENOMEM);
    size_t mapped = wanted + (align - page); // room to move the start up to its alignment
    void *memory =
        mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return no_memory(error, bytes, errno);
    uint8_t *start = memory;
    size_t front = -(uintptr_t)start & (align - 1);
    unmap(start, front);
    unmap(start + front + wanted, mapped - front - wanted);
    *region = (struct vmem){.data = start + front, .bytes = wanted};
    return LOCUM_OK;
}

locum_status vmem_commit(struct vmem *region, size_t bytes, locum_error *error) {
    size_t wanted;
    bool fits = vmem_round(bytes, &wanted) && wanted <= region->bytes;
    LOCUM_ASSERT(fits);
    if (wanted <= region->bytes_committed) return LOCUM_OK;
    size_t more = wanted - region->bytes_committed;
    if (mprotect(region->data + region->bytes_committed, more, PROT_READ | PROT_WRITE) != 0)
        return no_memory(error, more, errno);
    region->bytes_committed = wanted;
    return LOCUM_OK;
}

locum_status vmem_alloc(struct vmem *region, size_t bytes, locum_error *error) {
    STATUS_TRY(vmem_reserve(region, bytes, error));
    locum_status status = vmem_commit(region, region->bytes, error);
    if (status != LOCUM_OK) vmem_release(region);
    return status;
}

void vmem_release(struct vmem *region) {
    unmap(region->data, region->bytes);
    *region = (struct vmem){0};
}

bool vmem_advise_huge(struct vmem *region) {
#ifdef MADV_HUGEPAGE
    return madvise(region->data, region->bytes, MADV_HUGEPAGE) == 0;
#else
    (void)region;
    return false;
#endif
}

void vmem_refuse_huge(struct vmem *region) {
#ifdef MADV_NOHUGEPAGE
    madvise(region->data, region->bytes, MADV_NOHUGEPAGE); // a system without them makes none
#else
    (void)region;
#endif
}

void vmem_discard(struct vmem *region, size_t offset, size_t bytes) {
    LOCUM_ASSERT(offset <= region->bytes_committed && bytes <= region->bytes_committed - offset);
    size_t page = vmem_page_size();
    size_t first = (offset + page - 1) & ~(page - 1);
    size_t last = (offset + bytes) & ~(page - 1);
    if (first >= last) return;
    int failed = madvise(region->data + first, last - first, MADV_DONTNEED);
    LOCUM_ASSERT(!failed);
}

locum_status vmem_guarded_alloc(struct vmem_guarded *memory, size_t bytes, bool flush_end,
                                locum_error *error) {
    size_t page = vmem_page_size();
    size_t inner;
    if (!vmem_round(bytes, &inner) || inner > SIZE_MAX - 2 * page)
        return no_memory(error, bytes, ENOMEM);
    *memory = (struct vmem_guarded){0};
    STATUS_TRY(vmem_reserve(&memory->region, inner + 2 * page, error));
    uint8_t *start = memory->region.data + page;
    if (inner > 0 && mprotect(start, inner, PROT_READ | PROT_WRITE) != 0) {
        int number = errno;
        vmem_release(&memory->region);
        return no_memory(error, bytes, number);
    }
    memory->data = flush_end ? start + (inner - bytes) : start;
    return LOCUM_OK;
}

void vmem_guarded_release(struct vmem_guarded *memory) {
    vmem_release(&memory->region);
    memory->data = NULL;
}

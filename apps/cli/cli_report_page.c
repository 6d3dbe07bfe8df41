// SPDX-License-Identifier: Apache-2.0
#include "cli_report_page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli_output.h"

// Colours: of Okabe and Ito, which people who see few colours can tell apart. Charts are 640 units wide
// and shrink with the window; on a narrow one their text is larger, so that it stays readable.
static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1d2327;--soft:#5b6570;--line:#dde1e5;"
    "--shade:#eef0f2;--c1:#0072b2;--c2:#d55e00;--c3:#009e73;--c4:#8a5a9e}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#15191d;--ink:#e4e7ea;--soft:#a0a9b2;"
    "--line:#343b42;--shade:#23292f;--c1:#56b4e9;--c2:#f0a030;--c3:#2ec49a;--c4:#cc99dd}}\n"
    "body{margin:0 auto;padding:1rem;max-width:46rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}\n"
    "h2{font-size:1.15rem;line-height:1.3;margin:2.5rem 0 .25rem}\n"
    "p{margin:.25rem 0 .75rem}.help,.missing{color:var(--soft)}\n"
    ".missing{border-left:3px solid var(--line);padding-left:.75rem}\n"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0}\n"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;"
    "border-bottom:1px solid var(--line);font-weight:400}\n"
    "th{color:var(--soft)}th,.n{white-space:nowrap}td{overflow-wrap:anywhere}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums}.wide{overflow-x:auto}\n"
    "summary{cursor:pointer;color:var(--soft)}\n"
    "svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "svg text{font-size:13px;fill:var(--soft)}svg text.v{fill:var(--ink)}\n"
    "@media(max-width:34rem){svg text{font-size:20px}body{padding:.75rem}"
    ".wide table{font-size:.85rem}.wide td,.wide th{padding-right:.4rem}}\n"
    ".m{text-anchor:middle}.e{text-anchor:end}\n"
    ".grid{stroke:var(--line);stroke-width:1}.shade{fill:var(--shade)}\n"
    ".l{fill:none;stroke:var(--ink);stroke-width:2;stroke-linejoin:round}\n"
    ".dash{stroke-dasharray:6 4}\n"
    ".c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}\n"
    ".l.c1,.l.c2,.l.c3,.l.c4{fill:none}\n"
    ".l.c1{stroke:var(--c1)}.l.c2{stroke:var(--c2)}.l.c3{stroke:var(--c3)}.l.c4{stroke:var(--c4)}\n"
    ".light{fill-opacity:.45}.cells{shape-rendering:crispEdges}\n"
    ".key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.25rem 0;padding:0;"
    "list-style:none;font-size:.9rem}\n"
    ".key svg{display:inline-block;width:1.1rem;height:.8rem;margin-right:.4rem}\n"
    ".foot{margin-top:3rem;color:var(--soft);font-size:.9rem}\n";

// ---- writing -----------------------------------------------------------------------------------
static void flush(struct cli_report_page *page) {
    if (page->status == LOCUM_OK)
        page->status = file_write_bytes(page->file, page->bytes, page->used, &page->error);
    page->used = 0;
}

static void write_bytes(struct cli_report_page *page, const char *bytes, size_t size) {
    while (size > 0) {
        size_t part = sizeof page->bytes - page->used;
        if (part > size) part = size;
        memcpy(page->bytes + page->used, bytes, part);
        page->used += part;
        if (page->used == sizeof page->bytes) flush(page);
        bytes += part;
        size -= part;
    }
}

static void write_text(struct cli_report_page *page, const char *text) {
    write_bytes(page, text, strlen(text));
}

void cli_report_page_print(struct cli_report_page *page, const char *format, ...) {
    char text[1024]; // markup is written in short pieces
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    write_text(page, text);
}

void cli_report_page_text(struct cli_report_page *page, const char *text) {
    static const char special[] = "&<>\"'";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t size = strlen(text); size > 0;) {
        const char *found = strchr(special, text[0]);
        size_t length = cli_output_character(text, size);
        // U+FFFE and U+FFFF are no characters of XML.
        bool barred = length == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (text[2] & 0xfe) == 0xbe;
        if (found) {
            write_text(page, names[found - special]);
        } else if (length == 0 || barred) {
            write_text(page, "\xef\xbf\xbd");
        } else {
            write_bytes(page, text, length);
        }
        text += length ? length : 1;
        size -= length ? length : 1;
    }
}

// ---- the file ----------------------------------------------------------------------------------
static int told(const struct cli_report_page *page) {
    cli_output_error("%s", page->error.text);
    return page->status == LOCUM_E_OUT_OF_MEMORY ? CLI_EXIT_MEMORY : CLI_EXIT_FILE;
}

int cli_report_page_open(struct cli_report_page *page, const char *path) {
    page->file = NULL;
    page->used = 0;
    page->status = file_write_open(path, &page->file, &page->error);
    return page->status == LOCUM_OK ? CLI_EXIT_OK : told(page);
}

int cli_report_page_close(struct cli_report_page *page) {
    flush(page);
    if (page->status == LOCUM_OK) {
        page->status = file_write_commit(page->file, &page->error);
        page->file = NULL;
    }
    int status = page->status == LOCUM_OK ? CLI_EXIT_OK : told(page);
    cli_report_page_cancel(page);
    return status;
}

void cli_report_page_cancel(struct cli_report_page *page) {
    file_write_cancel(page->file);
    page->file = NULL;
}

// ---- the page ----------------------------------------------------------------------------------
void cli_report_page_begin(struct cli_report_page *page, const char *title) {
    write_text(page, "<!DOCTYPE html>\n"
                     "<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
                     "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                     "content=\"width=device-width,initial-scale=1\"/>\n<title>");
    cli_report_page_text(page, title);
    write_text(page, "</title>\n<style>\n");
    write_text(page, style);
    write_text(page, "</style>\n</head>\n<body>\n<h1>");
    cli_report_page_text(page, title);
    write_text(page, "</h1>\n");
}

void cli_report_page_end(struct cli_report_page *page) {
    write_text(page, "</body>\n</html>\n");
}

void cli_report_page_section(struct cli_report_page *page, const char *title, const char *help) {
    cli_report_page_print(page, "<section>\n<h2>%s</h2>\n<p class=\"help\">%s</p>\n", title, help);
}

void cli_report_page_section_end(struct cli_report_page *page) {
    write_text(page, "</section>\n");
}

void cli_report_page_missing(struct cli_report_page *page, enum cli_report_kind kind) {
    cli_report_page_print(page,
                          "<p class=\"missing\">Not in this report: run with "
                          "<code>%s FILE</code> and give that file as well.</p>\n",
                          cli_report_kind_flag(kind));
}

void cli_report_page_legend(struct cli_report_page *page, const char *const *entries) {
    write_text(page, "<ul class=\"key\">\n");
    for (; entries[0]; entries += 2) {
        bool line = entries[0][0] == 'l'; // class "l c1": drawn as a line
        cli_report_page_print(page,
                              "<li><svg viewBox=\"0 0 16 12\" aria-hidden=\"true\">"
                              "<path class=\"%s\" d=\"%s\"/></svg>%s</li>\n",
                              entries[0], line ? "M0 6H16" : "M0 0H16V12H0z", entries[1]);
    }
    write_text(page, "</ul>\n");
}

void cli_report_page_number(struct cli_report_page *page, const char *id, double value,
                            const char *shown) {
    cli_report_page_print(page, "<data id=\"%s\" value=\"%.10g\">%s</data>", id, value, shown);
}

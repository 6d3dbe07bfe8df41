# SPDX-License-Identifier: Apache-2.0
"""Turns the records of bench/speed.py into tables in Markdown.

Of several builds of Locum only the last one measured is shown, for each line of a table.
"""
import re
import statistics

BEGIN = "<!-- begin: made by bench/speed.py table -->"
END = "<!-- end -->"
GIB = 1 << 30


def spread(values, form="%.1f"):
    """median (least..most)"""
    text = form % statistics.median(values)
    if len(values) > 1:
        text += " (%s..%s)" % (form % min(values), form % max(values))
    return text


def cell_order(name):
    return name[0] != "p", int(name[1:])


def cell_text(name):
    return ("prompt %s" if name[0] == "p" else "answer behind %s") % name[1:]


def grouped(records, *keys):
    """{values of keys: records}, in the order of their first appearance."""
    groups = {}
    for record in records:
        groups.setdefault(tuple(record[key] for key in keys), []).append(record)
    return groups


def lines_of(records):
    """[((model, cell, threads), records)]: models as they were measured, most threads first."""
    models = list(dict.fromkeys(record["model"] for record in records))
    return sorted(grouped(records, "model", "cell", "threads").items(),
                  key=lambda item: (models.index(item[0][0]), -item[0][2], cell_order(item[0][1])))


def last_build(records):
    """The records of the build of Locum that was measured last."""
    version = max(records, key=lambda record: record["date"])["sides"]["locum"]["version"]
    return [record for record in records if record["sides"]["locum"]["version"] == version]


def peers_of(records):
    return list(dict.fromkeys(name for record in records for name in record["sides"]
                              if name != "locum"))


def values(records, side, key):
    return [record["sides"][side][key] for record in records if side in record["sides"]]


def best_peer(records):
    return max(peers_of(records),
               key=lambda name: statistics.median(values(records, name, "rate")))


def ratios(records, name):
    """Locum's rate over a peer's, round by round."""
    return [record["sides"]["locum"]["rate"] / record["sides"][name]["rate"] for record in records
            if name in record["sides"]]


# ---- tables ------------------------------------------------------------------------------------

def rows(head, body):
    lines = ["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body]]
    return "\n".join(lines)


def speed_rows(records):
    peers = peers_of(records)
    body = []
    for (model, cell, threads), group in lines_of(records):
        group = last_build(group)
        best = best_peer(group)
        figures = [spread(values(group, side, "rate")) if values(group, side, "rate") else "-"
                   for side in ["locum", *peers]]
        body.append([model, cell_text(cell), str(threads), *figures,
                     "%s to %s" % (spread(ratios(group, best), "%.2f"), best),
                     str(len(ratios(group, best)))])
    return rows(["model", "tokens/s", "threads", "locum", *peers, "ratio to the best", "rounds"],
                body)


def load_rows(records):
    body = []
    for (model,), group in grouped(records, "model").items():
        group = last_build(group)
        for side in ["locum", *peers_of(group)]:
            body.append([model, side, spread(values(group, side, "load_s")),
                         "%.2f" % (max(values(group, side, "peak_rss")) / GIB)])
    return rows(["model", "side", "loading, s", "peak memory, GiB"], body)


def storage_rows(records):
    body = []
    for (model, cell, threads), group in lines_of(records):
        group = last_build(group)
        for side in ["locum", *peers_of(group)]:
            ratio = "" if side == "locum" else spread(ratios(group, side), "%.2f")
            body.append([model, cell_text(cell), str(threads), side,
                         spread(values(group, side, "rate"), "%.2f"), ratio,
                         "%.1f" % (statistics.median(values(group, side, "bytes_read")) / 1e6),
                         spread(values(group, side, "first_token_s"))])
    return rows(["model", "what", "threads", "side", "tokens/s", "locum to it", "MB read a token",
                 "first token, s"], body)


def sources(records):
    """Dates, machines, files and versions, as a list."""
    machines = {"%(cpu)s, %(processors)s processors, Linux %(kernel)s" % record["machine"]
                for record in records}
    files = {"%s (%d bytes)" % (record["file"], record["bytes"]) for record in records}
    versions, tiers = {}, set()
    for record in records:
        for name, side in record["sides"].items():
            versions.setdefault(name, {})[side["version"]] = None
            tiers.update([side["cpu"]] if "cpu" in side else [])
    lines = ["measured %s to %s" % (min(r["date"] for r in records)[:10],
                                    max(r["date"] for r in records)[:10]),
             "machine: " + "; ".join(sorted(machines)),
             "Locum's instruction set: " + ", ".join(sorted(tiers)),
             "files: " + ", ".join(sorted(files))]
    lines += ["%s: %s" % (name, "; ".join(found)) for name, found in versions.items()]
    return "\n".join("- " + line for line in lines)


def precision(records):
    """Distances to the float reference; of each model the last record."""
    body, versions = [], {}
    for (model,), group in grouped(records, "model").items():
        record = group[-1]
        theirs = record["sides"].get("upstream")
        for name, side in record["sides"].items():
            ratio = "%.2f" % (side["kld_mean"] / theirs["kld_mean"]) if theirs else ""
            body.append(["%s, %d positions" % (record["file"], record["positions"]), name,
                         "%.2e" % side["kld_mean"], "%.2e" % side["kld_median"],
                         "%.2f" % side["top_1"], ratio])
            versions.setdefault(name, {})[side["version"]] = None
    head = ["model", "side", "mean KLD", "median KLD", "top-1, %", "mean to upstream's"]
    lines = ["measured %s to %s" % (min(r["date"] for r in records)[:10],
                                    max(r["date"] for r in records)[:10])]
    lines += ["%s: %s" % (name, "; ".join(found)) for name, found in versions.items()]
    return "\n\n".join(["### Distance to exact arithmetic on the same weights", rows(head, body),
                        "\n".join("- " + line for line in lines)])


def tables(records):
    """All of it: in memory, then under each limit."""
    parts = []
    for (limit, ahead), group in grouped(records, "limit", "readahead").items():
        shown = [one for some in grouped(group, "model", "cell", "threads").values()
                 for one in last_build(some)]
        if limit:
            parts.append("### %d MiB of memory, cold, readahead %s" % (
                limit, "%d KiB" % ahead if ahead else "as the system has it"))
            parts += [storage_rows(shown), sources(shown)]
        else:
            parts += ["### All experts in memory", speed_rows(shown), load_rows(shown),
                      sources(shown)]
    return "\n\n".join(parts)


def replace(path, text):
    """Puts text between the two marks of a file."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    if len(re.findall(pattern, page, re.S)) != 1:
        raise SystemExit("%s: the marks of the generated part are missing" % path)
    new = "%s\n\n%s\n\n%s" % (BEGIN, text, END)
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(pattern, lambda _: new, page, flags=re.S))

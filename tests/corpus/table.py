"""What a run of the corpus comes to, as Markdown and JSON."""

import collections
import json
import pathlib

from objects import LEFT_OUT, Objects, is_program, packages_by_file

GOAL = 95.0  # per cent of functions


def write(state: pathlib.Path, results: list[tuple], modes: list[str], objects: Objects) -> int:
    counted = [(job, known) for job, known in results if not known.get("unsteady", "not run")]
    failed = [(job, mode, why) for job, known in counted for mode in modes if (why := known["modes"].get(mode))]
    excluded = [(job, known.get("unsteady", "not run")) for job, known in results if known.get("unsteady", "not run")]
    owners = packages_by_file()
    used = sorted({path for _, known in counted for path in known["used"]})
    programs = [path for path in used if is_program(path)]
    packages = sorted({owners[path] for path in used if path in owners})
    with_programs = sorted({owners[path] for path in programs if path in owners})

    functions = instrumented = 0
    reasons, alone, poor = collections.Counter(), [], []
    for path in used:
        if LEFT_OUT.search(path):
            continue
        copy, report = objects.copy(path, "probes") if (objects.folder / "probes").exists() else (None, {"message": "not run"})
        if copy is None:
            alone.append((path, report.get("message", "")))
            continue
        all_of_it, copied = report["functions"], report["instrumented"]
        functions += all_of_it
        instrumented += copied
        for reason, count in report.get("skipped", {}).items():
            reasons[reason] += count
        if all_of_it and 100 * copied / all_of_it < GOAL:
            poor.append((path, copied, all_of_it))
    share = 100 * instrumented / functions if functions else 0.0

    summary = {
        "jobs": len(results), "counted": len(counted), "excluded": len(excluded), "failed": len(failed), "packages": len(packages),
        "packages_with_programs": len(with_programs), "executables": len(programs), "libraries": len(used) - len(programs),
        "functions": functions, "instrumented": instrumented, "share": round(share, 2), "reasons": dict(reasons.most_common()),
        "left_alone": alone, "failures": [(job.key, mode, why) for job, mode, why in failed],
        "not_counted": [(job.key, why) for job, why in excluded],
    }
    (state / "report.json").write_text(json.dumps(summary, indent=1))
    lines = [
        "| what | number |", "|---|---|", f"| jobs | {len(results)} |", f"| of these counted: plain runs agree | {len(counted)} |",
        f"| packages whose files ran | {len(packages)} |", f"| of these with executables that ran | {len(with_programs)} |",
        f"| executables | {len(programs)} |", f"| libraries | {len(used) - len(programs)} |",
        *(f"| {mode}: the same as plain | {sum(known['modes'].get(mode) == '' for _, known in counted)} |" for mode in modes),
        f"| functions | {functions} |", f"| instrumented | {instrumented} ({share:.2f} %) |", "",
        "| reason why a function is not instrumented | functions |", "|---|---|", *(f"| {reason} | {count} |" for reason, count in reasons.most_common()),
        "", "| file left alone | why |", "|---|---|", *(f"| {path} | {why} |" for path, why in alone),
        "", "| under 95 % | instrumented | of |", "|---|---|---|", *(f"| {path} | {copied} | {total} |" for path, copied, total in poor),
        "", "| job not counted | why |", "|---|---|", *(f"| {job.key} | `{why[:200]}` |" for job, why in excluded),
        "", "| failure | mode | difference |", "|---|---|---|", *(f"| {job.key} | {mode} | `{why[:300]}` |" for job, mode, why in failed),
    ]
    (state / "report.md").write_text("\n".join(lines) + "\n")
    print("\n".join("corpus: " + line.strip("| ").replace(" | ", ": ") for line in lines[2:lines.index("")]))
    for job, why in excluded:
        print(f"corpus: not counted: {job.key}: {why}")
    for job, mode, why in failed:
        print(f"corpus: FAILED: {job.key} in {mode}: {why}")
    return 1 if failed else 0

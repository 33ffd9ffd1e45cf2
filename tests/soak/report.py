"""What a soak came to, as Markdown and JSON."""

import json
import os
import platform


def text(state, results: dict[str, dict], told: dict) -> str:
    parts = [f"# Soak\n\nOf {state.commit} (programs {state.build}), on {platform.node()}: {os.cpu_count()} processors, Linux {platform.release()}.\n\n"
             "| scenario | result |\n|---|---|"]
    parts += [f"| {name} | {'passed' if not known['problems'] else f'FAILED, {len(known['problems'])} problems'} |" for name, known in results.items()]
    for name, known in results.items():
        parts.append(f"\n## {name}\n\n{told[name].told(known)}")
        parts += [f"- {problem}" for problem in known["problems"]]
    return "\n".join(parts) + "\n"


def write(soak, state, results: dict[str, dict], told: dict) -> str:
    """The Markdown, which is in report.md, too."""
    said = text(state, results, told)
    (soak.state / "report.md").write_text(said)
    (soak.state / "report.json").write_text(json.dumps(
        {"commit": state.commit, "build": state.build,
         "scenarios": {name: {"passed": not known["problems"], **known} for name, known in results.items()}}, indent=1))
    return said

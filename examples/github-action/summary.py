"""Reads what litefuse printed with --json: annotations, the summary of the job, and outputs of the action.

It needs nothing but Python. ``summary.py FOLDER`` fails if one of the documents in FOLDER is of a failure, a difference
or a refusal; ``summary.py --succeeded FILE`` says by its exit code whether a command did what it was asked for, and
``summary.py --words TEXT`` splits options as a shell splits words, each of which ends in a null character.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

COMMANDS = ("convert", "verify", "check")
INCONCLUSIVE = 3


def main(arguments):
    if arguments[0] == "--succeeded":
        return 0 if read(Path(arguments[1]))["status"] == "done" else 1
    if arguments[0] == "--words":
        sys.stdout.write("".join(f"{word}\0" for word in shlex.split(arguments[1])))
        return 0
    folder = Path(arguments[0])
    found = [read(folder / f"{name}.json") for name in COMMANDS if (folder / f"{name}.json").exists()]
    lines = ["## litefuse", ""]
    failed = not found
    if not found:
        print("::error title=litefuse::nothing was converted: the log of the steps before says why")
    for document in found:
        level, title, text = told(document)
        failed |= level == "error"
        if level:
            print(f"::{level} title={escaped(title, ':,')}::{escaped(text)}")
        lines += [f"- **{document['command']}**: {plain(text)}"]
    lines += ["", *tables(found)]
    append("GITHUB_STEP_SUMMARY", "\n".join(lines) + "\n")
    append("GITHUB_OUTPUT", outputs(found))
    return int(failed)


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"there is no document of it: {error}"  # it was killed
        failure = {"type": "NoDocument", "message": message, "where": "", "hint": ""}
        return {"command": path.stem, "status": "failed", "exit_code": 1, "error": failure}


def told(document):
    """The level of an annotation (empty for none), its title and its text."""
    command = document["command"] or "litefuse"
    if document["status"] == "failed":
        error = document["error"]
        text = " ".join(filter(None, (error["where"] and f"{error['where']}:", error["message"], error["hint"])))
        return "error", f"litefuse {command}: {error['type']}", text
    if command == "convert":
        missed = [each for each in document["composites"] if each["outcome"] != "fused"]
        text = f"{document['source']} became a file of {document['size']:,} bytes"
        if missed:
            text += "; not fused: " + ", ".join(f"{each['name']} ({each['reason']})" for each in missed)
        return "warning" if missed else "", "litefuse convert: not fused", text
    if command == "verify":
        text = f"the verdict is {document['verdict']}, the largest error {document['error']}"
        level = "" if document["ok"] else "warning" if document["exit_code"] == INCONCLUSIVE else "error"
        return level, f"litefuse verify: {document['verdict']}", text
    verdicts = [f"{each['target']}: {each['verdict']}" for each in document["targets"]]
    level = {0: "", INCONCLUSIVE: "warning"}.get(document["exit_code"], "error")
    return level, "litefuse check", ", ".join(verdicts)


def tables(found):
    for document in found:
        if document["status"] == "failed":
            continue
        if document["command"] == "convert":
            yield from ("| composite | outcome | |", "| --- | --- | --- |")
            for each in document["composites"]:
                yield row(each["name"], each["outcome"], each["fused_into"] or each["reason"] or "")
        elif document["command"] == "verify":
            yield from ("| output | verdict | error |", "| --- | --- | --- |")
            for each in document["outputs"]:
                yield row(f"{each['signature']}: {each['name']}", each["verdict"], each["error"])
        else:
            yield from ("| target | op | refused because |", "| --- | --- | --- |")
            for each in document["targets"]:
                for refused in each["refused"]:
                    yield row(each["target"], f"{refused['op']} ({refused['count']})", refused["reason"])
        yield ""


def outputs(found):
    values = {"model": "", "sha256": "", "verdict": ""}
    for document in found:
        if document["command"] == "convert" and document.get("written"):
            values["model"] = document["written"][0]["path"]
            values["sha256"] = document["written"][0]["sha256"] or ""
        values["verdict"] = document.get("verdict", values["verdict"])
    return "".join(f"{name}={' '.join(str(value).split())}\n" for name, value in values.items())


def row(*cells):
    return "| " + " | ".join(plain(str(each)) for each in cells) + " |"


def plain(text):
    """Text that Markdown and HTML leave alone: names are whatever the author of a model wrote."""
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    for letter in "&<>":
        text = text.replace(letter, {"&": "&amp;", "<": "&lt;", ">": "&gt;"}[letter])
    return "".join(f"\\{each}" if each in "\\`*_{}[]()#!|~@$" else each for each in text)


def escaped(text, more=""):
    """Text in a command of the runner, which another command in it cannot end."""
    return "".join(f"%{ord(each):02X}" if each in "%\r\n" + more else each for each in text)


def append(variable, text):
    if name := os.environ.get(variable):
        with Path(name).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Writes the transcripts of this folder, the same bytes each time: python3 make.py [DIR]

The talk is invented. Only the shapes of the records are those of Claude Code. Ids are derived from names,
times are counted from a fixed one. Sub-agents' and older releases' records have their own order of keys.
"""

import base64
import datetime
import hashlib
import json
import pathlib
import sys
import uuid

NEW, MIDDLE, PROGRESS, OLD, FIRST = "2.1.328", "2.1.81", "2.1.58", "2.0.76", "1.0.128"
CWD = "/home/ida/orchard"


class Log:
    """A transcript that is being written. Nodes are called by names; the last one is the default parent."""

    def __init__(self, name, digit, version, agent=None):
        self.name, self.version, self.agent = name, version, agent
        self.session = f"{digit * 8}-2222-4333-8444-555555555555"
        self.time = datetime.datetime(2026, 3, int(digit, 16), 7, 0, 0)
        self.lines, self.last, self.prompts, self.blocks, self.request = [], None, 0, {}, None

    def id(self, name):
        return name and str(uuid.uuid5(uuid.UUID(self.session), name))

    def now(self, wait=40):
        self.time += datetime.timedelta(milliseconds=wait)
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.time.microsecond // 1000:03}Z"

    def write(self, record):
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def side(self, kind, **members):
        """A record without uuid."""
        self.write({"type": kind, **members, "sessionId": self.session})

    def node(self, name, body, more=None, under="", wait=40):
        """A record with uuid. Body are the members in front of it, more those behind its timestamp."""
        parent = self.last if under == "" else under
        self.last = name
        head = {"parentUuid": self.id(parent), "isSidechain": self.agent is not None}
        around = {"userType": "external", "entrypoint": "cli", "cwd": CWD, "sessionId": self.session, "version": self.version, "gitBranch": "main"}
        if self.version in (OLD, FIRST):
            del around["entrypoint"]
            self.write({**head, **around, **body, "uuid": self.id(name), "timestamp": self.now(wait), **(more or {})})
            return
        if self.agent:
            head["agentId"] = self.agent
        self.write({**head, **body, "uuid": self.id(name), "timestamp": self.now(wait), **(more or {}), **around})

    def queued(self, text):
        """The prompt's way through the queue. 2.0 wrote only that it left it."""
        if self.version != OLD:
            self.side("queue-operation", operation="enqueue", timestamp=self.now(), content=text)
        self.side("queue-operation", operation="dequeue", timestamp=self.now())

    def checkpoint(self, name):
        """Stands in front of the prompt that it belongs to."""
        at = self.now(0)
        self.write({
            "type": "file-history-snapshot", "messageId": self.id(name),
            "snapshot": {"messageId": self.id(name), "trackedFileBackups": {}, "timestamp": at}, "isSnapshotUpdate": False,
        })

    def user(self, name, text, under="", **more):
        self.prompts += 1
        body = {"type": "user", "message": {"role": "user", "content": text}}
        if self.version in (NEW, MIDDLE):
            body = {"promptId": self.id("prompt " + name), **body}
            more.setdefault("permissionMode", "default")
        if self.version == NEW and not self.agent:
            more.update(promptSource="typed", turnPosition={"promptIndex": self.prompts, "turnIndex": self.prompts})
        self.node(name, body, more, under, wait=9000)

    def attachment(self, name, content):
        body = {"attachment": {"type": name.split()[0], **content}, "type": "attachment"}
        self.node(name, body, {"rendered": [{"content": json.dumps(content)}], "renderedRole": "system"}, wait=2)

    def surroundings(self):
        self.attachment("environment", {"snapshot": {"workingDirectory": CWD, "isGitRepo": True, "platform": "linux"}})
        self.attachment("date", {"date": self.time.strftime("%Y-%m-%d")})

    def asks(self):
        """The request whose answer comes next."""
        self.request = self.id(f"request {len(self.lines)}")
        self.write({
            "type": "api-request", "sessionId": self.session, "id": self.request, "timestamp": self.now(2), "version": self.version,
            "querySource": "repl_main_thread", "params": {"model": "claude-example"}, "keep": 0, "tail": [],
        })

    def block(self, name, answer, content, under="", stop="end_turn", more=None):
        """A line of an answer: one block. The lines of one answer share its id."""
        index = self.blocks.setdefault(answer, 0)
        self.blocks[answer] += 1
        message = {
            "id": "msg_" + answer, "type": "message", "role": "assistant", "model": "claude-example", "content": [content],
            "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        body = {"message": message, "requestId": "req_" + answer, "type": "assistant"}
        if self.version == NEW:
            body = {"message": message, "apiBlockIndex": index, "requestId": "req_" + answer, "type": "assistant"}
            if self.request:
                body["requestRef"] = self.request
        self.node(name, body, more, under, wait=300)

    def think(self, name, answer, text, under=""):
        signature = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        self.block(name, answer, {"type": "thinking", "thinking": text, "signature": signature}, under, "tool_use" if self.version == NEW else None)

    def text(self, name, answer, text, under="", stop="end_turn"):
        self.block(name, answer, {"type": "text", "text": text}, under, stop)

    def call(self, name, answer, tool, under="", **arguments):
        """The call's id is toolu_ and its name."""
        self.block(name, answer, {"type": "tool_use", "id": "toolu_" + name, "name": tool, "input": arguments}, under, "tool_use")

    def result(self, call, text, under=None, wait=700, error=False, spilled=None):
        """Hangs under its call. Up to 2.0 the results of one answer hung one under the other. Spilled are name and size of the file that holds all of it."""
        block = {"tool_use_id": "toolu_" + call, "type": "tool_result", "content": text, "is_error": error}
        more = {"toolUseResult": {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}}
        if spilled:
            folder = f"/home/ida/.claude/projects/-home-ida-orchard/{self.session}/tool-results/"
            more["toolUseResult"].update(persistedOutputPath=folder + spilled[0], persistedOutputSize=spilled[1])
        if self.version not in (OLD, FIRST):
            more["sourceToolAssistantUUID"] = self.id(call)
        if self.version == NEW:
            more["permissionDecision"] = {"decision": "accept", "source": "config"}
        self.node("result " + call, {"type": "user", "message": {"role": "user", "content": [block]}}, more, under or call, wait)

    def leaf(self, text, name=""):
        """Where the next resume goes on. Releases before about 2.1.145 only told the prompt."""
        if self.version == NEW:
            self.side("last-prompt", lastPrompt=text, leafUuid=self.id(name or self.last))
        else:
            self.side("last-prompt", lastPrompt=text)

    def save(self, folder):
        (folder / (self.name + ".jsonl")).write_text("".join(l + "\n" for l in self.lines), encoding="utf-8", newline="\n")


def tiny():
    """One turn with one call, by the newest release."""
    l = Log("tiny", "1", NEW)
    l.queued("Which apples are ripe?")
    l.user("ripe", "Which apples are ripe?")
    l.surroundings()
    l.asks()
    l.side("tools-used", tools=["Bash"])
    l.text("look", "ripe1", "I read the picking list.", stop="tool_use")
    l.call("list", "ripe1", "Bash", command="cat picking-list.txt")
    l.result("list", "row 1: ripe\nrow 2: green")
    l.asks()
    l.text("answer", "ripe2", "Those of row 1 – row 2 needs a week.")
    l.leaf("Which apples are ripe?")
    l.side("mode", mode="normal")
    return l


def orchard():
    """Three turns, parallel calls as a tree, and a rewind that leaves a branch dead."""
    l = Log("orchard", "2", NEW)
    l.checkpoint("spring")
    l.user("spring", "Prune the pears, water the young rows.")
    l.attachment("date", {"date": "2026-03-02"})
    l.think("plan", "spring1", "Three things that do not wait for each other.")
    l.text("start", "spring1", "All three at once.", stop="tool_use")
    l.call("prune", "spring1", "Bash", command="./prune pears")
    l.call("water", "spring1", "Bash", command="./water --rows 3-5")
    l.call("ladder", "spring1", "Bash", command="./find ladder")
    l.result("water", "rows 3-5: 40 litres")
    l.result("ladder", "behind the shed")
    l.result("prune", "12 pears pruned")
    l.text("pruned", "spring2", "Pruned and watered.")
    l.leaf("Prune the pears, water the young rows.")
    l.side("custom-title", customTitle="spring work")
    l.checkpoint("apple")
    l.user("apple", "Graft the old apple.")
    l.text("no-scion", "apple1", "There is no scion for it.")
    l.leaf("Graft the old apple.")
    l.checkpoint("plum")
    l.user("plum", "Then write the plum down for grafting.", under="pruned")
    l.call("note", "plum1", "Edit", file_path=CWD + "/todo.txt", old_string="graft:", new_string="graft: plum")
    l.write({
        "type": "file-history-delta", "messageId": l.id("note"), "snapshotMessageId": l.id("plum"), "trackingPath": "todo.txt",
        "backup": {"backupFileName": "0123456789abcdef@v1", "version": 1, "backupTime": l.now(1)}, "timestamp": l.now(0),
    })
    l.result("note", "todo.txt is changed.")
    l.text("noted", "plum2", "It stands in todo.txt.")
    l.node("duration", {"type": "system", "subtype": "turn_duration", "durationMs": 1400}, {"isMeta": False})
    l.leaf("Then write the plum down for grafting.")
    l.checkpoint("left")
    l.user("left", "What is left?")
    l.text("hedge", "left1", "Only the hedge.")
    l.leaf("What is left?")
    return l


def compacted():
    """A compaction that keeps the last answer, and a turn behind it."""
    l = Log("compacted", "3", NEW)
    l.user("crates", "How many crates are full?")
    l.call("count", "crates1", "Bash", command="./count crates")
    l.result("count", "17")
    l.text("seventeen", "crates2", "Seventeen.")
    l.user("press", "Is the press clean?")
    l.text("clean", "press1", "Yes, since yesterday.")
    l.leaf("Is the press clean?")
    kept = l.id("clean")
    l.write({
        "parentUuid": None, "logicalParentUuid": kept, "isSidechain": False, "type": "system", "subtype": "compact_boundary",
        "content": "Conversation compacted", "isMeta": False, "timestamp": l.now(5000), "uuid": l.id("border"), "level": "info",
        "compactMetadata": {
            "trigger": "auto", "preTokens": 9000, "durationMs": 400,
            "preservedSegment": {"headUuid": kept, "anchorUuid": l.id("summary"), "tailUuid": kept},
            "preservedMessages": {"anchorUuid": l.id("summary"), "uuids": [kept], "allUuids": [kept]}, "postTokens": 300,
        },
        "userType": "external", "entrypoint": "cli", "cwd": CWD, "sessionId": l.session, "version": NEW, "gitBranch": "main",
    })
    body = {"type": "user", "message": {"role": "user", "content": "Seventeen crates are full, the press is clean."}}
    l.node("summary", body, {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}, under="border", wait=1)
    l.leaf("Is the press clean?")
    l.user("juice", "Then press the juice.")
    l.call("juice-run", "juice1", "Bash", command="./press --crates 17")
    l.result("juice-run", "210 litres")
    l.text("litres", "juice2", "210 litres.")
    l.leaf("Then press the juice.")
    return l


def old():
    """2.0.76: the results of parallel calls hang one under the other, and nothing names the leaf."""
    l = Log("old", "4", OLD)
    l.queued("Look after the bees.")
    l.checkpoint("bees")
    l.user("bees", "Look after the bees.")
    l.think("hives", "bees1", "Two hives.")
    l.call("east", "bees1", "Bash", command="./hive east")
    l.call("west", "bees1", "Bash", command="./hive west")
    l.result("west", "calm", under="west")
    l.result("east", "swarming", under="result west")
    l.text("swarm", "bees2", "The east hive swarms.")
    l.queued("Put up a box.")
    l.checkpoint("box")
    l.user("box", "Put up a box.")
    l.call("hang", "box1", "Bash", command="./hang box")
    l.result("hang", "no nail", error=True)
    l.text("nail", "box2", "There is no nail.")
    return l


def first():
    """1.0.128: users, answers and a summary, which is a title."""
    l = Log("first", "5", FIRST)
    l.user("mow", "Mow the meadow.")
    l.text("go", "mow1", "I start the mower.", stop="tool_use")
    l.call("mower", "mow1", "Bash", command="./mower start")
    l.result("mower", "mown")
    l.text("mown", "mow2", "It is mown.")
    l.user("rake", "Rake it too.")
    l.call("left-half", "rake1", "Bash", command="./rake left")
    l.call("right-half", "rake1", "Bash", command="./rake right")
    l.result("left-half", "raked", under="right-half")
    l.result("right-half", "raked", under="result left-half")
    l.text("raked", "rake2", "Raked.")
    l.write({"type": "summary", "summary": "Mowing the meadow", "leafUuid": l.id("raked")})
    return l


def middle():
    """A turn by 2.1.58 with its progress nodes, and one by 2.1.81, whose last-prompt names no leaf."""
    l = Log("middle", "6", PROGRESS)
    l.queued("Weigh the quinces.")
    l.user("quinces", "Weigh the quinces.")
    l.call("weigh", "quinces1", "Bash", command="./scale quinces")
    l.node("wait", {"type": "progress", "data": {"type": "bash_progress", "output": "3 kg"}, "toolUseID": "bash-progress-0", "parentToolUseID": "toolu_weigh"})
    l.result("weigh", "14 kg")
    l.text("weight", "quinces2", "14 kg.")
    l.node("hook", {"type": "progress", "data": {"type": "hook_progress", "hookEvent": "Stop"}, "toolUseID": "stop-0", "parentToolUseID": "stop-0"})
    l.version = MIDDLE
    l.queued("And the medlars?")
    l.user("medlars", "And the medlars?")
    l.text("both", "medlars1", "Both trees.", stop=None)
    l.call("tree-1", "medlars1", "Bash", command="./scale medlars 1")
    l.call("tree-2", "medlars1", "Bash", command="./scale medlars 2")
    l.result("tree-2", "4 kg")
    l.result("tree-1", "6 kg")
    l.text("ten", "medlars2", "10 kg.")
    l.leaf("And the medlars?")
    return l


def stop_call():
    """Killed in a call."""
    l = Log("stop-call", "7", NEW)
    l.queued("Fell the dead cherry.")
    l.user("cherry", "Fell the dead cherry.")
    l.surroundings()
    l.asks()
    l.text("saw", "cherry1", "I take the saw.", stop="tool_use")
    l.call("fell", "cherry1", "Bash", command="./saw cherry")
    return l


def stop_parallel():
    """Killed when one of three calls was answered, in the second turn."""
    l = Log("stop-parallel", "8", NEW)
    l.user("hello", "Is the shed open?")
    l.text("open", "hello1", "Yes.")
    l.leaf("Is the shed open?")
    l.user("tools", "Clean the tools.")
    l.text("three", "tools1", "Three tools.", stop="tool_use")
    l.call("spade", "tools1", "Bash", command="./clean spade")
    l.call("rake", "tools1", "Bash", command="./clean rake")
    l.call("shears", "tools1", "Bash", command="./clean shears")
    l.result("rake", "clean")
    return l


def two_writers():
    """A second client resumed the session while the first one ran a call: it made a result up. The true one came later."""
    l = Log("two-writers", "9", NEW)
    l.user("barrel", "Fill the barrel.")
    l.text("pump", "barrel1", "I start the pump.", stop="tool_use")
    l.call("fill", "barrel1", "Bash", command="./pump barrel")
    block = {"type": "tool_result", "content": "[Tool call interrupted: nobody waited for it]", "is_error": True, "tool_use_id": "toolu_fill"}
    more = {"toolUseResult": "Error: interrupted", "toolDenialKind": "interrupted", "sourceToolAssistantUUID": l.id("fill")}
    l.node("made-up", {"type": "user", "message": {"role": "user", "content": [block]}}, more)
    nothing = {
        "id": l.id("no answer"), "type": "message", "role": "assistant", "model": "<synthetic>",
        "content": [{"type": "text", "text": "No response requested."}], "stop_reason": "stop_sequence", "stop_sequence": "",
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    l.node("nothing", {"message": nothing, "type": "assistant"}, {"isApiErrorMessage": False}, wait=1)
    l.user("second", "How is the weather?")
    l.text("dry", "second1", "Dry.")
    l.leaf("How is the weather?")
    l.result("fill", "300 litres")
    l.text("full", "barrel2", "The barrel is full.")
    l.leaf("Fill the barrel.")
    return l


def helper():
    """A sub-agent's log: all of it is a side talk."""
    l = Log("helper", "a", NEW, agent="a0123456789abcdef")
    l.user("snails", "Count the snails in the lettuce.")
    l.surroundings()
    l.text("bed", "snails1", "I look under the leaves.", stop="tool_use")
    l.call("snail-count", "snails1", "Bash", command="./count snails")
    l.result("snail-count", "23")
    l.text("snails-23", "snails2", "23 snails.")
    return l


PLANTS = "".join(f"plant {n}: {'leek' if n % 3 else 'chard'}\n" for n in range(1, 41))


def spilled():
    """Three results that are too long for the transcript. The file of the first one is spilled-bed.txt."""
    l = Log("spilled", "b", NEW)
    l.user("plants", "List all plants of the three beds.")
    for bed in ("bed-1", "bed-2", "bed-3"):
        l.call(bed, "plants1", "Bash", command="./plants " + bed)
    for bed, name, size in (("bed-1", "bk3x01.txt", len(PLANTS)), ("bed-2", "bk3x02.txt", 1200), ("bed-3", "bk3x03.txt", 2 * len(PLANTS))):
        l.result(bed, f"<persisted-output>\n{PLANTS[:40]}...\n</persisted-output>", spilled=(name, size))
    l.text("beds", "plants2", "Leek and chard in all three.")
    l.leaf("List all plants of the three beds.")
    return l


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for make in (tiny, orchard, compacted, old, first, middle, stop_call, stop_parallel, two_writers, helper, spilled):
        make().save(folder)
    (folder / "spilled-bed.txt").write_text(PLANTS, encoding="utf-8", newline="\n")


main()

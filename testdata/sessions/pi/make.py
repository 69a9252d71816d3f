#!/usr/bin/env python3
"""Writes the sessions of this folder, the same bytes each time: python3 make.py [DIR]

The talk is invented. Only the shapes of the records are those of pi. Ids are derived from names, times are counted from a
fixed one.
"""

import datetime
import hashlib
import json
import pathlib
import sys

CWD = "/home/mara/bakery"
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
USAGE = {"input": 12, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 19, "cost": COST}
RULES = "Answer in one sentence."


class Session:
    """A session that is being written. Each entry hangs under the one in front of it, but where the place was moved."""

    def __init__(self, name, day, version=3, **header):
        self.name, self.version, self.lines, self.up = name, version, [], None
        self.time = datetime.datetime(2026, 5, day, 8, 0, 0)
        self.id = f"019d{day:04x}-2222-7333-8444-{day:012x}"
        head = {"type": "session"}
        if version > 1:
            head["version"] = version
        self.write({**head, "id": self.id, "timestamp": self.now(0), "cwd": CWD, **header})

    def now(self, wait=1000):
        self.time += datetime.timedelta(milliseconds=wait)
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.time.microsecond // 1000:03}Z"

    def ms(self):
        return int((self.time - datetime.datetime(1970, 1, 1)).total_seconds() * 1000)

    def write(self, record):
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")

    def entry(self, sort, first=(), **more):
        """One entry; what is in first stands in front of its id."""
        name = hashlib.sha256(f"{self.name} {len(self.lines)}".encode()).hexdigest()[:8]
        place = {"id": name, "parentId": self.up} if self.version > 1 else {}
        self.write({"type": sort, **dict(first), **place, "timestamp": self.now(), **more})
        self.up = name
        return name

    def message(self, role, **more):
        at = {"timestamp": self.ms() + 990}
        return self.entry("message", message={"role": role, **more, **at})

    def system(self):
        return self.message("system", content=RULES, sections={"cwd": f"<cwd>\n{CWD}\n</cwd>"}, toolsAdded=[{"name": "bash", "description": "Runs a command.", "parameters": {"type": "object"}}])

    def begin(self):
        self.entry("model_change", provider="oracle", modelId="oracle-1")
        self.entry("thinking_level_change", thinkingLevel="off")

    def user(self, text):
        return self.message("user", content=[{"type": "text", "text": text}])

    def answer(self, text, *calls, stop=None, thought=None):
        content = []
        if thought:
            content.append({"type": "thinking", "thinking": thought, "thinkingSignature": "c2VhbGVk"})
        if text:
            content.append({"type": "text", "text": text})
        content += [{"type": "toolCall", "id": "call_" + c, "name": "bash", "arguments": {"command": command}} for c, command in calls]
        made = {"api": "oracle-messages", "provider": "oracle", "model": "oracle-1", "usage": USAGE}
        return self.message("assistant", content=content, **made, stopReason=stop or ("toolUse" if calls else "stop"))

    def result(self, call, text, error=False, **more):
        return self.message("toolResult", toolCallId="call_" + call, toolName="bash", content=[{"type": "text", "text": text}], **more, isError=error)

    def compact(self, summary, kept, **more):
        return self.entry("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=5200, **more)

    def save(self, to):
        (to / (self.name + ".jsonl")).write_text("".join(self.lines), encoding="utf-8")


def linear():
    s = Session("linear", 1)
    s.begin()
    s.system()
    s.user("How much flour is left?")
    s.answer("I look into the store.", ("flour", "cat store/flour.txt"), thought="The list in the store tells.")
    s.result("flour", "rye 12 kg\nwheat 31 kg\n")
    s.answer("12 kg of rye and 31 kg of wheat.")
    s.user("Order more rye, please.")
    s.answer("", ("order", "echo 'rye 25 kg' >> orders.txt"))
    s.result("order", "(no output)")
    s.answer("25 kg of rye are ordered.")
    return s


def parallel():
    s = Session("parallel", 2)
    s.begin()
    s.user("Read the three ovens.")
    s.answer("", ("left", "cat ovens/left"), ("middle", "cat ovens/middle"), ("right", "cat ovens/right"))
    s.result("left", "210")
    s.result("middle", "cat: ovens/middle: No such file", error=True)
    s.result("right", "190")
    s.answer("Left 210, right 190, the middle one is not there.", ("look", "ls ovens"))
    s.result("look", "left\nright\n")
    s.answer("There are only two.")
    return s


def tree():
    s = Session("tree", 3)
    s.begin()
    s.user("Write a price list.")
    fork = s.answer("By weight or by piece?")
    s.user("By weight.")
    s.answer("", ("weigh", "cat weights.txt"))
    s.result("weigh", "loaf 750 g\n")
    old = s.answer("A loaf of 750 g costs 4.20.")
    s.up = fork
    s.entry("branch_summary", fromId=old, summary="The list by weight has one line: a loaf of 750 g.")
    mark = s.user("Rather by piece.")
    s.entry("label", targetId=mark, label="by piece")
    s.answer("", ("write", "echo 'loaf 4.20' > prices.txt"))
    s.result("write", "(no output)")
    s.answer("A loaf costs 4.20.")
    s.entry("session_info", name="Prices")
    return s


def compacted():
    s = Session("compacted", 4)
    s.begin()
    s.system()
    s.user("Which breads did we bake last week?")
    s.answer("", ("week", "ls log"))
    s.result("week", "mon tue wed")
    s.answer("Rye on Monday, wheat on Tuesday and Wednesday.")
    kept = s.user("And on Thursday?")
    s.answer("", ("thursday", "cat log/thu"))
    s.result("thursday", "closed")
    s.answer("We were closed.")
    s.compact("Last week: rye on Monday, wheat on Tuesday and Wednesday.", kept, details={"readFiles": ["log/thu"]})
    s.user("Then bake rye tomorrow.")
    s.answer("", ("plan", "echo rye > log/plan"))
    s.result("plan", "(no output)")
    s.answer("Rye is planned.")
    return s


def everything():
    s = Session("everything", 5, parentSession=f"{CWD}/older.jsonl")
    s.begin()
    s.system()
    hello = s.user("Good morning.")
    s.entry("active_tools_change", activeToolNames=["bash"])
    call = s.answer("", ("date", "date"))
    out = s.result("date", "Tue May  5\n", details={"exitCode": 0})
    s.answer("It is Tuesday.")
    s.message("bashExecution", command="pwd", output=CWD + "\n", exitCode=0, cancelled=False, truncated=False)
    s.message("bashExecution", command="ls", output="", exitCode=0, cancelled=False, truncated=False, excludeFromContext=True)
    s.entry("custom", first={"customType": "timer", "data": {"minutes": 9007199254740993}})
    s.entry("custom_message", first={"customType": "timer", "content": "The dough has risen.", "display": True})
    s.answer("Then it goes into the oven.", stop="aborted")
    s.entry("label", targetId=hello, label="start")
    s.entry("label", targetId=hello)
    s.entry("session_info", name="A Tuesday")
    s.entry("usage", kind="cache_warm", provider="oracle", model="oracle-1", usage=USAGE)
    s.entry("context_edit", targetId=out, replacement={"content": [{"type": "text", "text": "Tuesday"}]})
    s.entry("context_edit", targetId=call, replacement=None)
    s.entry("context_edit", targetId=out, replacement=None)
    s.user("How long does it bake?")
    s.answer("An hour.")
    last = s.entry("compaction", summary="The dough is in the oven for an hour.", firstKeptEntryId="", tokensBefore=900)
    s.lines[-1] = s.lines[-1].replace('"firstKeptEntryId":""', f'"firstKeptEntryId":"{last}"')
    s.up = None
    s.entry("branch_summary", fromId=last, summary="A loaf is in the oven.")
    s.user("What else is to be done?")
    s.answer("Nothing.\u2028The rest can wait.")
    return s


def first():
    s = Session("first", 6, version=1, provider="oracle", modelId="oracle-1", thinkingLevel="off")
    s.user("Is the yeast fresh?")
    s.answer("It is of today.")
    s.user("And the salt?")
    s.answer("", ("salt", "cat store/salt.txt"))
    s.result("salt", "4 kg")
    s.answer("4 kg are left.")
    s.entry("compaction", summary="The yeast is of today.", firstKeptEntryIndex=3, tokensBefore=5000)
    s.user("Weigh it again.")
    s.answer("Still 4 kg.")
    return s


def second():
    s = Session("second", 7, version=2)
    s.begin()
    s.user("Start the mixer.")
    s.message("hookMessage", customType="watch", content="The mixer is hot.", display=True)
    s.answer("", ("mixer", "mixer on"))
    s.result("mixer", "on")
    s.answer("It runs.")
    return s


def stopped(name, day, *calls, done=(), stop=None):
    s = Session(name, day)
    s.begin()
    s.user("Clean the trays and count them.")
    s.answer("I begin.", *calls, stop=stop)
    for c in done:
        s.result(c, "8")
    return s


def two_writers():
    s = Session("two-writers", 11)
    s.begin()
    s.user("Write the rota.")
    mine = s.answer("", ("rota", "cat rota.txt"))
    mine = s.result("rota", "Mon: Ada\n")
    s.up = mine
    s.answer("Ada works on Monday.")
    theirs = s.user("And on Tuesday?")
    s.up = mine
    s.user("Who is there at all?")
    s.answer("Ada.")
    s.up = theirs
    s.answer("Nobody yet.")
    return s


SESSIONS = [
    linear, parallel, tree, compacted, everything, first, second,
    lambda: stopped("stop-call", 8, ("trays", "wash trays")),
    lambda: stopped("stop-parallel", 9, ("wash", "wash trays"), ("count", "ls trays | wc -l"), ("dry", "dry trays"), done=["count"]),
    lambda: stopped("stop-length", 10, ("trays", "wash trays"), ("long", "echo 'a very long'"), stop="length"),
    two_writers,
]

if __name__ == "__main__":
    to = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    to.mkdir(parents=True, exist_ok=True)
    for make in SESSIONS:
        make().save(to)

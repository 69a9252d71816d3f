#!/usr/bin/env python3
"""Writes the rollouts of this folder, the same bytes each time: python3 make.py [DIR]

The talk is invented. Only the shapes of the records are those of Codex. Ids are derived from names, times are counted
from a fixed one. The packed rollout is made by the zstd command; another release of it may give other bytes.
"""

import datetime
import json
import pathlib
import subprocess
import sys
import uuid

NEW, OLD = "0.171.0", "0.58.0"
CWD = "/home/mara/ferry"
NAMES = uuid.UUID("6f1d4c0e-2b8a-5d3f-9a57-0c4e8b7d2f16")


def named(name):
    return str(uuid.uuid5(NAMES, name))


class Rollout:
    """A rollout that is being written. Its day tells its thread; a segment is a later part of one."""

    def __init__(self, day, mode="paginated", segment=None, base=None, version=NEW, **header):
        self.mode, self.version, self.lines, self.turns = mode, version, [], 0
        self.time = datetime.datetime(2026, 4, day, 9, 30, 0) + datetime.timedelta(hours=5 if segment else 0)
        self.thread = f"019d{day:04x}-1111-7222-8333-{day:012x}"
        self.segment = f"019d{day:04x}-9999-7222-8333-{segment:012x}" if segment else None
        self.id = self.segment or self.thread
        self.name = f"rollout-{self.time:%Y-%m-%dT%H-%M-%S}-{self.thread}{'_' + self.segment if segment else ''}.jsonl"
        self.ordinal = base["end_ordinal_exclusive"] if base else 0
        if base:
            header["history_base"] = base
        self.write("session_meta", self.header(**header))

    def header(self, **more):
        head = {"id": self.thread, "timestamp": self.now(0), "cwd": CWD}
        if self.version == OLD:
            return {**head, "originator": "codex_exec", "cli_version": OLD, "instructions": None, "source": "exec", "model_provider": "oracle"}
        head = {"session_id": self.thread, **head, "originator": "codex_cli_rs", "cli_version": NEW, "source": "cli", "model_provider": "oracle"}
        return {**head, "base_instructions": {"text": "Answer in one sentence."}, "history_mode": self.mode, **more}

    def now(self, wait=30):
        self.time += datetime.timedelta(milliseconds=wait)
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.time.microsecond // 1000:03}Z"

    def write(self, kind, payload, wait=30):
        record = {"timestamp": self.now(wait)}
        if self.mode == "paginated":
            record["ordinal"] = self.ordinal
            self.ordinal += 1
        self.lines.append(json.dumps({**record, "type": kind, "payload": payload}, ensure_ascii=False, separators=(",", ":")) + "\n")

    def text(self):
        return "".join(self.lines)

    def cut(self):
        """What a fork that goes on from here says of this file."""
        return {"thread_id": self.id, "end_ordinal_exclusive": self.ordinal, "end_byte_offset": len(self.text().encode())}

    def event(self, kind, wait=5, **more):
        self.write("event_msg", {"type": kind, **more}, wait)

    def item(self, kind, wait=5, **more):
        if self.version == NEW:
            more["internal_chat_message_metadata_passthrough"] = {"turn_id": self.turn}
        self.write("response_item", {"type": kind, **more}, wait)

    def shown(self, kind, name, **more):
        """The same for people. Only paginated rollouts keep it in this form."""
        if self.mode == "paginated":
            self.event("item_completed", thread_id=self.thread, turn_id=self.turn, item={"type": kind, "id": name, **more}, completed_at_ms=self.ms())

    def ms(self):
        return int((self.time - datetime.datetime(1970, 1, 1)).total_seconds() * 1000)

    def message(self, role, text, wait=5, name=None):
        content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
        ids = {} if self.version == OLD else {"id": name or "msg_" + named(f"{self.thread} {role} {text}")}
        self.item("message", wait, **ids, role=role, content=content)

    def begin(self, prompt):
        """A turn starts."""
        self.turns += 1
        self.turn = named(f"{self.id} turn {self.turns}")
        first = len(self.lines) == 1 and "history_base" not in self.text()
        if self.version == NEW:
            self.event("task_started", 4000, turn_id=self.turn, root_turn_id=self.turn, started_at=self.ms() // 1000, model_context_window=200000, collaboration_mode_kind="default")
        if first:
            self.message("developer", "<permissions>Everything below the working directory may be written.</permissions>")
            self.message("user", f"<environment_context>\n  <cwd>{CWD}</cwd>\n  <shell>sh</shell>\n</environment_context>")
        context = {"cwd": CWD, "approval_policy": "never", "sandbox_policy": {"type": "workspace-write"}, "model": "oracle", "summary": "none"}
        self.write("turn_context", {**({"turn_id": self.turn} if self.version == NEW else {}), **context}, 5)
        self.prompt(prompt)

    def prompt(self, text):
        self.message("user", text)
        self.shown("UserMessage", named(f"{self.turn} {text}"), content=[{"type": "text", "text": text, "text_elements": []}])
        if self.mode == "legacy":
            self.event("user_message", message=text, images=[])

    def say(self, text):
        name = "msg_" + named(f"{self.turn} {text}")
        self.shown("AgentMessage", name, content=[{"type": "Text", "text": text}])
        if self.mode == "legacy":
            self.event("agent_message", 300, message=text)
        self.message("assistant", text, 300, name)
        self.last = text

    def think(self, text):
        name = "rs_" + named(f"{self.turn} {text}")
        self.shown("Reasoning", name, summary_text=[text], raw_content=[])
        if self.mode == "legacy":
            self.event("agent_reasoning", text=text)
        self.item("reasoning", 400, id=name, summary=[{"type": "summary_text", "text": text}], encrypted_content="c2VhbGVk")

    def ids(self, prefix, name):
        return {} if self.version == OLD else {"id": f"{prefix}_{name}"}

    def call(self, name, command):
        tool, arguments = ("shell", {"command": ["sh", "-c", command]}) if self.version == OLD else ("exec_command", {"cmd": command})
        self.item("function_call", 200, **self.ids("fc", name), name=tool, arguments=json.dumps(arguments, ensure_ascii=False), call_id="call_" + name)

    def ran(self, name, command, output):
        """The command's own report."""
        self.shown(
            "CommandExecution", "call_" + name, command=["sh", "-c", command], cwd="file://" + CWD, parsed_cmd=[], source="unified_exec_startup",
            status="completed", aggregated_output=output, exit_code=0, duration={"secs": 0, "nanos": 7},
        )

    def output(self, name, output):
        text = f"Process exited with code 0\nOutput:\n{output}"
        self.item("function_call_output", 90, **self.ids("fco", name), call_id="call_" + name, output=text)

    def shell(self, name, command, output):
        self.call(name, command)
        self.ran(name, command, output)
        self.output(name, output)

    def patch(self, name, path, line):
        change = f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch\n"
        self.item("custom_tool_call", 200, id="ctc_" + name, status="completed", call_id="call_" + name, name="apply_patch", input=change)
        self.shown("FileChange", "call_" + name, changes={f"{CWD}/{path}": {"type": "add", "content": line + "\n"}}, status="completed", stdout="Done", stderr="")
        self.item("custom_tool_call_output", 60, id="ctco_" + name, call_id="call_" + name, output=f"Success: {path}")

    def end(self):
        self.event("token_count", info=None, rate_limits=None)
        if self.version == NEW:
            self.event("task_complete", turn_id=self.turn, last_agent_message=self.last, started_at=self.ms() // 1000, completed_at=self.ms() // 1000, duration_ms=700)

    def ask(self, prompt, answer):
        """A turn without tools."""
        self.begin(prompt)
        self.say(answer)
        self.end()


def ferry(log):
    """Three turns: a thought and a command; two commands at once; a patch."""
    log.begin("When does the first ferry leave?")
    log.think("The timetable should say.")
    log.shell("first", "head -n 1 timetable.txt", "06:10 Skerry – Vess\n")
    log.say("At ten past six.")
    log.end()
    log.begin("And the last one, on weekdays and on Sundays?")
    log.call("weekday", "tail -n 1 timetable.txt")
    log.call("sunday", "tail -n 1 sundays.txt")
    log.ran("sunday", "tail -n 1 sundays.txt", "20:40 Vess – Skerry\n")
    log.output("sunday", "20:40 Vess – Skerry\n")
    log.ran("weekday", "tail -n 1 timetable.txt", "23:05 Vess – Skerry\n")
    log.output("weekday", "23:05 Vess – Skerry\n")
    log.say("Five past eleven at night, and twenty to nine on Sundays.")
    log.end()
    log.begin("Put that into a note for the pier.")
    log.patch("note", "pier.txt", "Last ferry 23:05, on Sundays 20:40")
    log.say("It is in pier.txt.")
    log.end()
    return log


def fork():
    """A parent, a child that goes on behind its second turn, a grandchild; the parent goes on too."""
    parent = Rollout(3)
    parent.ask("How many cars fit on the Vess boat?", "Twenty-two.")
    parent.begin("And bicycles?")
    parent.shell("bikes", "grep -c rack deck.plan", "14\n")
    parent.say("Fourteen racks.")
    parent.end()
    child = Rollout(4, base=parent.cut(), forked_from_id=parent.thread, forked_from_ordinal_exclusive=parent.ordinal)
    parent.ask("Thanks, and lorries?", "Two, side by side.")
    child.ask("What does a bicycle cost?", "Three crowns.")
    grandchild = Rollout(5, base=child.cut(), forked_from_id=child.thread, forked_from_ordinal_exclusive=child.ordinal)
    child.ask("And a tandem?", "Four.")
    grandchild.ask("With a trailer?", "Five crowns.")
    return [parent, child, grandchild]


def revert():
    """A thread that was taken back to its first turn, and a fork of what came then."""
    first = Rollout(6)
    first.ask("Who is on the early shift?", "Tove and Anselm.")
    cut = first.cut()
    first.begin("Swap Anselm and Ines.")
    first.shell("swap", "sed -i s/Anselm/Ines/ shifts", "")
    first.say("Swapped.")
    first.end()
    second = Rollout(6, segment=1, base=cut)
    second.begin("Swap Tove and Ines.")
    second.shell("other", "sed -i s/Tove/Ines/ shifts", "")
    second.say("Ines takes the place of Tove.")
    second.end()
    fork = Rollout(7, base=second.cut(), forked_from_id=first.thread, forked_from_ordinal_exclusive=second.ordinal)
    fork.ask("Tell them by mail.", "Both have mail.")
    return [first, second, fork]


def compacted():
    log = ferry(Rollout(8))
    kept = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "When does the first ferry leave?"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "So far: first 06:10, last 23:05, a note in pier.txt."}]},
    ]
    log.turn = named("compaction")
    log.event("task_started", 900, turn_id=log.turn, root_turn_id=log.turn, started_at=log.ms() // 1000, model_context_window=200000, collaboration_mode_kind="default")
    log.write("compacted", {"message": kept[1]["content"][0]["text"], "replacement_history": kept})
    log.shown("ContextCompaction", named("compacted"))
    log.last = None
    log.end()
    log.begin("Is the note up to date?")
    log.shell("note-2", "cat pier.txt", "Last ferry 23:05, on Sundays 20:40\n")
    log.say("It is.")
    log.end()
    return [log]


def packed():
    parent = ferry(Rollout(9))
    child = Rollout(10, base=parent.cut(), forked_from_id=parent.thread, forked_from_ordinal_exclusive=parent.ordinal)
    child.ask("In which town is the pier?", "In Vess.")
    return [parent, child]


def envelope():
    """As an old release wrote it: no turns, no ids."""
    log = Rollout(12, "legacy", version=OLD)
    log.begin("Is the winter timetable out?")
    log.shell("winter", "ls winter*", "winter.txt\n")
    log.say("Yes, in winter.txt.")
    log.end()
    return [log]


def copied():
    """A fork of a legacy thread is a copy: its parent's header is its second line."""
    parent = Rollout(13, "legacy")
    parent.ask("Is there a ferry on Christmas Day?", "One, at noon.")
    copy = Rollout(14, "legacy", forked_from_id=parent.thread)
    copy.lines += parent.lines
    parent.ask("And on New Year's Day?", "None.")
    copy.ask("At which pier?", "At both.")
    return [parent, copy]


def taken_back():
    """Turns that were rolled back, and a compaction that kept no history."""
    log = Rollout(15, "legacy")
    log.ask("Where do the gulls sleep?", "On the breakwater.")
    log.ask("Draw them.", "I cannot draw.")
    log.event("thread_rolled_back", num_turns=1)
    log.ask("How many are there?", "About sixty.")
    log.write("compacted", {"message": "Gulls on the breakwater, about sixty."})
    log.ask("Do they mind the horn?", "Not at all.")
    return [log]


def tools():
    """Every kind of call."""
    log = Rollout(16, "legacy")
    log.begin("Is the fog horn in order?")
    log.item("local_shell_call", id="lsc_horn", call_id="call_horn", status="completed", action={"type": "exec", "command": ["cat", "horn.log"]})
    log.output("horn", "tested 07:00\n")
    log.item("web_search_call", id="ws_1", status="completed", action={"type": "search", "query": "fog horn interval"})
    log.item("tool_search_call", id="tsc_find", call_id="call_find", execution="client", arguments={"query": "weather"})
    log.item("tool_search_output", id="tso_find", call_id="call_find", execution="client", status="completed", tools=[])
    log.item("ghost_snapshot", ghost_commit={"id": "5eed", "parent": None, "preexisting_untracked_files": [], "preexisting_untracked_dirs": []})
    log.patch("log", "horn.txt", "tested")
    log.say("It was tested at seven.")
    log.end()
    return [log]


def helper():
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": Rollout(1).thread, "depth": 1, "agent_nickname": "Wren", "agent_role": "reader"}}}
    log = Rollout(17, source=spawn, parent_thread_id=Rollout(1).thread, agent_nickname="Wren", agent_role="reader")
    log.ask("Read the harbour rules.", "No fishing from the pier.")
    return [log]


def stopped(log, *, calls, ran=(), answered=()):
    """Killed while commands ran."""
    log.ask("Good morning.", "Good morning, Mara.")
    log.begin("Count the passengers.")
    for name in calls:
        log.call(name, f"count {name}.csv")
    for name in ran:
        log.ran(name, f"count {name}.csv", "212\n")
    for name in answered:
        log.output(name, "212\n")
    return [log]


SESSIONS = {
    "ferry": lambda: [ferry(Rollout(1))],
    "legacy": lambda: [ferry(Rollout(2, "legacy"))],
    "fork": fork,
    "revert": revert,
    "compacted": compacted,
    "packed": packed,
    "archived": lambda: [ferry(Rollout(11))],
    "envelope": envelope,
    "copied": copied,
    "taken-back": taken_back,
    "tools": tools,
    "helper": helper,
    "stop-call": lambda: stopped(Rollout(18), calls=["may"]),
    "stop-parallel": lambda: stopped(Rollout(19), calls=["may", "june", "july"], ran=["june", "july"], answered=["june"]),
    "stop-legacy": lambda: stopped(Rollout(20, "legacy"), calls=["may"]),
}


def main(into):
    for name, make in SESSIONS.items():
        folder = into / name / ("archived_sessions" if name == "archived" else "")
        folder.mkdir(parents=True, exist_ok=True)
        for rollout in make():
            (folder / rollout.name).write_text(rollout.text(), encoding="utf-8", newline="")
    plain = next((into / "packed").glob(f"*{Rollout(9).thread}.jsonl"))
    subprocess.run(["zstd", "-q", "-3", "--no-check", "--single-thread", "--rm", "-f", plain], check=True)


main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent)

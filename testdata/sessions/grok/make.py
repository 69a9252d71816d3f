#!/usr/bin/env python3
"""Writes the sessions of this folder, the same bytes each time: python3 make.py [DIR]

The talk is invented. Only the shapes of the records are those of grok-build, and the words with which it answers a call that was
stopped. Ids are derived from names, times are counted from a fixed one.
"""

import datetime
import hashlib
import json
import pathlib
import shutil
import sys

CWD = "/home/ida/orchard"
HOME = "/home/ida/.grok"
RULES = "Answer in one sentence."
INFO = f"<user_info>\nOS Version: linux\nWorkspace Path: {CWD}\n</user_info>"
BEDS = "<system-reminder>\nThe beds are counted from the gate.\n</system-reminder>"
BROKEN = "<system-reminder>\nThe turn before this one broke off.\n</system-reminder>"
MODEL = "oracle-1"
USAGE = {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110, "cachedReadTokens": 0, "cacheCreationTokens": 0, "reasoningTokens": 0, "modelCalls": 1, "apiDurationMs": 9}
SHELL = {"version": 1, "name": "run_terminal_command", "kind": "execute", "namespace": "grok_build", "label": "Run Command", "read_only": False}
CANCELLED = "Tool execution was cancelled by the user (tool `run_terminal_command` was not executed)."
HALTED = "Tool execution was halted by the harness (user_cancel); the tool `run_terminal_command` was not executed."


def dense(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def pretty(record):
    return json.dumps(record, ensure_ascii=False, indent=2)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def uuid(text):
    h = digest(text)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-8{h[17:20]}-{h[20:32]}"


class Session:
    """A folder that is being written. The log and the history are told side by side, as the client does."""

    def __init__(self, name, day, yolo=True):
        self.name, self.yolo = name, yolo
        start = datetime.datetime(2026, 6, day, 8, 0, 0, tzinfo=datetime.timezone.utc)
        self.ms = self.born = int(start.timestamp()) * 1000
        h = f"{self.born:012x}"
        self.id = f"{h[:8]}-{h[8:]}-7222-8333-{day:012x}"
        self.number = 1  # of the last event, written or not
        self.log, self.history, self.events, self.points, self.files = [], [], [], [], {}
        self.prompts = self.turns = 0
        self.title = self.prompt_id = None
        self.asked = {}
        self.item("system", content=RULES)
        self.user(INFO)
        self.user(BEDS, synthetic_reason="system_reminder")
        self.summary = {}

    # Times.

    def stamp(self, ms=None, digits=9):
        t = datetime.datetime.fromtimestamp((ms or self.ms) // 1000, datetime.timezone.utc)
        return t.strftime("%Y-%m-%dT%H:%M:%S.") + f"{(ms or self.ms) % 1000:03}271828"[:digits] + "Z"

    # Records of each file.

    def update(self, method, update, meta=None, skip=1):
        """One line of the log. Numbers that are skipped went to what is shown and never written."""
        self.ms, self.number = self.ms + 7, self.number + skip
        more = meta or {}
        at = {"eventId": f"{self.id}-{self.number}", "agentTimestampMs": self.ms}
        if "totalTokens" in more:
            at = {"totalTokens": more.pop("totalTokens"), **at}
        params = {"sessionId": self.id, "update": update, "_meta": {**at, **more}}
        self.log.append({"timestamp": self.ms // 1000, "method": method, "params": params})

    def own(self, update, skip=1):
        self.update("_x.ai/session/update", update, skip=skip)

    def streamed(self, update, kind, skip=1, **more):
        meta = {"totalTokens": 110 + self.number, "promptId": self.prompt_id, "streamStartMs": self.ms, "turnStartMs": self.began}
        self.update("session/update", update, {**meta, "updateType": kind, **more}, skip)

    def item(self, sort, **more):
        self.history.append({"type": sort, **more})

    def user(self, text, **more):
        self.item("user", content=[{"type": "text", "text": text}], **more)

    def event(self, sort, **more):
        self.events.append({"ts": self.stamp(digits=3), "type": sort, **more})

    def phase(self, name):
        self.event("phase_changed", phase=name)

    # What goes on.

    def ask(self, text):
        """A prompt: a turn begins."""
        self.title = self.title or text
        self.ms += 1000
        self.began, self.prompt_id, self.calls = self.ms, uuid(f"{self.name} prompt {self.turns}"), 0
        start = {"session_id": self.id, "turn_number": self.prompts, "model_id": MODEL, "yolo_mode": self.yolo}
        self.event("turn_started", **start, conversation_message_count=len(self.history), session_relationship="primary", schema_version="1.0")
        chunk = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}
        self.update("session/update", {**chunk, "_meta": {"modelId": MODEL, "promptIndex": self.prompts}})
        self.user(f"<user_query>\n{text}\n</user_query>", prompt_index=self.prompts)
        self.point = {"prompt_index": self.prompts, "created_at": self.stamp(self.began), "file_snapshots": {}, "after_snapshots": {}}
        self.prompts, self.turns = self.prompts + 1, self.turns + 1

    def loop(self):
        self.event("loop_started", loop_index=self.calls)
        self.phase("waiting_for_model")
        self.calls += 1

    def say(self, text, thought=None):
        """What the model streams, as the user is shown it."""
        self.loop()
        if thought or text:
            self.event("first_token")
        for word, phase, kind, said in (("agent_thought_chunk", "streaming_reasoning", "AgentThoughtChunk", thought), ("agent_message_chunk", "streaming_text", "AgentMessageChunk", text)):
            if said:
                self.phase(phase)
                self.streamed({"sessionUpdate": word, "content": {"type": "text", "text": said}}, kind, skip=2, chunkId=self.calls)

    def answer(self, text, *calls, thought=None, leave=True):
        """An answer. Without leave the user is asked about its first call, and the others wait."""
        self.say(text, thought)
        if thought:
            self.item("reasoning", id="", summary=[{"type": "summary_text", "text": thought}])
        asked = [{"id": "call_" + c, "name": "run_terminal_command", "arguments": dense({"command": command, "description": what})} for c, command, what in calls]
        self.item("assistant", content=text, **({"tool_calls": asked} if asked else {}), model_id=MODEL)
        if not calls:
            return
        self.phase("tool_execution")
        for c, command, what in calls:
            self.call("call_" + c, command, what)
            self.event("tool_started", tool_name="run_terminal_command")
            self.phase("permission_prompt")
            self.event("permission_requested", tool_name="run_terminal_command")
            if not leave:
                return
            self.event("permission_resolved", tool_name="run_terminal_command", decision="allow", wait_ms=0)
            self.phase("tool_execution")

    def call(self, id, command, what):
        """A call as the user is shown it: when it is streamed, and when it is about to run."""
        raw = {"command": command, "description": what}
        told = {"sessionUpdate": "tool_call", "toolCallId": id, "title": "run_terminal_command", "rawInput": raw, "_meta": {"x.ai/tool": SHELL}}
        self.streamed(told, "ToolCall", skip=2, updateParams={"toolCallId": id, "title": "run_terminal_command", "kind": "Other", "status": "Pending"})
        told = {"sessionUpdate": "tool_call_update", "toolCallId": id, "kind": "execute", "title": f"Execute `{command}`", "content": blocks(what), "locations": []}
        told["rawInput"] = {"variant": "Bash", **raw, "is_background": False}
        self.streamed({**told, "_meta": {"x.ai/tool": {**SHELL, "input": raw}}}, "ToolCallUpdate", updateParams={"toolCallId": id, "status": None})
        self.asked[id] = command, what

    def ran(self, c, out, exit=0):
        """A call that came to its end."""
        id = "call_" + c
        command, what = self.asked[id]
        for_prompt = f"exit: {exit}\n{out}"
        raw = {"type": "Bash", "output": list(out.encode()), "output_for_prompt": for_prompt, "exit_code": exit, "command": command, "truncated": False, "signal": None}
        raw |= {"timed_out": False, "description": what, "current_dir": CWD, "output_file": f"{self.folder()}/terminal/{id}.log", "total_bytes": len(out.encode())}
        told = {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "content": blocks(out), "rawOutput": raw}
        self.streamed(told, "ToolCallUpdate", updateParams={"toolCallId": id, "status": "Completed"})
        self.item("tool_result", tool_call_id=id, content=for_prompt)
        self.event("tool_completed", tool_name="run_terminal_command", duration_ms=7, outcome="error" if exit else "success", tool_call_id=id)
        self.output(c, out)

    def output(self, c, out):
        """What a command wrote, to its end or not."""
        self.files[f"terminal/call_{c}.log"] = out

    def folder(self):
        return f"{HOME}/sessions/{CWD.replace('/', '%2F')}/{self.id}"

    def end(self, stop="end_turn", outcome="completed", **more):
        """The end of a turn."""
        usage = {**USAGE, "modelUsage": {MODEL: USAGE}, "numTurns": self.calls}
        ended = {"sessionUpdate": "turn_completed", "prompt_id": self.prompt_id, "stop_reason": stop, "usage": usage}
        self.event("turn_ended", outcome=outcome, **more)
        self.own({**ended, "elapsed_ms": self.ms - self.began}, skip=4)
        if stop == "end_turn":
            self.points.append(self.point)
            self.summary |= {"last_turn_summary": self.title, "last_turn_summary_prompt_id": self.prompt_id}

    def turn(self, text, said):
        self.ask(text)
        self.answer(said)
        self.end()

    def kill(self):
        """Takes the last record of the log away: it is still in memory when the client dies."""
        self.log.pop()

    def save(self, to):
        """Writes the folder. The summary counts what the client wrote."""
        copy = [self.summary.get(k) for k in ("parent_session_id", "forked_at", "session_kind")]
        summary = {
            "info": {"id": self.id, "cwd": CWD}, "agent_id": "ag1." + digest("agent")[:32], "attempt_id": "at1." + digest(self.name)[:32],
            "session_summary": self.title, "created_at": self.stamp(self.born), "updated_at": self.stamp(), "num_messages": len(self.log),
            "num_chat_messages": len(self.history), "current_model_id": "oracle", "parent_session_id": copy[0], "forked_at": copy[1], "next_trace_turn": self.turns,
            "chat_format_version": 1, "session_kind": copy[2], "request_id": self.prompt_id, "grok_home": HOME, "last_active_at": self.stamp(),
            "generated_title": self.title, "agent_name": "grok-build-plan", "sandbox_profile": "off", **self.summary,
        }
        summary = {k: v for k, v in summary.items() if v is not None}
        logs = {"updates.jsonl": self.log, "chat_history.jsonl": self.history, "events.jsonl": self.events, "rewind_points.jsonl": self.points}
        files = {name: "".join(dense(r) + "\n" for r in records) for name, records in logs.items() if records}
        files |= {"summary.json": pretty(summary), "title_refresh_idx": "1", **self.files}
        if (to / self.name).exists():
            shutil.rmtree(to / self.name)
        for name, text in files.items():
            path = to / self.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())


def blocks(text):
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def tiny():
    s = Session("tiny", 1)
    s.turn("Is the gate shut?", "It is shut.")
    return s


def orchard(turns=3):
    s = Session("orchard", 2)
    s.turn("How many trees are there?", "There are 48 trees in 6 beds.")
    s.ask("Which of them are ripe?")
    s.answer("I look into the list. ", ("ripe", "cat ripe.txt", "read the list"), thought="The list of ripe trees tells.")
    s.ran("ripe", "plum 7\npear 2\n")
    s.answer("7 plums and 2 pears are ripe; keep them at 4\u00a0°C.")
    s.end()
    if turns < 3:
        return s
    s.ask("Read both thermometers.")
    s.answer("", ("north", "cat north.txt", "read the one in the north"), ("south", "cat south.txt", "read the one in the south"))
    s.ran("north", "12")
    s.ran("south", "cat: south.txt: No such file", exit=1)
    s.answer("It is 12 in the north; the one in the south is gone.")
    s.end()
    s.files["signals.json"] = dense({"turnCount": 3, "userMessageCount": 3, "assistantMessageCount": 5, "toolCallCount": 3, "modelsUsed": [MODEL]})
    return s


def rewound():
    s = Session("rewound", 3)
    s.turn("Name a tree for bed one.", "A plum.")
    kept = len(s.history)
    s.turn("And for bed two?", "A walnut.")
    s.turn("Is it not too tall?", "It grows to 20 metres.")
    s.own({"sessionUpdate": "rewind_marker", "target_prompt_index": 1, "created_at": s.stamp().replace("Z", "+00:00")})
    s.prompts = 1
    del s.history[kept:], s.points[1:]
    s.turn("For bed two take a small one.", "A quince.")
    s.files["announcement_state.json"] = dense({"mcp_server_fingerprints": {}, "announced_skill_names": [], "announced_failed_servers": {}})
    return s


def compacted():
    s = Session("compacted", 4)
    s.turn("What was picked on Monday?", "30 kg of plums.")
    s.turn("And on Tuesday?", "12 kg of pears.")
    id = uuid("compacted checkpoint")
    del s.history[1:]
    s.user(INFO, synthetic_reason="compaction_meta")
    s.user("<user_query>\nAnd on Tuesday?\n</user_query>")
    s.user("So far: 30 kg of plums on Monday, 12 kg of pears on Tuesday.", synthetic_reason="compaction_meta")
    s.user(BEDS, synthetic_reason="system_reminder")
    made = s.stamp().replace("Z", "+00:00")
    known = {"checkpoint_id": id, "prompt_index_at_compaction": 2}
    kept = {**known, "compacted_history": s.history[:], "schema_version": 1, "created_at": made, "original_user_info": INFO, "reread_file_paths": []}
    name = f"compaction_checkpoints/{id}.json"
    s.files[name] = pretty(kept)
    s.own({"sessionUpdate": "compaction_checkpoint", **known, "checkpoint_file": name, "schema_version": 1, "created_at": made})
    s.own({"sessionUpdate": "auto_compact_completed", "tokens_before": 140, "tokens_after": 110, "summary_preview": None})
    s.user(BEDS, synthetic_reason="system_reminder")  # the same words twice: that is lawful
    s.ask("Press the pears, and tell me how much that is together.")
    todo = {"content": "Press the pears", "priority": "medium", "status": "pending"}
    s.update("session/update", {"sessionUpdate": "plan", "entries": [todo]}, {"promptId": s.prompt_id})
    s.answer("42 kg; the press is on my list.")
    s.end()
    s.files["plan.json"] = pretty({"todos": {"press": todo}})
    s.files["plan_mode.json"] = pretty({"state": "Inactive", "was_previously_active": False, "reminder_count": 0, "pending_exit_reminder": False, "awaiting_plan_approval": False})
    s.files["compaction/segment_000.md"] = "# segment 000\n\nMonday and Tuesday.\n"
    return s


def copied():
    """The first two turns of orchard. A copy keeps the numbers of the events, with the parent's name in them."""
    parent = orchard(turns=2)
    s = Session("copied", 5)
    s.log, s.history, s.title = parent.log, parent.history, parent.title
    for r in s.log:
        r["timestamp"] = s.ms // 1000
        r["params"]["sessionId"] = s.id
    s.summary |= {"parent_session_id": parent.id, "forked_at": s.stamp(), "session_kind": "fork"}
    s.files["fork_status.json"] = pretty({"kind": "fork", "source_cwd": CWD, "new_cwd": CWD, "truncated": True})
    return s


def helped():
    s = Session("helped", 6)
    s.ask("Let somebody count the ladders.")
    s.say("I send a helper. ")
    child, what, said = f"{s.id[:8]}-{s.id[9:13]}-7444-8555-00000000006a", "count the ladders", "There are 5 ladders."
    asked = {"prompt": "Count the ladders.", "description": what, "background": False}
    s.item("assistant", content="I send a helper. ", tool_calls=[{"id": "call_help", "name": "spawn_subagent", "arguments": dense(asked)}], model_id=MODEL)
    tool = {"version": 1, "name": "spawn_subagent", "kind": "task", "namespace": "grok_build", "label": "Subagent", "read_only": False}
    shown = {"toolCallId": "call_help", "title": "spawn_subagent", "kind": "Other", "status": "Pending"}
    s.streamed({"sessionUpdate": "tool_call", "toolCallId": "call_help", "title": "spawn_subagent", "rawInput": asked, "_meta": {"x.ai/tool": tool, "subagentBackground": False}}, "ToolCall", skip=2, updateParams=shown)
    s.phase("tool_execution")
    s.event("tool_started", tool_name="spawn_subagent")
    s.phase("permission_prompt")
    s.event("permission_requested", tool_name="spawn_subagent")
    s.event("permission_resolved", tool_name="spawn_subagent", decision="allow", wait_ms=0)
    s.phase("tool_execution")
    started = s.stamp()
    who = {"subagent_id": child, "attempt_id": "at1." + digest("helper")[:32]}
    held = s.number + 1  # what is about to run is written late: it is held back for more of its kind
    s.own({"sessionUpdate": "subagent_spawned", **who, "parent_session_id": s.id, "parent_prompt_id": s.prompt_id, "child_session_id": child, "subagent_type": "general-purpose", "description": what, "effective_context_source": "new", "model": "oracle"}, skip=2)
    s.own({"sessionUpdate": "subagent_finished", **who, "child_session_id": child, "status": "completed", "tool_calls": 0, "turns": 1, "duration_ms": 70, "tokens_used": 110, "output": said, "will_wake": False}, skip=8)
    last, s.number = s.number, held - 1
    run = {"sessionUpdate": "tool_call_update", "toolCallId": "call_help", "kind": "other", "title": what, "locations": []}
    run["rawInput"] = {"variant": "Task", "prompt": asked["prompt"], "description": what, "run_in_background": False, "task_id": None}
    s.streamed({**run, "_meta": {"x.ai/tool": tool}}, "ToolCallUpdate", updateParams={"toolCallId": "call_help", "status": None})
    s.number = last
    raw = {"type": "SubagentCompleted", "output": said, "subagent_id": child, "subagent_type": "general-purpose", "tool_calls": 0, "turns": 1, "duration_ms": 70, "worktree_path": None, "resume_from_hint": child}
    s.streamed({"sessionUpdate": "tool_call_update", "toolCallId": "call_help", "status": "completed", "content": blocks(said), "rawOutput": raw}, "ToolCallUpdate", updateParams={"toolCallId": "call_help", "status": "Completed"})
    s.item("tool_result", tool_call_id="call_help", content=f"{said}\n\n<subagent_result>\nsubagent_id: {child}\n</subagent_result>")
    s.event("tool_completed", tool_name="spawn_subagent", duration_ms=70, outcome="success", tool_call_id="call_help")
    s.answer("There are 5.")
    s.end()
    meta = {**who, "parent_session_id": s.id, "child_session_id": child, "subagent_type": "general-purpose", "description": what, "prompt": asked["prompt"], "status": "completed"}
    meta |= {"started_at": started, "completed_at": s.stamp(), "duration_ms": 70, "tool_calls": 0, "turns": 1, "effective_context_source": "new", "child_cwd": CWD, "effective_model_id": "oracle"}
    s.files[f"subagents/{child}/meta.json"] = pretty(meta)
    s.files[f"subagents/{child}/output.json"] = dense({"schema_version": 1, "output": said})
    return s


def first():
    """As the first releases wrote it: items with roles, lines of the log without what is around them, no numbers, no events."""
    s = Session("first", 7)
    s.title = "What grows in bed four?"
    call = {"id": "call_four", "type": "function", "function": {"name": "bash", "arguments": dense({"command": "cat beds/4"})}}
    s.history = [
        {"role": "system", "content": RULES},
        {"role": "user", "content": INFO},
        {"role": "user", "content": "<user_query>\nWhat grows in bed four?\n</user_query>"},
        {"role": "assistant", "content": "I look.", "reasoning_content": "There is a file of each bed.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_four", "content": "medlar"},
        {"role": "assistant", "content": "A medlar."},
    ]
    told = [
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "What grows in bed four?"}},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "I look."}},
        {"sessionUpdate": "tool_call", "toolCallId": "call_four", "title": "bash", "rawInput": {"command": "cat beds/4"}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "call_four", "status": "completed", "content": blocks("medlar"), "rawOutput": {"type": "Bash", "exit_code": 0}},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "A medlar."}},
    ]
    for u in told:
        s.update("", u)
        s.log[-1] = s.log[-1]["params"]
    s.summary |= {"chat_format_version": None}
    return s


def early():
    """Begun by the first releases, and gone on with by ones that kept thoughts and searches in the answer. The paths of files are told in full."""
    s = Session("early", 14)
    s.title = "Which hedge needs a cut?"
    call = {"id": "call_hedge", "type": "function", "function": {"name": "bash", "arguments": dense({"command": "cat hedges.txt"})}}
    s.history = [
        {"role": "system", "content": RULES},
        {"role": "user", "content": INFO},
        {"role": "user", "content": "<user_query>\nWhich hedge needs a cut?\n</user_query>"},
        {"role": "assistant", "content": None, "reasoning_content": "A list of hedges\u00a0is there.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_hedge", "content": [{"type": "text", "text": "north: 3 m"}, {"type": "text", "text": "south: 1 m"}]},
        {"role": "assistant", "content": "The north one.", "refusal": None},
    ]
    told = [
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Which hedge needs a cut?"}},
        {"sessionUpdate": "tool_call", "toolCallId": "call_hedge", "title": "bash", "rawInput": {"command": "cat hedges.txt"}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "call_hedge", "status": "completed", "content": blocks("north: 3 m")},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "The north one."}},
    ]
    for u in told:
        s.update("", u)
        s.log[-1] = s.log[-1]["params"]
    s.prompts = s.turns = 1
    s.ask("When is the best time?")
    s.answer("In February.")
    s.history[-1]["reasoning"] = {"text": "Before birds nest.", "encrypted": "c2Vj", "id": "rs_1"}
    s.end()
    s.ask("Is it allowed then?")
    s.answer("It is, until March.")
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "hedge cutting dates"}}
    s.history[-1]["raw_output"] = [{"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "c2Vj"}, search, {"type": "message", "id": "msg_1"}]
    s.end()
    path = f"{CWD}/hedges.txt"
    s.points[-1]["file_snapshots"] = {path: {"path": path, "content": "north: 3 m\nsouth: 1 m\n", "captured_at": s.stamp()}}
    s.summary |= {"chat_format_version": None}
    return s


def cancelled():
    """The user stopped the second turn: its calls have no end on the log, and in the history an answer that says so."""
    s = Session("cancelled", 8)
    s.turn("Are the sheds open?", "Both are.")
    s.ask("Sweep them.")
    s.answer("I sweep. ", ("shed-1", "sweep shed-1", "sweep the first shed"), ("shed-2", "sweep shed-2", "sweep the second shed"))
    s.output("shed-1", "")
    s.output("shed-2", "")
    for c in ("shed-1", "shed-2"):
        s.item("tool_result", tool_call_id="call_" + c, content=HALTED)
    s.end("cancelled", "cancelled", cancellation_category="mid_turn_abort")
    return s


def stop_call():
    """Killed while a command ran. What was said of it when it began is lost, and its output shows that it did."""
    return shaken("stop-call", 9)


def shaken(name, day):
    s = Session(name, day)
    s.turn("Which trees are old?", "The two pears at the wall.")
    s.ask("Shake them.")
    s.answer("I shake them. ", ("shake", "shake pear-1 pear-2", "shake both pears"))
    s.output("shake", "pear-1 shaken\n")
    s.kill()
    return s


def stop_parallel():
    """Killed when one of three calls had ended: the history has its result, and the log lost its end."""
    s = Session("stop-parallel", 10)
    s.ask("Water three beds.")
    s.answer("All at once. ", *((f"bed-{n}", f"water bed-{n}", f"water bed {n}") for n in (1, 2, 3)))
    s.output("bed-2", "")
    s.output("bed-3", "")
    s.ran("bed-1", "10 l")
    s.kill()
    return s


def stop_approval():
    """Killed while the user was asked about the first of two calls. The second is in the history alone."""
    s = Session("stop-approval", 11, yolo=False)
    s.ask("Cut two branches.")
    s.answer("May I? ", ("cut-1", "cut branch-1", "cut the lower one"), ("cut-2", "cut branch-2", "cut the upper one"), leave=False)
    s.kill()
    return s


def stop_stream():
    """Killed in the middle of an answer, of which nothing is left."""
    s = Session("stop-stream", 12)
    s.turn("Is it going to rain?", "Not today.")
    s.ask("And tomorrow?")
    s.say("Tomorrow it ")
    s.kill()
    return s


def healed():
    """As stop-call, and opened again: the client closed the call in its own way. It ran all the same."""
    s = shaken("healed", 13)
    s.ms += 600_000
    s.item("tool_result", tool_call_id="call_shake", content=CANCELLED)
    s.user(BROKEN, synthetic_reason="system_reminder")
    high, s.number = s.number, 0  # this one is numbered 0
    s.own({"sessionUpdate": "turn_completed", "prompt_id": s.prompt_id, "stop_reason": "interrupted", "agent_result": "The turn broke off."}, skip=0)
    s.number = high
    s.own({"sessionUpdate": "background_tasks", "tasks": []}, skip=2)
    s.event("turn_ended", outcome="interrupted")
    return s


SESSIONS = [tiny, orchard, rewound, compacted, copied, helped, first, cancelled, stop_call, stop_parallel, stop_approval, stop_stream, healed, early]

if __name__ == "__main__":
    to = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for make in SESSIONS:
        make().save(to)

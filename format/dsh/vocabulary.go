package dsh

import "github.com/sessfix/sessfix/session"

// event is what is known of an event type.
type event struct {
	kind        session.Kind
	since, till int // versions in which it is written
	surface     bool
	node        int
	legacy      bool // refused for ever, or only read
}

const last = Newest

func log(kind session.Kind) event { return event{kind: kind, till: last} }

// vocabulary is the required set of the versions together: 48 types of 0.1.1
// (known-event-types.ts) and what later builds added. A type outside of it refuses the log
// unless it is marked ignorable.
var vocabulary = map[string]event{
	"turn/start":            log(session.TurnStart),
	"turn/end":              log(session.TurnEnd),
	"step/start":            log(session.StepStart),
	"step/end":              log(session.StepEnd),
	"user/message":          {kind: session.UserMessage, till: last, surface: true, node: nodeUser},
	"assistant/chunk":       {kind: session.Delta, till: 1},
	"assistant/message":     {kind: session.AssistantMessage, till: last, surface: true, node: nodeAssistant},
	"assistant/attempt":     {kind: session.AttemptEnd, since: 2, till: last},
	"system/message":        {kind: session.SystemMessage, since: 3, till: last, surface: true, node: nodeSystem},
	"developer/message":     {kind: session.SystemMessage, since: 4, till: last, surface: true, node: nodeDeveloper},
	"tool/call":             log(session.CallStarted),
	"tool/result":           {kind: session.CallResult, till: last, surface: true, node: nodeResult},
	"request/header":        log(session.Setting),
	"request/context":       log(session.Setting),
	"session/end-seed":      log(session.SeedEnd),
	"todo/write":            log(session.Note),
	"steering/message":      {kind: session.UserMessage, till: 0, surface: true, node: nodeUser, legacy: true},
	"approval/asked":        log(session.ApprovalAsked),
	"approval/decided":      log(session.ApprovalDecided),
	"compaction/start":      log(session.CompactionStart),
	"compaction/summary":    log(session.Summary),
	"compaction/end":        log(session.CompactionEnd),
	"compact/start":         {kind: session.CompactionStart, till: 0, legacy: true},
	"compact/summary":       {kind: session.Summary, till: 0, legacy: true},
	"compact/end":           {kind: session.CompactionEnd, till: 0, legacy: true},
	"compact/prune":         {kind: session.Note, till: 0, legacy: true},
	"compaction/prune":      log(session.Note),
	"text-chunks":           {kind: session.Delta, till: 1},
	"reasoning-chunks":      {kind: session.Delta, till: 1},
	"tool-call-chunks":      {kind: session.Delta, till: 1},
	"tool/code-dispatch":    {kind: session.Note, till: 2},
	"tool/ptc-dispatch":     {kind: session.Note, since: 3, till: last},
	"agent-preset/selected": log(session.Setting),

	"tool/code-dispatch-start": {kind: session.Note, till: 2},
	"tool/ptc-dispatch-start":  {kind: session.Note, since: 3, till: last},

	"agent/inbox/spliced":             log(session.Note),
	"approval/policy":                 log(session.Setting),
	"command/run":                     log(session.Note),
	"command/done":                    log(session.Note),
	"feedback/record":                 log(session.Note),
	"goal/change":                     log(session.Note),
	"hook/invoked":                    log(session.Note),
	"hook/result":                     log(session.Note),
	"llm/retry":                       log(session.Note),
	"llm/retry-started":               log(session.Note),
	"permission/preset":               log(session.Setting),
	"plan/mode":                       log(session.Setting),
	"sandbox/mode":                    log(session.Setting),
	"schedule/change":                 log(session.Note),
	"session/title":                   log(session.Note),
	"session/title-llm-request":       log(session.Note),
	"subagent/descriptor":             log(session.Setting),
	"team/member":                     log(session.Note),
	"team/task":                       log(session.Note),
	"team/message/queued":             log(session.Note),
	"team/message/delivered":          log(session.Note),
	"tool-workflow/run-start":         log(session.Note),
	"tool-workflow/run-end":           log(session.Note),
	"tool-workflow/agent-start":       log(session.Note),
	"tool-workflow/agent-end":         log(session.Note),
	"web/deepseek-search-llm-request": log(session.Note),

	"deliverables/presented":                 later(2),
	"feedback/message-put":                   later(2),
	"feedback/message-delete":                later(2),
	"fork/session-source":                    later(2),
	"plugin:fork/session-source":             later(2),
	"image/offload":                          later(2),
	"model/selection":                        later(2),
	"session-log-deepseek/delivery-accepted": later(2),
	"subagent/catalog":                       later(2),
	"subagent/model-selection-policy":        later(2),
	"workspace/changes":                      later(2),
}

func later(since int) event { return event{kind: session.Note, since: since, till: last} }

// retired types are refused by every build, ignorable or not.
var retired = map[string]bool{"request/header-delta": true, "mode/set": true}

package dsh

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// frozenMembers says which members the migrations admit in each payload. The migrations freeze
// what releases had written when they were made and refuse whatever else a payload holds, while
// the client of version 0 looks at none of it.
//
// A line is a record with its members: an event type, or @name for what lies inside of others.
// "?" is optional, ":" gives the form of the value, "=" the values that are admitted, "..."
// admits any other member as well. A name with a dot stands for one form of the record, chosen
// by the values that this member has; "-" is its absence, "*" any other text, "**" anything else.
//
// "^2" holds from version 2 on and "!2" before it: in the name of an event and of a member the
// log's own version counts, in a form the version that the migration writes.
//
// From deepseek-ai/deepseek-harness, packages session-format-v0-to-v1 (dispositions,
// payload-validation), session-format-v1-to-v2 (dispositions) and session-format-v2-to-v3 (payload).
const frozenMembers = `
agent-preset/selected   agentPreset:string
agent/inbox/spliced     target=next-turn|next-step start:count inserted:[@user] removedCount?:count outcome?=canceled
approval/asked          id:text toolName:text callId?:text reason?:string
approval/decided        id:text outcome=allowed-once|rejected|cancelled|unavailable
approval/policy         policy=ask|never source?=delegation
assistant/chunk!2       chunk:@chunk ...
assistant/attempt^2     turn:positive step:positive stream:[@stream]
assistant/message       turn:count step:count message:@assistant usage?:@usage interrupted?=#true stream^2:[@stream]
command/done            commandId:text kind=success|error text?:string sourceEventSeq?:earlier
command/run             commandId:text name:text source:@byUser args?:string
compaction/start        compactionId:text turn:count|null sourceCommandId?:text
compaction/end          compactionId:text turn:count|null sourceCommandId?:text error?:string
compaction/prune        shadowedRange:@range shadowedSeqs:[earlier]+ shadowedTokenCount:count
compaction/summary      compactionId:text summary:[@block] shadowedRange:@range shadowedSeqs:[earlier]+ shadowedTokenCount:count provider:text model:text sourceCommandId?:text maxTokens?:count usage?:@usage rawOutput?:[@block] llmStreamCall?=#true
feedback/record         text:text
feedback/message-put^2      sessionId:string item:@feedback
feedback/message-delete^2   sessionId:string messageId:string
goal/change.operation clear kind=goal/change version=#1 cleared:@goalRef clearedAt:count
goal/change.operation create|edit|pause|resume|complete|block kind=goal/change version=#1 goal:@goal roundsStarted:count createdAt:count updatedAt:count
hook/invoked            turn:count point:text dialect=claude-code|codex handlerId:text matcher?:string
hook/result             turn:count point:text handlerId:text decision:text durationMs:duration exitCode?:integer stderrSummary?:string
llm/retry.mode normal   retryId:text turn:count step:count provider:text policyKey:text retry:positive delayMs:delay failure:@failure maxRetries:positive
llm/retry.mode always   retryId:text turn:count step:count provider:text policyKey:text retry:positive delayMs:delay failure:@failure
llm/retry-started       retryId:text turn:count step:count retry:positive
model/selection         provider:text model:text reasoningEffort?:text
permission/preset       preset:text
plan/mode               active:bool
request/context         provider:text model:text contextWindow?:positive
request/header          header:@header reason=initial|resume|change|series startsSeries?=#true
sandbox/mode            mode=read-only|workspace-write|danger-full-access source?=delegation
schedule/change.operation create   version=#1 schedule:@schedule
schedule/change.operation delete   version=#1 id:trimmed
schedule/change.operation dispatch version=#1 id:trimmed acceptedAt?:instant
session-log-deepseek/delivery-accepted sessionId:any throughSeq:any sessionFormatVersion?^1:count
session/end-seed        inherited?^2=#true
session/title           title:text messageSeqs:[earlier] source:@titleSource
session/title-llm-request titleProvider:text messageSeqs:[earlier]+ route:@route system:string messages:[@message] maxTokens:positive
step/start              turn:count step:count
step/end                turn:count step:count
subagent/descriptor.mode one-shot    version=#3 provider:text label?:string
subagent/descriptor.mode continuable version=#3 provider:text label:text agentProvider?:text agentModel?:text agentReasoningEffort?:text persona?:text toolFilter?:@toolFilter
subagent/model-selection-policy allowedModels:[@route]+
team/member             version=#1 teamId:text member:@member
team/message/delivered  version=#1 teamId:text messageId:text targetId:text
team/message/queued     version=#1 teamId:text message:@teamMessage
team/task               version=#1 teamId:text task:@task
todo/write              todos:[@todo]
tool-workflow/agent-end runId:text seq:positive outcome=completed|failed|cancelled
tool-workflow/agent-start runId:text seq:positive label:string childId:text phase?:string
tool-workflow/run-end   runId:text stopReason=completed|cancelled|error
tool-workflow/run-start runId:text name:text
tool/call               turn:count step:count callId:text name:text arguments:string
tool/code-dispatch-start rootCallId:text parentCallId:text subCallId:text name:text arguments:any
tool/code-dispatch      rootCallId:text parentCallId:text subCallId:text name:text arguments:any isError:bool content:[@block]
tool/result             turn:count step:count message:@result error?:@error meta?:any
turn/start              turn:count
turn/end                turn:count reason:@reason
user/message            role=user id:text content:[@block] source:@source
web/deepseek-search-llm-request endpoint:text apiVersion:text body:@search

text-chunks!2           turn:count step:count index:count dt:[integer] texts:[string]+
reasoning-chunks!2      turn:count step:count index:count dt:[integer] texts:[string]+
tool-call-chunks!2      turn:count step:count index:count dt:[integer] id:text name?:string args:[string]+

@user                   id:text role=user content:[@block] source:@source
@assistant              id:text role=assistant content:[@block] source:@model
@result                 id:text role=user content:[@block] source:@tool
@message                id:text role=system|user|assistant content:[@block] source:@source

@block.type text|reasoning text:string
@block.type image       attachment:@image
@block.type file^3      attachment:@file
@block.type tool-call   id:text name:text arguments:string
@block.type tool-result toolCallId:text content:[@block] isError?:bool
@block.type *!3         ...
@image                  attachmentId:text mediaType=image/png|image/jpeg|image/webp|image/gif bytes:count width:positive height:positive name?:string originalDimensions?:@size
@size                   width:positive height:positive
@file                   attachmentId:text name:string bytes:count

@chunk.type block-start^3 blockType=text|reasoning|image|file|tool-call|tool-result ...
@chunk.type block-end^3 block:@block ...
@chunk.type **          ...
@stream.type chunk      chunk:@chunk ...
@stream.type **         ...

@source.kind user       rpcId?:text clientTimeZone?:text
@source.kind plugin     -> @plugin
@source.kind model      provider:text model:text replayState?:any
@source.kind tool       callId:text
@source.kind agent-instructions form=instructions changes:[@instruction] baseline?=#true baselineIdentity?:text
@source.kind session-reference form=recall version=#1 references:[@reference]+
@source.kind team-message teamId:text messageId:text senderId:text senderName:string
@source.kind goal       goalId:text revision:positive round:positive
@source.kind skill-invocation name:text form=instructions
@source.kind skill-catalog form=catalog entries:[@skill] update?=#true
@source.kind coordinator|subagent-report form=relay senderSessionId:text
@source.kind subagent-settled form=notice summary:string senderSessionId:text
@source.kind webhook    provider:text source:text deliveryId:text ruleId:text form=notice summary:string
@source.kind agent-message^3 form=relay senderSessionId:text
@source.kind *!3        ...
@model                  kind=model provider:text model:text replayState?:any
@tool                   kind=tool callId:text
@plugin.form -          kind=plugin plugin:text compactionId?:text sourceCommandId?:text sections?:any summary?:any
@plugin.form instructions|catalog|relay|recall kind=plugin plugin:text compactionId?:text sourceCommandId?:text
@plugin.form snapshot   kind=plugin plugin:text compactionId?:text sourceCommandId?:text sections:[@section]
@plugin.form notice     kind=plugin plugin:text compactionId?:text sourceCommandId?:text summary:string
@section                name:text text:string
@instruction            action=set|replace|remove scope:string path:string digest?:string
@reference              sessionId:text label:string capturedThroughSeq:count|null compacted:bool originalMessages:count retainedMessages:count omittedMessages:count omittedBytes:count truncated:bool inputIndex:count capturedFormatVersion?^1:positive
@skill                  name:text description:string

@usage                  inputTokens:count outputTokens:count totalTokens?:count cacheReadTokens?:count cacheWriteTokens?:count reasoningTokens?:count
@failure                message:text code:text status?:status providerRetryAfterMs?:above0 requestId?:text
@error                  name:text code:text
@reason.kind completed|blocked|max-tokens|interrupted
@reason.kind aborted    reason:@cause
@reason.kind error      error:@failure
@reason.kind *          ...
@cause.kind user|parent|disposed|legacy
@cause.kind hook        reason:string

@header                 config:@config adapterDefaults?:@defaults system?:string tools?:[@toolSchema]
@config                 provider:text model:text reasoningEffort?:text temperature?:number maxTokens?:positive stop?:[string]
@defaults               reasoningEffort?=#true maxTokens?=#true
@toolSchema             name:text description:string parameters:object
@route                  provider:text model:text
@range                  start:earlier end:earlier
@byUser                 kind=user
@titleSource.kind provider provider:text model?:@route
@titleSource.kind fallback|user
@goalRef                id:text revision:positive
@goal.phase active|paused|complete id:text revision:positive objective:text maxGoalRounds:positive
@goal.phase blocked     id:text revision:positive objective:text maxGoalRounds:positive blockedReason:@blocked
@blocked                code:text message:text
@schedule.kind after    id:trimmed prompt:text afterSeconds:positive scheduledAt:instant
@schedule.kind at       id:trimmed prompt:text scheduledAt:instant
@schedule.kind every    id:trimmed prompt:text everySeconds:positive scheduledAt:instant
@toolFilter             allow?:[text] deny?:[text]
@member                 id:text name:string description:string provider:string context=fresh|fork phase=provisioning|active|failed error?:string
@teamMessage            id:text senderId:text senderName:string targetId:text delivery=quiet|wakeup content:[@block]
@task                   id:text revision:positive subject:string description:string status=pending|in_progress|completed|deleted blockedBy:[text] writeScopes:[string] ownerId?:text
@todo                   content:string status=pending|in_progress|completed
@feedback               messageId:string rating=positive|negative version:string createdAt:count updatedAt:count note?:string
@search                 model:text max_tokens:positive messages:[@query]1 tools:[@searchTool]1
@query                  role=user content:[@queryText]1
@queryText              type=text text:string
@searchTool             type=web_search_20250305 name=web_search max_uses:positive
`

// versions are those from the first up to, but not with, the last.
type versions struct{ from, till int }

func (v versions) hold(version int) bool { return version >= v.from && version < v.till }

// member is one member of a frozen record.
type member struct {
	name     string
	optional bool
	versions versions
	form     string // of the value, "" where only values are admitted
	values   []string
}

// frozen is one form of a record.
type frozen struct {
	values   []string // of the member that chooses this form
	versions versions // parallel to the migration's target
	other    string   // the form is that of another record
	members  []member
	open     bool
}

// record is a line, or the lines of one record with several forms.
type record struct {
	versions versions
	by       string // the member that chooses the form, "" where there is one form only
	forms    []frozen
}

// frozenTable parses the table once, when the first target is asked about.
var frozenTable = sync.OnceValue(func() map[string]*record {
	table, err := parseFrozen(frozenMembers)
	if err != nil {
		panic(err)
	}
	return table
})

func parseFrozen(text string) (map[string]*record, error) {
	table := map[string]*record{}
	for n, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name, v, err := versioned(words[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		words = words[1:]
		name, by, several := strings.Cut(name, ".")
		f := frozen{versions: versions{0, 99}}
		if several {
			if len(words) == 0 {
				return nil, fmt.Errorf("line %d: no values", n+1)
			}
			var values string
			if values, f.versions, err = versioned(words[0]); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			f.values, words = strings.Split(values, "|"), words[1:]
		}
		rec := table[name]
		if rec == nil {
			rec = &record{versions: v, by: by}
			table[name] = rec
		} else if !several || rec.by != by {
			return nil, fmt.Errorf("line %d: %s stands twice", n+1, name)
		}
		if err := f.parse(words); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		rec.forms = append(rec.forms, f)
	}
	for name, rec := range table {
		for _, f := range rec.forms {
			for _, m := range f.members {
				if at := strings.IndexByte(m.form, '@'); at >= 0 && table[strings.TrimRight(m.form[at:], "]+1")] == nil {
					return nil, fmt.Errorf("%s: nothing says what %s is", name, m.form)
				}
			}
			if f.other != "" && table[f.other] == nil {
				return nil, fmt.Errorf("%s: nothing says what %s is", name, f.other)
			}
		}
	}
	return table, nil
}

func (f *frozen) parse(words []string) error {
	for i, w := range words {
		if w == "..." {
			f.open = true
			continue
		}
		if w == "->" && i+2 == len(words) {
			f.other = words[i+1]
			return nil
		}
		m := member{}
		at := strings.IndexAny(w, ":=")
		if at < 0 {
			return fmt.Errorf("%q is no member", w)
		}
		if w[at] == ':' {
			m.form = w[at+1:]
		} else {
			m.values = strings.Split(w[at+1:], "|")
		}
		var err error
		if m.name, m.versions, err = versioned(w[:at]); err != nil {
			return err
		}
		m.name, m.optional = strings.CutSuffix(m.name, "?")
		f.members = append(f.members, m)
	}
	return nil
}

// versioned cuts "^2" or "!2" off a word.
func versioned(word string) (string, versions, error) {
	at := strings.IndexAny(word, "^!")
	if at < 0 {
		return word, versions{0, 99}, nil
	}
	v, err := strconv.Atoi(word[at+1:])
	if word[at] == '^' {
		return word[:at], versions{v, 99}, err
	}
	return word[:at], versions{0, v}, err
}

// object is a JSON object as encoding/json gives it, numbers as json.Number.
type object = map[string]any

// payload holds a payload against the table.
type payload struct {
	source int   // version of the log
	edge   int   // version that the migration writes
	seq    int64 // of the event
	found  *unlistedAt
}

// unlistedAt is where a member stands that the table does not list.
type unlistedAt struct{ where, name string }

// problem says what the migration refuses in the payload of an event, "" for nothing.
func (p payload) problem(typ string, data any) string {
	if rec := frozenTable()[typ]; rec == nil || typ[0] == '@' || !rec.versions.hold(p.source) {
		return "is of a type that it cannot transform"
	}
	return p.record(typ, data, "")
}

// record checks one record; where is its path inside of the payload.
func (p payload) record(name string, value any, where string) string {
	o, ok := value.(object)
	if !ok {
		return at(where, "is no object")
	}
	if problem, done := p.first(name, o); done {
		return at(where, problem)
	}
	rec := frozenTable()[name]
	f, problem := rec.form(p, o, where)
	if problem != "" {
		return problem
	}
	if f.other != "" {
		return p.record(f.other, value, where)
	}
	if problem := f.check(p, rec.by, o, where); problem != "" {
		return problem
	}
	return at(where, p.rule(name, o))
}

// form chooses the form that a record has.
func (rec *record) form(p payload, o object, where string) (*frozen, string) {
	if rec.by == "" {
		return &rec.forms[0], ""
	}
	raw, has := o[rec.by]
	text, isText := raw.(string)
	for i := range rec.forms {
		f := &rec.forms[i]
		if !f.versions.hold(p.edge) {
			continue
		}
		for _, v := range f.values {
			if v == "**" || v == "-" && !has || v == "*" && isText && text != "" || isText && v == text {
				return f, ""
			}
		}
	}
	var known []string
	for i := range rec.forms {
		if f := &rec.forms[i]; f.versions.hold(p.edge) {
			known = append(known, f.values...)
		}
	}
	return nil, at(under(where, rec.by), "is none of "+strings.Join(known, ", "))
}

// check holds members against those that are admitted.
func (f *frozen) check(p payload, by string, o object, where string) string {
	for i := range f.members {
		m := &f.members[i]
		if !m.versions.hold(p.source) {
			continue
		}
		v, has := o[m.name]
		if !has {
			if m.optional {
				continue
			}
			return at(under(where, m.name), "is missing")
		}
		path := under(where, m.name)
		if m.form == "" {
			if !admitted(v, m.values) {
				return at(path, "is none of "+strings.ReplaceAll(strings.Join(m.values, ", "), "#", ""))
			}
			continue
		}
		if problem := p.value(m.form, v, path); problem != "" {
			return problem
		}
	}
	if f.open {
		return ""
	}
	extra := ""
	for name := range o {
		if name != by && !f.lists(p, name) && (extra == "" || name < extra) {
			extra = name
		}
	}
	if extra != "" {
		if p.found != nil {
			*p.found = unlistedAt{where, extra}
		}
		return at(where, fmt.Sprintf("holds the unlisted member %q", short([]byte(extra))))
	}
	return ""
}

func (f *frozen) lists(p payload, name string) bool {
	for i := range f.members {
		if f.members[i].name == name && f.members[i].versions.hold(p.source) {
			return true
		}
	}
	return false
}

// at says where in a payload a problem lies; the payload itself has no name.
func at(where, problem string) string {
	if problem == "" || where == "" {
		return problem
	}
	return where + " " + problem
}

func under(where, name string) string {
	if where == "" {
		return name
	}
	return where + "." + name
}

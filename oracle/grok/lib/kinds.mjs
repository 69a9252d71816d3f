// The kinds of damage, one line each: base -> kind -> what is done to its draft.
const zeros = count => Buffer.alloc(count)
const joined = (...parts) => Buffer.concat(parts.map(part => Buffer.from(part)))
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** It may be refused, or mended by what the rest tells. */
const either = damage => Object.assign(damage, { either: true })
/** The client can do with it as it is. */
const clean = damage => Object.assign(damage, { clean: true })

const ASSISTANT = '"type":"assistant"'
const RESULT = '"tool_result"'
const CALL = '"sessionUpdate":"tool_call"'
const END = '"status":"completed"'
const CHUNK = '"agent_message_chunk"'
const PROMPTED = '"user_message_chunk"'
const TURN_END = '"turn_completed"'

/** The same damage in each of the two logs. */
const inBoth = kinds => Object.fromEntries(['history', 'log'].flatMap(name => Object.entries(kinds).map(([kind, damage]) => [`${name}-${kind}`, Object.assign(s => damage(s[name]), damage)])))

const answer = page => [page.lines.some(line => line.includes(CHUNK)) ? CHUNK : ASSISTANT, 'Four barrels.']

export const kinds = {
  talk: {
    'nothing': clean(() => {}),
    ...inBoth({
      'torn-tail': p => p.cut(20),
      'torn-tail-long': p => p.cut(400),
      'torn-tail-ended': p => p.tear([p.lines.at(-1)], { part: 0.7 }),
      'torn-in-a-letter': p => { p.add(joined('{"type":"user","content":[{"type":"text","text":"caf', [0xc3])); p.end = zeros(0) },
      'no-line-feed': p => { p.end = zeros(0) },
      'torn-line': p => p.tear(answer(p)),
      'glued-torn': p => p.tear(answer(p), { open: true }),
      'glued-whole': p => { const at = p.at(...answer(p)); p.lines.splice(at, 2, joined(p.lines[at], p.lines[at + 1])) },
      'nul-tail': p => { p.end = joined('\n', zeros(256)) },
      'nul-line': p => p.behind(answer(p), zeros(32)),
      'nul-before-a-record': p => p.swap(answer(p), joined(zeros(16), p.line(...answer(p)))),
      'nul-in-place-of-a-record': p => p.swap(answer(p), zeros(p.line(...answer(p)).length)),
      'bad-utf8': p => p.swap(answer(p), joined(p.line(...answer(p)).toString().split('barrels')[0], [0xff, 0xfe], p.line(...answer(p)).toString().split('barrels')[1])),
      'bad-utf8-in-a-torn-line': p => p.behind(answer(p), joined('{"type":"assistant","content":"caf', [0xc3])),
      'garbage-line': p => p.behind(answer(p), 'garbage'),
      'number-line': p => p.behind(answer(p), '7'),
      'bom': p => { p.lines[0] = joined(BOM, p.lines[0]) },
      'crlf': p => { p.lines = p.lines.map(line => joined(line, '\r')) },
      'blank-lines': p => p.behind(answer(p), '', ' '),
    }),
    'both-torn-tails': (s) => { s.history.cut(20); s.log.cut(150) },
    'all-torn-tails': (s) => { s.history.cut(20); s.log.cut(150); s.events.cut(20) },
    'log-call-torn': s => s.log.tear([CALL, 'call_a']),
    'log-call-gone': s => s.log.drop(CALL, 'call_a'),
    'log-end-torn': s => s.log.tear([END, 'call_a']),
    'log-end-gone': s => s.log.drop(END, 'call_b'),
    'log-prompt-torn': s => s.log.tear([PROMPTED, 'store']),
    'log-turn-end-gone': s => s.log.drop(TURN_END),
    'log-old-turn-end-torn': (s) => { const first = s.log.lines.findIndex(line => line.includes(TURN_END)); s.log.lines[first] = s.log.lines[first].subarray(0, 90) },
    'log-line-twice': s => s.log.behind([CHUNK, 'Two boats.'], s.log.line(CHUNK, 'Two boats.')),
    'log-empty': s => s.write('updates.jsonl', ''),
    'log-gone': s => s.remove('updates.jsonl'),
    'log-without-envelopes': s => { s.log.lines = s.log.lines.map((line) => { const { method, params } = JSON.parse(line); return Buffer.from(JSON.stringify(method === 'session/update' ? params : JSON.parse(line))) }) },
    'history-prompt-torn': s => s.history.tear(['"type":"user"', 'store']),
    'history-call-torn': s => s.history.tear([ASSISTANT, 'call_a'], { part: 0.8 }),
    'history-call-gone': s => s.history.drop(ASSISTANT, 'call_a'),
    'history-calls-gone': s => s.history.drop(ASSISTANT, 'call_b'),
    'history-result-torn': s => s.history.tear([RESULT, 'call_a']),
    'history-result-gone': s => s.history.drop(RESULT, 'call_a'),
    'history-result-of-two-gone': s => s.history.drop(RESULT, 'call_b'),
    'history-result-twice': s => s.history.behind([RESULT, 'call_a'], s.history.line(RESULT, 'call_a')),
    'history-result-twice-other': s => s.history.behind([RESULT, 'call_a'], s.history.line(RESULT, 'call_a').toString().replace('exit: 0', 'exit: 1')),
    'history-result-behind-a-false-one': s => s.history.behind([ASSISTANT, 'call_a'], denial('call_a')),
    'history-result-false': s => s.history.swap([RESULT, 'call_a'], denial('call_a')),
    'history-result-false-and-no-end': (s) => { s.history.swap([RESULT, 'call_a'], denial('call_a')); s.log.drop(END, 'call_a') },
    'history-result-displaced': s => s.history.move([RESULT, 'call_a'], [ASSISTANT, 'Four barrels.']),
    'history-result-at-the-end': s => s.history.move([RESULT, 'call_a'], [ASSISTANT, 'Two boats.']),
    'history-result-in-front': (s) => { const line = s.history.line(RESULT, 'call_a'); s.history.drop(RESULT, 'call_a'); s.history.behind(['"type":"user"', 'store'], line) },
    'history-results-swapped': s => s.history.move([RESULT, 'call_b'], [RESULT, 'call_c']),
    'history-orphan': s => s.history.behind([ASSISTANT, 'Four barrels.'], '{"type":"tool_result","tool_call_id":"call_of_nobody","content":"a tale"}'),
    'history-system-gone': s => s.history.drop('"type":"system"'),
    'history-user-a-string': s => s.history.edit(['"type":"user"', 'store'], line => line.replace(/"content":\[.*\],"prompt/, '"content":"<user_query>\\nWhat is in the store?\\n</user_query>","prompt')),
    'history-empty': s => s.write('chat_history.jsonl', ''),
    'history-blank': s => s.write('chat_history.jsonl', '\n'),
    'history-blanks': s => s.write('chat_history.jsonl', ' \n\t\n'),
    'history-nul': s => s.write('chat_history.jsonl', zeros(512)),
    'history-gone': s => s.remove('chat_history.jsonl'),
    'history-behind-by-a-turn': s => s.history.cutBehind(ASSISTANT, 'Four barrels.'),
    'history-behind-by-an-answer': s => s.history.cutBehind(RESULT, 'call_c'),
    'log-behind-by-a-turn': s => s.log.lines.splice(s.log.at(PROMPTED, 'quay')),
    'cut-at-a-call': (s) => { s.history.cutBehind(ASSISTANT, 'call_b'); s.log.cutBehind(CALL, 'call_b'); s.events.lines.length = s.events.lines.findLastIndex(line => line.includes('permission_resolved')) },
    'cut-at-a-call-no-events': (s) => { s.history.cutBehind(ASSISTANT, 'call_b'); s.log.cutBehind(CALL, 'call_b'); s.remove('events.jsonl') },
    'old-call-open': (s) => { s.history.drop(RESULT, 'call_a'); s.log.drop(END, 'call_a') },
    'events-torn-tail': s => s.events.cut(20),
    'events-turn-end-gone': s => s.events.drop('"turn_ended"'),
    'events-empty': s => s.write('events.jsonl', ''),
    'events-gone': s => s.remove('events.jsonl'),
    'events-bad-utf8': s => s.events.behind(['"loop_started"'], joined('{"ts":"', [0xff])),
    'summary-empty': s => s.write('summary.json', ''),
    'summary-torn': s => s.write('summary.json', s.read('summary.json').subarray(0, -60)),
    'summary-nul': s => s.write('summary.json', zeros(s.read('summary.json').length)),
    'summary-a-list': s => s.write('summary.json', '[]'),
    'summary-without-info': s => s.summary({ info: undefined }),
    'summary-gone': s => s.remove('summary.json'),
    'summary-counts-wrong': s => s.summary({ num_messages: 3, num_chat_messages: 90 }),
    'summary-no-version': s => s.summary({ chat_format_version: undefined }),
    'summary-empty-history-empty': (s) => { s.write('summary.json', ''); s.write('chat_history.jsonl', '') },
    'points-torn-tail': s => s.points.cut(10),
    'points-torn-line': s => s.points.tear(['"prompt_index":1']),
    'plan-torn': s => s.write('plan.json', '{\n  "todos": {\n    "1": {\n      "content": "count the bar'),
    'plan-empty': s => s.write('plan.json', ''),
    'signals-torn': s => s.write('signals.json', '{"turnCount":'),
  },
  rewound: {
    'nothing': clean(() => {}),
    'history-empty': s => s.write('chat_history.jsonl', ''),
    'history-blank': s => s.write('chat_history.jsonl', '\n'),
    'history-torn-tail': s => s.history.cut(20),
    'history-result-gone': s => s.history.drop(RESULT, 'call_c'),
    'log-torn-tail': s => s.log.cut(20),
    'log-marker-torn': s => s.log.tear(['"rewind_marker"']),
    'log-marker-gone': s => s.log.drop('"rewind_marker"'),
    'log-dead-call-torn': s => s.log.tear([CALL, 'call_b']),
    'summary-empty-history-empty': (s) => { s.write('summary.json', ''); s.write('chat_history.jsonl', '') },
  },
  compacted: {
    'nothing': clean(() => {}),
    'history-empty': s => s.write('chat_history.jsonl', ''),
    'history-gone': s => s.remove('chat_history.jsonl'),
    'history-torn-tail': s => s.history.cut(20),
    'history-torn-summary': s => s.history.tear(['continued from']),
    'history-call-gone': s => s.history.drop(ASSISTANT, 'call_b'),
    'log-border-torn': s => s.log.tear(['"compaction_checkpoint"']),
    'log-old-call-torn': s => s.log.tear([CALL, 'call_a']),
    'checkpoint-gone': s => s.names(/^compaction_checkpoints\//).forEach(name => s.remove(name)),
    'checkpoint-torn': s => s.names(/^compaction_checkpoints\//).forEach(name => s.write(name, s.read(name).subarray(0, 300))),
    'checkpoint-gone-history-empty': either((s) => { s.names(/^compaction_checkpoints\//).forEach(name => s.remove(name)); s.write('chat_history.jsonl', '') }),
  },
  delegated: {
    'nothing': clean(() => {}),
    'history-result-gone': s => s.history.drop(RESULT, 'call_s'),
    'log-end-torn': s => s.log.tear([END, 'call_s']),
    'log-child-end-torn': s => s.log.tear(['"subagent_finished"']),
    'cut-while-it-runs': (s) => { s.history.cutBehind(ASSISTANT, 'call_s'); s.log.cutBehind('"subagent_spawned"'); s.events.cutBehind('permission_resolved') },
    'meta-torn': s => s.names(/^subagents\/.*meta\.json$/).forEach(name => s.write(name, s.read(name).subarray(0, 60))),
  },
  stopped: {
    'nothing': () => {},
    'history-torn-tail': s => s.history.cut(20),
    'history-torn-call': (s) => { s.history.drop(RESULT, 'call_a'); s.history.cut(100) },
    'history-call-gone': s => s.history.drop(ASSISTANT, 'call_a'),
    'history-empty': s => s.write('chat_history.jsonl', ''),
    'log-torn-tail': s => s.log.cut(20),
    'log-call-torn': s => s.log.tear([CALL, 'call_b']),
    'log-gone': s => s.remove('updates.jsonl'),
    'events-torn-tail': s => s.events.cut(20),
    'events-gone': s => s.remove('events.jsonl'),
    'terminal-gone': s => s.names(/^terminal\//).forEach(name => s.remove(name)),
    'nul-tails': (s) => { s.history.end = joined('\n', zeros(64)); s.log.end = joined('\n', zeros(64)); s.events.end = joined('\n', zeros(64)) },
    'summary-torn': s => s.write('summary.json', s.read('summary.json').subarray(0, -60)),
  },
  reopened: {
    'nothing': () => {},
    'history-torn-tail': s => s.history.cut(20),
    'true-result-behind': s => s.history.behind([RESULT, 'call_a'], '{"type":"tool_result","tool_call_id":"call_a","content":"exit: 0\\na is done"}'),
  },
}

/** What the client writes of a call that it finds open. */
function denial(id) {
  return `{"type":"tool_result","tool_call_id":"${id}","content":"Tool execution was cancelled by the user (tool \`run_terminal_command\` was not executed)."}`
}

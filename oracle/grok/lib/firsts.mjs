// Sessions as the first releases wrote them, as recipes: { name, files, lost } where the client loses lines of the history that sessfix keeps;
// and those that sessfix must refuse: { name, files }.
import { crc32, deflateSync } from 'node:zlib'
import { HISTORY, LOG, SUMMARY } from './session.mjs'

const ID = '019a0000-0000-7000-8000-0000000000bb'
const CWD = '/home/dev/project'
const SECOND = 1_777_622_400

const summary = (more = {}) => JSON.stringify({
  info: { id: ID, cwd: CWD }, session_summary: 'Lamps', created_at: '2026-05-01T08:00:00Z', updated_at: '2026-05-01T08:00:00Z', num_messages: 4, num_chat_messages: 4,
  current_model_id: 'oracle', next_trace_turn: 1, grok_home: '/home/dev/.grok', last_active_at: '2026-05-01T08:00:00Z', generated_title: 'Lamps', ...more,
}, null, 2)

const text = words => ({ type: 'text', text: words })
let number = 0
const bare = (update, more = {}) => ({ sessionId: ID, update, _meta: { eventId: `${ID}-${number += 1}`, agentTimestampMs: (SECOND + number) * 1000, ...more } })
const said = (kind, words) => bare({ sessionUpdate: kind, content: text(words) })
const call = id => bare({ sessionUpdate: 'tool_call', toolCallId: id, title: 'bash', rawInput: { command: 'ls' } })
const done = (id, words) => bare({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed', content: [{ type: 'content', content: text(words) }] })
const wrapped = (params, method = 'session/update') => ({ timestamp: SECOND + number, method, params })

const HEAD = [
  { role: 'system', content: 'You are a coding agent.' },
  { role: 'user', content: `<user_info>\nWorkspace Path: ${CWD}\n</user_info>` },
]
const query = words => ({ role: 'user', content: `<user_query>\n${words}\n</user_query>` })
const asks = (id, more = {}, args = '{"command":"ls"}') => ({ role: 'assistant', content: 'I look.', tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: args } }], ...more })
const gives = (id, content) => ({ role: 'tool', tool_call_id: id, content })
const answers = (content, more = {}) => ({ role: 'assistant', content, ...more })
const item = (content, more = {}) => ({ type: 'assistant', content, ...more })

const lines = records => Buffer.from(records.map(record => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join(''))
const TALK = [said('user_message_chunk', 'Who keeps the lamp?'), said('agent_message_chunk', 'I look.'), call('c1'), done('c1', 'Tove'), said('agent_message_chunk', 'Tove.')]
const session = (history, log = TALK, more = {}) => new Map([[HISTORY, lines(history)], [LOG, lines(log)], [SUMMARY, Buffer.from(summary(more))]])
const asked = (...history) => session([...HEAD, query('Who keeps the lamp?'), ...history])

/** A red square. */
export function png() {
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind), data])
    const ends = [Buffer.alloc(4), Buffer.alloc(4)]
    ends[0].writeUInt32BE(data.length)
    ends[1].writeUInt32BE(crc32(body))
    return Buffer.concat([ends[0], body, ends[1]])
  }
  const head = Buffer.from([0, 0, 0, 32, 0, 0, 0, 32, 8, 2, 0, 0, 0])
  const row = Buffer.from([0, ...Array(32).fill([255, 0, 0]).flat()])
  const bytes = Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.concat(Array(32).fill(row)))), chunk('IEND', Buffer.alloc(0))])
  return `data:image/png;base64,${bytes.toString('base64')}`
}

const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'lamps' } }
const thought = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'It is a lamp.' }], encrypted_content: 'x' }

export const firsts = [
  { name: 'words', files: session([...HEAD, query('Who keeps the lamp?'), answers('Tove.')], [TALK[0], TALK[4]]) },
  { name: 'a call', files: asked(asks('c1', { model_id: 'oracle-1' }), gives('c1', 'Tove'), answers('Tove.')) },
  { name: 'thoughts', files: asked(asks('c1', { reasoning_content: 'In the book.\n"Lamps"' }), gives('c1', 'Tove'), answers('Tove.', { reasoning_content: '' })) },
  { name: 'members in another order, escapes, and more of them', files: asked('{"content":"\\u0049 look.","name":"n","role":"assistant","x":1.50,"tool_calls":[{"function":{"arguments":"{}","name":"bash","strict":true},"id":"c1","index":0,"type":"function"}]}', gives('c1', 'Tove'), answers('Tove.')) },
  { name: 'a result in parts', files: asked(asks('c1'), gives('c1', [text('To'), text('ve')]), answers([text('Tove'), text('keeps it.')])) },
  { name: 'an image', files: asked(asks('c1'), gives('c1', 'Tove'), answers('Tove.'), { role: 'user', content: [text('<user_query>\nAnd this?\n</user_query>'), { type: 'image_url', image_url: { url: png() } }] }, answers('A dot.')) },
  { name: 'no content', lost: true, files: asked(asks('c1', { content: null }), gives('c1', 'Tove'), answers('Tove.')) },
  { name: 'no content member', lost: true, files: asked(asks('c1', { content: undefined }), gives('c1', 'Tove'), answers('Tove.')) },
  { name: 'arguments that are no text', lost: true, files: asked(asks('c1', {}, { command: 'ls' }), gives('c1', 'Tove'), answers('Tove.')) },
  { name: 'a call without a type', lost: true, files: asked({ role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'bash', arguments: '{}' } }] }, gives('c1', 'Tove'), answers('Tove.')) },
  { name: 'a type of its own', files: asked(asks('c1', { type: 'message' }), gives('c1', 'Tove'), answers('Tove.')) },
  { name: 'items with thoughts', files: asked(asks('c1'), gives('c1', 'Tove'), item('Tove.', { reasoning: { text: 'Sure.', encrypted: 'x', id: 'rs_0' }, model_id: 'oracle-1' })) },
  { name: 'items with what the provider gave', files: asked(asks('c1'), gives('c1', 'Tove'), item('Tove.', { raw_output: [thought, search, { type: 'message', id: 'm' }], reasoning: { text: 'Sure.' } }), query('Sure?'), item('Yes.', { raw_output: [search, { type: 'custom_tool_call', id: 'ct_1', call_id: 'x', name: 'x_search', input: 'lamps' }, { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', container_id: 'c', code: '1', outputs: [] }] })) },
  { name: 'an old session that a new client went on with', files: session(
    [...HEAD, query('Who keeps the lamp?'), asks('c1'), gives('c1', 'Tove'), answers('Tove.'), { type: 'user', content: [text('<user_query>\nSure?\n</user_query>')], prompt_index: 1 }, { type: 'assistant', content: 'Yes.', model_id: 'oracle-1' }],
    [...TALK, wrapped(bare({ sessionUpdate: 'user_message_chunk', content: text('Sure?'), _meta: { promptIndex: 1, modelId: 'oracle-1' } })), wrapped(bare({ sessionUpdate: 'agent_message_chunk', content: text('Yes.') }, { promptId: 'p' })),
      wrapped(bare({ sessionUpdate: 'turn_completed', prompt_id: 'p', stop_reason: 'end_turn' }), '_x.ai/session/update')], { chat_format_version: 1 }) },
  { name: 'a history of today without its version', files: session([{ type: 'system', content: 's' }, { type: 'user', content: [text('<user_query>\nWho keeps the lamp?\n</user_query>')], prompt_index: 0 }, { type: 'assistant', content: 'Tove.' }], [TALK[0], TALK[4]]) },
  { name: 'a call that the log tells no end of', files: session([...HEAD, query('Who keeps the lamp?'), asks('c1'), gives('c1', 'Tove'), answers('Tove.'), query('Sure?'), answers('Yes.')], [TALK[0], TALK[2], TALK[4], said('user_message_chunk', 'Sure?'), said('agent_message_chunk', 'Yes.')]) },
  { name: 'a last call that the log tells no end of', files: asked(asks('c1'), gives('c1', 'Tove'), answers('Tove.')).set(LOG, lines([TALK[0], TALK[2]])) },
  { name: 'paths of rewind points', files: new Map([...asked(asks('c1'), gives('c1', 'Tove'), answers('Tove.')), ['rewind_points.jsonl', lines([{ prompt_index: 0, created_at: '2026-05-01T08:00:00Z', file_snapshots: { [`${CWD}/lamp.txt`]: { path: `${CWD}/lamp.txt`, content: 'oil', captured_at: '2026-05-01T08:00:00Z' } }, after_snapshots: {} }])]]) },
]

const with_ = (files, name, bytes) => new Map([...files, [name, Buffer.from(bytes)]])
const WORDS = firsts[0].files

export const refused = [
  { name: 'a later history', files: with_(WORDS, SUMMARY, summary({ chat_format_version: 2 })) },
  { name: 'a later compaction', files: with_(WORDS, 'compaction_checkpoints/k.json', '{"schema_version":2}') },
  { name: 'a later workflow', files: with_(WORDS, 'workflows/r/state.json', '{"version":5}') },
  { name: 'a role that the client does not know', files: asked({ role: 'developer', content: 'd' }, answers('Tove.')) },
  { name: 'a line of neither form', files: asked(answers('Tove.'), { note: 1 }) },
  { name: 'a line of the log of neither form', files: session([...HEAD, query('a'), answers('b')], [TALK[0], { update: { sessionUpdate: 'x' } }]) },
  { name: 'a part that no item has', files: asked({ role: 'user', content: [{ type: 'input_audio' }] }) },
]

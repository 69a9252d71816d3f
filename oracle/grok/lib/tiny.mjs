// A session that was killed while the second of two calls ran, written by hand, for the self-test.
export const ID = '019a0000-0000-7000-8000-0000000000aa'
const TIME = '2026-05-01T08:00:00Z'
const SECOND = 1_777_622_400

export const update = (n, value, kind = 'session/update') => JSON.stringify({ timestamp: SECOND, method: kind, params: { sessionId: ID, update: value, _meta: { eventId: `${ID}-${n}`, agentTimestampMs: SECOND * 1000, ...kind === 'session/update' && { promptId: 'p0' } } } })
export const text = words => ({ content: { type: 'text', text: words } })
const call = id => ({ id, name: 'run_terminal_command', arguments: '{"command":"ls"}' })

export const tiny = {
  'chat_history.jsonl': [
    { type: 'system', content: 'You are a coding agent.' },
    { type: 'user', content: [{ type: 'text', text: '<user_query>\nWhat is in the store?\n</user_query>' }], prompt_index: 0 },
    { type: 'assistant', content: 'I look.', tool_calls: [call('barrels'), call('crew')], model_id: 'oracle-1' },
    { type: 'tool_result', tool_call_id: 'barrels', content: 'exit: 0\nfour barrels' },
  ].map(item => JSON.stringify(item)),
  'updates.jsonl': [
    update(1, { sessionUpdate: 'user_message_chunk', ...text('What is in the store?'), _meta: { promptIndex: 0, modelId: 'oracle-1' } }),
    update(2, { sessionUpdate: 'agent_message_chunk', ...text('I look.') }),
    ...['barrels', 'crew'].map((id, n) => update(n + 3, { sessionUpdate: 'tool_call', toolCallId: id, title: 'run_terminal_command', rawInput: { command: 'ls' } })),
    update(5, { sessionUpdate: 'tool_call_update', toolCallId: 'barrels', status: 'completed', content: [{ type: 'content', ...text('four barrels') }] }),
  ],
  'events.jsonl': [{ ts: TIME, type: 'turn_started', session_id: ID, turn_number: 0, schema_version: '1.0' }, { ts: TIME, type: 'loop_started', loop_index: 0 }].map(event => JSON.stringify(event)),
  'summary.json': [JSON.stringify({ info: { id: ID, cwd: '/home/dev/project' }, session_summary: '', created_at: TIME, updated_at: TIME, num_messages: 5, num_chat_messages: 4, current_model_id: 'oracle-1', chat_format_version: 1 })],
}

export const tinyFiles = () => new Map(Object.entries(tiny).map(([name, lines]) => [name, Buffer.from(`${lines.join('\n')}\n`)]))

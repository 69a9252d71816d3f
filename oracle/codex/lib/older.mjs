// Rollouts of older kinds that no client at hand writes any more: bare ones, and legacy ones with every event that has a place in a newer
// rollout. The talk is invented. { name, files, refused }: `refused` where the client's own migration must refuse, and sessfix with it.

const NOON = Date.UTC(2026, 2, 1, 12)
let threads = 0

const named = () => `019d1a00-2222-7222-8333-${String(++threads).padStart(12, '0')}`
const fileOf = (thread, lines) => ({ name: `rollout-2026-03-01T12-00-00-${thread}.jsonl`, archived: false, bytes: Buffer.from(lines.map(line => `${JSON.stringify(line)}\n`).join('')) })
const text = (role, words) => ({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: words }] })

function bare(name, items, header = {}) {
  const thread = named()
  return { name: `bare ${name}`, files: [fileOf(thread, [{ id: thread, timestamp: '2026-03-01T12:00:00.000Z', instructions: null, ...header }, ...items])] }
}

const state = { record_type: 'state' }
const bared = item => ({ id: null, ...item })
const context = '<environment_context>\n  <cwd>/home/mara/ferry</cwd>\n  <shell>sh</shell>\n</environment_context>'

export function bareSources() {
  return [
    bare('talk', [state, bared(text('user', context)), bared(text('user', 'When is low water?')), state, bared(text('assistant', 'At four.')), state]),
    bare('calls', [
      bared(text('user', 'Look at both.')),
      { type: 'function_call', id: null, name: 'shell', arguments: '{"command":["ls"]}', call_id: 'call_1' },
      { type: 'local_shell_call', id: null, call_id: 'call_2', status: 'completed', action: { type: 'exec', command: ['date'] } },
      { type: 'function_call_output', call_id: 'call_2', output: '{"output":"noon","metadata":{"exit_code":0}}' }, state,
      { type: 'function_call_output', call_id: 'call_1', output: '{"output":"a","metadata":{"exit_code":0}}' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Two places.' }], content: null, encrypted_content: 'c2VhbGVk' },
      bared(text('assistant', 'Both are there.')), bared(text('user', 'Thanks, <b>really</b>.')), bared(text('assistant', '"Gern." ☕')),
    ], { instructions: 'Be brief.', git: { commit_hash: 'c0ffee', branch: 'main', repository_url: 'https://example.org/ferry.git' } }),
    bare('stopped in a call', [bared(text('user', 'Run it.')), { type: 'function_call', id: null, name: 'shell', arguments: '{}', call_id: 'call_1' }]),
    bare('an image', [bared({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' }] }), bared(text('assistant', 'A dot.'))]),
  ]
}

function legacy(name, records, { refused = false, strict = false } = {}) {
  const thread = named()
  const header = { id: thread, timestamp: '2026-03-01T12:00:00.000Z', cwd: '/home/mara/ferry', originator: 'codex_cli_rs', cli_version: '0.100.0', source: 'cli', model_provider: 'oracle', base_instructions: { text: 'Be brief.' } }
  const lines = [['session_meta', header], ...records].map(([type, payload], n) => ({ timestamp: new Date(NOON + n).toISOString(), type, payload }))
  return { name: `legacy ${name}`, files: [fileOf(thread, lines)], refused, strict }
}

const event = (type, members = {}) => ['event_msg', { type, ...members }]
const item = payload => ['response_item', payload]
const started = id => event('task_started', { turn_id: id, model_context_window: 1000 })
const ended = id => event('task_complete', { turn_id: id, last_agent_message: 'x' })
const person = words => [item(text('user', words)), event('user_message', { message: words })]
const model = words => [event('agent_message', { message: words }), item(text('assistant', words))]
const back = turns => event('thread_rolled_back', { num_turns: turns })
const settings = ['turn_context', { cwd: '/home/mara/ferry', approval_policy: 'never', sandbox_policy: { type: 'read-only' }, model: 'm', summary: 'auto' }]
const aside = item(text('user', context))
const duration = { secs: 0, nanos: 5 }
const patch = (id, turn) => event('patch_apply_end', { call_id: id, ...turn ? { turn_id: turn } : {}, stdout: '', stderr: 'no', success: false, changes: {}, status: 'failed' })

export function legacySources() {
  return [
    legacy('every event', [
      started('t1'), item(text('user', 'hi')),
      event('user_message', { message: 'hi', images: ['data:image/png;base64,AAAA', 'u2'], image_details: ['high', null], local_images: ['/a.png'], local_image_details: ['low'], text_elements: [{ byte_range: { start: 0, end: 2 }, placeholder: 'x' }], kind: 'plain', client_id: 'c', audio: ['au'], local_audio: ['/b'] }),
      event('agent_reasoning', { text: 'one' }), event('agent_reasoning', { text: 'two' }), event('agent_reasoning_raw_content', { text: 'raw' }),
      event('token_count', { info: null, rate_limits: null }), event('agent_reasoning', { text: 'three' }), event('agent_message', { message: 'mid', phase: 'commentary' }),
      event('agent_reasoning', { text: 'four' }), event('agent_message', { message: '' }), event('agent_reasoning', { text: '' }), event('context_compacted'),
      event('exec_command_end', { call_id: 'c1', turn_id: 't1', command: ['ls'], cwd: '/tmp', parsed_cmd: [], stdout: 'a', stderr: '', aggregated_output: 'a', exit_code: 0, duration, formatted_output: 'a', status: 'completed' }),
      event('exec_command_end', { call_id: 'c1b', turn_id: 'tX', command: ['ls'], cwd: 'file:///tmp', parsed_cmd: [], source: 'user_shell', stdout: '', stderr: 'e', aggregated_output: '', exit_code: -1, duration, formatted_output: '', status: 'failed', process_id: '12' }),
      event('patch_apply_end', { call_id: 'c2', turn_id: 't1', stdout: 'ok', stderr: '', success: true, changes: { '/a': { type: 'add', content: 'x' } }, status: 'completed' }),
      event('mcp_tool_call_end', { call_id: 'c3', invocation: { server: 's', tool: 't', arguments: { a: 1 } }, duration, result: { Ok: { content: [{ type: 'text', text: 'r' }], isError: false } }, app_name: 'an', read_only_hint: true }),
      event('mcp_tool_call_end', { call_id: 'c4', invocation: { server: 's', tool: 't' }, duration, result: { Err: 'bad' } }),
      event('web_search_end', { call_id: 'c5', query: 'q', action: { type: 'search', query: 'q' } }),
      event('image_generation_end', { call_id: 'c6', status: 'completed', revised_prompt: 'p', result: 'AAAA', saved_path: '/x.png' }),
      event('dynamic_tool_call_response', { call_id: 'c7', turn_id: 't1', tool: 'tt', arguments: { a: 1 }, content_items: [{ type: 'inputText', text: 'x' }], success: true, error: null, duration }),
      event('sub_agent_activity', { event_id: 's1', kind: 'started', agent_thread_id: '019d1a00-2222-7222-8333-0000000000aa', agent_path: '/srv/w' }),
      event('entered_review_mode', { target: { type: 'uncommittedChanges' }, user_facing_hint: 'h' }), event('entered_review_mode', { prompt: 'look' }), event('exited_review_mode', { review_output: null }),
      event('item_completed', { thread_id: '019d1a00-2222-7222-8333-0000000000aa', turn_id: 't1', item: { type: 'Plan', id: 'p1', text: 'plan' }, completed_at_ms: 5 }),
      item({ type: 'message', role: 'user', id: 'm1', content: [{ type: 'input_text', text: '<hook_prompt hook_run_id="h1">do &lt;x&gt; &amp; y</hook_prompt>' }] }),
      ended('t1'), patch('c8', 't1'), patch('c9', 'zz'), event('turn_started', { turn_id: 't2', model_context_window: null }), event('turn_aborted', { turn_id: 't2', reason: 'replaced' }), ...person('end'), ...model('so'),
    ]),
    legacy('no turns', [...person('a'), ...model('b'), event('agent_reasoning', { text: 'later' }), ...person('c'), event('turn_aborted', { reason: 'interrupted' }), ...person('d'), ...model('e'), started('t9'), ...person('f'), ...model('g'), event('turn_aborted', { reason: 'interrupted' })]),
    legacy('what is not known', [started('t1'), ...person('a'), event('poem', { x: 1 }), ['poem', { x: 'keep me' }], item({ type: 'ghost_snapshot', ghost_commit: { id: 'abc', parent: null } }), event('thread_name_updated', { thread_name: 'n' }), event('web_search_end', { call_id: 'c', query: 'q' }), ...model('b'), ended('t1')]),
    legacy('taken back', [started('t1'), aside, settings, ...person('a'), ...model('1'), ended('t1'), started('t2'), settings, aside, ...person('b'), patch('c1', 't1'), ...model('2'), ended('t2'), ...person('c'), ...model('3'), back(2), patch('c2', 't2'), back(0), ...person('d'), ...model('4'), ...person('e'), back(1), ...person('f'), ...model('5')]),
    legacy('all taken back', [...person('a'), ...model('1'), ...person('b'), ...model('2'), back(1), item(text('user', 'c')), event('user_message', { message: 'other' }), ...model('3'), back(1), ...model('4'), ...person('g'), back(9), item(text('user', '# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nq\n</INSTRUCTIONS>')), ...person('h'), ...model('5')]),
    legacy('taken back behind a summary', [started('t1'), ...person('a'), ...model('1'), ['compacted', { message: 's', replacement_history: [text('user', 'a'), text('user', 's')] }], ended('t1'), started('t2'), ...person('b'), ...model('2'), ended('t2'), back(1), started('t3'), ...person('c'), ...model('3'), ended('t3')]),
    legacy('taken back behind a summary, without turns', [...person('a'), ...model('1'), ['compacted', { message: 's', replacement_history: [text('user', 's')] }], ...person('b'), ...model('2'), back(1), ...person('c'), ...model('3')], { strict: true }),
    legacy('half a turn taken back', [started('t1'), ...person('a'), ...model('1'), ended('t1'), started('t2'), ...person('b'), ...model('2'), ...person('steer'), ...model('3'), ended('t2'), back(1), started('t3'), ...person('n'), ...model('4'), ended('t3')]),
    legacy('taken back across a summary', [...person('a'), ...model('1'), ['compacted', { message: 's' }], ...person('b'), ...model('2'), back(2), ...person('c'), ...model('3')], { refused: true }),
    legacy('taken back across a summary that replaces', [...person('a'), ...model('1'), ['compacted', { message: 's', replacement_history: [text('user', 'a'), text('user', 's')] }], ...person('b'), ...model('2'), back(2), ...person('c'), ...model('3')], { strict: true }),
    legacy('an item that is not known', [...person('a'), item({ type: 'poem' }), ...model('b')], { refused: true }),
  ]
}

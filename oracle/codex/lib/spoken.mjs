// Rollouts that hold what no session of the others does: pictures, pieces, long words, calls in odd orders, summaries of summaries. The
// talk is invented. { name, files }

const NOON = Date.UTC(2026, 2, 1, 12)
let threads = 0

const DOT = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
// What the client calls the first agent of a thread. It reads no records of agents under other paths.
const FIRST = `/${'root'}`
const LONG = 'Sand and gulls, gulls and sand. é'

function rollout(name, records, { paginated = false, instructions = { text: 'Be brief.' } } = {}) {
  const thread = `019d1b00-2222-7222-8333-${String(++threads).padStart(12, '0')}`
  const header = { id: thread, timestamp: '2026-03-01T12:00:00.000Z', cwd: '/home/mara/ferry', originator: 'codex_cli_rs', cli_version: '0.171.0', source: 'cli', model_provider: 'oracle', base_instructions: instructions, ...paginated ? { history_mode: 'paginated' } : {} }
  const lines = [['session_meta', header], ...records].map(([type, payload], n) => ({ timestamp: new Date(NOON + n).toISOString(), ...paginated ? { ordinal: n } : {}, type, payload }))
  return { name: `spoken ${name}`, files: [{ name: `rollout-2026-03-01T12-00-00-${thread}.jsonl`, archived: false, bytes: Buffer.from(lines.map(line => `${JSON.stringify(line)}\n`).join('')) }] }
}

const item = payload => ['response_item', payload]
const event = (type, members = {}) => ['event_msg', { type, ...members }]
const message = (role, ...texts) => item({ type: 'message', role, content: texts.map(text => ({ type: role === 'assistant' ? 'output_text' : 'input_text', text })) })
const person = text => [message('user', text), event('user_message', { message: text, images: [] })]
const model = text => [event('agent_message', { message: text }), message('assistant', text)]
const call = (id, name = 'exec_command', input = '{"cmd":"ls"}', more = {}) => item({ type: 'function_call', call_id: id, name, arguments: input, ...more })
const output = (id, words = `of ${id}`) => item({ type: 'function_call_output', call_id: id, output: words })
const summed = message => ['compacted', { message }]
const context = message('user', '<environment_context>\n  <cwd>/w</cwd>\n</environment_context>')

export function spokenSources() {
  return [
    rollout('pictures and pieces', [
      item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, { type: 'input_image', image_url: DOT }, { type: 'input_text', text: ' ' }] }),
      event('user_message', { message: 'What is this?', images: [DOT] }), ...model('A dot.'), ...person('Look again.'), call('call_1', 'view_image', '{"path":"/a.png"}'),
      item({ type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'here' }, { type: 'input_text', text: 'it is' }] }), ...model('Two\n\nparts.'), message('assistant', 'One', 'and two.'),
    ]),
    rollout('calls of every kind', [
      ...person('All of them.'), call('call_1', 'find', '{"a":1}', { namespace: 'mail' }), output('call_1'), call('call_2', 'x', 'no json'), output('call_2', ''),
      item({ type: 'local_shell_call', call_id: 'call_3', status: 'completed', action: { type: 'exec', command: ['ls'], timeout_ms: null } }), output('call_3'),
      item({ type: 'custom_tool_call', call_id: 'call_4', name: 'apply_patch', input: '*** "Begin"\n' }), item({ type: 'custom_tool_call_output', call_id: 'call_4', output: 'ok' }),
      item({ type: 'tool_search_call', call_id: 'call_5', execution: 'client', arguments: { query: 'q' } }), item({ type: 'tool_search_output', call_id: 'call_5', execution: 'client', status: 'completed', tools: [] }),
      item({ type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } }), ...model('Done.'),
    ]),
    rollout('calls in odd orders', [
      ...person('a'), call('call_1'), call('call_2'), output('call_2'), output('call_1'), message('assistant', 'between'), call('call_3'), message('assistant', 'behind'), output('call_3'),
      call('call_4'), call('call_5'), output('call_5'), message('assistant', 'while one runs'), output('call_4'), ...model('end'),
    ]),
    rollout('calls that nobody answered', [...person('a'), call('call_1'), ...model('It did not come back.'), ...person('b'), call('call_2'), call('call_3'), output('call_3'), ...model('One of two.'), ...person('c'), call('call_4')], { paginated: true }),
    rollout('an output of another kind', [...person('a'), call('call_1'), item({ type: 'custom_tool_call_output', call_id: 'call_1', output: 'ok' }), ...model('b'), output('call_9')], { paginated: true }),
    rollout('old summaries', [context, ...person('a'), ...model('1'), ...person('b'), summed('first'), ...person('c'), ...model('2'), summed(''), ...person('d'), ...model('3')]),
    rollout('an old summary of long words', [...person(LONG.repeat(3000)), ...model('1'), ...person('short'), summed('first'), ...person('d'), ...model('3')]),
    rollout('an old summary of many long words', [...person(LONG.repeat(1500)), ...person(LONG.repeat(1001)), ...person(LONG.repeat(500)), summed('first'), ...person('d'), ...model('3')]),
    rollout('what was taken back in front of an old summary', [...person('a'), ...model('1'), ...person('b'), ...model('2'), event('thread_rolled_back', { num_turns: 1 }), ...person('c'), summed('s'), ...person('d')]),
    rollout('agents', [
      ...person('a'), item({ type: 'agent_message', author: FIRST, recipient: `${FIRST}/b`, content: [{ type: 'input_text', text: 'go' }] }), ...model('1'),
      ['inter_agent_communication', { author: `${FIRST}/b`, recipient: FIRST, content: 'gone', trigger_turn: true }], ...model('2'),
    ]),
    rollout('no instructions', [message('developer', 'rules', 'more rules'), context, ...person('a'), ...model('1')], { instructions: null }),
    rollout('a new history', [
      ...person('a'), ...model('1'),
      ['compacted', { message: 's', replacement_history: [message('developer', 'rules')[1], message('user', 'a')[1], call('call_1')[1], output('call_1')[1], message('user', 's')[1]] }],
      ...person('b'), ...model('2'),
    ], { paginated: true }),
    rollout('an empty new history', [...person('a'), ...model('1'), ['compacted', { message: 's', replacement_history: [] }], ...person('b'), ...model('2')], { paginated: true }),
    rollout('a sealed summary', [...person('a'), ...model('1'), ['compacted', { message: '', replacement_history: [message('user', 'a')[1], { type: 'compaction', encrypted_content: 'c2VhbGVk' }] }], ...person('b'), ...model('2')], { paginated: true }),
  ]
}

// A session with items of each sort that the client writes and the recipes do not bring about, written by hand: what the provider ran, what a person said in between, an
// image, results that came in another order, an answer without words.
import { png } from './firsts.mjs'
import { HISTORY, LOG, SUMMARY } from './session.mjs'
import { text, tiny, update } from './tiny.mjs'

const part = words => ({ type: 'text', text: words })
const query = words => part(`<user_query>\n${words}\n</user_query>`)
const user = (content, more = {}) => ({ type: 'user', content, ...more })
const call = (id, input) => ({ id, name: 'run_terminal_command', arguments: input })
const said = (content, more = {}) => ({ type: 'assistant', content, model_id: 'oracle-1', ...more })
const gives = (id, content) => ({ type: 'tool_result', tool_call_id: id, content })
const ran = kind => ({ type: 'backend_tool_call', kind })
const thought = (id, words, more = {}) => ({ type: 'reasoning', id, summary: [{ type: 'summary_text', text: words }], ...more })

const history = [
  { type: 'system', content: 'You are a coding agent.' },
  user([part('<user_info>\nOS Version: linux\n</user_info>')]),
  user([query('Who keeps the lamp?'), part('Ask in the store.')], { prompt_index: 0 }),
  thought('rs_1', 'I search.', { content: [{ type: 'reasoning_text', text: 'Far and wide.' }], encrypted_content: 'c2Vj' }),
  ran({ tool_type: 'web_search', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'lamps "of old"' } }),
  ran({ tool_type: 'web_search', id: 'ws_2', status: 'completed', action: { type: 'open_page', url: 'https://example.org/lamps' } }),
  ran({ tool_type: 'web_search', id: 'ws_3', status: 'completed', action: { type: 'find', url: 'https://example.org/lamps', pattern: 'Tove' } }),
  ran({ tool_type: 'x_search', id: 'xs_1', call_id: 'xc', name: 'x_keyword_search', input: '{"query":"lamps"}' }),
  ran({ tool_type: 'code_interpreter', id: 'ci_1', code: `print("${'ö'.repeat(20)}${'lamp '.repeat(30)}")`, container_id: 'c', outputs: null, status: 'completed' }),
  thought('rs_2', 'Then I ask.'),
  said('I ask.', { tool_calls: [call('c1', '{"command": "ls", "n": 1.0}'), call('c2', '{"command":"ls -l"}'), call('c3', '')] }),
  gives('c2', 'exit: 0\nfour barrels'),
  gives('c1', ''),
  gives('c3', 'exit: 0\n\n\na rope\n'),
  said('Tove keeps it.'),
  said(''),
  user([query('And this?'), { type: 'image', url: png() }], { prompt_index: 1 }),
  said('A red square.'),
  thought('rs_3', 'Nobody reads that.'),
  user([part('The user sent a message while you were working:\n<user_query>\nIs it large?\n</user_query>')], { synthetic_reason: 'interjection' }),
  said('It is not.'),
  user([part('A task ended.')], { synthetic_reason: 'task_completed', prompt_index: 2 }),
  said('So it did.'),
  user([part('You were stopped:\n<user_query>\nGo on.\n</user_query>\nEnd what is open.')], { prompt_index: 3, prior_turn_interrupt: 'mid_turn_abort' }),
  said('Done.'),
  thought('rs_4', 'Nor that.'),
]
const prompts = ['Who keeps the lamp?', 'And this?', 'A task ended.', 'Go on.']
const log = prompts.flatMap((words, n) => [
  update(4 * n + 1, { sessionUpdate: 'user_message_chunk', ...text(words), _meta: { promptIndex: n, modelId: 'oracle-1' } }),
  ...n > 0 ? [] : ['c1', 'c2', 'c3'].flatMap(id => [
    update(2, { sessionUpdate: 'tool_call', toolCallId: id, title: 'run_terminal_command', rawInput: {} }),
    update(2, { sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed', content: [] }),
  ]),
  update(4 * n + 3, { sessionUpdate: 'agent_message_chunk', ...text('An answer.') }),
  update(4 * n + 4, { sessionUpdate: 'turn_completed', prompt_id: `p${n}`, stop_reason: 'end_turn' }, '_x.ai/session/update'),
])
const lines = list => Buffer.from(`${list.join('\n')}\n`)

export const sorts = {
  name: 'an item of each sort',
  files: new Map([[HISTORY, lines(history.map(item => JSON.stringify(item)))], [LOG, lines(log)], [SUMMARY, lines(tiny[SUMMARY])]]),
}

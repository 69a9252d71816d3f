// A small family for the self-test: a parent that was killed in a call, with half a line behind it, and a child that went on from
// its first turn.
const PARENT = '019e0001-1111-7222-8333-000000000001'
const CHILD = '019e0002-1111-7222-8333-000000000002'
const ORIGIN = { cwd: '/home/mara/ferry', originator: 'x', cli_version: '0.171.0', model_provider: 'oracle' }
const WHEN = '2026-05-01T08:00:00.000Z'

function pages(thread, first = 0) {
  const lines = []
  const add = (type, payload) => lines.push(`${JSON.stringify({ timestamp: WHEN, ordinal: first + lines.length, type, payload })}\n`)
  const say = (role, text) => add('response_item', { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] })
  const page = {
    header: more => add('session_meta', { id: thread, timestamp: WHEN, ...ORIGIN, history_mode: 'paginated', ...more }),
    begin(turn, prompt) {
      add('event_msg', { type: 'task_started', turn_id: turn })
      say('user', prompt)
      const content = [{ type: 'text', text: prompt, text_elements: [] }]
      add('event_msg', { type: 'item_completed', thread_id: thread, turn_id: turn, item: { type: 'UserMessage', id: `${turn} user`, content }, completed_at_ms: 1 })
    },
    end(turn, words) {
      say('assistant', words)
      add('event_msg', { type: 'task_complete', turn_id: turn, last_agent_message: words })
    },
    call: id => add('response_item', { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'exec_command', arguments: '{"cmd":"ls"}' }),
    text: () => lines.join(''),
    cut: () => ({ thread_id: thread, end_ordinal_exclusive: first + lines.length, end_byte_offset: Buffer.byteLength(lines.join('')) }),
  }
  return page
}

export function tinyFamily() {
  const parent = pages(PARENT)
  parent.header()
  parent.begin('t1', 'Which boat is it?')
  parent.end('t1', 'The Vess boat.')
  const base = parent.cut()
  const child = pages(CHILD, base.end_ordinal_exclusive)
  child.header({ history_base: base, forked_from_id: PARENT, forked_from_ordinal_exclusive: base.end_ordinal_exclusive })
  child.begin('c1', 'And who steers it?')
  child.end('c1', 'Tove.')
  parent.begin('t2', 'List the crew.')
  parent.call('crew')
  const file = (thread, text) => ({ name: `rollout-2026-05-01T08-00-00-${thread}.jsonl`, bytes: Buffer.from(text), archived: false })
  return [file(PARENT, `${parent.text()}{"timestamp":"2026-05-01T08:0`), file(CHILD, child.text())]
}

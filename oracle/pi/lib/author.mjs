// Writes healthy sessions, record by record, as the client writes them. A record has a name, by which a kind of damage finds it.
const ZERO = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }
export const CWD = '/home/user/harbour'
export const SESSION = '019d0b00-1111-7222-8333-000000000001'
const START = Date.UTC(2026, 3, 1, 9, 30)

/** Takes records; each stands behind the one before it unless it is hung elsewhere with `goTo`. */
export function author({ version = 3 } = {}) {
  const named = new Map([['header', { type: 'session', version, id: SESSION, timestamp: new Date(START).toISOString(), cwd: CWD }]])
  let leaf = null
  const time = () => START + named.size * 1000
  const put = (name, type, fields) => {
    const id = `b${String(named.size).padStart(7, '0')}`
    named.set(name, { type, id, parentId: leaf, timestamp: new Date(time()).toISOString(), ...fields })
    leaf = id
    return book
  }
  const message = (name, fields) => put(name, 'message', { message: { ...fields, timestamp: time() } })
  const book = {
    put,
    message,
    user: (name, text) => message(name, { role: 'user', content: [{ type: 'text', text }] }),
    answer: (name, text, calls = [], stopReason = calls.length > 0 ? 'toolUse' : 'stop') => message(name, {
      role: 'assistant', content: [...text === '' ? [] : [{ type: 'text', text }], ...calls.map(id => ({ type: 'toolCall', id, name: 'bash', arguments: { command: `count ${id}` } }))],
      api: 'openai-completions', provider: 'oracle', model: 'oracle-1', usage: ZERO, stopReason,
    }),
    result: (name, call, text) => message(name, { role: 'toolResult', toolCallId: call, toolName: 'bash', content: [{ type: 'text', text }], isError: false }),
    goTo(name) {
      leaf = name === null ? null : named.get(name).id
      return book
    },
    id: name => named.get(name).id,
    rows: () => new Map(structuredClone([...named])),
  }
  return book
}

/** The oldest generation: no version, no ids. */
export function plain(rows) {
  return new Map([...rows].map(([name, row]) => {
    const { version, id, parentId, ...rest } = row
    return [name, row.type === 'session' ? { ...rest, id } : rest]
  }))
}

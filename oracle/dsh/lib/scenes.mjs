// The sessions that generate.mjs writes. Short on purpose: Go tests cut each of them at every byte.
import { Author, call } from './author.mjs'

export const CWD = '/home/ada/orchard'

const COUNT = call('call-count', 'read', { path: 'trees.txt' })
const WATER = call('call-water', 'bash', { command: 'water --row 3' })
const PRUNE = call('call-prune', 'bash', { command: 'prune --row 1' })
const WEIGH = call('call-weigh', 'read', { path: 'crates.txt' })

/** One turn, one question, one answer. */
export async function tiny(session) {
  const a = new Author(session)
  a.openTurn()
  a.openStep()
  a.user('m-q', 'Ripe?')
  a.request()
  a.answer('m-r', ['Yes.'])
  a.closeStep()
  a.closeTurn()
}

/** Two closed turns: a parallel pair of calls, an approval, a retry, a todo list, a compaction, packed rows. */
export async function orchard(session, save) {
  const a = new Author(session)
  a.log('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [
    { id: 'm-u1', role: 'user', content: [{ type: 'text', text: 'Count the trees – and water row 3 🌳' }], source: { kind: 'user' } },
  ] })
  a.openTurn()
  a.log('agent/inbox/spliced', { target: 'next-turn', start: 0, removedCount: 1, inserted: [] })
  a.openStep()
  const asked = a.user('m-u1', 'Count the trees – and water row 3 🌳')
  a.request()
  a.answer('m-a1', ['Looking ', 'at ', 'both.'], [COUNT, WATER])
  a.log('approval/asked', { id: 'ap-1', toolName: 'bash', callId: WATER.id, reason: 'changes something' })
  a.start(COUNT)
  a.log('approval/decided', { id: 'ap-1', outcome: 'allowed-once' })
  a.start(WATER)
  await save()
  a.result(WATER, 'tap is dry', { name: 'ToolError', code: 'EXIT_2' })
  a.result(COUNT, '14 trees\u2028of 15\n')
  a.closeStep()
  await save()
  a.openStep()
  a.log('llm/retry', { retryId: 'try-1', turn: 1, step: 2, provider: 'mock', mode: 'normal', policyKey: 'default', retry: 1, delayMs: 250, maxRetries: 2, failure: { message: 'busy', code: 'OVERLOADED' } })
  a.log('llm/retry-started', { retryId: 'try-1', turn: 1, step: 2, retry: 1 })
  a.log('todo/write', { todos: [{ content: 'mend the tap', status: 'pending' }] })
  a.answer('m-a2', ['14 trees; ', 'the tap ', 'is "dry".'])
  a.closeStep()
  a.closeTurn()
  a.log('session/title', { title: 'Counting trees', messageSeqs: [asked.seq], source: { kind: 'fallback' } })
  await save()
  a.compact('cmp-1', '14 trees were counted; the tap is dry.')
  await save()
  a.openTurn()
  a.openStep()
  a.user('m-u2', 'Thanks. Anything left?')
  a.request('change')
  a.answer('m-a3', ['Only ', 'the ', 'tap.'])
  a.closeStep()
  a.closeTurn()
  await save()
}

/** A fork child lives on: one more turn of its own. */
export async function branch(session) {
  const a = new Author(session)
  a.openTurn(3)
  a.openStep()
  a.user('m-b1', 'And the pears?')
  a.answer('m-b2', ['None ', 'yet.'])
  a.closeStep()
  a.closeTurn()
}

/** A delegated helper: its descriptor stands inside its first turn. */
export async function helper(session) {
  const a = new Author(session)
  a.openTurn()
  a.log('subagent/descriptor', { version: 2, mode: 'one-shot', provider: 'in-process', label: 'weigh the crates' })
  a.openStep()
  a.user('m-h1', 'Weigh the crates.')
  a.request()
  a.answer('m-h2', [], [WEIGH])
  a.start(WEIGH)
  a.result(WEIGH, '3 crates, 41 kg')
  a.closeStep()
  a.openStep()
  a.answer('m-h3', ['41 kg.'])
  a.closeStep()
  a.closeTurn()
}

/** Where a second turn can stop. The client saves before a tool runs, so those points are real. */
export const STOPS = {
  'turn-start': 'turn 2 was opened and nothing else',
  'step-start': 'a step was opened, no message yet',
  user: 'the user message is stored',
  chunks: 'the answer broke off while it streamed',
  assistant: 'an answer with two calls, none started',
  asked: 'one call waits for an approval',
  'first-call': 'the first of two calls was started',
  'second-call': 'both calls were started',
  'one-result': 'one of two results is stored',
  'both-results': 'both results are stored, the step is open',
  'step-end': 'the step is closed, the turn is open',
  'next-step': 'a second step was opened after the results',
}

export async function stopped(session, stop, save) {
  const a = new Author(session)
  a.openTurn()
  a.openStep()
  a.user('m-u1', 'Hello')
  a.request()
  a.answer('m-a1', ['Good ', 'morning', '.'])
  a.closeStep()
  a.closeTurn()
  await save()
  for (const name of secondTurn(a, stop)) if (name === 'save') await save(); else if (name === stop) return a
  return a
}

function* secondTurn(a, stop) {
  a.openTurn()
  yield 'turn-start'
  a.openStep()
  yield 'step-start'
  a.user('m-u2', 'Prune row 1, then water row 3')
  a.log('request/context', { provider: 'mock', model: 'mock-small', contextWindow: 32000 })
  yield 'user'
  if (stop === 'chunks') a.stream(['I ', 'shall ', 'prune ', 'ro'], [], false)
  yield 'chunks'
  a.answer('m-a2', ['On it.'], [PRUNE, WATER])
  yield 'assistant'
  if (stop === 'asked') a.log('approval/asked', { id: 'ap-7', toolName: 'bash', callId: PRUNE.id, reason: 'cuts wood' })
  yield 'asked'
  a.start(PRUNE)
  yield 'save'
  yield 'first-call'
  a.start(WATER)
  yield 'save'
  yield 'second-call'
  a.result(PRUNE, 'row 1 pruned')
  yield 'one-result'
  a.result(WATER, 'row 3 watered')
  yield 'both-results'
  a.closeStep()
  yield 'step-end'
  a.openStep()
  yield 'next-step'
}

/** A compaction that never ended, between two turns. */
export async function halfCompacted(session) {
  await tiny(session)
  session.append('compaction/start', { compactionId: 'cmp-9', turn: null })
}

/** One more turn behind whatever is there; what a client appends after a resume. */
export async function oneMore(session, turn, id = `m-again-${turn}`, text = 'Go on') {
  const a = new Author(session)
  a.openTurn(turn)
  a.openStep()
  a.user(id, text)
  a.answer(`${id}-reply`, ['Done.'])
  a.closeStep()
  a.closeTurn()
}

export const LATE = WATER

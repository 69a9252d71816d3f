// The healthy sessions that kinds of damage are made of: name -> records by name. No text stands in two records.
import { author, plain } from './author.mjs'

const talk = book => book
  .user('q1', 'How many crates are on the pier?').answer('c1', 'I will count them.', ['k1']).result('r1', 'k1', 'seventeen crates').answer('a1', 'There are seventeen.')
  .user('q2', 'Whose are they?').answer('a2', 'The Vess boat brought them.')
  .user('q3', 'And the barrels?').answer('c2', '', ['k2']).result('r2', 'k2', 'four barrels').answer('a3', 'Four barrels.')

const linear = () => talk(author().put('model', 'model_change', { provider: 'oracle', modelId: 'oracle-1' }))

const batch = () => author()
  .user('q1', 'Count ropes, sails and nets.').answer('c1', 'All three at once.', ['m1', 'm2', 'm3'])
  .result('r1', 'm1', 'nine ropes').result('r2', 'm2', 'two sails').result('r3', 'm3', 'six nets').answer('a1', 'Nine, two and six.')

const tree = () => {
  const book = author().user('q1', 'Plan the trip.').answer('a1', 'North or south?')
    .user('q2', 'Try the north.').answer('c2', 'Looking at the north.', ['n1']).result('r2', 'n1', 'ice in the north').answer('a2', 'The north is closed.')
  return book.put('label', 'label', { targetId: book.id('a2'), label: 'north' })
    .goTo('a1').put('summary', 'branch_summary', { fromId: book.id('label'), summary: 'The north was tried, and there is ice.' })
    .user('q3', 'Then the south.').answer('c3', 'Looking at the south.', ['s1']).result('r3', 's1', 'calm in the south').answer('a3', 'The south is open.')
}

const compacted = () => {
  const book = author().user('q1', 'An old question.').answer('a1', 'An old answer.')
    .user('q2', 'A question that is kept.').answer('c2', 'Kept words.', ['p1']).result('r2', 'p1', 'a kept result').answer('a2', 'A kept answer.')
  return book.put('compaction', 'compaction', { summary: 'One old question was answered.', firstKeptEntryId: book.id('q2'), tokensBefore: 4000 })
    .user('q3', 'A new question.').answer('c3', 'New words.', ['p2']).result('r3', 'p2', 'a new result').answer('a3', 'A new answer.')
}

const every = () => {
  const book = author().put('model', 'model_change', { provider: 'oracle', modelId: 'oracle-1' }).put('thinking', 'thinking_level_change', { thinkingLevel: 'high' })
    .message('system', { role: 'system', content: 'Be brief.' }).user('q1', 'Say all there is.').answer('c1', 'Looking.', ['e1']).result('r1', 'e1', 'a long list').answer('a1', 'This is all.')
  return book.message('bash', { role: 'bashExecution', command: 'pwd', output: '/home/user/harbour\n', exitCode: 0, cancelled: false, truncated: false })
    .put('custom', 'custom', { customType: 'note', data: { n: 1 } }).put('aside', 'custom_message', { customType: 'note', content: 'An aside of an extension.', display: true })
    .put('label', 'label', { targetId: book.id('q1'), label: 'first' }).put('unlabel', 'label', { targetId: book.id('q1') })
    .put('name', 'session_info', { name: 'All there is' }).put('usage', 'usage', { kind: 'cache_warm', provider: 'oracle', model: 'oracle-1', usage: {} })
    .put('edit', 'context_edit', { targetId: book.id('r1'), replacement: { content: 'a short list' } })
    .put('tools', 'active_tools_change', { activeToolNames: ['bash'] }).put('future', 'of_the_future', { x: 1 }).user('q2', 'Is that so?').answer('a2', 'It is.')
}

const stopped = () => author()
  .user('q1', 'Count the gulls.').answer('failed', 'Half an answer', ['f1'], 'error').user('q2', 'Once more.').answer('aborted', 'Half of another', ['f2'], 'aborted')
  .user('q3', 'And now?').answer('long', 'Too long', ['f3'], 'length').result('r3', 'f3', 'not run: the answer was cut off').answer('a3', 'Nine gulls.')

const first = () => {
  const rows = plain(talk(author()).rows())
  const compaction = { type: 'compaction', timestamp: rows.get('a2').timestamp, summary: 'Crates were counted.', firstKeptEntryIndex: 5, tokensBefore: 900 }
  return new Map([...rows].flatMap(entry => entry[0] === 'q3' ? [['compaction', compaction], entry] : [entry]))
}

const second = () => author({ version: 2 }).user('q1', 'Hello there.').answer('c1', 'Hello.', ['h1']).result('r1', 'h1', 'a wave')
  .message('hook', { role: 'hookMessage', customType: 'hook', content: 'Words of a hook.', display: true }).user('q2', 'Goodbye.').answer('a2', 'Farewell.')

export const healthy = {
  linear: linear().rows(), batch: batch().rows(), tree: tree().rows(), compacted: compacted().rows(),
  every: every().rows(), stopped: stopped().rows(), first: first(), second: second().rows(),
}

// node --test selftest.mjs: the judge itself, without the client. Each rule and each check must be able to say no.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf } from './lib/compare.mjs'
import { placesIn, textsBehind } from './lib/places.mjs'
import { plainRecords, wholeRecords } from './lib/records.mjs'
import { refusalOf } from './lib/rules.mjs'
import { badlyAnswered, endOf, unnoted } from './lib/tail.mjs'
import { untold } from './lib/told.mjs'
import { wantedOf } from './lib/wanted.mjs'

const user = (...content) => ({ role: 'user', content })
const assistant = (...content) => ({ role: 'assistant', content })
const text = (text = 'words') => ({ type: 'text', text })
const call = (id = 'c1', input = {}, name = 'Bash') => ({ type: 'tool_use', id, name, input })
const result = (id = 'c1', content = 'out', more = {}) => ({ type: 'tool_result', tool_use_id: id, content, ...more })
const thinking = signature => ({ type: 'thinking', thinking: 'hm', signature })
const image = (data, type = 'image/png') => ({ type: 'image', source: { type: 'base64', media_type: type, data } })
const asked = (...blocks) => [user(text()), assistant(...blocks)]

const TAKEN = {
  'one question': [user(text())],
  'text as a string': [{ role: 'user', content: 'words' }],
  'call and result': [...asked(text(), call()), user(result(), text())],
  'parallel calls': [...asked(call('a'), call('b')), user(result('b')), user(result('a'))],
  'neighbours of one role': [user(text()), user(text())],
  'a system turn between': [...asked(call()), { role: 'system', content: [] }, user(result())],
  'signed thinking': [...asked(thinking('sig'), text()), user(text())],
  'an empty result': [...asked(call()), user(result('c1', ''))],
}
for (const [name, messages] of Object.entries(TAKEN)) test(`taken: ${name}`, () => assert.equal(refusalOf(JSON.stringify({ messages })), null))

const REFUSED = [
  ['no-messages', []],
  ['role', [{ role: 'tool', content: 'x' }]],
  ['content', [{ role: 'user', content: null }]],
  ['empty-message', [user()]],
  ['block', [user({ text: 'x' })]],
  ['text', [user({ type: 'text' })]],
  ['empty-text', [user(text(''))]],
  ['blank-text', [user(text(' \n'))]],
  ['lone-surrogate', [user(text('\ud83d'))]],
  ['first-role', [assistant(text()), user(text())]],
  ['prefill', asked(text())],
  ['block-role', [user(call())]],
  ['block-role', asked(result())],
  ['block-role', [user(thinking('sig'))]],
  ['call-id', asked(call('a b'))],
  ['call-id', [...asked(call()), user(result(''))]],
  ['call-name', asked(call('c1', {}, ''))],
  ['call-input', asked(call('c1', 'ls'))],
  ['call-input', asked(call('c1', []))],
  ['call-twice', [...asked(call()), user(result()), assistant(call()), user(result())]],
  ['call-without-result', [...asked(call()), user(text())]],
  ['call-without-result', [...asked(call('a'), call('b')), user(result('a'))]],
  ['result-content', [...asked(call()), user(result('c1', 7))]],
  ['result-not-first', [...asked(call()), user(text(), result())]],
  ['result-twice', [...asked(call()), user(result(), result())]],
  ['result-without-call', [user(result())]],
  ['result-without-call', [...asked(call()), user(result()), assistant(text()), user(result())]],
  ['empty-error-result', [...asked(call()), user(result('c1', '', { is_error: true }))]],
  ['empty-error-result', [...asked(call()), user(result('c1', [text('')], { is_error: true }))]],
  ['thinking', [...asked({ type: 'thinking', signature: 'sig' }), user(text())]],
  ['thinking-signature', [...asked(thinking(undefined)), user(text())]],
  ['thinking-data', [...asked({ type: 'redacted_thinking' }), user(text())]],
  ['image-empty', [user(image(''))]],
  ['image-type', [user(image('AA==', 'image/bmp'))]],
  ['image-size', [user(image('A'.repeat(5 * 1024 * 1024 + 4)))]],
  ['image-empty', [...asked(call()), user(result('c1', [image('')]))]],
]
for (const [rule, messages] of REFUSED) test(`refused: ${rule}`, () => assert.equal(refusalOf(JSON.stringify({ messages }))?.rule, rule))
test('refused: json', () => assert.equal(refusalOf('{"messages":[')?.rule, 'json'))
test('refused: too-large', () => assert.equal(refusalOf(' '.repeat(32 * 1024 * 1024 + 1))?.rule, 'too-large'))

/** A node; the second of its number is its time. */
const node = (n, parent, message, more = {}) => ({
  parentUuid: parent === null ? null : `u${parent}`, isSidechain: false, type: message.role, uuid: `u${n}`,
  timestamp: `2026-01-01T00:00:${String(n).padStart(2, '0')}.000Z`, message, ...more,
})
const bytes = (...lines) => Buffer.from(lines.map(line => typeof line === 'string' ? line : JSON.stringify(line)).join('\n') + '\n')
const brief = records => wantedOf(records).map(item => item.text ?? `${item.call}:${item.answers}`)

test('whole records in damaged lines', () => {
  const [a, b, c, d] = [1, 2, 3, 4].map(n => node(n, null, user(text('} { "'))))
  const torn = JSON.stringify(node(9, null, user(text()))).slice(0, 90)
  const damaged = bytes(`\ufeff${JSON.stringify(a)}`, JSON.stringify(b) + JSON.stringify(c), torn + JSON.stringify(d), `\0\0${JSON.stringify(a)}\0`, 'null', torn)
  assert.deepEqual(wholeRecords(damaged), [a, b, c, d, a])
  assert.deepEqual(plainRecords(damaged), [a])
})

const one = node(1, null, user(text('one')))
const two = node(2, 1, assistant(text('two')))
test('wanted: branches, and what a broken link must not lose', () => {
  assert.deepEqual(brief([one, two, node(3, 1, user(text('three')))]), ['one', 'three'])
  for (const parent of [null, 77, 3]) assert.deepEqual(brief([one, two, node(3, parent, user(text('three')))]), ['one', 'two', 'three'])
})
test('wanted: parallel calls, and real answers before stand-ins', () => {
  const calls = [call('a'), call('b')].map((block, n) => node(n + 2, n + 1, { ...assistant(block), id: 'm' }))
  const answers = [node(4, 2, user(result('a', 'A'))), node(5, 3, user(result('b', 'gone')), { toolDenialKind: 'interrupted' }), node(6, 3, user(result('b', 'B')))]
  assert.deepEqual(brief([one, ...calls, ...answers, node(7, 6, assistant(text('end')))]), ['one', 'a:A', 'b:B', 'end'])
})
test('wanted: compaction', () => {
  const boundary = { parentUuid: null, uuid: 'u3', type: 'system', subtype: 'compact_boundary', timestamp: one.timestamp }
  const summary = node(4, 3, user(text('summary')), { isCompactSummary: true })
  assert.deepEqual(brief([one, two, boundary]), ['one', 'two'])
  assert.deepEqual(brief([one, two, boundary, summary, node(5, 4, user(text('five')))]), ['summary', 'five'])
})
test('wanted: not what the client leaves out', () => {
  const more = [node(3, 2, assistant(text('error')), { isApiErrorMessage: true }), node(4, 3, user(text('aside')), { isSidechain: true }), node(5, 3, user(text(' ')))]
  assert.deepEqual(brief([one, two, ...more]), ['one', 'two'])
  assert.deepEqual(brief([one, node(2, 1, assistant(text('old'))), two]), ['one', 'two'])
})

const stored = [one, node(2, 1, assistant(text('two'), call())), node(3, 2, user(result()))]
const good = () => ({
  status: 0, err: '', said: { is_error: false }, made: [], before: bytes(...stored), after: bytes(...stored, node(4, 3, user(text('next')))),
  requests: [{ main: true, refusal: null, messages: [...stored.map(record => record.message), user(text('next'))] }],
})
const FAULTS = {
  'does not resume': (run) => { run.requests = [] },
  'refuses the request': (run) => { run.requests[0].refusal = { rule: 'x', message: 'y' } },
  'the client ends with': (run) => { run.said.is_error = true },
  'user text one is lost': (run) => { run.requests[0].messages.shift() },
  'out of order': (run) => { run.requests[0].messages.push(run.requests[0].messages.shift()) },
  'call c1 is lost': (run) => { run.requests[0].messages = [one.message, assistant(text('two')), user(text('next'))] },
  'no result directly behind it': (run) => { run.requests[0].messages.splice(2, 0, user(text('between'))) },
  'the answer of call c1 is lost': (run) => { run.requests[0].messages[2] = user(result('c1', 'other')) },
  'another answer than the file holds': (run) => { run.requests[0].messages[2] = user(result('c1', 'other')) },
  'answers no open call': (run) => { run.requests[0].messages.push(user(result())) },
  'is sent twice': (run) => { run.requests[0].messages.push(assistant(call()), user(result())) },
  'answered call c1 itself': (run) => { run.before = bytes(...stored.slice(0, 2)) },
  'drops a result that has no call: c9': (run) => { run.before = bytes(...stored, node(4, 3, user(result('c9')))) },
  'made another transcript': (run) => { run.made = ['x.jsonl'] },
  'rewrote the file': (run) => { run.after = bytes(one) },
  'had to end the last line': (run) => { run.before = run.before.subarray(0, -1) },
  'appended a result': (run) => { run.after = bytes(...stored, node(4, 3, user(result()))) },
}
test('no fault', () => assert.deepEqual(faultsOf(wantedOf(stored), good()), []))
for (const [words, spoil] of Object.entries(FAULTS)) {
  test(`fault: ${words}`, () => {
    const run = good()
    spoil(run)
    const faults = faultsOf(wantedOf(stored), run)
    assert.ok(faults.some(fault => fault.includes(words)), faults.join('\n') || 'none')
  })
}

const asks = node(2, 1, assistant(text('two'), call('toolu_a'), call('toolu_b')))
const ends = (answer = 'out') => node(3, 2, user(result('toolu_a', answer)))
test('what a transcript ends in', () => {
  assert.deepEqual([[], [one], [one, two], [one, node(2, 1, assistant(thinking('sig')))]].map(endOf), ['nothing', 'prompt', 'text', 'thinking'])
  assert.deepEqual([[one, asks], [one, asks, ends()], stored].map(endOf), ['open a b, call', 'open b, result', 'result'])
})
test('a call that ran: one result, and not one that denies it', () => {
  const other = node(4, 2, user(result('toolu_b', 'TOOL_NOT_STARTED: no')))
  assert.deepEqual(badlyAnswered([one, asks, ends(), other], ['a']), [])
  assert.deepEqual(badlyAnswered([one, asks, ends('TOOL_NOT_STARTED: no'), other], ['a']), ['call a ran, and its result says TOOL_NOT_STARTED'])
  assert.deepEqual(badlyAnswered([one, asks, ends(), ends()], ['a']), ['call a has 2 results', 'call b has 0 results'])
})
test('a call that ran and is in no record: a note, in the right transcript', () => {
  const talk = new Map([['x', [one, asks]]])
  const session = (path, code) => ({ path, findings: [{ code }] })
  const faults = (ran, by, ...sessions) => unnoted(talk, sessions, 'x', ran, new Map([[ran[0], by]])).length
  assert.equal(faults(['a'], 'main', session('x', 'DANGLING_CALL')), 0)
  assert.equal(faults(['c'], 'main', session('x', 'MAY_HAVE_RUN')), 0)
  assert.equal(faults(['c'], 'agent', session('y', 'MAY_HAVE_RUN')), 0)
  assert.equal(faults(['c'], 'main', session('x', 'DANGLING_CALL')), 1)
  assert.equal(faults(['c'], 'main', session('y', 'MAY_HAVE_RUN')), 1)
})

const boundary = { type: 'system', subtype: 'compact_boundary', uuid: 'u9', parentUuid: null, isSidechain: false, compactMetadata: { preservedMessages: { uuids: ['u2'] } } }
const summary = node(10, 9, user(text('in short')), { isCompactSummary: true })

test('places: behind prompts and whole answers', () => {
  const log = bytes(node(1, null, user(text('q'))), node(2, 1, assistant(text('a'))), { type: 'mode' }, node(3, 2, user(text('r'))))
  assert.deepEqual(placesIn(log), { must: [1, 2, 4], never: [] })
})
test('places: never inside of an answer, between call and result, border and summary, nor in the talk of a sub-agent', () => {
  const part = (n, parent, block) => node(n, parent, { ...assistant(block), id: 'm' })
  const asking = bytes(node(1, null, user(text('q'))), part(2, 1, text('a')), part(3, 2, call()), node(4, 3, user(result())))
  assert.deepEqual(placesIn(asking), { must: [1], never: [2, 3] })
  const long = bytes(part(2, 1, text('a')), part(3, 2, text('b')))
  assert.deepEqual(placesIn(long), { must: [2], never: [1] })
  assert.deepEqual(placesIn(bytes(boundary, summary)), { must: [2], never: [1] })
  assert.deepEqual(placesIn(bytes({ ...node(1, null, user(text('q'))), isSidechain: true })), { must: [], never: [1] })
})
test('what stands behind a place is told from what is above it, and from what a border keeps', () => {
  const log = bytes(node(1, null, user(text('q'))), node(2, 1, assistant(text('kept'))), node(3, 2, user(text('later'))), boundary)
  const wanted = wantedOf(plainRecords(log), 'u1')
  assert.deepEqual(wanted.map(item => item.text), ['q'])
  assert.deepEqual([...textsBehind(log, wanted)], ['later'])
})

const told = (exported, sent, added = []) => untold(exported, [...sent, user(text('go on'))], added, 'go on').length
const SAME = [
  ['the same', [user(text()), assistant(text('a'))], [{ role: 'user', content: 'words\n' }, { role: 'system', content: 'x' }, assistant(thinking('s'), text('a'))]],
  ['reminders', [user(text())], [user(text('<system-reminder>\nx'), text())]],
  ['results in another order', [...asked(call('a'), call('b')), user(result('a', 'A'), result('b', 'B'))], [...asked(call('a'), call('b')), user(result('b', 'B'), result('a', [text('A')]))]],
  ['what the client appends', [...asked(call('a')), user(result('a'))], [...asked(call('a')), user(result('a')), assistant(text('No response requested.'))], [assistant(text('No response requested.'))]],
]
for (const [name, ...lists] of SAME) test(`told: ${name}`, () => assert.equal(told(...lists), 0))
const OTHER = [
  ['a text less', [user(text())], [user(text(), text('more'))]],
  ['a text more', [user(text(), text('more'))], [user(text())]],
  ['another text', [user(text('b'))], [user(text('a'))]],
  ['another role', [user(text()), user(text('a'))], [user(text()), assistant(text('a'))]],
  ['texts in another order', [user(text('a'), text('b'))], [user(text('b'), text('a'))]],
  ['another input', asked(call('a', { n: 1 })), asked(call('a', { n: 2 }))],
  ['another answer', [...asked(call('a')), user(result('a', 'A'))], [...asked(call('a')), user(result('a', 'B'))]],
  ['an answer that failed', [...asked(call('a')), user(result('a', 'A'))], [...asked(call('a')), user(result('a', 'A', { is_error: true }))]],
  ['another image', [user(image('AAAA'))], [user(image('AAAB'))]],
]
for (const [name, ...lists] of OTHER) test(`not told: ${name}`, () => assert.notEqual(told(...lists), 0))
test('told: what is too long is summed up first', () => assert.deepEqual(untold([user(text())], [user(text(), text('Sum up.'))], [], 'go on'), []))

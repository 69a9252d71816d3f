// node --test selftest.mjs: the judge itself must be able to say no. The tests of whole repairs want the clients and are skipped
// without them: run them in the folder that ../install.sh pi prints.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { PROMPT } from './lib/ask.mjs'
import { areInstalled } from './lib/client.mjs'
import { closerFaults, missingFaults, pairingFaults, unsaidFaults } from './lib/compare.mjs'
import { endGuests } from './lib/guests.mjs'
import { healthy } from './lib/healthy.mjs'
import { itemsOfBlocks, itemsOfChat, itemsOfClient, listFaults, without } from './lib/lists.mjs'
import { endLookers } from './lib/look.mjs'
import { page } from './lib/page.mjs'
import { damaged } from './lib/pretender.mjs'
import { linesOf, wholeRecords } from './lib/records.mjs'
import { ownSources } from './lib/sources.mjs'
import { endOf } from './lib/tail.mjs'
import { runTrial } from './lib/trial.mjs'
import { plain } from './lib/author.mjs'
import { recordFaults } from './lib/upgrades.mjs'
import { itemsOf, turnsOf, turnsOfRecord, turnsSent } from './lib/turns.mjs'

test('records: whole ones in damaged lines', () => {
  const lines = page(healthy.linear).bytes().toString().split('\n')
  const text = Buffer.from([lines[0], lines[1].slice(0, 50) + lines[2], `\0\0${lines[3]}\0`, lines[4] + lines[5], 'null', lines[6].slice(0, 80)].join('\n'))
  assert.deepEqual(wholeRecords(text).map(({ value }) => value), [0, 2, 3, 4, 5].map(n => JSON.parse(lines[n])))
  assert.deepEqual(linesOf(text).map(({ value }) => value === undefined), [false, true, true, true, false, true])
})

test('kinds: each changes its session, but for those that are named nothing', () => {
  const sources = ownSources()
  for (const { name, bytes, healthy } of sources) assert.equal(bytes.equals(healthy), name.endsWith('/nothing'), name)
  assert.equal(new Set(sources.map(({ name }) => name)).size, sources.length)
})

test('how a file ends', () => {
  const cut = name => endOf(page(healthy.batch).cutBehind(name).bytes())
  assert.deepEqual(['q1', 'c1', 'r1', 'r3', 'a1'].map(cut), ['prompt', 'open m1 m2 m3, call', 'open m2 m3, result', 'result', 'text'])
  assert.equal(endOf(page(healthy.batch).bytes().subarray(0, -3)), 'result torn')
  assert.equal(endOf(undefined), 'no file')
})

const user = content => ({ role: 'user', content })
const answer = (text, ...calls) => ({ role: 'assistant', content: text, tool_calls: calls.map(id => ({ id })) })
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content })
const talk = [user('one'), answer('two', 'a', 'b'), result('a', 'A'), result('b', 'B'), answer('three')]
const pairs = (...messages) => pairingFaults(turnsSent(messages), { sent: true })
const records = [...healthy.linear.values()]
const said = records.flatMap(record => itemsOf(turnsOfRecord(record)))
const known = { said: itemsOf(turnsSent(talk)), answered: new Set(['a', 'b']), edits: new Set() }
const unsaid = (...messages) => unsaidFaults(turnsSent(messages), known)
const missing = (...messages) => missingFaults(known.said, turnsSent(messages))

test('lists: what is the same, and what is not', () => {
  const call = (id, args = '{}') => ({ id, type: 'function', function: { name: 'bash', arguments: args } })
  const chat = (...messages) => itemsOfChat(messages)
  const asked = { role: 'assistant', content: 'Two  things.', tool_calls: [call('x'), call('y')] }
  const list = chat(user('one'), asked, result('x', 'X'), result('y', 'Y'), answer('end'))
  assert.deepEqual(listFaults(list, chat(user('one'), answer('Two things.'), { role: 'assistant', content: null, tool_calls: [call('p'), call('q')] }, result('q', 'Y'), result('p', 'X'), answer('end'))), [])
  const differs = [
    chat(user('another'), asked, result('x', 'X'), result('y', 'Y'), answer('end')), chat(user('one'), asked, result('x', 'Y'), result('y', 'X'), answer('end')),
    chat(user('one'), asked, result('x', 'X'), result('y', 'Y')), chat(user('one'), { ...asked, tool_calls: [call('x', '{"a":1}'), call('y')] }, result('x', 'X'), result('y', 'Y'), answer('end')),
    chat(user('one'), asked, result('x', 'X'), result('z', 'Y'), answer('end')), chat(user('one'), asked, result('x', 'X'), answer('end'), result('y', 'Y')), [...list, { role: 'user', text: 'more' }], [],
  ]
  for (const other of differs) assert.equal(listFaults(list, other).length, 1)
  assert.deepEqual(without(PROMPT, chat(user('one'), answer('two'), user(PROMPT))), chat(user('one'), answer('two')))
  assert.equal(listFaults(without(PROMPT, chat(user('one'), answer('two'))), chat(user('one'), answer('two'))).length, 1)
})

test('lists: images, failures, and what the client takes out itself', () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  const words = text => ({ type: 'text', text })
  const own = (more = {}, picture = image) => itemsOfClient([
    user([words('a'), picture]), { role: 'assistant', content: [words('no')], stopReason: 'error' }, { role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 'bash', arguments: {} }] },
    { role: 'toolResult', toolCallId: 'c', content: [words('b'), picture], isError: true, ...more },
  ])
  const picture = data => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
  const list = (data, failed = true, inside = picture(data)) => itemsOfBlocks([
    user([words('a'), picture(data)]), { role: 'assistant', content: [{ type: 'tool_use', id: 'd', name: 'bash', input: {} }] },
    user([{ type: 'tool_result', tool_use_id: 'd', content: [words('b'), inside], is_error: failed }]),
  ])
  assert.deepEqual(listFaults(own(), list('AAAA')), [])
  assert.deepEqual(listFaults(own(), list('AAAA', true, words('[image, image/png, 4 bytes of base64]'))), [])
  for (const other of [list('AAAB'), list('AAAA', false), list('AAAA', true, words('[image, image/png, 8 bytes of base64]')), list('AAAA', true, words('c'))]) assert.equal(listFaults(own(), other).length, 1)
  assert.equal(listFaults(own({ isError: false }), list('AAAA')).length, 1)
})

test('no fault', () => {
  assert.deepEqual([...pairs(...talk), ...missing(...talk), ...unsaid(...talk)], [])
  assert.deepEqual(pairs(...talk, answer('', 'a'), result('a', 'again')), [])
  assert.deepEqual(pairingFaults(turnsSent([answer('', 'a'), user('on'), answer('yes')]), { sent: false }), [])
  assert.deepEqual(missingFaults(said, turnsOf(records.flatMap(({ message }) => message ?? []))), [])
  assert.deepEqual(closerFaults(turnsSent([answer('', 'c'), result('c', 'TOOL_OUTCOME_UNKNOWN')])), [])
  assert.deepEqual(closerFaults(turnsSent([answer('', 'c'), result('c', 'No result provided'), user('on')])), [])
})

const FAULTS = {
  'call b has no result': () => pairs(user('one'), answer('two', 'a', 'b'), result('a', 'A'), user('x')),
  'call a has no result at the end': () => pairs(answer('two', 'a')),
  'call a has two results': () => pairs(answer('', 'a'), result('a', 'A'), result('a', 'A')),
  'result c has no call in front of it': () => pairs(...talk, result('c', 'C')),
  'result a has no call in front of it': () => pairs(answer('', 'a'), user('x'), result('a', 'A')),
  'lost: assistant: three': () => missing(...talk.slice(0, -1)),
  'lost: result b: B': () => missing(...talk.map(message => message.tool_call_id === 'b' ? result('b', 'other') : message)),
  'lost: call b': () => missing(...talk.map(message => message.tool_calls?.length > 0 ? answer('two', 'a') : message)),
  'out of order: result a: A': () => missing(talk[0], talk[2], talk[1], ...talk.slice(3)),
  'not said before: assistant: four': () => unsaid(...talk, answer('four')),
  'not said before: user: five': () => unsaid(...talk, user('five')),
  'not said before: result a: TOOL_OUTCOME_UNKNOWN': () => unsaid(answer('', 'a'), result('a', 'TOOL_OUTCOME_UNKNOWN')),
  'not said before: result a: No result provided': () => unsaid(answer('', 'a'), result('a', 'No result provided')),
  'not said before: result c: a tale': () => unsaid(answer('', 'c'), result('c', 'a tale')),
  'the model reads of call c: No result provided': () => closerFaults(turnsSent([answer('', 'c'), result('c', 'No result provided')])),
  'call c is said not to have started': () => closerFaults(turnsSent([answer('', 'c'), result('c', 'TOOL_NOT_STARTED')])),
}
for (const [words, find] of Object.entries(FAULTS)) {
  test(`fault: ${words}`, () => {
    const faults = find()
    assert.ok(faults.includes(words), faults.join('\n') || 'none')
  })
}

const upgraded = () => [...healthy.linear.values()].map(row => structuredClone(row))
/** What an upgrade of a session without ids does wrong, and what is said of it. */
const UPGRADES = {
  'nothing': [() => {}, /^$/],
  'other ids': [rows => rows.forEach((row, n) => n > 0 && Object.assign(row, { id: `c${String(n).padStart(7, '0')}`, parentId: n === 1 ? null : rows[n - 1].id })), /^$/],
  'a word': [rows => { rows[3].message.content = [] }, /record 3: message is/],
  'a member lost': [rows => { delete rows[2].timestamp }, /record 2: timestamp is undefined/],
  'a member more': [rows => { rows[2].more = 1 }, /record 2 has more more/],
  'a parent': [rows => { rows[4].parentId = rows[2].id }, /record 4: parentId/],
  'a record lost': [rows => rows.splice(5, 1), /-1 records more/],
  'a record more': [rows => rows.push({ ...rows.at(-1), id: 'cccccccc', parentId: rows.at(-1).id }), /1 records more/],
  'an id twice': [rows => { rows.at(-1).id = rows[2].id }, /ids are not unique/],
  'the header': [rows => { rows[0].cwd = '/' }, /the header is/],
  'another parent': [rows => { rows[0].parentSession = '/p' }, /the parent is/],
}
for (const [fault, [spoil, words]] of Object.entries(UPGRADES)) {
  test(`upgrade: ${fault}`, () => {
    const rows = upgraded()
    spoil(rows)
    assert.match(recordFaults(rows, upgraded(), [...plain(healthy.linear).values()], {}).join('; '), words)
  })
}

/** What the pretender does wrong, and what the judge says. */
const REPAIRS = {
  'nothing wrong': null,
  'nothing done': /at the end|the model reads/,
  'a record left out': /a record is lost/,
  'other words': /a record is lost|lost: assistant/,
  'a word of its own': /not said before: assistant: All is well/,
  'a closer twice': /two results/,
  'a closer that denies': /not to have started/,
  'a closer that tells a tale': /not said before: result k2: nine barrels/,
  'a closer for nobody': /no call in front of it/,
  'a closer without a place': /lost: user/,
  'a circle': /hangs, or runs out of memory/,
  'no closer': /has no result at the end/,
  'torn': /writes the file when it opens it|no result at the end/,
  'the time': /changed the time/,
  'a look leaves a trace': /verify changed the file/,
  'no way back': /repair and undo changed the file/,
  'refused': /there is a safe repair/,
  'refused and written': /refused, but changed/,
  'trouble': /repair with 2/,
  'never done': /a second repair changed the file/,
  'a copy left behind': /left something beside/,
}
const scratch = mkdtempSync(join(tmpdir(), 'sessfix-selftest-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))
after(() => [endGuests, endLookers].forEach(end => end()))
const skip = !areInstalled() && 'the clients are not installed here'
for (const [n, [fault, words]] of Object.entries(REPAIRS).entries()) {
  test(`repair: ${fault}`, { skip }, async () => {
    const binary = join(scratch, `pretender-${n}.mjs`)
    const pretender = new URL('lib/pretender.mjs', import.meta.url)
    writeFileSync(binary, `#!${process.execPath}\nimport { pretend } from ${JSON.stringify(pretender)}\nprocess.exit(pretend(${JSON.stringify(fault)}))\n`)
    chmodSync(binary, 0o755)
    const source = { name: fault, bytes: damaged(), healthy: page(healthy.linear).bytes(), adds: [], without: [] }
    const { outcome, faults } = await runTrial(binary, source, join(scratch, String(n)))
    assert.equal(outcome, words === null ? 'repaired' : 'failed', faults.join('\n'))
    assert.ok(words === null || faults.some(line => words.test(line)), faults.join('\n'))
  })
}

// node --test selftest.mjs: the judge itself must be able to say no. Run it in the folder that ../install.sh grok prints.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isInstalled } from './lib/client.mjs'
import { inventedFaults, itemsSent, missingFaults, pairingFaults } from './lib/compare.mjs'
import { differences, said as saidIn } from './lib/exports.mjs'
import { recordsOf } from './lib/lines.mjs'
import { lies } from './lib/proof.mjs'
import { liveOf } from './lib/session.mjs'
import { tiny, tinyFiles } from './lib/tiny.mjs'
import { runTrial } from './lib/trial.mjs'

test('records: whole ones in damaged lines', () => {
  const lines = tiny['chat_history.jsonl']
  const bytes = Buffer.from([lines[0], lines[1].slice(0, 60) + lines[2], `\0\0${lines[3]}\0`, lines[1] + lines[2], 'null', lines[2].slice(0, 80)].join('\n'))
  assert.deepEqual(recordsOf(bytes).map(({ value }) => value), [0, 2, 3, 1, 2].map(n => JSON.parse(lines[n])))
})

test('the live branch', () => {
  const prompt = (text, promptIndex) => ({ sessionUpdate: 'user_message_chunk', content: { text }, _meta: { promptIndex } })
  const answer = text => ({ sessionUpdate: 'agent_message_chunk', content: { text } })
  const words = (...updates) => liveOf(updates).map(({ content }) => content.text).join(' ')
  const rewind = target => ({ sessionUpdate: 'rewind_marker', target_prompt_index: target })
  assert.equal(words(prompt('a', 0), answer('A'), prompt('b', 1), answer('B'), rewind(1), prompt('c', 1)), 'a A c')
  assert.equal(words(prompt('a', 0), prompt('a', 0), answer('A'), rewind(1), prompt('b', 1), rewind(0), prompt('c', 0)), 'c')
})

const user = content => ({ role: 'user', content })
const answer = (content, ...calls) => ({ role: 'assistant', content, tool_calls: calls.map(id => ({ id })) })
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content })
const talk = [user('one'), answer('two', 'a', 'b'), result('a', 'A'), result('b', 'B'), answer('three')]
const missing = (...messages) => missingFaults(itemsSent(talk), itemsSent(messages))
const invented = (...messages) => inventedFaults(itemsSent(messages), tinyFiles(), tinyFiles())
const said = (text, ...began) => lies(itemsSent([answer('', 'call_a'), result('call_a', text)]), new Map(), began)

test('no fault', () => {
  assert.deepEqual([...pairingFaults(talk), ...missing(...talk), ...missing(talk[0], talk[1], talk[3], talk[2], talk[4])], [])
  assert.deepEqual(invented(answer('', 'barrels'), result('barrels', 'exit: 0\nfour barrels')), [])
  assert.deepEqual([...said('TOOL_NOT_STARTED: no'), ...said('TOOL_OUTCOME_UNKNOWN: who knows', 'a')], [])
})

const called = (content, ...calls) => ({ role: 'assistant', content, tool_calls: calls.map(([id, args]) => ({ id, type: 'function', function: { name: 'ls', arguments: args } })) })
const chat = [{ role: 'system', content: 's' }, user('one'), user('two'), called('three', ['a', '{"n": 1}'], ['b', '{}']), result('b', 'B'), result('a', 'A'), answer('four')]
const unlike = (...messages) => differences(saidIn(messages), saidIn(chat))

test('exported messages that say the same', () => {
  const blocks = [
    user([{ type: 'text', text: 'one' }, { type: 'text', text: 'two\n' }]), { role: 'assistant', content: [{ type: 'text', text: 'three' }, { type: 'tool_use', id: 'a', name: 'ls', input: { n: 1 } }, { type: 'tool_use', id: 'b', name: 'ls', input: {} }] },
    user([{ type: 'tool_result', tool_use_id: 'a', content: 'A' }, { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'B' }] }]), answer('four'),
  ]
  assert.deepEqual([...unlike(...chat), ...unlike(...blocks)], [])
})

test('exported messages that do not', () => {
  const others = [
    chat.slice(0, -1), [...chat, user('five')], chat.toSpliced(2, 1), chat.with(1, user('another')), chat.with(4, result('b', 'another')), chat.toSpliced(4, 1), chat.with(6, user('four')),
    chat.with(3, called('three', ['b', '{}'], ['a', '{"n": 1}'])), chat.with(3, called('three', ['a', '{"n": 2}'], ['b', '{}'])), [chat[0], chat[2], chat[1], ...chat.slice(3)],
    chat.with(2, user([{ type: 'text', text: 'two' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }])),
  ]
  for (const messages of others) assert.equal(unlike(...messages).length, 1, JSON.stringify(messages))
})

const FAULTS = {
  'call b has no result': () => pairingFaults([user('one'), answer('two', 'a', 'b'), result('a', 'A'), user('x')]),
  'call a has two results': () => pairingFaults([answer('', 'a'), result('a', 'A'), result('a', 'A')]),
  'result c has no call in front of it': () => pairingFaults([...talk, result('c', 'C')]),
  'result a has no call in front of it': () => pairingFaults([answer('', 'a'), user('x'), result('a', 'A')]),
  'lost: assistant: three': () => missing(...talk.slice(0, -1)),
  'lost: result b': () => missing(...talk.filter(message => message.tool_call_id !== 'b')),
  'out of order: assistant: three': () => missing(talk[0], talk[4], ...talk.slice(1, 4)),
  'the client made up the result of barrels: nine': () => invented(answer('', 'barrels'), result('barrels', 'nine')),
  'call_a began, and is said not to have started': () => said('TOOL_NOT_STARTED: no', 'a'),
  'call_a ran, and the model reads of no such call': () => lies([], new Map(), ['a']),
  'of call_a nothing is on record, and the model reads: done': () => said('done', 'a'),
}
for (const [words, find] of Object.entries(FAULTS)) {
  test(`fault: ${words}`, () => {
    const faults = find()
    assert.ok(faults.includes(words), faults.join('\n') || 'none')
  })
}

/** What the pretender does wrong, and what the judge says. */
const REPAIRS = {
  'nothing wrong': null,
  'nothing done': /verify ends with 1 after the repair/,
  'no closer': /call crew has no result|made up the result of crew/,
  'a closer twice': /rewrote the history|two results/,
  'a closer for nobody': /no call in front of it/,
  'a closer that tells a tale': /a record is lost/,
  'the words of the client': /the model reads of call crew/,
  'a result left out': /the result of barrels is on record/,
  'an answer left out': /lost: assistant: I look/,
  'other words': /lost: assistant: I look/,
  'a line of the log left out': /shown: lost: agent_message_chunk/,
  'no end on the log': /shown: call crew is shown as nothing/,
  'the turn left open': /added to the log: turn_completed|verify ends with 1 after/,
  'torn': /is no record/,
  'a look leaves a trace': /verify: added/,
  'no way back': /repair and undo: changed/,
  'refused': /there is a safe repair/,
  'refused and written': /refused, but: changed/,
  'trouble': /repair ends with 2/,
  'never done': /a second repair: changed/,
  'a copy left behind': /left .*copy/,
}
const scratch = mkdtempSync(join(tmpdir(), 'sessfix-selftest-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))
const skip = !isInstalled() && 'the client is not installed here'
for (const [n, [fault, words]] of Object.entries(REPAIRS).entries()) {
  test(`repair: ${fault}`, { skip }, async () => {
    const binary = join(scratch, `pretender-${n}.mjs`)
    const pretender = new URL('lib/pretender.mjs', import.meta.url)
    writeFileSync(binary, `#!${process.execPath}\nimport { pretend } from ${JSON.stringify(pretender)}\nprocess.exit(pretend(${JSON.stringify(fault)}))\n`)
    chmodSync(binary, 0o755)
    const { outcome, faults } = await runTrial(binary, { files: tinyFiles(), safe: true }, join(scratch, String(n)))
    assert.equal(outcome, words === null ? 'repaired' : 'failed', faults.join('\n'))
    assert.ok(words === null || faults.some(line => words.test(line)), faults.join('\n'))
  })
}

// node --test selftest.mjs: the judge itself must be able to say no. The tests of whole repairs want the client and are skipped
// without it: run them in the folder that ../install.sh codex prints.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findProgram } from './lib/client.mjs'
import { faultsOf } from './lib/compare.mjs'
import { differences } from './lib/exported.mjs'
import { endOfFrames } from './lib/frames.mjs'
import { historyOf, itemsIn } from './lib/history.mjs'
import { badLines, lostRecords, movedLines, rewritten } from './lib/kept.mjs'
import { linesOf, recordsOf } from './lib/lines.mjs'
import { libraryOf, newestOf, readName } from './lib/rollouts.mjs'
import { tinyFamily } from './lib/tiny.mjs'
import { runTrial } from './lib/trial.mjs'
import { wantedOf } from './lib/wanted.mjs'

const record = (type, payload) => ({ timestamp: 't', type, payload })
const item = payload => record('response_item', payload)
const message = (role, text) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })
const call = (id, type = 'function_call') => ({ type, call_id: id, name: 'f', arguments: '{}', input: '' })
const output = (id, text = 'out', type = 'function_call_output') => ({ type, call_id: id, output: text })
const bytes = (...lines) => Buffer.concat(lines.flatMap(line => [Buffer.from(line), Buffer.from('\n')]))
const values = records => records.map(value => ({ value }))

test('lines: whole records in damaged lines', () => {
  const [a, b, c] = ['a', 'b', 'c'].map(text => item(message('user', `${text} } { "`)))
  const torn = JSON.stringify(a).slice(0, -9)
  const spoiled = Buffer.from(JSON.stringify(c))
  spoiled[spoiled.indexOf('c }')] = 0xff
  const [A, B, C] = [a, b, c].map(value => JSON.stringify(value))
  const text = bytes(`\ufeff${A}`, A + B, torn + B, `\0\0${C}\0`, 'null', torn, spoiled, ' ')
  assert.deepEqual(recordsOf(text).slice(0, 5), [a, a, b, b, c])
  assert.equal(recordsOf(text)[5].payload.content[0].text, '? } { "')
  assert.deepEqual(linesOf(text).map(line => line.bad), [true, true, true, true, true, true, true, false])
})

test('exports: what the client sends otherwise', () => {
  const items = [message('developer', 'rules'), message('user', 'a'), call('c'), call('d'), output('d'), output('c', 'two'), message('assistant', 'b'), message('developer', 'more'), message('user', 'now')]
  const ask = (...ids) => ({ role: 'assistant', content: null, tool_calls: ids.map(id => ({ id, function: { name: 'f', arguments: '{}' } })) })
  const list = [{ role: 'system', content: 'rules' }, { role: 'user', content: 'a' }, ask('c', 'd'), { role: 'tool', tool_call_id: 'c', content: 'two' }, { role: 'tool', tool_call_id: 'd', content: 'out' }, { role: 'assistant', content: 'b' }]
  const faults = (change) => {
    const changed = structuredClone(list)
    change(changed)
    return differences(changed, items, 'now')
  }
  assert.deepEqual(faults(() => {}), [])
  const bad = {
    'a text that is other': messages => { messages[1].content = 'A' }, 'a text that is gone': messages => messages.splice(1, 1), 'one more': messages => messages.push({ role: 'user', content: 'x' }),
    'the last one gone': messages => messages.pop(), 'another order': messages => messages.reverse(), 'another role': messages => { messages[5].role = 'user' },
    'a result of another': messages => { [messages[3].tool_call_id, messages[4].tool_call_id] = ['d', 'c'] }, 'no result': messages => messages.splice(3, 1),
    'another input': messages => { messages[2].tool_calls[0].function.arguments = '{"a":1}' }, 'a call less': messages => messages[2].tool_calls.pop(),
    'a result without call': messages => messages.push({ role: 'tool', tool_call_id: 'x', content: '' }), 'said twice': messages => messages.splice(1, 0, messages[1]),
    'what the client adds': messages => messages.splice(1, 0, { role: 'user', content: 'now' }),
  }
  for (const [name, change] of Object.entries(bad)) assert.notDeepEqual(faults(change), [], name)
})

test('frames: what stands behind them', () => {
  const frame = Buffer.from('28b52ffd2003190000616263', 'hex')
  assert.equal(endOfFrames(frame), 12)
  assert.equal(endOfFrames(Buffer.concat([frame, frame, Buffer.from('text')])), 24)
  assert.equal(endOfFrames(frame.subarray(0, 10)), 10)
  assert.equal(endOfFrames(Buffer.from('text')), 4)
})

test('names', () => {
  const thread = '019d0001-1111-7222-8333-000000000001'
  assert.deepEqual(readName(`rollout-2026-04-01T09-30-00-${thread}.jsonl.zst`), { date: ['2026', '04', '01'], thread, id: thread, packed: true })
  assert.equal(readName(`rollout-2026-04-01T09-30-00-${thread}_${thread.replace('1', '2')}.jsonl`).id, thread.replace('1', '2'))
  assert.equal(readName(`rollout-2026-04-01T09-30-00-${thread}.jsonl.bak`), undefined)
})

test('history: compaction, rollback and what is inherited', () => {
  const talk = ['a', 'b', 'c'].map(text => item(message('user', text)))
  const texts = records => itemsIn(values(records)).map(({ content }) => content[0].text)
  assert.deepEqual(texts([...talk, record('compacted', { message: 's', replacement_history: [message('user', 's')] }), talk[0]]), ['s', 'a'])
  assert.deepEqual(texts([talk[0], item(message('assistant', 'x')), record('compacted', { message: 's' })]), ['a', 's'])
  assert.deepEqual(texts([...talk, record('event_msg', { type: 'thread_rolled_back', num_turns: 2 })]), ['a'])
  const library = libraryOf(tinyFamily())
  const [parent, child] = [...newestOf(library).values()]
  const said = rollout => itemsIn(Object.values(historyOf(library, rollout)).flat().filter(Boolean)).map(({ content, type }) => content?.[0].text ?? type)
  assert.deepEqual(said(parent), ['Which boat is it?', 'The Vess boat.', 'List the crew.', 'function_call'])
  assert.deepEqual(said({ ...child }).sort(), ['And who steers it?', 'The Vess boat.', 'Tove.', 'Which boat is it?'])
  library.delete(parent.id)
  assert.equal(historyOf(library, child).broken, true)
})

const stored = [item(message('user', 'one')), item(call('a')), item(output('a')), item(message('assistant', 'two'))]
const cutOff = [item(message('user', 'one')), item(call('a'))]
const wanted = records => wantedOf({ own: values(records), inherited: [] })
const answerWith = (...items) => {
  const request = [...items, message('developer', 'rules'), message('user', 'next')]
  return { listed: true, read: null, resume: null, turn: 'completed', shown: [], request }
}
const payloads = records => records.map(({ payload }) => payload)
const closed = text => answerWith(...payloads(cutOff), output('a', text))

test('no fault', () => {
  assert.deepEqual(faultsOf(wanted(stored), answerWith(...payloads(stored)), 'next'), [])
  assert.deepEqual(faultsOf(wanted(cutOff), closed('TOOL_OUTCOME_UNKNOWN: …'), 'next'), [])
  const orphans = [...stored, item(output('b')), item(output('a', 'again')), item(call('a'))]
  assert.deepEqual(faultsOf(wanted(orphans), answerWith(...payloads(stored)), 'next'), [])
  const twice = [...stored, stored.at(-1)]
  assert.deepEqual(faultsOf(wanted(twice), answerWith(...payloads(stored)), 'next'), [])
  assert.deepEqual(faultsOf(wanted(twice), answerWith(...payloads(twice)), 'next'), [])
  const old = [...cutOff, item(message('user', 'three'))]
  assert.deepEqual(faultsOf(wanted(old), answerWith(...payloads(cutOff), output('a', 'aborted'), message('user', 'three')), 'next'), [])
})

const finished = record('event_msg', { type: 'item_completed', item: { type: 'CommandExecution', id: 'a', aggregated_output: 'real\n' } })
const shown = record('event_msg', { type: 'item_completed', item: { type: 'AgentMessage', id: 'm', content: [{ type: 'Text', text: 'two' }] } })
const display = text => ({ ...answerWith(...payloads(stored)), shown: [{ id: 't', items: [{ id: 'm', text }] }] })
const FAULTS = {
  'not read: no': [stored, { ...answerWith(...payloads(stored)), read: 'no' }],
  'not resumed: no': [stored, { ...answerWith(), resume: 'no' }],
  'not listed': [stored, { ...answerWith(...payloads(stored)), listed: false }],
  'the turn ends with failed': [stored, { ...answerWith(), turn: 'failed' }],
  'no request was sent': [stored, { ...answerWith(), request: undefined }],
  'lost: user: one': [stored, answerWith(...payloads(stored).slice(1))],
  'lost: output a': [stored, answerWith(...payloads(stored).map(payload => payload.output ? output('a', 'other') : payload))],
  'out of order: ': [stored, answerWith(...payloads(stored).slice(1), message('user', 'one'))],
  'not said before: assistant: three': [stored, answerWith(...payloads(stored), message('assistant', 'three'))],
  'call a is sent twice': [stored, answerWith(...payloads(stored), call('a'))],
  'call a has no output': [cutOff, answerWith(...payloads(cutOff))],
  'call a has 2 outputs': [stored, answerWith(...payloads(stored), output('a'))],
  'the output of call a stands before it': [stored, answerWith(message('user', 'one'), output('a'), call('a'), message('assistant', 'two'))],
  'output b has no call': [stored, answerWith(...payloads(stored), output('b'))],
  'call a was cut off, and the model reads: aborted': [cutOff, closed('aborted')],
  'call a was cut off, and the model reads: TOOL_OUTCOME_UNKNOWN': [[...cutOff, finished], closed('TOOL_OUTCOME_UNKNOWN')],
  'TOOL_NOT_STARTED is more than a rollout tells': [cutOff, closed('TOOL_NOT_STARTED')],
  'comes after a later question': [
    [...cutOff, item(message('user', 'three'))], answerWith(...payloads(cutOff), message('user', 'three'), output('a', 'TOOL_OUTCOME_UNKNOWN')),
  ],
  'turn t9 is not shown': [[...stored, record('event_msg', { type: 'task_started', turn_id: 't9' })], answerWith(...payloads(stored))],
  'item m is not shown': [[...stored, shown], answerWith(...payloads(stored))],
  'item m is shown with other words': [[...stored, shown], display('too')],
  'turn t is shown and not on record': [stored.map((line, ordinal) => ({ ...line, ordinal })), display('two')],
}
for (const [words, [records, answer]] of Object.entries(FAULTS)) {
  test(`fault: ${words}`, () => {
    const faults = faultsOf(wanted(records), answer, 'next')
    assert.ok(faults.some(fault => fault.includes(words)), faults.join('\n') || 'none')
  })
}

test('what a repair may do to files', () => {
  const [parent, child] = tinyFamily()
  const { id } = readName(parent.name)
  const before = libraryOf([parent, child])
  const changed = change => libraryOf([{ ...parent, bytes: Buffer.from(change(parent.bytes.toString())) }, child])
  const lines = count => text => text.split('\n').slice(0, -count).map(line => `${line}\n`).join('')
  assert.deepEqual([...lostRecords(before, changed(lines(1)), []), ...movedLines(before, before, changed(lines(1)))], [])
  assert.match(lostRecords(before, changed(lines(2)), [])[0], /record lost/)
  const { line } = before.get(id).records.at(-1)
  assert.deepEqual(lostRecords(before, changed(lines(2)), [{ quarantined: [{ file: parent.name, offset: line.at, length: line.raw.length }] }]), [])
  assert.match(movedLines(before, before, changed(text => ` ${text}`))[0], /have moved/)
  assert.deepEqual(badLines(libraryOf([{ ...parent, bytes: Buffer.from('{\n{}') }])), [`line 1 of ${id} is no record`, `the last line of ${id} has no end`])
  assert.match(rewritten(before, changed(text => ` ${text}`))[0], /rewrote/)
  assert.match(rewritten(before, changed(text => `${text}\n`))[0], /had to end the last line/)
})

/** What the pretender does wrong, and what the judge says. */
const REPAIRS = {
  'nothing wrong': null,
  'nothing done': /was cut off/,
  'a record left out': /record lost.*|lost: assistant/,
  'a line in the shared part': /have moved/,
  'other words': /record lost/,
  'a closer twice': /has 2 outputs/,
  'a closer that denies': /TOOL_NOT_STARTED/,
  'a closer for nobody': /was cut off/,
  'a closer that tells a tale': /the model reads: Tove/,
  'no closer': /was cut off/,
  'no numbers': /not resumed.*missing an ordinal/,
  'no end of the last line': /has no end|had to end/,
  'a word of its own': /not said before: assistant: All is well/,
  'a look leaves a trace': /verify: added looked\.txt/,
  'a repair of what is clean': /verify found nothing, repair: changed/,
  'refused': /there is a safe repair/,
  'refused and written': /refused, but changed/,
  'trouble': /repair ends with 2/,
  'never done': /a second repair: changed/,
  'a copy left behind': /left .* behind/,
}
const scratch = mkdtempSync(join(tmpdir(), 'sessfix-selftest-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))
const skip = await findProgram() === undefined && 'the client is not installed here'
for (const [n, [fault, words]] of Object.entries(REPAIRS).entries()) {
  test(`repair: ${fault}`, { skip }, async () => {
    const binary = join(scratch, `pretender-${n}.mjs`)
    const pretender = new URL('lib/pretender.mjs', import.meta.url)
    writeFileSync(binary, `#!${process.execPath}\nimport { pretend } from ${JSON.stringify(pretender)}\nprocess.exit(pretend(${JSON.stringify(fault)}))\n`)
    chmodSync(binary, 0o755)
    const { outcome, faults } = await runTrial(binary, { files: tinyFamily(), verdict: 'repairable' }, join(scratch, String(n)))
    assert.equal(outcome, words === null ? 'passed' : 'failed', faults.join('\n'))
    assert.ok(words === null || faults.some(line => words.test(line)), faults.join('\n'))
  })
}
